# SPDX-License-Identifier: BSD-3-Clause
"""Embree's own interface to scenes of triangles and packets of 16 rays, called from compiled loops.

embreex brings the library and casts one ray after the other while it holds Python's lock. Here neighbouring rays are
cast together, which takes three fifths of the time and gives the same bits, and the lock is free meanwhile. Names and
numbers are those of Embree 4's `rtcore.h`.
"""

import ctypes
import re
import weakref
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numba import njit, types

from iap_description.arrays import Array, Booleans
from iap_description.errors import IapError
from iap_description.math.pointers import pointer
from iap_description.process.extras import LazyModule
from iap_sensors.rays.caster import Hits, Numbers, Single
from iap_sensors.rays.turning import Indices, matrix_of

PURPOSE, EXTRA = "lidars, depth cameras and ranges need", "rays"  # of embreex
scenes = LazyModule("embreex.rtcore_scene", PURPOSE, EXTRA)

WIDTH = 16  # rays of a packet
_TRIANGLES, _INSTANCE, _INDEX_BUFFER, _VERTEX_BUFFER = 0, 121, 0, 1
_UINT3, _FLOAT3, _FLOAT3X4_COLUMNS = 0x5003, 0x9003, 0x9234
_DYNAMIC, _ROBUST, _COHERENT, _ALL_FEATURES = 1 << 0, 1 << 2, 1 << 16, -1
_RAY_ROWS, _HIT_ROWS = (
    12,
    24,
)  # arrays of a packet: of a ray alone, and with its hit (and some to spare)
_ARGUMENTS = 64  # bytes, more than RTCIntersectArguments has
_ALIGNMENT = 64

NO_FIRSTS, NO_TURNS = np.zeros(0, np.int32), np.zeros((0, 3, 3))  # of scenes of triangles

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
        ("rtcSetGeometryInstancedScene", None, [_Pointer, _Pointer]),
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


class PacketScene:
    """A scene of Embree's, of triangles or of instances of such scenes.

    Args:
        firsts: (n,) number of the first triangle of each instance, among all of them.
        turns: (n, 3, 3) attitudes of the instances.

    Attributes:
        address: of the scene.
    """

    def __init__(self, firsts: Numbers = NO_FIRSTS, turns: Array = NO_TURNS) -> None:
        library = _library()
        self.address: int = library.rtcNewScene(_device())
        weakref.finalize(self, library.rtcReleaseScene, self.address)
        library.rtcSetSceneFlags(self.address, _ROBUST)
        self._instances = firsts, turns

    @classmethod
    def empty(cls) -> Self:
        """A scene of nothing."""
        scene = cls()
        _library().rtcCommitScene(scene.address)
        return scene

    def first_hits(self, starts: Single, ways: Single, reach: Single) -> Hits:
        """The first hits of rays (n, 3) from starts (n, 3), reach (n,) long [m]."""
        distance, face = np.empty(len(reach), np.float32), np.empty(len(reach), np.int32)
        hits = Hits(distance, face, np.empty((len(reach), 3), np.float32))
        _intersect(self.address, *_room(), (starts, ways, reach), self._instances, hits)
        return hits

    def is_blocked(self, starts: Single, ways: Single, reach: Single) -> Booleans:
        """Flags (n,) of rays that something blocks."""
        blocked = np.empty(len(reach), dtype=bool)
        _occluded(self.address, *_room(), (starts, ways, reach), blocked)
        return blocked


class TriangleScene(PacketScene):
    """Triangles in Embree.

    Args:
        corners: (n, 3, 3) [m], at least one.
    """

    def __init__(self, corners: Array) -> None:
        super().__init__()
        library = _library()
        geometry = library.rtcNewGeometry(_device(), _TRIANGLES)
        vertices = np.ascontiguousarray(corners.reshape(-1, 3), np.float32)
        _fill(geometry, _VERTEX_BUFFER, _FLOAT3, vertices)
        numbers = np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3)
        _fill(geometry, _INDEX_BUFFER, _UINT3, numbers)
        library.rtcCommitGeometry(geometry)
        library.rtcAttachGeometry(self.address, geometry)
        library.rtcReleaseGeometry(geometry)
        library.rtcCommitScene(self.address)


class InstanceScene(PacketScene):
    """Scenes of triangles that move: each is built once, and only the tree above them is built anew.

    Args:
        scenes: of the instances, which others may share; None of one without triangles.
        counts: triangles of each.
    """

    def __init__(self, scenes: Sequence[PacketScene | None], counts: Sequence[int]) -> None:
        firsts = np.cumsum([0, *counts[:-1]]).astype(np.int32)
        self._turns = np.zeros((len(scenes), 3, 3))
        super().__init__(firsts, self._turns)
        library = _library()
        library.rtcSetSceneFlags(self.address, _ROBUST | _DYNAMIC)
        self._geometries = np.empty(len(scenes), np.int64)
        for k, scene in enumerate(scenes):
            geometry = library.rtcNewGeometry(_device(), _INSTANCE)
            full = scene or PacketScene.empty()
            library.rtcSetGeometryInstancedScene(geometry, full.address)
            library.rtcAttachGeometry(self.address, geometry)
            library.rtcReleaseGeometry(geometry)  # the scene keeps it
            self._geometries[k] = geometry
        self._columns = np.empty(12, np.float32)

    def move(self, rows: Array) -> None:
        """Put the instances where state rows (n, 13) say."""
        _place(self.address, self._geometries, rows, self._turns, self._columns)


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
_ONE_POINTER = types.void(types.voidptr)
_rtcCommitGeometry = types.ExternalFunction("rtcCommitGeometry", _ONE_POINTER)
_rtcCommitScene = types.ExternalFunction("rtcCommitScene", _ONE_POINTER)
_rtcSetGeometryTransform = types.ExternalFunction(
    "rtcSetGeometryTransform", types.void(types.voidptr, types.uint32, types.int32, types.voidptr)
)


@njit(cache=True, nogil=True)
def _place(scene: int, geometries: Indices, rows: Array, turns: Array, columns: Single) -> None:
    """Give instances their poses, and build the tree above them."""
    for k in range(len(geometries)):
        turns[k] = matrix_of(rows[k, 3:7])
        for i in range(3):
            for j in range(3):
                columns[3 * j + i] = turns[k, i, j]
            columns[9 + i] = rows[k, i]
        _rtcSetGeometryTransform(
            pointer(geometries[k]), 0, _FLOAT3X4_COLUMNS, pointer(columns.ctypes.data)
        )
        _rtcCommitGeometry(pointer(geometries[k]))
    _rtcCommitScene(pointer(scene))


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
    instances: tuple[Numbers, Array],
    hits: Hits,
) -> None:
    distance, face, normal = hits
    firsts, turns = instances
    numbers = packet.view(np.int32)
    pointers = pointer(valid.ctypes.data), pointer(packet.ctypes.data), pointer(how.ctypes.data)
    for first in range(0, len(distance), WIDTH):
        count = _load(packet, valid, first, rays)
        _rtcIntersect16(pointers[0], pointer(scene), pointers[1], pointers[2])
        for j in range(count):
            distance[first + j] = packet[8 * WIDTH + j]
            face[first + j] = numbers[17 * WIDTH + j]
            x, y, z = packet[12 * WIDTH + j], packet[13 * WIDTH + j], packet[14 * WIDTH + j]
            n = numbers[19 * WIDTH + j]
            if n < 0:
                normal[first + j, 0], normal[first + j, 1], normal[first + j, 2] = x, y, z
                continue
            face[first + j] += firsts[n]
            for k in range(3):  # an instance's normals are in its own frame
                normal[first + j, k] = turns[n, k, 0] * x + turns[n, k, 1] * y + turns[n, k, 2] * z


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
