# SPDX-License-Identifier: BSD-3-Clause
"""Some physics steps of a block of worlds in free flight: autopilots, rotors, air, and the platform's motion.

Sums are taken in the order in which `iap_physics.plant.Plant` takes them, so that every world has the bits of one that
is stepped alone.
"""

from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.kernels import choose, formula
from iap_physics.blocks import layout
from iap_physics.blocks.layout import VEHICLE, body_row, get, set1
from iap_physics.blocks.loops import (
    add_drag,
    add_external,
    add_to_sums,
    check,
    clear,
    clear_sums,
    command,
    follow,
    move,
    place,
    spin,
    tick,
    turn,
)


@njit(cache=True, error_model="numpy", nogil=True)
def advance_block(
    block: Array,
    turns: Booleans,
    bodies: Integers,
    every: int,
    has_drag: bool,
    checks: bool,
    lanes: int,
    steps: int,
    dt: float,
) -> None:
    """Advance a block by some physics steps.

    Args:
        block: its rows, see `iap_physics.blocks.layout`; changed in place.
        turns: (bodies,) whether the body turns on its own, as in `RigidModel`.
        bodies: (N,) the aircraft's bodies.
        every: physics steps of an autopilot's period.
        has_drag: whether bodies feel the air.
        checks: whether each world is looked at after each step, and stands still from where it diverged.
        lanes: number of worlds in it.
        steps: how many.
        dt: length of one [s].
    """
    for step in range(steps):
        if checks:
            _keep(block, len(turns), lanes)
        _push(block, turns, bodies, every, has_drag, lanes)
        # without drag, nothing but the last step's result asks where the aircraft are
        _go_on(block, turns, has_drag or checks or step == steps - 1, dt, lanes)
        if checks:
            _check_all(block, turns, step, lanes)
            _undo(block, len(turns), lanes)


@formula
def _push(
    block: Array, turns: Booleans, bodies: Integers, every: int, has_drag: bool, lanes: int
) -> None:
    """Autopilots, rotors, disturbance and drag: the bodies' wrenches and their sums."""
    for i in range(len(turns)):
        clear(block, body_row(i), lanes)
    for n in range(len(bodies)):
        command(block, body_row(bodies[n]), lanes)
        tick(block, body_row(bodies[n]), every, lanes)
        spin(block, body_row(bodies[n]), lanes)
    add_external(block, body_row(0), lanes)
    if has_drag:
        for i in range(len(turns)):
            add_drag(block, body_row(i), lanes)
    clear_sums(block, lanes)
    for i in range(len(turns)):
        add_to_sums(block, body_row(i), i == 0 or not turns[i], lanes)


@formula
def _go_on(block: Array, turns: Booleans, places: bool, dt: float, lanes: int) -> None:
    """The motion of all bodies, with or without the places of the outer ones."""
    move(block, body_row(0), dt, lanes)
    for i in range(1, len(turns)):
        if turns[i]:
            turn(block, body_row(i), dt, lanes)
        else:
            follow(block, body_row(i), lanes)
        if places:
            place(block, body_row(i), lanes)


@formula
def _check_all(block: Array, turns: Booleans, step: int, lanes: int) -> None:
    """Let worlds fly no more in which the motion of a body of its own is none."""
    for i in range(len(turns)):
        if i == 0 or turns[i]:
            check(block, body_row(i), step, lanes)


@formula
def _keep(block: Array, count: int, lanes: int) -> None:
    """Keep the states for worlds that will have diverged."""
    for i in range(count):
        for k in range(13):
            for lane in range(lanes):
                value = get(block, body_row(i), layout.STATE + k, lane)
                set1(block, body_row(i), layout.BEFORE + k, lane, value)


@formula
def _undo(block: Array, count: int, lanes: int) -> None:
    """Put worlds back that do not fly."""
    for i in range(count):
        for k in range(13):
            for lane in range(lanes):
                now = get(block, body_row(i), layout.STATE + k, lane)
                before = get(block, body_row(i), layout.BEFORE + k, lane)
                flies = get(block, VEHICLE, layout.FLIES, lane) > 0.0
                set1(block, body_row(i), layout.STATE + k, lane, choose(flies, now, before))
