# SPDX-License-Identifier: BSD-3-Clause
"""A step of MuJoCo's in compiled code: sliding as in `stepping`, and joints that yield as in `bonds`."""

import llvmlite.binding as llvm
import numpy as np
from numba import carray, njit, types

from iap_description.math.pointers import pointer
from iap_physics.engines.mujoco.bond_forces import borne, pull, yields
from iap_physics.engines.mujoco.layout import DataLayout
from iap_physics.engines.mujoco.library import LIBRARY
from iap_physics.engines.mujoco.native_worlds import NativeWorlds, numbers, switches
from iap_physics.engines.mujoco.stepping import slide

llvm.load_library_permanently(
    str(LIBRARY)
)  # where compiled code finds its functions by their names
_step_1 = types.ExternalFunction("mj_step1", types.void(types.int64, types.int64))
_step_2 = types.ExternalFunction("mj_step2", types.void(types.int64, types.int64))
_STATE = types.void(types.int64, types.int64, types.int64, types.int32)
_get_state = types.ExternalFunction("mj_getState", _STATE)
_set_state = types.ExternalFunction("mj_setState", _STATE)


@njit(cache=True)
def step_once(worlds: NativeWorlds, data: int, w: int) -> None:
    """One step of a world whose loads stand in MuJoCo's data."""
    if worlds.bonds.is_bonded[w]:
        _step_bonded(worlds, data, w)
    else:
        _step(worlds, data, w)


@njit(cache=True)
def _step(worlds: NativeWorlds, data: int, w: int) -> None:
    """One step of MuJoCo's, see `stepping`."""
    _step_1(worlds.models[w], data)
    _let_slide(worlds.layout, data)
    _step_2(worlds.models[w], data)


@njit(cache=True)
def _step_bonded(worlds: NativeWorlds, data: int, w: int) -> None:
    """One step of a world with joints added in flight, none of which bears more than it can, see `Bonds.step`."""
    bonds, layout, model = worlds.bonds, worlds.layout, worlds.models[w]
    before, count = bonds.before[w].ctypes.data, bonds.loads.shape[1]
    _get_state(model, data, before, bonds.kept)
    _step(worlds, data, w)
    if not _find_yielding(worlds, data, w):
        return
    _set_state(model, data, before, bonds.kept)
    loads, kept = numbers(data, layout.xfrc_applied, 6 * count), bonds.loads[w].reshape(-1)
    kept[:] = loads
    active = switches(data, layout.eq_active, bonds.limits.shape[1])
    for k in range(len(active)):
        if bonds.has_yielded[w, k]:
            active[k] = 0
            _pull_apart(worlds, data, w, k)
    _step(worlds, data, w)
    loads[:] = kept
    for k in range(len(active)):
        if bonds.has_yielded[w, k]:
            active[k] = 1


@njit(cache=True)
def _find_yielding(worlds: NativeWorlds, data: int, w: int) -> bool:
    """Tell if a joint has borne too much in the last step, and keep which, and with which wrenches they yield."""
    bonds, layout = worlds.bonds, worlds.layout
    attitudes = numbers(data, layout.xmat, 9 * len(worlds.owners))
    row, is_any = 0, False
    for k in range(bonds.limits.shape[1]):
        bonds.has_yielded[w, k] = False
        if bonds.limits[w, k] == 0.0:
            continue
        size = 6 if bonds.are_welds[w, k] else 3
        force, wrench = numbers(data, layout.efc_force, row + size)[row:], bonds.wrenches[w, k]
        second = attitudes[9 * bonds.bodies[w, k, 1] :]
        borne(force, bonds.are_welds[w, k], second, wrench)
        bonds.has_yielded[w, k] = yields(wrench, bonds.limits[w, k])
        is_any |= bonds.has_yielded[w, k]
        row += size
    return is_any


@njit(cache=True)
def _pull_apart(worlds: NativeWorlds, data: int, w: int, k: int) -> None:
    """Let the limit of a joint act on its bodies in the place of its constraint."""
    bonds, layout, count = worlds.bonds, worlds.layout, len(worlds.owners)
    loads, attitudes = (
        numbers(data, layout.xfrc_applied, 6 * count),
        numbers(data, layout.xmat, 9 * count),
    )
    places, centers = (
        numbers(data, layout.xpos, 3 * count),
        numbers(data, layout.xipos, 3 * count),
    )
    for side in range(2):
        body = bonds.bodies[w, k, side]
        offset_W = places[3 * body : 3 * body + 3] - centers[3 * body : 3 * body + 3]
        frame_W, place = attitudes[9 * body :], bonds.places[w, k, side]
        sign = 1.0 if side == 0 else -1.0
        pull(loads[6 * body :], frame_W, offset_W, place, bonds.wrenches[w, k], sign)


@njit(cache=True)
def contacts(layout: DataLayout, data: int) -> tuple[int, int]:
    """Number and first address of the contacts in MuJoCo's data."""
    count = carray(pointer(data + layout.ncon), 1, np.int32)[0]
    return count, carray(pointer(data + layout.contact), 1, np.int64)[0]


@njit(cache=True)
def _let_slide(layout: DataLayout, data: int) -> None:
    """Let what slides not lift off, see `stepping`."""
    count, contact = contacts(layout, data)
    for _ in range(count):
        n = carray(pointer(contact + layout.contact_row), 1, np.int32)[0]
        if n >= 0:
            aref = numbers(data, layout.efc_aref, n + 3)
            friction = carray(pointer(contact + layout.contact_friction), 1, np.float64)[0]
            slide(aref, numbers(data, layout.efc_vel, n + 3), n, friction)
        contact += layout.contact_size
