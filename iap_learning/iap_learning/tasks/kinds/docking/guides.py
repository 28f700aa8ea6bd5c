# SPDX-License-Identifier: BSD-3-Clause
r"""How experts of docking fly: accelerations of both aircraft at every decision, by the task's own observers.

`script` is the guidance of `iap_simulation.docking.script`. `wrench` is the paper's expert, "PID and direct wrench
control": both aircraft are held by

.. math:: a = k_p \mathrm{sat}(e) + k_i \int e - k_d v

at their places, the chaser's being a gate before the mouth; there, once aligned, it is no longer held along the
socket's axis, but pushed with a constant force against a damper.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

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
from iap_simulation.docking.script import SIZE, STARTED, guide, parts, start
from iap_simulation.docking.vehicle_control import (
    AIM,
    DISTURBANCE,
    POSITION,
    VELOCITY,
    Pair,
    limited,
)
from iap_simulation.scenario.docking_spec import Script

# Numbers of the wrench guide's memory, behind the integrals of target and chaser.
PUSHES, HOLDS, PLACES = 6, 7, 8
WRENCH_SIZE = 14


class Wrench(NamedTuple):
    """Numbers of the wrench guide.

    Attributes:
        stiffness: k_p [1/s^2].
        integral: k_i [1/s^3].
        damping: k_d [1/s].
        reach: largest error per axis that pulls [m].
        gate: distance before the mouth at which it aligns [m].
        aligned: distance from its place at the gate from which on it pushes [m].
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


def room(worlds: int) -> Array:
    """Memory of either guide for so many worlds, (B, n) of zeros, as at the start of an episode."""
    return np.zeros((worlds, max(SIZE, WRENCH_SIZE)))


@njit(cache=True)
def guide_by_script(
    measured: Array,
    latched: Booleans,
    observed: Array,
    script: Script,
    pair: Pair,
    memory: Array,
    out: Array,
) -> None:
    """Write the accelerations (B, 2, 3) [m/s^2] that the script wants.

    Args:
        measured: (B, 2, 13) state rows of target and chaser as they are measured.
        latched: (B,) whether the latch holds.
        observed: (B, 2, 13) of the task's observers.
        script: how it is flown.
        pair: what is known of the vehicles; its period is that of decisions.
        memory: (B, n) see `room`; moved on.
        out: written.
    """
    for b in range(len(out)):
        own, shared = parts(memory[b, :SIZE])
        x_t, x_c = measured[b, 0], measured[b, 1]
        if shared[STARTED] == 0.0:
            start(x_t, x_c, pair, own, shared)
        for i in range(2):
            own[i][:AIM] = observed[b, i, :AIM]
        wanted = guide(x_t, x_c, latched[b], script, pair, own, shared)
        put_at(out[b, 0], 0, wanted[0])
        put_at(out[b, 1], 0, wanted[1])


@njit(cache=True)
def guide_by_wrench(
    measured: Array,
    latched: Booleans,
    observed: Array,
    how: Wrench,
    references: Array,
    pair: Pair,
    memory: Array,
    out: Array,
) -> None:
    """Write the accelerations (B, 2, 3) [m/s^2] of the wrench guide; `references` (2, 3) are those of observations."""
    for b in range(len(out)):
        own = memory[b]
        q_t = quat_at(measured[b, 0], 3)
        axis = rotate(q_t, vec_at(pair.socket.axis, 0))
        mouth = add(vec_at(observed[b, 0], POSITION), rotate(q_t, vec_at(pair.socket.position, 0)))
        arm = rotate(quat_at(measured[b, 1], 3), vec_at(pair.probe.position, 0))
        gate = sub(add(mouth, scale(how.gate, axis)), arm)
        _decide(sub(add(vec_at(observed[b, 1], POSITION), arm), mouth), axis, how, own)
        places = vec_at(references[0], 0), gate
        if latched[b]:
            _remember(observed[b], own)
            places = vec_at(own, PLACES), vec_at(own, PLACES + 3)
        else:
            own[HOLDS] = 0.0
        for i in range(2):
            put_at(out[b, i], 0, _pid(observed[b, i], places[i], i, how, pair.dt, own))
        if own[PUSHES] > 0.0 and not latched[b]:
            v = sub(vec_at(observed[b, 1], VELOCITY), vec_at(observed[b, 0], VELOCITY))
            put_at(out[b, 1], 0, _pushed(vec_at(out[b, 1], 0), dot(v, axis), axis, how))


@njit(cache=True)
def _decide(d: Vec, axis: Vec, how: Wrench, own: Array) -> None:
    """Push once the probe's end, at d from the mouth, is aligned at the gate; go back where it is off."""
    s = dot(d, axis)
    off = norm(sub(d, scale(s, axis)))
    if own[PUSHES] == 0.0 and off < how.aligned and abs(s - how.gate) < how.aligned:
        own[PUSHES] = 1.0
    elif s > 0.0 and off > how.way_off:
        own[PUSHES] = 0.0


@njit(cache=True)
def _remember(observed: Array, own: Array) -> None:
    """Keep the places at which both were caught."""
    if own[HOLDS] == 0.0:
        put_at(own, PLACES, vec_at(observed[0], POSITION))
        put_at(own, PLACES + 3, vec_at(observed[1], POSITION))
        own[HOLDS] = 1.0


@njit(cache=True)
def _pid(observed: Array, place: Vec, i: int, how: Wrench, dt: float, own: Array) -> Vec:
    error = limited(sub(place, vec_at(observed, POSITION)), how.reach)
    summed = add(vec_at(own, 3 * i), scale(dt, error))
    put_at(own, 3 * i, summed)
    pull = add(scale(how.stiffness, error), scale(how.integral, summed))
    return sub(pull, scale(how.damping, vec_at(observed, VELOCITY)))


@njit(cache=True)
def _pushed(a: Vec, speed: float, axis: Vec, how: Wrench) -> Vec:
    """An acceleration whose part along the axis is the push's instead; speed [m/s] out of the socket."""
    along = -how.push - how.drag * speed
    return add(a, scale(along - dot(a, axis), axis))


@njit(cache=True)
def take_off_disturbance(observed: Array, out: Array) -> None:
    """Take the estimated disturbances off accelerations (B, 2, 3)."""
    for b in range(len(out)):
        for i in range(2):
            put_at(out[b, i], 0, sub(vec_at(out[b, i], 0), vec_at(observed[b, i], DISTURBANCE)))
