# SPDX-License-Identifier: BSD-3-Clause
r"""The approach of a scripted docking: the commanded distance of the probe before the socket's mouth, along its axis.

Fast at first, slowly from the gate before the mouth on (position and speed are behind the acceleration by the time in
which a vehicle follows it), where it waits until probe and socket are aligned. Where the probe does not follow into the
socket it backs off to the gate.
"""

import math

from numba import njit

from iap_control.docking.settings import ScriptParameters
from iap_control.docking.vehicle_control import (
    AIM,
    POSITION,
    VELOCITY,
    PairParameters,
    clipped,
)
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

# Indices of the script's state.
STARTED, DISTANCE, SPEED, RETREATS, LATCHED, ENTERS, ALIGNED = 0, 1, 2, 3, 4, 5, 6
LAGGED_DISTANCE, LAGGED_SPEED, TIME, OFFSET, AXIS, SOCKET_ARM, PROBE_ARM = 7, 8, 9, 10, 13, 16, 19
STATE_SIZE = 22
ALIGNED_TIME = 0.03  # for which the probe is aligned before it enters [s]
ARM_LAG = 0.2  # time constant with which the arms to the ports are smoothed [s]
STOP_TIME = 0.15  # in which a docked pair stops [s]


@njit(cache=True)
def approach_reference(
    script: ScriptParameters,
    pair: PairParameters,
    observers: tuple[Array, Array],
    state: Array,
) -> tuple[Vec, Vec, Vec]:
    """Reference position, velocity and acceleration of the chaser, advanced by a period."""
    acceleration = _advance_distance(script, pair, observers, state)
    axis = vec_at(state, AXIS)
    mouth = add(vec_at(observers[0], POSITION), vec_at(state, SOCKET_ARM))
    blend = pair.dt / script.lag
    state[LAGGED_DISTANCE] += blend * (state[DISTANCE] - state[LAGGED_DISTANCE])
    state[LAGGED_SPEED] += blend * (state[SPEED] - state[LAGGED_SPEED])
    state[TIME] += pair.dt
    aside, progress = vec_at(state, OFFSET), state[TIME] / script.sideways
    share, rate, _ = offset_share((state[TIME] - script.lag) / script.sideways)
    pull = offset_share(progress)[2] / script.sideways**2
    end = add(mouth, add(scale(state[LAGGED_DISTANCE], axis), scale(share, aside)))
    closing = add(scale(state[LAGGED_SPEED], axis), scale(rate / script.sideways, aside))
    velocity = add(vec_at(observers[0], VELOCITY), closing)
    feed_forward = add(scale(acceleration, axis), scale(pull, aside))
    return sub(end, vec_at(state, PROBE_ARM)), velocity, feed_forward


@njit(cache=True)
def offset_share(progress: float) -> tuple[float, float, float]:
    """Remaining share of an offset with its first and second derivative: a quintic, at rest at both ends."""
    u = min(max(progress, 0.0), 1.0)
    remaining = 1.0 - u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)
    rest = u * (1.0 - u)
    return remaining, -30.0 * rest * rest, -60.0 * rest * (1.0 - 2.0 * u)


@njit(cache=True)
def start_approach(target: Array, chaser: Array, pair: PairParameters, state: Array) -> None:
    """Begin an approach from where the vehicles of rows (13,) are; the state of the script is zero before."""
    put_at(state, AXIS, vec_at(pair.socket.axis, 0))
    put_at(state, SOCKET_ARM, vec_at(pair.socket.position, 0))
    put_at(state, PROBE_ARM, vec_at(pair.probe.position, 0))
    d = sub(add(vec_at(chaser, 0), vec_at(pair.probe.position, 0)), vec_at(target, 0))
    d, axis = sub(d, vec_at(pair.socket.position, 0)), vec_at(pair.socket.axis, 0)
    state[DISTANCE] = dot(d, axis)
    put_at(state, OFFSET, sub(d, scale(state[DISTANCE], axis)))
    state[LAGGED_DISTANCE], state[STARTED] = state[DISTANCE], 1.0


@njit(cache=True)
def smooth_arms(target: Array, chaser: Array, pair: PairParameters, state: Array) -> None:
    """Low-pass the socket's axis and the arms to both ports, which swing as the vehicles tilt."""
    share = pair.dt / ARM_LAG
    q_t, q_c = quat_at(target, 3), quat_at(chaser, 3)
    _low_pass(state, AXIS, rotate(q_t, vec_at(pair.socket.axis, 0)), share)
    _low_pass(state, SOCKET_ARM, rotate(q_t, vec_at(pair.socket.position, 0)), share)
    _low_pass(state, PROBE_ARM, rotate(q_c, vec_at(pair.probe.position, 0)), share)


@njit(cache=True)
def _low_pass(state: Array, k: int, now: Vec, share: float) -> None:
    put_at(state, k, add(vec_at(state, k), scale(share, sub(now, vec_at(state, k)))))


@njit(cache=True)
def stop_together(target: Array, chaser: Array) -> None:
    """Set the positions at which both stop at a common velocity."""
    v = scale(0.5, add(vec_at(target, VELOCITY), vec_at(chaser, VELOCITY)))
    put_at(target, AIM, add(vec_at(target, POSITION), scale(STOP_TIME, v)))
    put_at(chaser, AIM, add(vec_at(chaser, POSITION), scale(STOP_TIME, v)))


@njit(cache=True)
def _advance_distance(
    script: ScriptParameters,
    pair: PairParameters,
    observers: tuple[Array, Array],
    state: Array,
) -> float:
    """Move the commanded distance of the probe's end before the mouth on; returns its acceleration [m/s^2]."""
    dt, to_gate = pair.dt, state[DISTANCE] - script.gate
    _decide(_misalignment(observers, state), script, state, dt)
    if state[ENTERS] > 0.0 and to_gate <= 0.0:
        goal = -script.entry if state[DISTANCE] > -script.push else 0.0
    elif to_gate > 0.0 and state[RETREATS] == 0.0:
        entry = script.entry
        goal = -min(script.cruise, math.sqrt(entry * entry + 2.0 * script.brake * to_gate))
    else:
        goal = min(script.entry, script.stiffness * max(-to_gate, 0.0))
    change = clipped(goal - state[SPEED], script.brake * dt)
    state[SPEED] += change
    state[DISTANCE] += dt * state[SPEED]
    return change / dt


@njit(cache=True)
def _decide(
    misalignment: tuple[float, float, float], script: ScriptParameters, state: Array, dt: float
) -> None:
    """Enter where both are aligned at the gate; retreat where the probe does not follow, or is off the axis."""
    s, off, speed = misalignment
    is_aligned = off < script.aligned and speed < script.aligned_speed
    state[ALIGNED] = state[ALIGNED] + dt if is_aligned else 0.0
    lags = s - state[LAGGED_DISTANCE] > script.stuck
    if state[RETREATS] > 0.0:
        if s > 0.5 * script.gate and state[DISTANCE] > 0.8 * script.gate:
            state[RETREATS] = 0.0
    elif lags or (s < 0.5 * script.gate and off > script.way_off):
        state[RETREATS], state[ENTERS] = 1.0, 0.0
    elif state[ALIGNED] > ALIGNED_TIME and state[DISTANCE] < script.gate + 0.02:
        state[ENTERS] = 1.0


@njit(cache=True)
def _misalignment(observers: tuple[Array, Array], state: Array) -> tuple[float, float, float]:
    """Distance of the probe's end before the mouth and off the axis [m], and speed of the latter [m/s].

    With the smoothed arms: what the vehicles' tilting under accelerations does to the probe's end passes with them.
    """
    axis = vec_at(state, AXIS)
    mouth = add(vec_at(observers[0], POSITION), vec_at(state, SOCKET_ARM))
    d = sub(add(vec_at(observers[1], POSITION), vec_at(state, PROBE_ARM)), mouth)
    v = sub(vec_at(observers[1], VELOCITY), vec_at(observers[0], VELOCITY))
    s = dot(d, axis)
    return s, norm(sub(d, scale(s, axis))), norm(sub(v, scale(dot(v, axis), axis)))
