# SPDX-License-Identifier: BSD-3-Clause
"""Each aircraft's own autopilot: attitude loop, rate loop and mixer, for a batch of platforms.

Commands come at the controller's rate, the autopilot runs at its own. It gives up yaw torque first, then
thrust, then roll and pitch torque, so that a saturated aircraft still points its thrust.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import (
    Packed,
    Quat,
    Vec,
    choose,
    formula,
    least,
    mat,
    most,
    put4,
    quat,
    unrotate,
    vec,
)
from iap_description.math.saturation import share_out_four
from iap_description.states import Mode
from iap_description.vehicles.aircraft import Aircraft, inertia_matrix
from iap_description.vehicles.autopilot_gains import (
    AutopilotGains,
    attitude_feedback,
    attitude_torque,
    torque_against,
)
from iap_physics.propulsion.attitude_estimator import estimate
from iap_physics.propulsion.estimates import AutopilotEstimates, OwnEstimates
from iap_physics.propulsion.last_command import LastCommand
from iap_physics.propulsion.rate_loop import (
    IS_STARTED,
    RateNumbers,
    all_terms,
    begin,
    delayed,
    filter_rate,
    integrate,
)
from iap_physics.propulsion.rotors import RotorStates, Rpm

Mix = tuple[Vec, Vec, Vec, Vec]

_ATTITUDE, _RATE, _RPM = int(Mode.ATTITUDE_THRUST), int(Mode.RATE_THRUST), int(Mode.RPM)


class Autopilot(NamedTuple):
    """One aircraft's autopilot as the compiled loop takes it.

    Attributes:
        attitude: (3,) gain [1/s^2].
        rate: (3,) gain [1/s].
        J: (3, 3) the aircraft's inertia [kg m^2].
        mix: (4, 4) rotor thrusts of [thrust; torque].
        lift: (4,) each rotor's share of a collective thrust; 0 of one that the aircraft does not have.
        thrust_coefficient: c_f [N/rpm^2].
        rpm_min: idle speed [rpm].
        rpm_max: top speed [rpm].
        lead: share of a rotor's speed error that is added to its command.
        low_pass: as those below, see `RateNumbers`.
        integral: (3,).
        integral_limit: (3,).
        derivative: (3,).
        share: of a difference.
        rate_hz: of the loop [Hz].
    """

    attitude: Array
    rate: Array
    J: Array
    mix: Array
    lift: Array
    thrust_coefficient: float
    rpm_min: float
    rpm_max: float
    lead: float
    low_pass: Array
    integral: Array
    integral_limit: Array
    derivative: Array
    share: float
    rate_hz: float

    @classmethod
    def of(cls, aircraft: Aircraft, gains: AutopilotGains) -> "Autopilot":
        """The autopilot of an aircraft under a gain preset."""
        rotor = aircraft.rotor
        return cls(
            np.array(gains.attitude),
            np.array(gains.rate),
            inertia_matrix(aircraft.inertia),
            aircraft.mix,
            aircraft.presence / len(aircraft.rotors),
            rotor.c_f,
            rotor.rpm_min,
            rotor.rpm_max,
            gains.rotor_lead - 1.0,
            *RateNumbers.of(gains),
        )


class FleetState(NamedTuple):
    """Aircraft of a vehicle in B worlds.

    Autopilots go by estimates from outside, else by their own, else by the truth.

    Attributes:
        bodies: (N,) their state rows.
        autopilots: (N,) `Autopilot` records.
        command: to them; a platform wrench is allocated before.
        rotors: of them, whose target autopilots write.
        memory: (B, N, K) of their rate loops, see `iap_physics.propulsion.rate_loop`; K is 0 without.
        known: estimates from outside.
        own: estimates of the autopilots.
        every: physics steps from one instant of the autopilots to the next.
    """

    bodies: Integers
    autopilots: Packed
    command: LastCommand
    rotors: RotorStates
    memory: Array
    known: AutopilotEstimates
    own: OwnEstimates
    every: int = 1


class SpeedLimits(NamedTuple):
    """Limits and lead of rotor speeds, fields as those of `Autopilot`."""

    thrust_coefficient: float
    rpm_min: float
    rpm_max: float
    lead: float


@njit(cache=True)
def autopilot_step(x: Array, is_due: Booleans, fleet: FleetState) -> None:
    """Rotor speed commands of every aircraft of every platform in a batch.

    Args:
        x: (B, bodies, 13) true states.
        is_due: (B,) worlds whose autopilots compute at this step; the others keep their targets.
        fleet: the aircraft; a body rate command is a feed-forward in the attitude mode.
    """
    for b in range(fleet.rotors.target.shape[0]):
        if is_due[b]:
            steer(x[b], b, fleet)


@njit(cache=True)
def steer(x: Array, b: int, fleet: FleetState) -> None:
    """Rotor speed commands of every aircraft of the platform in world b, whose true states are x (bodies, 13)."""
    command, rotors, has_loop = fleet.command, fleet.rotors, fleet.memory.shape[2] > 0
    has_estimator, is_told = fleet.own.memory.shape[2] > 0, fleet.known.is_used[b]
    out = rotors.target
    for n in range(out.shape[1]):
        mode, autopilot, body = command.modes[b, n], fleet.autopilots[n], fleet.bodies[n]
        lift = quat(autopilot.lift)
        q, w = _motion(fleet.known.x[b, body] if is_told else x[body])
        if has_estimator:
            own = estimate(fleet.own.memory[b, n], x[body], fleet.own.records[n])
            if not is_told:
                q, w = own
        if mode == _RPM:
            if has_loop:
                fleet.memory[b, n, IS_STARTED] = 0.0
            put4(out[b, n], of_rotors(quat(command.rpm[b, n]), lift))
            continue
        order = (command.q_WB[b, n], command.w_WB_B[b, n])
        if has_loop:
            memory, now = fleet.memory[b, n], rotors.rpm[b, n]
            torque = _torque_of_loop(q, w, mode, order, autopilot, memory, now)
        else:
            torque = _torque(q, w, mode, order, autopilot)
        limits = SpeedLimits(
            autopilot.thrust_coefficient, autopilot.rpm_min, autopilot.rpm_max, autopilot.lead
        )
        thrust, rpm = command.thrust[b, n], quat(rotors.rpm[b, n])
        speeds = rotor_commands(thrust, torque, _mix(autopilot), lift, limits, rpm)
        if has_loop:
            speeds = delayed(fleet.memory[b, n], speeds, lift, limits.rpm_min, limits.rpm_max)
        put4(out[b, n], speeds)


@njit(cache=True)
def _motion(row: Array) -> tuple[Quat, Vec]:
    """Attitude and body rate [rad/s] of a state row (13,)."""
    q = quat(row[3:])
    return q, unrotate(q, vec(row[10:]))


@njit(cache=True)
def _torque(q: Quat, w: Vec, mode: int, order: tuple[Array, Array], autopilot: Autopilot) -> Vec:
    """Torque [N m] about the CoM, body axes, for attitude, body rate [rad/s], and the order to both."""
    gains = (vec(autopilot.attitude), vec(autopilot.rate))
    asked = (quat(order[0]), vec(order[1]), *gains, mat(autopilot.J))
    return attitude_torque(mode == _ATTITUDE, q, w, *asked)


@njit(cache=True)
def _torque_of_loop(
    q: Quat,
    w: Vec,
    mode: int,
    order: tuple[Array, Array],
    autopilot: Autopilot,
    memory: Array,
    rpm: Array,
) -> Vec:
    """The same of a rate loop with a memory (K,); rotors have the present speeds (4,) [rpm]."""
    gains = (vec(autopilot.attitude), vec(autopilot.rate))
    if memory[IS_STARTED] == 0.0:
        begin(memory, w, rpm, autopilot.low_pass)
    w = filter_rate(memory, w, autopilot.low_pass, autopilot.share, autopilot.rate_hz)
    asked = (quat(order[0]), vec(order[1]), *gains)
    feedback = attitude_feedback(mode == _ATTITUDE, q, w, *asked)
    terms = all_terms(memory, feedback, autopilot.derivative)
    integrate(memory, feedback, autopilot.integral, autopilot.integral_limit)
    return torque_against(terms, w, mat(autopilot.J))


@njit(cache=True)
def _mix(autopilot: Autopilot) -> Mix:
    """Of each rotor's thrust, what roll, pitch and yaw torque take."""
    mix = autopilot.mix
    return (vec(mix[0, 1:]), vec(mix[1, 1:]), vec(mix[2, 1:]), vec(mix[3, 1:]))


@formula
def rotor_commands(
    thrust: float,
    torque: Vec,
    mix: Mix,
    lift: Quat,
    limits: SpeedLimits,
    rpm: Rpm,
) -> Rpm:
    """Rotor speed commands [rpm] for a collective thrust [N] and a torque [N m].

    Args:
        thrust: collective [N].
        torque: about the CoM, body axes [N m].
        mix: see `_mix`.
        lift: see `Autopilot`; a rotor that is not there has the mean thrust, and so no part in what is given up.
        limits: of the speeds.
        rpm: present speeds [rpm].
    """
    c_f, rpm_min, rpm_max, lead = limits
    tilt = (
        mix[0][0] * torque[0] + mix[0][1] * torque[1],
        mix[1][0] * torque[0] + mix[1][1] * torque[1],
        mix[2][0] * torque[0] + mix[2][1] * torque[1],
        mix[3][0] * torque[0] + mix[3][1] * torque[1],
    )
    yaw = (
        mix[0][2] * torque[2],
        mix[1][2] * torque[2],
        mix[2][2] * torque[2],
        mix[3][2] * torque[2],
    )
    lowest, highest = c_f * (rpm_min * rpm_min), c_f * (rpm_max * rpm_max)
    f = share_out_four(lift[0] * thrust, tilt, yaw, lowest, highest)
    speeds = (
        _lead(math.sqrt(f[0] / c_f), rpm[0], lead, rpm_min, rpm_max),
        _lead(math.sqrt(f[1] / c_f), rpm[1], lead, rpm_min, rpm_max),
        _lead(math.sqrt(f[2] / c_f), rpm[2], lead, rpm_min, rpm_max),
        _lead(math.sqrt(f[3] / c_f), rpm[3], lead, rpm_min, rpm_max),
    )
    return of_rotors(speeds, lift)


@formula
def of_rotors(speeds: Rpm, lift: Quat) -> Rpm:
    """Speeds of four rotors, zero of those that an aircraft does not have (see `Autopilot.lift`)."""
    return (
        choose(lift[0] > 0.0, speeds[0], 0.0),
        choose(lift[1] > 0.0, speeds[1], 0.0),
        choose(lift[2] > 0.0, speeds[2], 0.0),
        choose(lift[3] > 0.0, speeds[3], 0.0),
    )


@formula
def _lead(target: float, rpm: float, lead: float, rpm_min: float, rpm_max: float) -> float:
    """Speed command within limits that makes up for the rotor's lag."""
    return least(most(target + lead * (target - rpm), rpm_min), rpm_max)
