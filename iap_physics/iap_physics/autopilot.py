# SPDX-License-Identifier: BSD-3-Clause
"""Each aircraft's own autopilot: attitude loop, rate loop and mixer, for a batch of platforms.

Commands come at the controller's rate, the autopilot runs at its own. It gives up yaw torque first, then
thrust, then roll and pitch torque, so that a saturated aircraft still points its thrust.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.kernels import (
    Vec,
    add,
    cross,
    mul,
    qconj,
    qmul,
    quat,
    scale,
    sub,
    times,
    unrotate,
    vec,
)
from iap_description.saturation import share_out
from iap_description.states import Mode
from iap_description.vehicles.aircraft import Aircraft, inertia_matrix
from iap_description.vehicles.autopilot_gains import AutopilotGains

Array = NDArray[np.float64]
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
    bodies: NDArray[np.int64],
    mode: int,
    thrust: Array,
    q_WB_r: Array,
    w_WB_r: Array,
    rpm_r: Array,
    rpm: Array,
    autopilot: Autopilot,
    out: Array,
) -> None:
    """Rotor speed commands of every aircraft of every platform in a batch.

    Args:
        x: (B, bodies, 13) states.
        bodies: (N,) index of each aircraft's body.
        mode: how to read the command, `iap_description.states.Mode` (a platform wrench is allocated before).
        thrust: (B, N) collective thrust [N].
        q_WB_r: (B, N, 4) attitude command.
        w_WB_r: (B, N, 3) body rate command, feed-forward in the attitude mode [rad/s].
        rpm_r: (B, N, 4) rotor speeds of the rpm mode.
        rpm: (B, N, 4) present rotor speeds.
        autopilot: gains and numbers of the aircraft.
        out: (B, N, 4) rotor speed commands [rpm], written.
    """
    for b in range(out.shape[0]):
        for n in range(out.shape[1]):
            if mode == _RPM:
                for r in range(4):
                    out[b, n, r] = rpm_r[b, n, r]
                continue
            row = x[b, bodies[n]]
            torque = _torque(row, mode, q_WB_r[b, n], w_WB_r[b, n], autopilot)
            _mix(thrust[b, n], torque, autopilot, out[b, n])
            for r in range(4):
                led = out[b, n, r] + autopilot.lead * (out[b, n, r] - rpm[b, n, r])
                out[b, n, r] = min(max(led, autopilot.rpm_min), autopilot.rpm_max)


@njit(cache=True)
def _torque(row: Array, mode: int, q_r: Array, w_r: Array, autopilot: Autopilot) -> Vec:
    """Torque [N m] about the CoM, body axes: J (-k_R e_R - k_w e_w) + w x J w."""
    q = quat(row[3:])
    w = unrotate(q, vec(row[10:]))
    wanted = vec(w_r)
    e_R = (0.0, 0.0, 0.0)
    if mode == _ATTITUDE:
        q_e = qmul(qconj(quat(q_r)), q)
        e_R = scale(2.0 if q_e[3] >= 0.0 else -2.0, (q_e[0], q_e[1], q_e[2]))
        wanted = unrotate(q_e, wanted)
    feedback = add(times(vec(autopilot.attitude), e_R), times(vec(autopilot.rate), sub(w, wanted)))
    return sub(cross(w, mul(autopilot.J, w)), mul(autopilot.J, feedback))


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
    share_out(lift, tilt, yaw, lowest, highest, out)
    for r in range(4):
        out[r] = math.sqrt(out[r] / autopilot.thrust_coefficient)


@njit(cache=True)
def _tilt(row: Array, torque: Vec) -> float:
    return row[1] * torque[0] + row[2] * torque[1]
