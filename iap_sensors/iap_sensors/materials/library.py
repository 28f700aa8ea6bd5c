# SPDX-License-Identifier: BSD-3-Clause
"""Materials by name, made when first asked for and kept in the user's cache folder."""

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from iap_description.config.alternatives import alternatives
from iap_description.config.array_files import DAMAGE
from iap_description.errors import BadInput
from iap_description.kernel_folder import user_cache, writable
from iap_io.runs.run_folder import write_file
from iap_sensors.materials import ground, masonry, walls
from iap_sensors.materials.matter import Matter

PIXELS = 512  # along the side of a material
CHANNELS = 8  # of its maps
MATERIALS: dict[str, tuple[Callable[[int, int], Matter], float]] = {  # name -> maker, side [m]
    "asphalt": (ground.asphalt, ground.ASPHALT_SIZE),
    "brick": (masonry.bricks, masonry.BRICK_SIZE),
    "cobble": (masonry.cobbles, masonry.COBBLE_SIZE),
    "concrete": (walls.concrete, walls.CONCRETE_SIZE),
    "facade": (walls.facade, walls.FACADE_SIZE),
    "grass": (ground.grass, ground.GRASS_SIZE),
    "metal": (walls.corrugated, walls.SHEET_SIZE),
    "paving": (masonry.paving, masonry.SLAB_SIZE),
    "planks": (walls.planks, walls.PLANK_SIZE),
    "plaster": (walls.plaster, walls.PLASTER_SIZE),
    "steel": (walls.steel, walls.STEEL_SIZE),
    "tiles": (masonry.tiles, masonry.TILE_SIZE),
}


@dataclass(frozen=True, eq=False)
class Material:
    """A material as a renderer takes it.

    Attributes:
        maps: (PIXELS, PIXELS, CHANNELS) levels, see `Matter.maps`.
        size: side of the square that repeats [m].
    """

    maps: NDArray[np.uint8]
    size: float


def material(name: str) -> Material:
    """A material of `MATERIALS`.

    Raises:
        BadInput: there is none of this name.
    """
    if name not in MATERIALS:
        raise BadInput(f"no material '{name}': {alternatives(name, sorted(MATERIALS))}")
    make, size = MATERIALS[name]
    path = _folder() / f"{name}.npy"
    maps = _read(path)
    if maps is None:
        maps = make(PIXELS, crc32(name.encode())).maps()
        _write(path, maps)
    return Material(maps, size)


def _folder() -> Path:
    """Folder of maps, named by what makes them."""
    return writable(user_cache() / "iap" / "materials" / _key())


@cache
def _key() -> str:
    """A key of what makes maps: the sources of this package and numpy's version."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    text = b"".join(path.read_bytes() for path in sources) + np.__version__.encode()
    return hashlib.sha256(text).hexdigest()[:16]


def _read(path: Path) -> NDArray[np.uint8] | None:
    """Maps of a file; None where there is none, or it was cut short."""
    try:
        maps = np.load(path, allow_pickle=False)
    except DAMAGE:
        return None
    return maps if maps.shape == (PIXELS, PIXELS, CHANNELS) and maps.dtype == np.uint8 else None


def _write(path: Path, maps: NDArray[np.uint8]) -> None:
    """Write maps whole or not at all, so that several processes may do so."""
    data = io.BytesIO()
    np.save(data, maps)
    write_file(path, data.getvalue())
