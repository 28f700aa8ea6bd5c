# SPDX-License-Identifier: BSD-3-Clause
r"""Observer and attitude law of either vehicle of a docking: from accelerations to thrust and body rates.

Each vehicle has an observer of its position, velocity and of the acceleration d that thrust and weight do not explain,

.. math::
    \dot{\hat p} = \hat v + l_p (p - \hat p), \qquad
    \dot{\hat v} = \tfrac{T}{m} R e_3 - g e_3 + \hat d + l_v (v - \hat v), \qquad
    \dot{\hat d} = l_d (v - \hat v),

with the commanded thrust behind a lag as T. An acceleration a is answered by the thrust and the attitude that give it
:math:`a - \hat d`.

Commands may act late. Over the delay that is assumed, :func:`predict` moves a measured state on under the commands
that are on their way, and all laws work on the state in which their command will act.
"""

from typing import NamedTuple

from numba import njit

from iap_control.allocation.allocation import attitude_of_thrust
from iap_control.docking.settings import ScriptParameters
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    dot,
    put4,
    put_at,
    qconj,
    qlog,
    qmul,
    qnormalize,
    qrate,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec_at,
)
from iap_description.vehicles.latch import PortFrame

MAX_AHEAD = 20  # largest assumed delay in control periods
# Indices of a vehicle's memory: position and velocity are predicted ones, those of the observer stand behind the aim,
# and commands on their way (MAX_AHEAD, 4), oldest first, at the end.
POSITION, VELOCITY, DISTURBANCE, THRUST, AIM = 0, 3, 6, 9, 10
OBSERVED_POSITION, OBSERVED_VELOCITY, SENT = 13, 16, 19
VEHICLE_SIZE = SENT + 4 * MAX_AHEAD
YAW = 0.25  # gain and change of yaw rates over those of roll and pitch


class PairParameters(NamedTuple):
    """Constants of both vehicles.

    Attributes:
        probe: the chaser's port.
        socket: the target's.
        mass: of each vehicle [kg].
        gravity: [m/s^2].
        dt: control period [s].
        ahead: control periods of the assumed delay, see `predict`.
        rate_gain: of the autopilots' rate loops about the body's axes [1/s].
        coupled_rate_gain: of the same loops while the vehicles are locked to each other [1/s].
    """

    probe: PortFrame
    socket: PortFrame
    mass: float
    gravity: float
    dt: float
    ahead: int
    rate_gain: Vec
    coupled_rate_gain: Vec


@njit(cache=True)
def initialise_observer(x: Array, pair: PairParameters, memory: Array) -> None:
    """Initialise the observer with a measured state row (13,) at which the vehicle hovers."""
    put_at(memory, POSITION, vec_at(x, 0))
    put_at(memory, VELOCITY, vec_at(x, 7))
    put_at(memory, OBSERVED_POSITION, vec_at(x, 0))
    put_at(memory, OBSERVED_VELOCITY, vec_at(x, 7))
    put_at(memory, DISTURBANCE, (0.0, 0.0, 0.0))
    put_at(memory, AIM, vec_at(x, 0))
    memory[THRUST] = pair.mass * pair.gravity
    memory[SENT:] = 0.0
    for k in range(pair.ahead):
        memory[SENT + 4 * k] = memory[THRUST]


@njit(cache=True)
def update_observer(
    x: Array, touches: bool, script: ScriptParameters, pair: PairParameters, memory: Array
) -> None:
    """Advance a vehicle's observer to a measured row (13,); in contact its disturbance stays as it is."""
    p, v = vec_at(memory, OBSERVED_POSITION), vec_at(memory, OBSERVED_VELOCITY)
    d, dt = vec_at(memory, DISTURBANCE), pair.dt
    lift = rotate(quat_at(x, 3), (0.0, 0.0, memory[THRUST] / pair.mass))
    a = add(add(lift, (0.0, 0.0, -pair.gravity)), d)
    p, v = add(p, scale(dt, v)), add(v, scale(dt, a))
    p = add(p, scale(dt * script.position_gain, sub(vec_at(x, 0), p)))
    off = sub(vec_at(x, 7), v)
    v = add(v, scale(dt * script.velocity_gain, off))
    if not touches:
        d = clipped3(add(d, scale(dt * script.disturbance_gain, off)), script.disturbance_limit)
    put_at(memory, OBSERVED_POSITION, p)
    put_at(memory, OBSERVED_VELOCITY, v)
    put_at(memory, DISTURBANCE, d)


@njit(cache=True)
def take_observed(memory: Array) -> None:
    """Take a vehicle's observed position and velocity for the predicted ones, where no delay is assumed."""
    put_at(memory, POSITION, vec_at(memory, OBSERVED_POSITION))
    put_at(memory, VELOCITY, vec_at(memory, OBSERVED_VELOCITY))


@njit(cache=True)
def predict(
    x: Array,
    rate_gain: Vec,
    script: ScriptParameters,
    pair: PairParameters,
    memory: Array,
    out: Array,
) -> None:
    r"""Predict a vehicle's state and estimates to the instant at which its next command acts.

    Under the commands on their way, thrust follows with the lag of the observer, and body rates by
    :math:`\dot w = k_w (w_d - w)`. Without an assumed delay the prediction is the measured row.

    Args:
        x: (13,) measured state row.
        rate_gain: k_w about the body's axes [1/s].
        script: lags.
        pair: constants of both vehicles.
        memory: of the vehicle; its position and velocity are written.
        out: (13,) predicted state row, written.
    """
    out[:] = x
    p, v = vec_at(memory, OBSERVED_POSITION), vec_at(memory, OBSERVED_VELOCITY)
    if pair.ahead > 0:
        d, thrust, dt = vec_at(memory, DISTURBANCE), memory[THRUST], pair.dt
        q = quat_at(x, 3)
        w_B = unrotate(q, vec_at(x, 10))
        for k in range(SENT, SENT + 4 * pair.ahead, 4):
            thrust += dt / script.thrust_lag * (memory[k] - thrust)
            w_B = (
                w_B[0] + min(1.0, dt * rate_gain[0]) * (memory[k + 1] - w_B[0]),
                w_B[1] + min(1.0, dt * rate_gain[1]) * (memory[k + 2] - w_B[1]),
                w_B[2] + min(1.0, dt * rate_gain[2]) * (memory[k + 3] - w_B[2]),
            )
            step = qrate(q, w_B)
            q = qnormalize(
                (
                    q[0] + dt * step[0],
                    q[1] + dt * step[1],
                    q[2] + dt * step[2],
                    q[3] + dt * step[3],
                )
            )
            lift = rotate(q, (0.0, 0.0, thrust / pair.mass))
            v = add(v, scale(dt, add(add(lift, (0.0, 0.0, -pair.gravity)), d)))
            p = add(p, scale(dt, v))
        put_at(out, 0, p)
        put4(out[3:7], q)
        put_at(out, 7, v)
        put_at(out, 10, rotate(q, w_B))
    put_at(memory, POSITION, p)
    put_at(memory, VELOCITY, v)


@njit(cache=True)
def attitude_command(
    x: Array, a: Vec, script: ScriptParameters, pair: PairParameters, memory: Array, out: Array
) -> None:
    """Write thrust [N] and body rates [rad/s] (4,) for an acceleration [m/s^2] of a vehicle of predicted row (13,)."""
    q_WB = quat_at(x, 3)
    thrust, q = thrust_command(a, q_WB, pair.mass, pair.gravity)
    w_B = unrotate(q_WB, vec_at(x, 10))
    out[0] = thrust
    put_at(out, 1, body_rates(q_WB, w_B, q, script.turn_gain, script.turn_change))
    note_command(out, script, pair, memory)


@njit(cache=True)
def note_command(
    command: Array, script: ScriptParameters, pair: PairParameters, memory: Array
) -> None:
    """Keep a command (4,) that is sent, and low-pass the thrust of the one that acts now, as the observer has it."""
    thrust, last = command[0], SENT + 4 * (pair.ahead - 1)
    if pair.ahead > 0:
        thrust = memory[SENT]
        for k in range(SENT, last):
            memory[k] = memory[k + 4]
        for k in range(4):
            memory[last + k] = command[k]
    memory[THRUST] += pair.dt / script.thrust_lag * (thrust - memory[THRUST])


@njit(cache=True)
def thrust_command(a: Vec, q_WB: Quat, mass: float, gravity: float) -> tuple[float, Quat]:
    """Thrust [N] and attitude, heading +x, that give a vehicle of attitude q_WB an acceleration [m/s^2]."""
    f = scale(mass, (a[0], a[1], max(a[2] + gravity, 0.2 * gravity)))
    thrust = max(dot(f, rotate(q_WB, (0.0, 0.0, 1.0))), 0.0)
    return thrust, attitude_of_thrust(f, 0.0)


@njit(cache=True)
def body_rates(q: Quat, w_B: Vec, q_goal: Quat, gain: float, change: float) -> Vec:
    """Body rates [rad/s] towards a goal attitude; near the present ones, so that rotors keep room for the thrust.

    Yaw, for which rotors have little torque, is turned at `YAW` of gain and change.
    """
    turn = qlog(qmul(qconj(q), q_goal))
    return (
        w_B[0] + clipped(gain * turn[0] - w_B[0], change),
        w_B[1] + clipped(gain * turn[1] - w_B[1], change),
        w_B[2] + clipped(YAW * gain * turn[2] - w_B[2], YAW * change),
    )


@njit(cache=True)
def clipped(value: float, limit: float) -> float:
    """A number clipped to +-limit."""
    return min(max(value, -limit), limit)


@njit(cache=True)
def clipped3(v: Vec, limit: float) -> Vec:
    """A vector whose numbers are clipped to +-limit."""
    return (clipped(v[0], limit), clipped(v[1], limit), clipped(v[2], limit))


@njit(cache=True)
def subtract_disturbances(observed: Array, out: Array) -> None:
    """Subtract the estimated disturbances of observers (B, 2, 13) from accelerations (B, 2, 3), in place."""
    for b in range(len(out)):
        for i in range(2):
            put_at(out[b, i], 0, sub(vec_at(out[b, i], 0), vec_at(observed[b, i], DISTURBANCE)))
