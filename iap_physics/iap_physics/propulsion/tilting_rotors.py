# SPDX-License-Identifier: BSD-3-Clause
r"""Rotors that tilt about their arms: commanded angle to angle to the wrench on the aircraft, compiled.

A servo's angle b follows its command, clipped to the limit, by a first-order lag whose rate is limited,

.. math::
    \dot b = \mathrm{clip}((b_c - b) / T, \pm \dot b_{max}),

which is integrated exactly: along the largest rate until the lag is slower than it, then by the exponential. A rotor's
thrust, the step's mean as `iap_physics.propulsion.rotors` makes it, acts along the mean of the angles at both ends.
Eqs. (1), (3), (4), (13), (14) of beatle make the wrench. The torques that servos and turning rotors put on the airframe
by their own inertia are neglected.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Quat,
    Six,
    Vec,
    add6,
    angular,
    choose,
    combined6,
    formula,
    least,
    linear,
    most,
    put4,
    quat,
    rotate,
    six_at,
)
from iap_description.vehicles.aircraft import Aircraft
from iap_physics.propulsion.rotors import Lag, RotorParameters, RotorStates, Rpm, lag, spin_four

Angles = tuple[float, float, float, float]
Columns = tuple[Six, Six, Six, Six]  # wrench of a unit of thrust of each rotor


class Servo(NamedTuple):
    """Servos that tilt an aircraft's rotors.

    Attributes:
        limit: largest angle, either way [rad]; 0 for rotors that do not tilt.
        rate: largest [rad/s].
        time_constant: T [s].
    """

    limit: float
    rate: float
    time_constant: float


class TiltParameters(NamedTuple):
    """Parameters of the tilts of one aircraft's rotors.

    Attributes:
        limit: see `Servo`.
        rate: see `Servo`.
        time_constant: see `Servo`.
        up: (4, 6) wrench in the aircraft's frame of a unit of thrust of each rotor at b = 0.
        sideways: (4, 6) the same at b = 90 deg.
    """

    limit: float
    rate: float
    time_constant: float
    up: Array
    sideways: Array

    @classmethod
    def of(cls, aircraft: Aircraft) -> Self:
        """The parameters of an aircraft; of one whose rotors do not tilt, angles that stay zero."""
        columns = np.ascontiguousarray(aircraft.wrench_of_tilted_thrusts.T)
        tilt = aircraft.tilt
        servo = (0.0, 1.0, 1.0) if tilt is None else (tilt.limit, tilt.rate, tilt.time_constant)
        return cls(*servo, columns[::2].copy(), columns[1::2].copy())


@formula
def tilt_after(tilt: float, command: float, servo: Servo, dt: float) -> float:
    """A rotor's angle [rad] at the end of a step `dt` [s] in which its command [rad] is constant."""
    target = least(most(command, -servo.limit), servo.limit)
    e = target - tilt
    size, slow = choose(e < 0.0, -e, e), servo.rate * servo.time_constant
    rushing = least(most((size - slow) / servo.rate, 0.0), dt)  # time at the largest rate
    left = (size - servo.rate * rushing) * math.exp(-(dt - rushing) / servo.time_constant)
    return target - choose(e < 0.0, -left, left)


@formula
def tilt_four(tilts: Angles, command: Angles, servo: Servo, dt: float) -> Angles:
    """`tilt_after` of an aircraft's rotors."""
    return (
        tilt_after(tilts[0], command[0], servo, dt),
        tilt_after(tilts[1], command[1], servo, dt),
        tilt_after(tilts[2], command[2], servo, dt),
        tilt_after(tilts[3], command[3], servo, dt),
    )


@formula
def tilted_thrust(thrust: float, before: float, after: float, up: Six, sideways: Six) -> Six:
    """Wrench in the aircraft's frame of a rotor's thrust [N] at the mean of two angles [rad]."""
    tilt = 0.5 * (before + after)
    a, b = thrust * math.cos(tilt), thrust * math.sin(tilt)
    return combined6(a, up, b, sideways)


@formula
def tilted_wrench(
    thrusts: Rpm, before: Angles, after: Angles, q_WB: Quat, up: Columns, sideways: Columns
) -> tuple[Vec, Vec]:
    """Force [N] and torque about the CoM [N m], world axes, of four rotor thrusts [N] at their angles."""
    first = tilted_thrust(thrusts[0], before[0], after[0], up[0], sideways[0])
    second = tilted_thrust(thrusts[1], before[1], after[1], up[1], sideways[1])
    third = tilted_thrust(thrusts[2], before[2], after[2], up[2], sideways[2])
    fourth = tilted_thrust(thrusts[3], before[3], after[3], up[3], sideways[3])
    wrench_B = add6(add6(first, second), add6(third, fourth))
    return rotate(q_WB, linear(wrench_B)), rotate(q_WB, angular(wrench_B))


@njit(cache=True)
def four_columns(M: Array) -> Columns:
    """The rows of an array (4, 6) as wrenches."""
    return (six_at(M[0], 0), six_at(M[1], 0), six_at(M[2], 0), six_at(M[3], 0))


@njit(cache=True)
def tilt_aircraft(
    rpm: Array,
    tilts: Array,
    command: tuple[Array, Array],
    q_WB: Quat,
    p: RotorParameters,
    t: TiltParameters,
    lags: tuple[Lag, Lag],
    dt: float,
) -> tuple[Vec, Vec]:
    """One aircraft over one step: moves `rpm` (4,) and `tilts` (4,) on in place and returns force and torque.

    Commands are speeds (4,) [rpm], and angles of the tilts (4,) [rad]; lags are those of rising and falling speeds.
    """
    limits = (p.thrust_coefficient, p.rpm_min, p.speed_share * p.rpm_max, lags[0], lags[1])
    speeds, thrusts = spin_four(quat(rpm), quat(command[0]), *limits, quat(p.thrust_share))
    before, servo = quat(tilts), Servo(t.limit, t.rate, t.time_constant)
    after = tilt_four(before, quat(command[1]), servo, dt)
    put4(rpm, speeds)
    put4(tilts, after)
    columns = (four_columns(t.up), four_columns(t.sideways))
    return tilted_wrench(thrusts, before, after, q_WB, *columns)


@njit(cache=True)
def step_tilting_rotors(
    rotors: RotorStates, angles: Array, x: Array, wrenches: Array, dt: float
) -> None:
    """All rotors of one platform in a batch of worlds over one step, as `iap_physics.propulsion.rotors.step_rotors`.

    Args:
        rotors: speeds and angles, which are moved on in place towards their targets.
        angles: (B, N, 4) commanded angles [rad].
        x: (B, bodies, 13) state rows.
        wrenches: (B, bodies, 6) wrenches on the bodies, world axes, to which the rotors' are added.
        dt: step [s].
    """
    rpm, tilts, target = rotors.rpm, rotors.tilt, rotors.target
    for i in range(rpm.shape[1]):
        p, t = rotors.records[i], rotors.servos[i]
        row, lags = p.body, (lag(dt, p.time_constant_up), lag(dt, p.time_constant_down))
        for b in range(rpm.shape[0]):
            command, q_WB = (target[b, i], angles[b, i]), quat(x[b, row, 3:7])
            force, torque = tilt_aircraft(rpm[b, i], tilts[b, i], command, q_WB, p, t, lags, dt)
            for k in range(3):
                wrenches[b, row, k] += force[k]
                wrenches[b, row, 3 + k] += torque[k]
