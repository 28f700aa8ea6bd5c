# SPDX-License-Identifier: BSD-3-Clause
r"""The script that docks: the target holds its place, the chaser brings its probe into the target's socket.

Each vehicle has an observer of its position, velocity and of the acceleration d that thrust and weight do not explain,

.. math::
    \dot{\hat p} = \hat v + l_p (p - \hat p), \qquad
    \dot{\hat v} = \tfrac{T}{m} R e_3 - g e_3 + \hat d + l_v (v - \hat v), \qquad
    \dot{\hat d} = l_d (v - \hat v),

with the commanded thrust behind a lag as T, and is asked for the acceleration
:math:`k_p (p_r - \hat p) + k_d (v_r - \hat v) + a_r - \hat d`. The chaser's reference goes along the socket's axis:
fast at first, slowly from the gate before the mouth on (place and speed are behind the acceleration by the time in
which a vehicle follows it), where it waits until probe and socket are aligned; where the probe does not follow into the
socket it backs off to the gate. Once the latch has caught, both stop where they are.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.allocation import attitude_of_thrust
from iap_description.arrays import Array
from iap_description.kernels import (
    Quat,
    Vec,
    add,
    dot,
    norm,
    put_at,
    qconj,
    qlog,
    qmul,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec_at,
)
from iap_description.vehicles.latch import PortFrame
from iap_simulation.docking.settings import Script

# Numbers of a vehicle's memory.
POSITION, VELOCITY, DISTURBANCE, THRUST, AIM, VEHICLE_SIZE = 0, 3, 6, 9, 10, 13
# Numbers of the pair's, behind those of target and chaser.
STARTED, DISTANCE, SPEED, RETREATS, HELD, GOES, ALIGNED = 0, 1, 2, 3, 4, 5, 6
BEHIND, SLOWER, TIME, OFFSET, AXIS, SOCKET_ARM, PROBE_ARM = 7, 8, 9, 10, 13, 16, 19
PAIR = 2 * VEHICLE_SIZE
SIZE = PAIR + 22
PATIENCE = 0.03  # aligned for so long it goes in [s]
ARM_LAG = 0.2  # time constant with which the arms to the ports are smoothed [s]
YAW = 0.25  # gain and change of yaw rates over those of roll and pitch
STOPPING = 0.15  # time in which a docked pair stops [s]


class Pair(NamedTuple):
    """What the script knows of its vehicles.

    Attributes:
        probe: the chaser's port.
        socket: the target's.
        mass: of each vehicle [kg].
        gravity: [m/s^2].
        dt: control period [s].
    """

    probe: PortFrame
    socket: PortFrame
    mass: float
    gravity: float
    dt: float


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
    own = memory[:VEHICLE_SIZE], memory[VEHICLE_SIZE:PAIR]
    shared = memory[PAIR:]
    if shared[STARTED] == 0.0:
        _start(target, chaser, pair, own, shared)
    _observe(target, touches or caught, script, pair, own[0])
    _observe(chaser, touches or caught, script, pair, own[1])
    _smooth(target, chaser, pair, shared)
    if caught:
        if shared[HELD] == 0.0:
            _hold(own[0], own[1])
            shared[HELD] = 1.0
        zero = (0.0, 0.0, 0.0)
        _command(target, vec_at(own[0], AIM), zero, zero, script, pair, own[0], out[0])
        _command(chaser, vec_at(own[1], AIM), zero, zero, script, pair, own[1], out[1])
        return
    shared[HELD] = 0.0
    zero = (0.0, 0.0, 0.0)
    _command(target, vec_at(own[0], AIM), zero, zero, script, pair, own[0], out[0])
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
    _command(
        chaser, sub(end, vec_at(shared, PROBE_ARM)), velocity, ahead, script, pair, own[1], out[1]
    )


@njit(cache=True)
def swung(share: float) -> tuple[float, float, float]:
    """What is left of an offset, and its first and second derivative, after a share of its time: without jerks."""
    u = min(max(share, 0.0), 1.0)
    left = 1.0 - u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)
    rest = u * (1.0 - u)
    return left, -30.0 * rest * rest, -60.0 * rest * (1.0 - 2.0 * u)


@njit(cache=True)
def _start(
    target: Array, chaser: Array, pair: Pair, own: tuple[Array, Array], shared: Array
) -> None:
    """Believe the first measurement; the target stays where it is."""
    for x, memory in ((target, own[0]), (chaser, own[1])):
        put_at(memory, POSITION, vec_at(x, 0))
        put_at(memory, VELOCITY, vec_at(x, 7))
        put_at(memory, AIM, vec_at(x, 0))
        memory[THRUST] = pair.mass * pair.gravity
    put_at(shared, AXIS, vec_at(pair.socket.axis, 0))
    put_at(shared, SOCKET_ARM, vec_at(pair.socket.position, 0))
    put_at(shared, PROBE_ARM, vec_at(pair.probe.position, 0))
    d = sub(add(vec_at(chaser, 0), vec_at(pair.probe.position, 0)), vec_at(target, 0))
    d, axis = sub(d, vec_at(pair.socket.position, 0)), vec_at(pair.socket.axis, 0)
    shared[DISTANCE] = dot(d, axis)
    put_at(shared, OFFSET, sub(d, scale(shared[DISTANCE], axis)))
    shared[BEHIND], shared[STARTED] = shared[DISTANCE], 1.0


@njit(cache=True)
def _observe(x: Array, touches: bool, script: Script, pair: Pair, memory: Array) -> None:
    """Move a vehicle's observer on to this instant; what another vehicle pushes with is no disturbance."""
    p, v, d = vec_at(memory, POSITION), vec_at(memory, VELOCITY), vec_at(memory, DISTURBANCE)
    dt = pair.dt
    lift = rotate(quat_at(x, 3), (0.0, 0.0, memory[THRUST] / pair.mass))
    a = add(add(lift, (0.0, 0.0, -pair.gravity)), d)
    p, v = add(p, scale(dt, v)), add(v, scale(dt, a))
    p = add(p, scale(dt * script.position_gain, sub(vec_at(x, 0), p)))
    off = sub(vec_at(x, 7), v)
    v = add(v, scale(dt * script.velocity_gain, off))
    if not touches:
        d = _limited(add(d, scale(dt * script.disturbance_gain, off)), script.disturbance_limit)
    put_at(memory, POSITION, p)
    put_at(memory, VELOCITY, v)
    put_at(memory, DISTURBANCE, d)


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
    change = _within(wanted - shared[SPEED], script.brake * dt)
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


@njit(cache=True)
def _command(
    x: Array, p_r: Vec, v_r: Vec, a_r: Vec, script: Script, pair: Pair, memory: Array, out: Array
) -> None:
    """Thrust and body rates for a reference."""
    p, v, d = vec_at(memory, POSITION), vec_at(memory, VELOCITY), vec_at(memory, DISTURBANCE)
    pull = add(scale(script.stiffness, sub(p_r, p)), scale(script.damping, sub(v_r, v)))
    a = sub(add(_limited(pull, script.limit), a_r), d)
    thrust, q = thrust_command(a, quat_at(x, 3), pair.mass, pair.gravity)
    q_WB = quat_at(x, 3)
    w_B = unrotate(q_WB, vec_at(x, 10))
    out[0] = thrust
    put_at(out, 1, body_rates(q_WB, w_B, q, script.turn_gain, script.turn_change))
    memory[THRUST] += pair.dt / script.thrust_lag * (thrust - memory[THRUST])


@njit(cache=True)
def thrust_command(a: Vec, q_WB: Quat, mass: float, gravity: float) -> tuple[float, Quat]:
    """Thrust [N] and attitude, heading +x, that give a vehicle of attitude q_WB an acceleration [m/s^2]."""
    f = scale(mass, (a[0], a[1], max(a[2] + gravity, 0.2 * gravity)))
    thrust = max(dot(f, rotate(q_WB, (0.0, 0.0, 1.0))), 0.0)
    return thrust, attitude_of_thrust(f, 0.0)


@njit(cache=True)
def body_rates(q: Quat, w_B: Vec, wanted: Quat, gain: float, change: float) -> Vec:
    """Body rates [rad/s] towards a wanted attitude; near the present ones, so that rotors keep room for the thrust.

    Yaw, for which rotors have little torque, is turned at `YAW` of gain and change.
    """
    turn = qlog(qmul(qconj(q), wanted))
    return (
        w_B[0] + _within(gain * turn[0] - w_B[0], change),
        w_B[1] + _within(gain * turn[1] - w_B[1], change),
        w_B[2] + _within(YAW * gain * turn[2] - w_B[2], YAW * change),
    )


@njit(cache=True)
def _within(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


@njit(cache=True)
def _limited(v: Vec, limit: float) -> Vec:
    return (_within(v[0], limit), _within(v[1], limit), _within(v[2], limit))


def empty_memory() -> Array:
    """Memory of a script that has not flown yet."""
    return np.zeros(SIZE)
