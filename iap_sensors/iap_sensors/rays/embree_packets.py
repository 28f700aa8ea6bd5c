# SPDX-License-Identifier: BSD-3-Clause
"""Embree's own interface to scenes of triangles and packets of 16 rays, called from compiled loops.

embreex brings the library and casts one ray after the other while it holds Python's lock. Here neighbouring rays are
cast together, which takes three fifths of the time and gives the same bits, and the lock is free meanwhile. Names and
numbers are those of Embree 4's `rtcore.h`.
"""

import ctypes
import re
import weakref
from functools import lru_cache
from pathlib import Path

import numpy as np
from numba import njit, types

from iap_description.arrays import Array, Booleans
from iap_description.errors import IapError
from iap_description.math.pointers import pointer
from iap_description.process.extras import LazyModule
from iap_sensors.rays.caster import Hits, Numbers, Single

PURPOSE, EXTRA = "lidars, depth cameras and ranges need", "rays"  # of embreex
scenes = LazyModule("embreex.rtcore_scene", PURPOSE, EXTRA)

WIDTH = 16  # rays of a packet
_TRIANGLES, _INDEX_BUFFER, _VERTEX_BUFFER = 0, 0, 1
_UINT3, _FLOAT3 = 0x5003, 0x9003
_ROBUST, _COHERENT, _ALL_FEATURES = 1 << 2, 1 << 16, -1
_RAY_ROWS, _HIT_ROWS = (
    12,
    24,
)  # arrays of a packet: of a ray alone, and with its hit (and some to spare)
_ARGUMENTS = 64  # bytes, more than RTCIntersectArguments has
_ALIGNMENT = 64

_Pointer = ctypes.c_void_p


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    """Embree, as embreex loads it.

    Raises:
        BadInput: embreex is not installed.
        IapError: it has no library.
    """
    assert scenes.EmbreeScene  # imported by its first use, which loads the library
    match = re.search(r"\S*/libembree4[^\s/]*$", Path("/proc/self/maps").read_text(), re.MULTILINE)
    if match is None:
        raise IapError("embreex is installed, but brings no libembree4")
    library = ctypes.CDLL(
        match.group(), ctypes.RTLD_GLOBAL
    )  # so that compiled code finds its names
    for name, returned, arguments in (
        ("rtcNewDevice", _Pointer, [ctypes.c_char_p]),
        ("rtcNewScene", _Pointer, [_Pointer]),
        ("rtcSetSceneFlags", None, [_Pointer, ctypes.c_int]),
        ("rtcNewGeometry", _Pointer, [_Pointer, ctypes.c_int]),
        (
            "rtcSetNewGeometryBuffer",
            _Pointer,
            [
                _Pointer,
                ctypes.c_int,
                ctypes.c_uint,
                ctypes.c_int,
                ctypes.c_size_t,
                ctypes.c_size_t,
            ],
        ),
        ("rtcCommitGeometry", None, [_Pointer]),
        ("rtcAttachGeometry", ctypes.c_uint, [_Pointer, _Pointer]),
        ("rtcReleaseGeometry", None, [_Pointer]),
        ("rtcCommitScene", None, [_Pointer]),
        ("rtcReleaseScene", None, [_Pointer]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = returned, arguments
    return library


@lru_cache(maxsize=1)
def _device() -> int:
    """The device of all scenes, which builds them on the thread that asks."""
    device: int | None = _library().rtcNewDevice(b"threads=1,set_affinity=0")
    if not device:
        raise IapError("Embree makes no device")
    return device


class TriangleScene:
    """Triangles in Embree.

    Args:
        corners: (n, 3, 3) [m], at least one.

    Attributes:
        address: of the scene.
    """

    def __init__(self, corners: Array) -> None:
        library = _library()
        self.address: int = library.rtcNewScene(_device())
        weakref.finalize(self, library.rtcReleaseScene, self.address)
        library.rtcSetSceneFlags(self.address, _ROBUST)
        geometry = library.rtcNewGeometry(_device(), _TRIANGLES)
        vertices = np.ascontiguousarray(corners.reshape(-1, 3), np.float32)
        _fill(geometry, _VERTEX_BUFFER, _FLOAT3, vertices)
        numbers = np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3)
        _fill(geometry, _INDEX_BUFFER, _UINT3, numbers)
        library.rtcCommitGeometry(geometry)
        library.rtcAttachGeometry(self.address, geometry)
        library.rtcReleaseGeometry(geometry)
        library.rtcCommitScene(self.address)

    def first_hits(self, starts: Single, ways: Single, reach: Single) -> Hits:
        """The first hits of rays (n, 3) from starts (n, 3), reach (n,) long [m]."""
        distance, face = np.empty(len(reach), np.float32), np.empty(len(reach), np.int32)
        hits = Hits(distance, face, np.empty((len(reach), 3), np.float32))
        _intersect(self.address, *_room(), (starts, ways, reach), hits)
        return hits

    def is_blocked(self, starts: Single, ways: Single, reach: Single) -> Booleans:
        """Flags (n,) of rays that something blocks."""
        blocked = np.empty(len(reach), dtype=bool)
        _occluded(self.address, *_room(), (starts, ways, reach), blocked)
        return blocked


def _fill(geometry: int, kind: int, layout: int, rows: np.ndarray) -> None:
    """Give a geometry a buffer (n, 3)."""
    handles = (geometry, kind, 0, layout, rows.strides[0], len(rows))
    room = _library().rtcSetNewGeometryBuffer(*handles)
    ctypes.memmove(room, rows.ctypes.data, rows.nbytes)


def _room() -> tuple[Single, Numbers, Numbers]:
    """A packet of rays with hits, which of them count, and the arguments of a query, all aligned."""
    packet = _aligned(4 * WIDTH * _HIT_ROWS).view(np.float32)
    valid, how = _aligned(4 * WIDTH).view(np.int32), _aligned(_ARGUMENTS).view(np.int32)
    how[0], how[1] = _COHERENT, _ALL_FEATURES
    return packet, valid, how


def _aligned(size: int) -> np.ndarray:
    raw = np.zeros(size + _ALIGNMENT, np.uint8)
    first = -raw.ctypes.data % _ALIGNMENT
    return raw[first : first + size]


_FOUR_POINTERS = types.void(types.voidptr, types.voidptr, types.voidptr, types.voidptr)
_rtcIntersect16 = types.ExternalFunction("rtcIntersect16", _FOUR_POINTERS)
_rtcOccluded16 = types.ExternalFunction("rtcOccluded16", _FOUR_POINTERS)


@njit(cache=True, nogil=True)
def _load(packet: Single, valid: Numbers, first: int, rays: tuple[Single, Single, Single]) -> int:
    """Write the rays from a number on into a packet, and return how many there are."""
    starts, ways, reach = rays
    count = min(WIDTH, len(reach) - first)
    numbers = packet.view(np.int32)
    for j in range(WIDTH):
        i = first + (j if j < count else 0)
        for k in range(3):
            packet[k * WIDTH + j] = starts[i, k]
            packet[(4 + k) * WIDTH + j] = ways[i, k]
        packet[3 * WIDTH + j] = np.float32(0.0)  # tnear
        packet[7 * WIDTH + j] = np.float32(0.0)  # time
        packet[8 * WIDTH + j] = reach[i]  # tfar
        numbers[9 * WIDTH + j] = -1  # mask
        numbers[11 * WIDTH + j] = 0  # flags
        for row in (17, 18, 19):  # primID, geomID, instID
            numbers[row * WIDTH + j] = -1
        valid[j] = -1 if j < count else 0
    return count


@njit(cache=True, nogil=True)
def _intersect(
    scene: int,
    packet: Single,
    valid: Numbers,
    how: Numbers,
    rays: tuple[Single, Single, Single],
    hits: Hits,
) -> None:
    distance, face, normal = hits
    numbers = packet.view(np.int32)
    pointers = pointer(valid.ctypes.data), pointer(packet.ctypes.data), pointer(how.ctypes.data)
    for first in range(0, len(distance), WIDTH):
        count = _load(packet, valid, first, rays)
        _rtcIntersect16(pointers[0], pointer(scene), pointers[1], pointers[2])
        for j in range(count):
            distance[first + j] = packet[8 * WIDTH + j]
            face[first + j] = numbers[17 * WIDTH + j]
            for k in range(3):
                normal[first + j, k] = packet[(12 + k) * WIDTH + j]


@njit(cache=True, nogil=True)
def _occluded(
    scene: int,
    packet: Single,
    valid: Numbers,
    how: Numbers,
    rays: tuple[Single, Single, Single],
    blocked: Booleans,
) -> None:
    handles = pointer(valid.ctypes.data), pointer(packet.ctypes.data), pointer(how.ctypes.data)
    for first in range(0, len(blocked), WIDTH):
        count = _load(packet, valid, first, rays)
        _rtcOccluded16(handles[0], pointer(scene), handles[1], handles[2])
        for j in range(count):
            blocked[first + j] = packet[8 * WIDTH + j] < 0.0  # Embree writes -inf
