# SPDX-License-Identifier: BSD-3-Clause
r"""The script that docks: the target holds its place, the chaser brings its probe into the target's socket.

Each is asked for the acceleration :math:`k_p (p_r - \hat p) + k_d (v_r - \hat v) + a_r`, by the estimates of
`iap_simulation.docking.vehicle_control`. The chaser's reference goes along the socket's axis:
fast at first, slowly from the gate before the mouth on (place and speed are behind the acceleration by the time in
which a vehicle follows it), where it waits until probe and socket are aligned; where the probe does not follow into the
socket it backs off to the gate. Once the latch has caught, both stop where they are.
"""

import math

import numpy as np
from numba import njit

from iap_description.arrays import Array
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
from iap_simulation.docking.vehicle_control import (
    AIM,
    DISTURBANCE,
    POSITION,
    VEHICLE_SIZE,
    VELOCITY,
    Pair,
    believe,
    estimate,
    limited,
    respond,
    within,
)
from iap_simulation.scenario.docking_spec import Script

# Numbers of the pair's, behind those of target and chaser.
STARTED, DISTANCE, SPEED, RETREATS, HELD, GOES, ALIGNED = 0, 1, 2, 3, 4, 5, 6
BEHIND, SLOWER, TIME, OFFSET, AXIS, SOCKET_ARM, PROBE_ARM = 7, 8, 9, 10, 13, 16, 19
PAIR = 2 * VEHICLE_SIZE
SIZE = PAIR + 22
PATIENCE = 0.03  # aligned for so long it goes in [s]
ARM_LAG = 0.2  # time constant with which the arms to the ports are smoothed [s]
STOPPING = 0.15  # time in which a docked pair stops [s]


@njit(cache=True)
def fly(
    target: Array,
    chaser: Array,
    touches: bool,
    caught: bool,
    script: Script,
    pair: Pair,
    memory: Array,
    out: Array,
) -> None:
    """Write what a pair is asked for at one control instant.

    Args:
        target: (13,) measured state row.
        chaser: (13,) the same.
        touches: whether they are in contact.
        caught: whether the latch holds the probe.
        script: how it is flown.
        pair: what is known of the vehicles.
        memory: (SIZE,) zero at the start; moved on in place.
        out: (2, 4) thrust [N] and body rates (3,) [rad/s] of target and chaser, written.
    """
    own, shared = parts(memory)
    if shared[STARTED] == 0.0:
        start(target, chaser, pair, own, shared)
    for x, state in ((target, own[0]), (chaser, own[1])):
        estimate(x, touches or caught, script, pair, state)
    wanted = guide(target, chaser, caught, script, pair, own, shared)
    for i, x in enumerate((target, chaser)):
        a = sub(wanted[i], vec_at(own[i], DISTURBANCE))
        respond(x, a, script, pair, own[i], out[i])


@njit(cache=True)
def parts(memory: Array) -> tuple[tuple[Array, Array], Array]:
    """Memory of target and chaser, and that of the pair."""
    return (memory[:VEHICLE_SIZE], memory[VEHICLE_SIZE:PAIR]), memory[PAIR:]


@njit(cache=True)
def guide(
    target: Array,
    chaser: Array,
    caught: bool,
    script: Script,
    pair: Pair,
    own: tuple[Array, Array],
    shared: Array,
) -> tuple[Vec, Vec]:
    """Accelerations [m/s^2] of target and chaser, by the estimates in `own`; moves the memory of the pair on."""
    _smooth(target, chaser, pair, shared)
    if caught and shared[HELD] == 0.0:
        _hold(own[0], own[1])
    shared[HELD] = 1.0 if caught else 0.0
    zero = (0.0, 0.0, 0.0)
    hold = _pull(vec_at(own[0], AIM), zero, zero, script, own[0])
    if caught:
        return hold, _pull(vec_at(own[1], AIM), zero, zero, script, own[1])
    place, velocity, ahead = _reference(target, chaser, script, pair, own, shared)
    return hold, _pull(place, velocity, ahead, script, own[1])


@njit(cache=True)
def _pull(p_r: Vec, v_r: Vec, a_r: Vec, script: Script, memory: Array) -> Vec:
    """The acceleration [m/s^2] towards a reference."""
    p, v = vec_at(memory, POSITION), vec_at(memory, VELOCITY)
    pull = add(scale(script.stiffness, sub(p_r, p)), scale(script.damping, sub(v_r, v)))
    return add(limited(pull, script.limit), a_r)


@njit(cache=True)
def _reference(
    target: Array,
    chaser: Array,
    script: Script,
    pair: Pair,
    own: tuple[Array, Array],
    shared: Array,
) -> tuple[Vec, Vec, Vec]:
    """Place, velocity and acceleration that the chaser is to have; moved on by a period."""
    acceleration = _approach(target, chaser, script, pair, own, shared)
    axis = vec_at(shared, AXIS)
    mouth = add(vec_at(own[0], POSITION), vec_at(shared, SOCKET_ARM))
    share = pair.dt / script.lag
    shared[BEHIND] += share * (shared[DISTANCE] - shared[BEHIND])
    shared[SLOWER] += share * (shared[SPEED] - shared[SLOWER])
    shared[TIME] += pair.dt
    aside, swing = vec_at(shared, OFFSET), shared[TIME] / script.sideways
    left, drift, _ = swung((shared[TIME] - script.lag) / script.sideways)
    pull = swung(swing)[2] / script.sideways**2
    end = add(mouth, add(scale(shared[BEHIND], axis), scale(left, aside)))
    moved = add(scale(shared[SLOWER], axis), scale(drift / script.sideways, aside))
    velocity = add(vec_at(own[0], VELOCITY), moved)
    ahead = add(scale(acceleration, axis), scale(pull, aside))
    return sub(end, vec_at(shared, PROBE_ARM)), velocity, ahead


@njit(cache=True)
def swung(share: float) -> tuple[float, float, float]:
    """What is left of an offset, and its first and second derivative, after a share of its time: without jerks."""
    u = min(max(share, 0.0), 1.0)
    left = 1.0 - u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)
    rest = u * (1.0 - u)
    return left, -30.0 * rest * rest, -60.0 * rest * (1.0 - 2.0 * u)


@njit(cache=True)
def start(
    target: Array, chaser: Array, pair: Pair, own: tuple[Array, Array], shared: Array
) -> None:
    """Believe the first measurement; the target stays where it is."""
    believe(target, pair, own[0])
    believe(chaser, pair, own[1])
    put_at(shared, AXIS, vec_at(pair.socket.axis, 0))
    put_at(shared, SOCKET_ARM, vec_at(pair.socket.position, 0))
    put_at(shared, PROBE_ARM, vec_at(pair.probe.position, 0))
    d = sub(add(vec_at(chaser, 0), vec_at(pair.probe.position, 0)), vec_at(target, 0))
    d, axis = sub(d, vec_at(pair.socket.position, 0)), vec_at(pair.socket.axis, 0)
    shared[DISTANCE] = dot(d, axis)
    put_at(shared, OFFSET, sub(d, scale(shared[DISTANCE], axis)))
    shared[BEHIND], shared[STARTED] = shared[DISTANCE], 1.0


@njit(cache=True)
def _smooth(target: Array, chaser: Array, pair: Pair, shared: Array) -> None:
    """Follow the socket's axis and the arms to both ports without the swing of the vehicles' tilting."""
    share = pair.dt / ARM_LAG
    q_t, q_c = quat_at(target, 3), quat_at(chaser, 3)
    _follow(shared, AXIS, rotate(q_t, vec_at(pair.socket.axis, 0)), share)
    _follow(shared, SOCKET_ARM, rotate(q_t, vec_at(pair.socket.position, 0)), share)
    _follow(shared, PROBE_ARM, rotate(q_c, vec_at(pair.probe.position, 0)), share)


@njit(cache=True)
def _follow(shared: Array, k: int, now: Vec, share: float) -> None:
    put_at(shared, k, add(vec_at(shared, k), scale(share, sub(now, vec_at(shared, k)))))


@njit(cache=True)
def _hold(target: Array, chaser: Array) -> None:
    """Let both stop together."""
    v = scale(0.5, add(vec_at(target, VELOCITY), vec_at(chaser, VELOCITY)))
    put_at(target, AIM, add(vec_at(target, POSITION), scale(STOPPING, v)))
    put_at(chaser, AIM, add(vec_at(chaser, POSITION), scale(STOPPING, v)))


@njit(cache=True)
def _approach(
    target: Array,
    chaser: Array,
    script: Script,
    pair: Pair,
    own: tuple[Array, Array],
    shared: Array,
) -> float:
    """Move the commanded distance of the probe's end before the mouth on; returns its acceleration [m/s^2]."""
    dt, left = pair.dt, shared[DISTANCE] - script.gate
    _decide(_found(target, chaser, pair, own, shared), script, shared, dt)
    if shared[GOES] > 0.0 and left <= 0.0:
        wanted = -script.entry if shared[DISTANCE] > -script.push else 0.0
    elif left > 0.0 and shared[RETREATS] == 0.0:
        entry = script.entry
        wanted = -min(script.cruise, math.sqrt(entry * entry + 2.0 * script.brake * left))
    else:
        wanted = min(script.entry, script.stiffness * max(-left, 0.0))
    change = within(wanted - shared[SPEED], script.brake * dt)
    shared[SPEED] += change
    shared[DISTANCE] += dt * shared[SPEED]
    return change / dt


@njit(cache=True)
def _decide(found: tuple[float, float, float], script: Script, shared: Array, dt: float) -> None:
    """Go in where both are aligned at the gate; back off where the probe does not follow, or is off the axis."""
    s, off, speed = found
    is_aligned = off < script.aligned and speed < script.aligned_speed
    shared[ALIGNED] = shared[ALIGNED] + dt if is_aligned else 0.0
    lags = s - shared[BEHIND] > script.stuck
    if shared[RETREATS] > 0.0:
        if s > 0.5 * script.gate and shared[DISTANCE] > 0.8 * script.gate:
            shared[RETREATS] = 0.0
    elif lags or (0.0 < s < 0.5 * script.gate and off > script.way_off):
        shared[RETREATS], shared[GOES] = 1.0, 0.0
    elif shared[ALIGNED] > PATIENCE and shared[DISTANCE] < script.gate + 0.02:
        shared[GOES] = 1.0


@njit(cache=True)
def _found(
    target: Array, chaser: Array, pair: Pair, own: tuple[Array, Array], shared: Array
) -> tuple[float, float, float]:
    """Distance of the probe's end before the mouth and off the axis [m], and speed of the latter [m/s].

    With the smoothed arms: what the vehicles' tilting under accelerations does to the probe's end passes with them.
    """
    axis = vec_at(shared, AXIS)
    mouth = add(vec_at(own[0], POSITION), vec_at(shared, SOCKET_ARM))
    d = sub(add(vec_at(own[1], POSITION), vec_at(shared, PROBE_ARM)), mouth)
    v = sub(vec_at(own[1], VELOCITY), vec_at(own[0], VELOCITY))
    s = dot(d, axis)
    return s, norm(sub(d, scale(s, axis))), norm(sub(v, scale(dot(v, axis), axis)))


def empty_memory() -> Array:
    """Memory of a script that has not flown yet."""
    return np.zeros(SIZE)
