# SPDX-License-Identifier: BSD-3-Clause
r"""Guidance of a scripted docking: the target holds its position, the chaser brings its probe into the target's socket.

Each is asked for the acceleration :math:`k_p (p_r - \hat p) + k_d (v_r - \hat v) + a_r`, by the estimates of
`iap_control.docking.vehicle_control`. The chaser's reference goes along the socket's axis:
fast at first, slowly from the gate before the mouth on (position and speed are behind the acceleration by the time in
which a vehicle follows it), where it waits until probe and socket are aligned; where the probe does not follow into the
socket it backs off to the gate. Once the latch has caught, both stop where they are; once it has locked, both fly as
one body, see `iap_control.docking.coupled_flight`.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.docking.coupled_flight import BEGUN, COUPLED_SIZE, PairLaws, coupled_command
from iap_control.docking.settings import ScriptParameters
from iap_control.docking.vehicle_control import (
    AIM,
    DISTURBANCE,
    POSITION,
    SENT,
    VEHICLE_SIZE,
    VELOCITY,
    PairParameters,
    attitude_command,
    clipped,
    clipped3,
    initialise_observer,
    predict,
    take_observed,
    update_observer,
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

ROW = 13  # of a state
# Indices of the script's state.
STARTED, DISTANCE, SPEED, RETREATS, LATCHED, ENTERS, ALIGNED = 0, 1, 2, 3, 4, 5, 6
LAGGED_DISTANCE, LAGGED_SPEED, TIME, OFFSET, AXIS, SOCKET_ARM, PROBE_ARM = 7, 8, 9, 10, 13, 16, 19
STATE_SIZE = 22
# Behind it in the script's memory stand the coupled flight's, predicted rows and the observers of target and chaser.
PREDICTED = STATE_SIZE + COUPLED_SIZE
OBSERVERS = PREDICTED + 2 * ROW
SIZE = OBSERVERS + 2 * VEHICLE_SIZE  # at most, see `memory_size`
ALIGNED_TIME = 0.03  # for which the probe is aligned before it enters [s]
ARM_LAG = 0.2  # time constant with which the arms to the ports are smoothed [s]
STOP_TIME = 0.15  # in which a docked pair stops [s]


class PairLinks(NamedTuple):
    """Links between target and chaser at a control instant.

    Attributes:
        touches: whether they are in contact.
        caught: whether the latch holds the probe.
        locked: whether it holds it without play.
    """

    touches: bool
    caught: bool
    locked: bool


@njit(cache=True)
def script_command(
    measured: tuple[Array, Array],
    links: PairLinks,
    laws: PairLaws,
    memory: Array,
    out: Array,
) -> None:
    """Write the commands of a pair at one control instant.

    Args:
        measured: state rows (13,) of target and chaser.
        links: between them.
        laws: of the pair.
        memory: (`memory_size` or more,) zero at the start; advanced in place.
        out: (2, 4) thrust [N] and body rates (3,) [rad/s] of target and chaser, written.
    """
    script, pair = laws.script, laws.pair
    observers, state = split_memory(memory, pair.ahead)
    coupled = memory[STATE_SIZE:PREDICTED]
    predicted = measured
    if pair.ahead > 0:
        predicted = memory[PREDICTED : PREDICTED + ROW], memory[PREDICTED + ROW : OBSERVERS]
    if state[STARTED] == 0.0:
        start_script(measured[0], measured[1], pair, observers, state)
    rate_gain = pair.coupled_rate_gain if links.locked else pair.rate_gain
    for i in range(2):
        update_observer(measured[i], links.touches or links.caught, script, pair, observers[i])
        if pair.ahead > 0:
            predict(measured[i], rate_gain, script, pair, observers[i], predicted[i])
        else:  # a call with all constants would take longer than this
            take_observed(observers[i])
    if links.locked:
        coupled_command(measured, predicted, laws, observers, coupled, out)
        return
    coupled[BEGUN] = 0.0
    both = script_accelerations(
        predicted[0], predicted[1], links.caught, script, pair, observers, state
    )
    for i in range(2):
        a = sub(both[i], vec_at(observers[i], DISTURBANCE))
        attitude_command(predicted[i], a, script, pair, observers[i], out[i])


@njit(cache=True)
def split_memory(memory: Array, ahead: int) -> tuple[tuple[Array, Array], Array]:
    """Observers of target and chaser with so many commands on their way, and the state of the script."""
    second = OBSERVERS + SENT + 4 * ahead
    both = memory[OBSERVERS:second], memory[second : second + SENT + 4 * ahead]
    return both, memory[:STATE_SIZE]


@njit(cache=True)
def script_accelerations(
    target: Array,
    chaser: Array,
    caught: bool,
    script: ScriptParameters,
    pair: PairParameters,
    observers: tuple[Array, Array],
    state: Array,
) -> tuple[Vec, Vec]:
    """Accelerations [m/s^2] of target and chaser, by their observers; the script's state is advanced."""
    _smooth(target, chaser, pair, state)
    if caught and state[LATCHED] == 0.0:
        stop_together(observers[0], observers[1])
    state[LATCHED] = 1.0 if caught else 0.0
    zero = (0.0, 0.0, 0.0)
    hold = _pd(vec_at(observers[0], AIM), zero, zero, script, observers[0])
    if caught:
        return hold, _pd(vec_at(observers[1], AIM), zero, zero, script, observers[1])
    position, velocity, feed_forward = _reference(script, pair, observers, state)
    return hold, _pd(position, velocity, feed_forward, script, observers[1])


@njit(cache=True)
def _pd(p_r: Vec, v_r: Vec, a_r: Vec, script: ScriptParameters, memory: Array) -> Vec:
    """Acceleration [m/s^2] towards a reference."""
    p, v = vec_at(memory, POSITION), vec_at(memory, VELOCITY)
    pull = add(scale(script.stiffness, sub(p_r, p)), scale(script.damping, sub(v_r, v)))
    return add(clipped3(pull, script.limit), a_r)


@njit(cache=True)
def _reference(
    script: ScriptParameters,
    pair: PairParameters,
    observers: tuple[Array, Array],
    state: Array,
) -> tuple[Vec, Vec, Vec]:
    """Reference position, velocity and acceleration of the chaser, advanced by a period."""
    acceleration = _approach(script, pair, observers, state)
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
def start_script(
    target: Array,
    chaser: Array,
    pair: PairParameters,
    observers: tuple[Array, Array],
    state: Array,
) -> None:
    """Initialise both observers with the first measurements; the target holds its position."""
    initialise_observer(target, pair, observers[0])
    initialise_observer(chaser, pair, observers[1])
    start_approach(target, chaser, pair, state)


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
def _smooth(target: Array, chaser: Array, pair: PairParameters, state: Array) -> None:
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
def _approach(
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


def memory_size(ahead: int) -> int:
    """Size of the script's memory with an assumed delay of so many control periods: a short one is sooner at hand."""
    return OBSERVERS + 2 * (SENT + 4 * ahead)


def empty_memory() -> Array:
    """Memory (SIZE,) at the start of a flight."""
    return np.zeros(SIZE)


@njit(cache=True)
def guide_by_script(
    measured: Array,
    latched: Booleans,
    observed: Array,
    script: ScriptParameters,
    pair: PairParameters,
    memory: Array,
    out: Array,
) -> None:
    """Write the accelerations (B, 2, 3) [m/s^2] of the script in B worlds.

    Args:
        measured: (B, 2, 13) measured state rows of target and chaser.
        latched: (B,) whether the latch holds.
        observed: (B, 2, 13) observers of both.
        script: gains and distances of the approach.
        pair: constants of both vehicles; its period is that of decisions.
        memory: (B, `memory_size` or more) zero at the start; advanced in place.
        out: written.
    """
    for b in range(len(out)):
        observers, state = split_memory(memory[b], pair.ahead)
        x_t, x_c = measured[b, 0], measured[b, 1]
        if state[STARTED] == 0.0:
            start_script(x_t, x_c, pair, observers, state)
        for i in range(2):
            observers[i][:AIM] = observed[b, i, :AIM]
        both = script_accelerations(x_t, x_c, latched[b], script, pair, observers, state)
        put_at(out[b, 0], 0, both[0])
        put_at(out[b, 1], 0, both[1])
