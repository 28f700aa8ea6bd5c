# SPDX-License-Identifier: BSD-3-Clause
"""Steps of many MuJoCo worlds in compiled code, by the C functions behind MuJoCo's Python functions.

A thread has one `mjData`, which worlds use in turn: what a world keeps from one control period to the next are the
numbers on which its next step depends, its warm start among them. Order, threads and number of worlds change no bit.
Calls, their order and their numbers are those of `MuJoCoEngine`.
"""

import math

import numpy as np
from numba import carray, njit

from iap_description.arrays import Array
from iap_description.math.kernels import vec
from iap_description.math.pointers import borrowed, pointer
from iap_physics.engines.engine import DIVERGED, FOLDED, RUNNING
from iap_physics.engines.joint_resistance import resist_world
from iap_physics.engines.mujoco.arm_joints import push_joints, read_joints
from iap_physics.engines.mujoco.latches import push_latches
from iap_physics.engines.mujoco.native_steps import contacts, step_once
from iap_physics.engines.mujoco.native_worlds import NativeWorlds, numbers, switches
from iap_physics.engines.mujoco.points import add_force, force_on_first
from iap_physics.engines.mujoco.tree import Tree, read_states


@njit(cache=True)
def begin_world(worlds: NativeWorlds, data: int, w: int) -> None:
    """Let MuJoCo's data be those of a world."""
    layout, (nq, nv) = worlds.layout, (worlds.qpos.shape[1], worlds.qvel.shape[1])
    numbers(data, layout.qpos, nq)[:] = worlds.qpos[w]
    numbers(data, layout.qvel, nv)[:] = worlds.qvel[w]
    numbers(data, layout.qacc_warmstart, nv)[:] = worlds.warmstart[w]
    active = switches(data, layout.eq_active, worlds.bonds.limits.shape[1])
    for k in range(len(active)):
        active[k] = worlds.bonds.limits[w, k] > 0.0


@njit(cache=True)
def end_world(worlds: NativeWorlds, data: int, w: int) -> None:
    """Keep what a world's next step depends on."""
    layout, (nq, nv) = worlds.layout, (worlds.qpos.shape[1], worlds.qvel.shape[1])
    worlds.qpos[w] = numbers(data, layout.qpos, nq)
    worlds.qvel[w] = numbers(data, layout.qvel, nv)
    worlds.warmstart[w] = numbers(data, layout.qacc_warmstart, nv)
    worlds.constraint[w] = numbers(data, layout.qfrc_constraint, nv)
    if worlds.status[w] == RUNNING and len(worlds.endings):
        worlds.touched[w], worlds.culprits[w] = _ending(worlds, data)


@njit(cache=True)
def step_world(
    worlds: NativeWorlds, data: int, w: int, wrenches: Array, before: Array, dt: float
) -> bool:
    """One step of a world whose numbers MuJoCo's data has.

    Args:
        worlds: all of them.
        data: address of MuJoCo's data.
        w: number of the world.
        wrenches: (bodies, 6) on the bodies about their CoMs, world axes; those of joints that resist are added.
        before: (bodies, 13) memory for the states at the step's begin, overwritten.
        dt: length of the step [s].

    Returns:
        Whether the world goes on; one that diverged keeps its last state and has the status ``DIVERGED``.
    """
    x, layout = worlds.x[w], worlds.layout
    resist_world(x, wrenches, worlds.joints, dt)
    loads = numbers(data, layout.xfrc_applied, 6 * len(worlds.owners))
    failed = _push(worlds, loads, wrenches)
    if failed >= 0:
        _end_diverged(worlds, w, failed)
        return False
    before[:] = x
    nq, nv = worlds.qpos.shape[1], worlds.qvel.shape[1]
    qpos, qvel = numbers(data, layout.qpos, nq), numbers(data, layout.qvel, nv)
    forces = numbers(data, layout.qfrc_applied, nv)
    push_joints(worlds.arms, w, forces)
    push_latches(worlds.latches, w, qpos, qvel, forces)
    step_once(worlds, data, w)
    read_joints(worlds.arms, w, qpos, qvel)
    failed = read_states(_own_tree(worlds, w), qpos, qvel, x)
    if failed >= 0:
        x[:] = before
        _end_diverged(worlds, w, failed)
        return False
    _measure(worlds, data, w)
    worlds.step_counts[w] += 1
    worlds.times[w] += dt
    return True


@njit(cache=True)
def _end_diverged(worlds: NativeWorlds, w: int, row: int) -> None:
    """End a world in which a state row has diverged."""
    worlds.status[w], worlds.culprits[w] = DIVERGED, worlds.vehicles[worlds.rows[row]]


@njit(cache=True)
def _own_tree(worlds: NativeWorlds, w: int) -> Tree:
    """The bodies of a world."""
    t = worlds.tree
    own = (worlds.arms_P[w], t.q_PJ, worlds.arms_C[w])
    return Tree(t.kinds, t.parents, t.order, t.q_at, t.v_at, *own, t.axes)


@njit(cache=True)
def _push(worlds: NativeWorlds, loads: Array, wrenches: Array) -> int:
    """Put wrenches (bodies, 6) on MuJoCo's bodies and return -1; or else a row whose wrench is not finite."""
    for row in range(len(wrenches)):
        for k in range(6):
            if not math.isfinite(wrenches[row, k]):
                return row
    for row in range(len(wrenches)):
        at = 6 * worlds.rows[row]
        for k in range(6):
            loads[at + k] = wrenches[row, k]
    return -1


@njit(cache=True)
def _ending(worlds: NativeWorlds, data: int) -> tuple[int, int]:
    """Status of a world for what its vehicles touch, of the first contact that ends a flight, and whose flight that is.

    Vehicles may touch each other.
    """
    layout = worlds.layout
    count, contact = contacts(layout, data)
    for _ in range(count):
        geoms = carray(pointer(contact + layout.contact_geom), 2, np.int32)
        a, b = worlds.geom_bodies[geoms[0]], worlds.geom_bodies[geoms[1]]
        row, other = (
            max(worlds.owners[a], worlds.owners[b]),
            min(worlds.owners[a], worlds.owners[b]),
        )
        overlaps = carray(pointer(contact + layout.contact_dist), 1, np.float64)[0] <= 0.0
        if overlaps and row >= 0:
            vehicle = max(worlds.vehicles[a], worlds.vehicles[b])
            if worlds.vehicles[a] == worlds.vehicles[b]:
                return FOLDED, vehicle
            if other < 0:
                is_central = row == worlds.first_rows[vehicle]
                ending = worlds.endings[vehicle, -other - 1, 0 if is_central else 1]
                if ending != RUNNING:
                    return ending, vehicle
        contact += layout.contact_size
    return RUNNING, 0


@njit(cache=True)
def _measure(worlds: NativeWorlds, data: int, w: int) -> None:
    """Add what contacts did to the measured bodies in the last step."""
    layout = worlds.layout
    count, contact = contacts(layout, data)
    if count == 0 or len(worlds.measured) == 0:
        return
    centers = numbers(data, layout.xipos, 3 * len(worlds.owners))
    wrench = np.zeros(6)
    for m in range(len(worlds.measured)):
        row, at = worlds.measured[m], contact
        center, wrench[:] = vec(centers[3 * worlds.rows[row] :]), 0.0
        for _ in range(count):
            _add_contact(worlds, data, at, row, center, wrench)
            at += layout.contact_size
        for k in range(6):
            worlds.felt[w, m, k] += wrench[k]


@njit(cache=True)
def _add_contact(
    worlds: NativeWorlds,
    data: int,
    contact: int,
    row: int,
    center_W: tuple[float, float, float],
    wrench: Array,
) -> None:
    """Add the wrench of a contact at an address, unless it is one of a vehicle with itself or on other bodies."""
    layout = worlds.layout
    geoms = carray(pointer(contact + layout.contact_geom), 2, np.int32)
    a, b = worlds.geom_bodies[geoms[0]], worlds.geom_bodies[geoms[1]]
    is_first = worlds.owners[a] == row
    if worlds.vehicles[a] == worlds.vehicles[b] or (not is_first and worlds.owners[b] != row):
        return
    n = carray(pointer(contact + layout.contact_row), 1, np.int32)[0]
    if n < 0:
        return
    frame = carray(pointer(contact + layout.contact_frame), 9, np.float64)
    position = carray(pointer(contact + layout.contact_pos), 3, np.float64)
    force_W = force_on_first(numbers(data, layout.efc_force, n + 3)[n:], frame)
    add_force(force_W, is_first, vec(position), center_W, wrench)


@njit(cache=True, nogil=True)
def step_worlds(
    worlds: NativeWorlds, wrenches: Array, dt: float, begin: int, end: int, data: int
) -> None:
    """One step of the running ones of some worlds under wrenches (B, bodies, 6)."""
    worlds = borrowed(worlds)
    before = np.empty(worlds.x.shape[1:])
    for w in range(begin, end):
        if worlds.status[w] == RUNNING:
            begin_world(worlds, data, w)
            step_world(worlds, data, w, wrenches[w], before, dt)
            end_world(worlds, data, w)
