# SPDX-License-Identifier: BSD-3-Clause
r"""Guidance of a docking by the paper's expert, "PID and direct wrench control", in many worlds.

Both aircraft are held by

.. math:: a = k_p \mathrm{sat}(e) + k_i \int e - k_d v

at their positions, the chaser's being a gate before the mouth; there, once aligned, it is no longer held along the
socket's axis, but pushed with a constant force against a damper.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.docking.guidance import SIZE
from iap_control.docking.vehicle_control import (
    POSITION,
    VELOCITY,
    PairParameters,
    clipped3,
)
from iap_description.arrays import Array, Booleans
from iap_description.math.kernels import (
    Vec,
    add,
    dot,
    norm,
    put_at,
    quat_at,
    rotate,
    scale,
    sub,
    vec_at,
)

# Indices of the memory, behind the integrals of target and chaser.
PUSHES, LATCHED, LATCH_POSITIONS = 6, 7, 8
MEMORY_SIZE = 14


class WrenchGuidance(NamedTuple):
    """Gains and distances of the guidance.

    Attributes:
        stiffness: k_p [1/s^2].
        integral: k_i [1/s^3].
        damping: k_d [1/s].
        reach: largest error per axis that pulls [m].
        gate: distance before the mouth at which it aligns [m].
        aligned: distance from its position at the gate from which on it pushes [m].
        way_off: distance from the axis at which it goes back to the gate [m].
        push: acceleration of the pushing force [m/s^2].
        drag: of the damper against it [1/s].
    """

    stiffness: float
    integral: float
    damping: float
    reach: float
    gate: float
    aligned: float
    way_off: float
    push: float
    drag: float


def guidance_memory(worlds: int) -> Array:
    """Memory (B, n) of either guidance in so many worlds at the start of an episode."""
    return np.zeros((worlds, max(SIZE, MEMORY_SIZE)))


@njit(cache=True)
def guide_by_wrench(
    measured: Array,
    latched: Booleans,
    observed: Array,
    gains: WrenchGuidance,
    references: Array,
    pair: PairParameters,
    memory: Array,
    out: Array,
) -> None:
    """Write the accelerations (B, 2, 3) [m/s^2] of B worlds.

    Args:
        measured: (B, 2, 13) measured state rows of target and chaser.
        latched: (B,) whether the latch holds.
        observed: (B, 2, 13) observers of both.
        gains: of the guidance.
        references: (2, 3) positions of both when docked [m].
        pair: constants of both vehicles; its period is that of decisions.
        memory: (B, n) see `guidance_memory`; advanced in place.
        out: written.
    """
    for b in range(len(out)):
        row = memory[b]
        q_t = quat_at(measured[b, 0], 3)
        axis = rotate(q_t, vec_at(pair.socket.axis, 0))
        mouth = add(vec_at(observed[b, 0], POSITION), rotate(q_t, vec_at(pair.socket.position, 0)))
        arm = rotate(quat_at(measured[b, 1], 3), vec_at(pair.probe.position, 0))
        gate = sub(add(mouth, scale(gains.gate, axis)), arm)
        _decide(sub(add(vec_at(observed[b, 1], POSITION), arm), mouth), axis, gains, row)
        positions = vec_at(references[0], 0), gate
        if latched[b]:
            _note_latch_positions(observed[b], row)
            positions = vec_at(row, LATCH_POSITIONS), vec_at(row, LATCH_POSITIONS + 3)
        else:
            row[LATCHED] = 0.0
        for i in range(2):
            put_at(out[b, i], 0, _pid(observed[b, i], positions[i], i, gains, pair.dt, row))
        if row[PUSHES] > 0.0 and not latched[b]:
            v = sub(vec_at(observed[b, 1], VELOCITY), vec_at(observed[b, 0], VELOCITY))
            put_at(out[b, 1], 0, _with_push(vec_at(out[b, 1], 0), dot(v, axis), axis, gains))


@njit(cache=True)
def _decide(d: Vec, axis: Vec, gains: WrenchGuidance, memory: Array) -> None:
    """Push once the probe's end, at d from the mouth, is aligned at the gate; go back where it is off."""
    s = dot(d, axis)
    off = norm(sub(d, scale(s, axis)))
    if memory[PUSHES] == 0.0 and off < gains.aligned and abs(s - gains.gate) < gains.aligned:
        memory[PUSHES] = 1.0
    elif s > 0.0 and off > gains.way_off:
        memory[PUSHES] = 0.0


@njit(cache=True)
def _note_latch_positions(observed: Array, memory: Array) -> None:
    """Keep the positions of both when the latch caught."""
    if memory[LATCHED] == 0.0:
        put_at(memory, LATCH_POSITIONS, vec_at(observed[0], POSITION))
        put_at(memory, LATCH_POSITIONS + 3, vec_at(observed[1], POSITION))
        memory[LATCHED] = 1.0


@njit(cache=True)
def _pid(
    observed: Array, position: Vec, i: int, gains: WrenchGuidance, dt: float, memory: Array
) -> Vec:
    error = clipped3(sub(position, vec_at(observed, POSITION)), gains.reach)
    integral = add(vec_at(memory, 3 * i), scale(dt, error))
    put_at(memory, 3 * i, integral)
    pull = add(scale(gains.stiffness, error), scale(gains.integral, integral))
    return sub(pull, scale(gains.damping, vec_at(observed, VELOCITY)))


@njit(cache=True)
def _with_push(a: Vec, speed: float, axis: Vec, gains: WrenchGuidance) -> Vec:
    """An acceleration whose part along the axis is the push's instead; speed [m/s] out of the socket."""
    along = -gains.push - gains.drag * speed
    return add(a, scale(along - dot(a, axis), axis))
