# SPDX-License-Identifier: BSD-3-Clause
r"""Rotors: commanded speed to speed to the wrench on the aircraft, compiled.

A rotor's speed n follows its clamped command n_c by a first-order lag whose time constant T differs
for spinning up and down, and its thrust along the aircraft's z is quadratic in speed with a drag
torque in proportion (Mahony, Kumar and Corke, "Multirotor aerial vehicles", RAM 2012):

.. math::
    \dot n = (n_c - n) / T, \qquad f = c_f n^2, \qquad \tau_z = \mp (c_m / c_f) f .

Both are integrated exactly over a step in which the command is constant: the thrust that acts is
the step's mean, so that the impulse does not depend on the step size. The rotors' own angular
momentum is neglected. Faults are factors on f and on the largest n_c (`iap_description.vehicles.faults.Health`).
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Packed,
    Quat,
    Vec,
    choose,
    formula,
    least,
    most,
    put4,
    quat,
    rotate,
)
from iap_description.vehicles.aircraft import Aircraft

Rpm = tuple[float, float, float, float]
Torques = tuple[
    Rpm, Rpm, Rpm
]  # rows of the matrix that makes roll, pitch and yaw torque of four thrusts


class RotorParameters(NamedTuple):
    """Parameters of the rotors of one aircraft.

    Attributes:
        body: state row of the aircraft.
        wrench_of_thrusts: (6, 4) rotor thrusts to the wrench in the aircraft's frame.
        thrust_coefficient: c_f [N/rpm^2].
        rpm_min: slowest turning rotor [rpm].
        rpm_max: fastest [rpm].
        time_constant_up: T while the speed rises [s].
        time_constant_down: T while it falls [s].
        thrust_share: (4,) factor on each rotor's thrust, and with it on its drag torque; 1 is sound, 0 is no rotor.
        speed_share: factor on the fastest speed; 0 where the motors have stopped.
    """

    body: int
    wrench_of_thrusts: Array
    thrust_coefficient: float
    rpm_min: float
    rpm_max: float
    time_constant_up: float
    time_constant_down: float
    thrust_share: Array
    speed_share: float

    @classmethod
    def of(cls, aircraft: Aircraft, body: int, thrust: float = 1.0, lag: float = 1.0) -> Self:
        """Rotor parameters of an aircraft: thrust c_f n^2 [N] of n [rpm], and time constants [s].

        Args:
            aircraft: the aircraft.
            body: its state row.
            thrust: factor on thrusts.
            lag: factor on time constants.
        """
        rotor = aircraft.rotor
        return cls(
            body,
            np.ascontiguousarray(aircraft.wrench_of_rotor_thrusts),
            thrust * rotor.c_f,
            rotor.rpm_min,
            rotor.rpm_max,
            lag * rotor.time_constant_up,
            lag * rotor.time_constant_down,
            aircraft.presence,
            1.0,
        )


class RotorStates(NamedTuple):
    """Rotors of N aircraft in B worlds.

    Attributes:
        rpm: (B, N, 4) speeds [rpm].
        tilt: (B, N, 4) angles about the arms [rad], zero of rotors that do not tilt.
        target: (B, N, 4) the speeds that autopilots have commanded last [rpm].
        records: (N,) `RotorParameters`.
        servos: (N,) `iap_physics.propulsion.tilting_rotors.TiltParameters`.
    """

    rpm: Array
    tilt: Array
    target: Array
    records: Packed
    servos: Packed


class Lag(NamedTuple):
    """A deviation e_0 from the target over one step."""

    end: float  # e at the end, per e_0
    mean: float  # of e, per e_0
    mean_square: float  # of e^2, per e_0^2


@njit(cache=True)
def lag(dt: float, time_constant: float) -> Lag:
    """The lag e(t) = e_0 exp(-t / T) over a step `dt` [s]."""
    s = dt / time_constant
    return Lag(math.exp(-s), -math.expm1(-s) / s, -math.expm1(-2.0 * s) / (2.0 * s))


@formula
def target_rpm(command: float, rpm_min: float, rpm_max: float) -> float:
    """The speed that a command asks for: within the limits, the upper one first, or 0 when it switches off (<= 0)."""
    return choose(command <= 0.0, 0.0, least(most(command, rpm_min), rpm_max))


@formula
def spin_rotor(
    rpm: float, command: float, c_f: float, rpm_min: float, rpm_max: float, up: Lag, down: Lag
) -> tuple[float, float]:
    """One rotor over one step.

    Returns:
        Speed at the end [rpm] and the step's mean thrust [N].
    """
    target = target_rpm(command, rpm_min, rpm_max)
    e = rpm - target
    end = choose(e < 0.0, up.end, down.end)
    mean = choose(e < 0.0, up.mean, down.mean)
    square = choose(e < 0.0, up.mean_square, down.mean_square)
    mean_square = target * target + 2.0 * target * e * mean + e * e * square
    return target + e * end, c_f * mean_square


@formula
def rotor_wrench(thrusts: Rpm, q_WB: Quat, torques: Torques) -> tuple[Vec, Vec]:
    """Force [N] and torque about the CoM [N m], world axes, of four rotor thrusts [N]."""
    a, b, c, d = thrusts
    x, y, z = torques
    torque_B = (
        x[0] * a + x[1] * b + x[2] * c + x[3] * d,
        y[0] * a + y[1] * b + y[2] * c + y[3] * d,
        z[0] * a + z[1] * b + z[2] * c + z[3] * d,
    )
    return rotate(q_WB, (0.0, 0.0, a + b + c + d)), rotate(q_WB, torque_B)


@formula
def spin_four(
    rpm: Rpm,
    command: Rpm,
    c_f: float,
    rpm_min: float,
    rpm_max: float,
    up: Lag,
    down: Lag,
    share: Rpm,
) -> tuple[Rpm, Rpm]:
    """One aircraft's rotors over one step: speeds at its end [rpm], and the share of mean thrusts that acts [N]."""
    n_0, a = spin_rotor(rpm[0], command[0], c_f, rpm_min, rpm_max, up, down)
    n_1, b = spin_rotor(rpm[1], command[1], c_f, rpm_min, rpm_max, up, down)
    n_2, c = spin_rotor(rpm[2], command[2], c_f, rpm_min, rpm_max, up, down)
    n_3, d = spin_rotor(rpm[3], command[3], c_f, rpm_min, rpm_max, up, down)
    return (n_0, n_1, n_2, n_3), (share[0] * a, share[1] * b, share[2] * c, share[3] * d)


@njit(cache=True)
def spin_aircraft(
    rpm: Array, command: Array, q_WB: Quat, p: RotorParameters, up: Lag, down: Lag
) -> tuple[Vec, Vec]:
    """One aircraft over one step: moves `rpm` (4,) on in place and returns force and torque."""
    fastest = p.speed_share * p.rpm_max
    limits = (p.thrust_coefficient, p.rpm_min, fastest, up, down)
    speeds, thrusts = spin_four(quat(rpm), quat(command), *limits, quat(p.thrust_share))
    put4(rpm, speeds)
    M = p.wrench_of_thrusts
    return rotor_wrench(thrusts, q_WB, (quat(M[3]), quat(M[4]), quat(M[5])))


@njit(cache=True)
def step_rotors(
    rpm: Array, command: Array, x: Array, wrenches: Array, rotors: Packed, dt: float
) -> None:
    """All rotors of one platform in a batch of worlds over one step.

    Args:
        rpm: (B, N, 4) rotor speeds [rpm], moved on in place.
        command: (B, N, 4) commanded speeds [rpm]; 0 switches a rotor off.
        x: (B, bodies, 13) state rows.
        wrenches: (B, bodies, 6) wrenches on the bodies, world axes, to which the rotors' are added.
        rotors: (N,) `RotorParameters` of the aircraft.
        dt: step [s].
    """
    for i in range(rpm.shape[1]):
        p = rotors[i]
        row, up, down = p.body, lag(dt, p.time_constant_up), lag(dt, p.time_constant_down)
        for b in range(rpm.shape[0]):
            q_WB = quat(x[b, row, 3:7])
            force, torque = spin_aircraft(rpm[b, i], command[b, i], q_WB, p, up, down)
            for k in range(3):
                wrenches[b, row, k] += force[k]
                wrenches[b, row, 3 + k] += torque[k]
