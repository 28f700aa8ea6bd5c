# SPDX-License-Identifier: BSD-3-Clause
"""Where PyBullet's C functions and the connections of its Python module are, for compiled code that calls them.

PyBullet's extension module exports the C interface that its Python functions are made of (`PhysicsClientC_API.h`), but
keeps the handles of connections to itself, in the static table ``sPhysicsClients1``. The table is found by the module
file's own symbols. A build that was stripped of them, or is no ELF file, has no handles to give.
"""

import ctypes
import struct
from functools import lru_cache
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

from iap_description.arrays import Array
from iap_physics.engines.pybullet.client import bullet
from iap_physics.engines.pybullet.native import NAMES, NativeWorld
from iap_physics.engines.pybullet.world import Loaded

_TABLE = b"sPhysicsClients1"
_ANCHOR = b"b3CanSubmitCommand"  # an exported function, which tells where the file was loaded
_SYMTAB = 2  # type of a section of symbols
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")]
    + [("value", "<u8"), ("size", "<u8")]
)


def native_world(client: int, loaded: Loaded, raw: Array, acted_at: Array) -> NativeWorld | None:
    """A loaded world for compiled code, which writes `raw` and `acted_at`; None where the build tells too little."""
    table = _table()
    handle = None if table is None else ctypes.c_void_p.from_address(table + 8 * client).value
    if handle is None:
        return None
    counts = [1 + len(vehicle.links) for vehicle in loaded.vehicles]
    return NativeWorld(
        handle,
        np.array([vehicle.body for vehicle in loaded.vehicles], dtype=np.int64),
        np.cumsum([0, *counts], dtype=np.int64),
        np.array([link for _, link in loaded.handles], dtype=np.int64),
        loaded.q_BC,
        raw,
        acted_at,
        np.zeros(4, dtype=np.int64),
    )


@lru_cache(maxsize=1)
def _table() -> int | None:
    """Address of the table of connections; from here on compiled code finds PyBullet's functions by their names."""
    values = _values(Path(bullet.__file__), (_TABLE, _ANCHOR))
    if values is None:
        return None
    library = ctypes.CDLL(bullet.__file__)
    for name in NAMES:
        llvm.add_symbol(name, _address(library, name))
    return _address(library, _ANCHOR.decode()) - values[1] + values[0]


def _address(library: ctypes.CDLL, name: str) -> int:
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    return 0 if address is None else address


def _values(path: Path, names: tuple[bytes, ...]) -> list[int] | None:
    """Addresses of symbols within a 64-bit ELF file; None if it has no table of symbols, or not these."""
    with path.open("rb") as file:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01":
            return None
        (start,) = struct.unpack_from("<Q", head, 40)
        size, count = struct.unpack_from("<HH", head, 58)
        file.seek(start)
        raw = file.read(size * count)
        sections = [struct.unpack_from("<IIQQQQI", raw, i * size) for i in range(count)]
        for _, kind, _, _, at, length, link in sections:
            if kind == _SYMTAB:
                file.seek(at)
                symbols = np.frombuffer(file.read(length), _SYMBOL)
                file.seek(sections[link][4])
                texts = file.read(sections[link][5])
                found = [_value(symbols, texts, name) for name in names]
                return None if None in found else [each for each in found if each is not None]
    return None


def _value(symbols: np.ndarray, texts: bytes, name: bytes) -> int | None:
    """Value of the symbol of that name; None if there is none, or more than one."""
    at, places = texts.find(name + b"\0"), []
    while at >= 0:  # texts that end alike share their bytes
        places.append(at)
        at = texts.find(name + b"\0", at + 1)
    is_it = np.isin(symbols["name"], places)
    return int(symbols["value"][is_it][0]) if np.count_nonzero(is_it) == 1 else None
