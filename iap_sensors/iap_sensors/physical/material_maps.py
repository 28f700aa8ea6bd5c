# SPDX-License-Identifier: BSD-3-Clause
"""The materials of some parts as arrays, and where on them each vertex lies."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.assets.surface_images import SurfaceImages
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.math import srgb
from iap_sensors.materials.library import CHANNELS, PIXELS, Material, material
from iap_sensors.materials.noise import spectral
from iap_sensors.materials.surface_images import glow_of, maps_of

MATTE = "matte"  # mirrors nothing: Lambert's law
PLAIN_LEVELS = {"": 150, MATTE: 255}  # roughness of parts without a material, of 255
ATTRIBUTES = np.dtype(
    [
        ("uv", np.float32, 2),
        ("layer", np.float32),
        ("tint", np.float32, 4),
        ("tangent", np.float32, 3),
    ]
)
NOISE_PIXELS, NOISE_SEED = 256, 9  # of large-scale variation
FLAT, WHITE = 128, 255
ALONG_X = 0.9  # x of a normal from which on it counts as along x


class MaterialMaps:
    """The materials of some parts.

    Args:
        parts: in the order of their vertices.
        surfaces: materials that files bring, by name.

    Attributes:
        stack: (layers, PIXELS, PIXELS, 8), see `Matter.maps`, the last row first; two plain ones come first.
        glow: (PIXELS, PIXELS, 3) luminance of what emits light, by its layer, the last row first [kcd/m^2].
        noise: (NOISE_PIXELS, NOISE_PIXELS) large-scale variation, of mean 1/2.
        attributes: of each vertex, see `ATTRIBUTES`.
        varied: the last layer that varies on a large scale; images of files have their own variation.

    Raises:
        BadInput: a part has an unknown material.
    """

    def __init__(self, parts: Sequence[MeshPart], surfaces: Mapping[str, SurfaceImages]) -> None:
        named = {part.material for part in parts if part.material is not None}
        of_procedure = sorted(named - set(PLAIN_LEVELS) - set(surfaces))
        names = (*PLAIN_LEVELS, *of_procedure, *sorted(named & set(surfaces)))
        self.varied = len(PLAIN_LEVELS) + len(of_procedure) - 1
        self.stack = np.zeros((len(names), PIXELS, PIXELS, CHANNELS), np.uint8)
        self.glow: dict[int, NDArray[np.float16]] = {}
        sizes = dict.fromkeys(PLAIN_LEVELS, 1.0)
        for number, name in enumerate(names):
            layer = self.stack[number]
            if name in PLAIN_LEVELS:
                layer[...] = [WHITE] * 3 + [PLAIN_LEVELS[name], FLAT, FLAT, WHITE, 0]
            elif name in surfaces:
                sizes[name] = 1.0
                layer[...] = maps_of(surfaces[name], PIXELS)[::-1]
                if surfaces[name].emits:
                    self.glow[number] = glow_of(surfaces[name], PIXELS)[::-1]
            else:
                made = _made(name, parts)
                sizes[name] = made.size
                layer[...] = made.maps[::-1]  # the last row first, where v is 0
        wave = np.clip(0.5 + 0.18 * spectral(NOISE_PIXELS, 2.4, NOISE_SEED, (1.0, 60.0)), 0.0, 1.0)
        self.noise = np.round(255.0 * wave).astype(np.uint8)
        rows = [_attributes(part, names, sizes[part.material or ""]) for part in parts]
        self.attributes = np.concatenate(rows or [np.zeros(0, ATTRIBUTES)])


def _made(name: str, parts: Sequence[MeshPart]) -> Material:
    """A material that is made by procedure.

    Raises:
        BadInput: there is none of that name; the line has the part that asks for it.
    """
    try:
        return material(name)
    except BadInput as error:
        asks = next(part.name for part in parts if part.material == name)
        raise BadInput(f"part '{asks}' of the scene: key 'material': {error}") from error


def _attributes(part: MeshPart, names: Sequence[str], size: float) -> NDArray[np.void]:
    each = np.zeros(len(part.vertices), ATTRIBUTES)
    each["uv"] = part.uv if part.metres is None else part.metres / size
    each["layer"] = names.index(part.material or "")
    each["tint"] = (*srgb.decoded(np.array(part.color[:3])), part.color[3])
    each["tangent"] = _tangents(part, each["uv"])
    return each


def _tangents(part: MeshPart, uv: NDArray[np.float32]) -> Array:
    """(n, 3) directions in which u grows at each vertex, of the last face that it belongs to.

    Where a texture has no extent it is x, or y of what looks along x: any way that is not the normal's.
    """
    out = np.where(np.abs(part.normals[:, :1]) < ALONG_X, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    corners, at = part.vertices[part.faces], uv[part.faces]
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    d1, d2 = at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]
    turn = d1[:, 0] * d2[:, 1] - d2[:, 0] * d1[:, 1]
    along = (e1 * d2[:, 1:] - e2 * d1[:, 1:]) * np.sign(turn)[:, None]
    size = np.linalg.norm(along, axis=1)
    good = size > 1e-9
    out[part.faces[good]] = (along[good] / size[good, None])[:, None]
    return out
