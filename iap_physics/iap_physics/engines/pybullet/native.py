# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a PyBullet world in compiled code, by the C functions that PyBullet's Python functions are made of.

In Python a step of three aircraft is eleven calls, most of whose time goes into tuples of numbers; and base and links
are read by three requests, of which each copies all that PyBullet knows of a body. Here one request reads both. The
calls, their order and their numbers are otherwise those of `PyBulletEngine`, and so are the bits of what comes out.

What was found out about PyBullet 3.2.7 and is relied on here: one command could bring several forces, but their
numbers overlap (`b3ApplyExternalForce` writes them at their index, where three times that is read), so that each has a
command of its own.

PyBullet's extension module exports the C interface that its Python functions are made of (`PhysicsClientC_API.h`), but
keeps the handles of connections to itself, in the static table ``sPhysicsClients1``. The table is found by the module
file's own symbols. A build that was stripped of them, or is no ELF file, has no handles to give.
"""

import ctypes
import math
import struct
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np
from numba import carray, njit, types

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import put, put4, qconj, qmul, quat, vec
from iap_description.math.pointers import pointer
from iap_physics.engines.engine import BOUND
from iap_physics.engines.pybullet.client import bullet
from iap_physics.engines.pybullet.world import LoadedWorld

_TABLE = b"sPhysicsClients1"
_ANCHOR = b"b3CanSubmitCommand"  # an exported function, which tells where the file was loaded
_SYMTAB = 2  # type of a section of symbols
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")]
    + [("value", "<u8"), ("size", "<u8")]
)
_WORLD_FRAME = 2  # EF_WORLD_FRAME
OK = -1
LOST = -2  # PyBullet does not know a body

_Address, _Number = types.int64, types.int32
_SIGNATURES = {
    "b3ApplyExternalForceCommandInit": _Address(_Address),
    "b3ApplyExternalForce": types.void(*[_Address, _Number, _Number, _Address, _Address, _Number]),
    "b3ApplyExternalTorque": types.void(_Address, _Number, _Number, _Address, _Number),
    "b3InitStepSimulationCommand": _Address(_Address),
    "b3RequestActualStateCommandInit": _Address(_Address, _Number),
    "b3RequestActualStateCommandComputeLinkVelocity": _Number(_Address, _Number),
    "b3RequestActualStateCommandComputeForwardKinematics": _Number(_Address, _Number),
    "b3SubmitClientCommandAndWaitStatus": _Address(_Address, _Address),
    "b3GetStatusType": _Number(_Address),
    "b3GetStatusActualState2": _Number(*[_Address] * 13),
}
NAMES = tuple(_SIGNATURES)
_STATE_READ = 21  # CMD_ACTUAL_STATE_UPDATE_COMPLETED
_functions = {
    name: types.ExternalFunction(name, signature) for name, signature in _SIGNATURES.items()
}
_new_load = _functions["b3ApplyExternalForceCommandInit"]
_add_force = _functions["b3ApplyExternalForce"]
_add_torque = _functions["b3ApplyExternalTorque"]
_new_step = _functions["b3InitStepSimulationCommand"]
_new_request = _functions["b3RequestActualStateCommandInit"]
_with_velocities = _functions["b3RequestActualStateCommandComputeLinkVelocity"]
_with_kinematics = _functions["b3RequestActualStateCommandComputeForwardKinematics"]
_submit = _functions["b3SubmitClientCommandAndWaitStatus"]
_kind_of = _functions["b3GetStatusType"]
_state_of = _functions["b3GetStatusActualState2"]


class NativeWorld(NamedTuple):
    """A loaded PyBullet world as compiled code takes it.

    Attributes:
        client: address of PyBullet's connection.
        bodies: (vehicles,) PyBullet's bodies.
        firsts: (vehicles + 1,) their first state rows, and the number of all.
        links: (rows,) PyBullet's link of every state row; -1 is the base.
        q_BC: (rows, 4) attitude of each body's principal axes C in the body.
        raw: (rows, 13) states as read last, of the principal axes.
        acted_at: (rows, 3) where CoMs were when the last step began [m].
        places: (4,) addresses of what was read.
    """

    client: int
    bodies: Integers
    firsts: Integers
    links: Integers
    q_BC: Array
    raw: Array
    acted_at: Array
    places: Integers


@njit(cache=True)
def _address(a: Array) -> int:
    """Of an array's first number."""
    return int(np.int64(a.ctypes.data))


@njit(cache=True)
def _push(world: NativeWorld, wrenches: Array) -> int:
    """Hand the wrenches (rows, 6) over; returns the first row whose wrench is not finite, or -1."""
    for row in range(len(wrenches)):
        w = wrenches[row]
        if not math.isfinite(w[0] + w[1] + w[2] + w[3] + w[4] + w[5]):
            return row
    client = world.client
    loads, places = _address(wrenches), _address(world.raw)
    for vehicle in range(len(world.bodies)):
        body = np.int32(world.bodies[vehicle])
        for row in range(world.firsts[vehicle], world.firsts[vehicle + 1]):
            w, link = wrenches[row], np.int32(world.links[row])
            force, place = loads + 48 * row, places + 104 * row
            if w[0] != 0.0 or w[1] != 0.0 or w[2] != 0.0:
                command = _new_load(client)
                _add_force(command, body, link, force, place, np.int32(_WORLD_FRAME))
                _submit(client, command)
            if w[3] != 0.0 or w[4] != 0.0 or w[5] != 0.0:
                command = _new_load(client)
                _add_torque(command, body, link, force + 24, np.int32(_WORLD_FRAME))
                _submit(client, command)
    return OK


@njit(cache=True)
def _read(world: NativeWorld) -> bool:
    """Read all vehicles into `world.raw`; returns whether PyBullet knows them."""
    client, raw, at = world.client, world.raw, _address(world.places)
    for vehicle in range(len(world.bodies)):
        first, behind = world.firsts[vehicle], world.firsts[vehicle + 1]
        command = _new_request(client, np.int32(world.bodies[vehicle]))
        if behind > first + 1:
            _with_velocities(command, np.int32(1))
            _with_kinematics(command, np.int32(1))
        status = _submit(client, command)
        if _kind_of(status) != _STATE_READ:
            return False
        _state_of(status, 0, 0, 0, 0, 0, at, at + 8, 0, 0, 0, at + 16, at + 24)
        _copy(world.places[0], world.places[1], raw[first])
        for row in range(first + 1, behind):
            link = world.links[row]
            _copy(world.places[2] + 56 * link, world.places[3] + 48 * link, raw[row])
    return True


@njit(cache=True)
def _copy(poses: int, twists: int, row: Array) -> None:
    """Write pose and twist that stand at two addresses into a row (13,)."""
    pose, twist = carray(pointer(poses), 7, np.float64), carray(pointer(twists), 6, np.float64)
    for k in range(7):
        row[k] = pose[k]
    for k in range(6):
        row[7 + k] = twist[k]


@njit(cache=True)
def step_world(world: NativeWorld, wrenches: Array, x: Array) -> int:
    """One physics step under wrenches (rows, 6), from state rows (rows, 13) to those after it.

    Returns:
        -1, or ``row`` if its wrench is not finite and nothing was done, or ``rows + row`` if its state is beyond
        bounds, or -2 if PyBullet has lost a body.
    """
    bad = _push(world, wrenches)
    if bad >= 0:
        return bad
    world.acted_at[:] = world.raw[:, :3]
    _submit(world.client, _new_step(world.client))
    if not _read(world):
        return LOST
    failed = settle(world.raw, world.q_BC, x)
    return OK if failed < 0 else len(x) + failed


@njit(cache=True)
def settle(raw: Array, q_BC: Array, x: Array) -> int:
    """Take over PyBullet's rows (bodies, 13), which give the attitude of the principal axes C.

    Quaternions keep the sign of the rows `x` they replace, so that they are continuous in time.

    Returns:
        The first body whose row is not finite or is beyond `BOUND`, or -1.
    """
    failed = -1
    for i in range(x.shape[0]):
        row = raw[i]
        q = qmul(quat(row[3:7]), qconj(quat(q_BC[i])))
        if q[0] * x[i, 3] + q[1] * x[i, 4] + q[2] * x[i, 5] + q[3] * x[i, 6] < 0.0:
            q = (-q[0], -q[1], -q[2], -q[3])
        put(x[i, 0:3], vec(row[0:3]))
        put4(x[i, 3:7], q)
        put(x[i, 7:10], vec(row[7:10]))
        put(x[i, 10:13], vec(row[10:13]))
        for k in range(13):
            if not abs(x[i, k]) < BOUND and failed < 0:
                failed = i
    return failed


def native_world(
    client: int, loaded: LoadedWorld, raw: Array, acted_at: Array
) -> NativeWorld | None:
    """A loaded world for compiled code, which writes `raw` and `acted_at`; None where the build tells too little."""
    table = _connections()
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
def _connections() -> int | None:
    """Address of the table of connections; from here on compiled code finds PyBullet's functions by their names."""
    values = _symbol_values(Path(bullet.__file__), (_TABLE, _ANCHOR))
    if values is None:
        return None
    library = ctypes.CDLL(bullet.__file__)
    for name in NAMES:
        llvm.add_symbol(name, _function_address(library, name))
    return _function_address(library, _ANCHOR.decode()) - values[1] + values[0]


def _function_address(library: ctypes.CDLL, name: str) -> int:
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    return 0 if address is None else address


def _symbol_values(path: Path, names: tuple[bytes, ...]) -> list[int] | None:
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
                values = [_symbol_value(symbols, texts, name) for name in names]
                return None if None in values else [each for each in values if each is not None]
    return None


def _symbol_value(symbols: np.ndarray, texts: bytes, name: bytes) -> int | None:
    """Value of the symbol of that name; None if there is none, or more than one."""
    at, places = texts.find(name + b"\0"), []
    while at >= 0:  # texts that end alike share their bytes
        places.append(at)
        at = texts.find(name + b"\0", at + 1)
    is_it = np.isin(symbols["name"], places)
    return int(symbols["value"][is_it][0]) if np.count_nonzero(is_it) == 1 else None
