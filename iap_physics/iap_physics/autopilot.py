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
from iap_description.kernels import Packed, Vec, quat, unrotate, vec
from iap_description.saturation import share_out
from iap_description.states import Mode
from iap_description.vehicles.aircraft import Aircraft, inertia_matrix
from iap_description.vehicles.autopilot_gains import AutopilotGains, attitude_torque

_ATTITUDE, _RATE, _RPM = int(Mode.ATTITUDE_THRUST), int(Mode.RATE_THRUST), int(Mode.RPM)


class Autopilot(NamedTuple):
    """One aircraft's autopilot as the compiled loop takes it.

    Attributes:
        attitude: (3,) gain [1/s^2].
        rate: (3,) gain [1/s].
        J: (3, 3) the aircraft's inertia [kg m^2].
        mix: (4, 4) rotor thrusts of [thrust; torque].
        thrust_coefficient: c_f [N/rpm^2].
        rpm_min: idle speed [rpm].
        rpm_max: top speed [rpm].
        lead: share of a rotor's speed error that is added to its command.
    """

    attitude: Array
    rate: Array
    J: Array
    mix: Array
    thrust_coefficient: float
    rpm_min: float
    rpm_max: float
    lead: float

    @classmethod
    def of(cls, aircraft: Aircraft, gains: AutopilotGains) -> "Autopilot":
        """The autopilot of an aircraft under a gain preset."""
        rotor = aircraft.rotor
        mix = np.linalg.inv(aircraft.wrench_of_rotor_thrusts[[2, 3, 4, 5]])
        return cls(
            np.array(gains.attitude),
            np.array(gains.rate),
            inertia_matrix(aircraft.inertia),
            np.ascontiguousarray(mix),
            rotor.thrust_coefficient,
            rotor.rpm_min,
            rotor.rpm_max,
            gains.rotor_lead - 1.0,
        )


@njit(cache=True)
def autopilot_step(
    x: Array,
    bodies: Integers,
    is_due: Booleans,
    modes: Integers,
    thrust: Array,
    q_WB_r: Array,
    w_WB_r: Array,
    rpm_r: Array,
    rpm: Array,
    autopilots: Packed,
    out: Array,
) -> None:
    """Rotor speed commands of every aircraft of every platform in a batch.

    Args:
        x: (B, bodies, 13) states.
        bodies: (N,) index of each aircraft's body.
        is_due: (B,) worlds whose autopilots compute at this step; the others keep `out`.
        modes: (B,) how to read each world's command, a `iap_description.states.Mode` (a platform wrench is
            allocated before).
        thrust: (B, N) collective thrust [N].
        q_WB_r: (B, N, 4) attitude command.
        w_WB_r: (B, N, 3) body rate command, feed-forward in the attitude mode [rad/s].
        rpm_r: (B, N, 4) rotor speeds of the rpm mode.
        rpm: (B, N, 4) present rotor speeds.
        autopilots: (N,) `Autopilot` of the aircraft.
        out: (B, N, 4) rotor speed commands [rpm], written.
    """
    for b in range(out.shape[0]):
        if not is_due[b]:
            continue
        for n in range(out.shape[1]):
            if modes[b] == _RPM:
                for r in range(4):
                    out[b, n, r] = rpm_r[b, n, r]
                continue
            row, autopilot = x[b, bodies[n]], autopilots[n]
            torque = _torque(row, modes[b], q_WB_r[b, n], w_WB_r[b, n], autopilot)
            _mix(thrust[b, n], torque, autopilot, out[b, n])
            for r in range(4):
                led = out[b, n, r] + autopilot.lead * (out[b, n, r] - rpm[b, n, r])
                out[b, n, r] = min(max(led, autopilot.rpm_min), autopilot.rpm_max)


@njit(cache=True)
def _torque(row: Array, mode: int, q_r: Array, w_r: Array, autopilot: Autopilot) -> Vec:
    """Torque [N m] about the CoM, body axes, for a state row (13,) and a command."""
    q = quat(row[3:])
    w, gains = unrotate(q, vec(row[10:])), (vec(autopilot.attitude), vec(autopilot.rate))
    return attitude_torque(mode == _ATTITUDE, q, w, quat(q_r), vec(w_r), *gains, autopilot.J)


@njit(cache=True)
def _mix(thrust: float, torque: Vec, autopilot: Autopilot, out: Array) -> None:
    """Rotor speeds (4,) for a thrust and a torque."""
    lowest = autopilot.thrust_coefficient * autopilot.rpm_min**2
    highest = autopilot.thrust_coefficient * autopilot.rpm_max**2
    lift = (0.25 * thrust, 0.25 * thrust, 0.25 * thrust, 0.25 * thrust)
    tilt = (
        _tilt(autopilot.mix[0], torque),
        _tilt(autopilot.mix[1], torque),
        _tilt(autopilot.mix[2], torque),
        _tilt(autopilot.mix[3], torque),
    )
    yaw = (
        autopilot.mix[0, 3] * torque[2],
        autopilot.mix[1, 3] * torque[2],
        autopilot.mix[2, 3] * torque[2],
        autopilot.mix[3, 3] * torque[2],
    )
    least, most = (lowest, lowest, lowest, lowest), (highest, highest, highest, highest)
    share_out(lift, tilt, yaw, least, most, out)
    for r in range(4):
        out[r] = math.sqrt(out[r] / autopilot.thrust_coefficient)


@njit(cache=True)
def _tilt(row: Array, torque: Vec) -> float:
    return row[1] * torque[0] + row[2] * torque[1]
