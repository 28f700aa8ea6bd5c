# SPDX-License-Identifier: BSD-3-Clause
"""From the platform's active wrench to one command per aircraft, within the aircraft's limits."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_control.allocation import attitude_of_thrust, limited_thrust
from iap_control.model import PlatformModel
from iap_control.tracking import matvec
from iap_description.kernels import (
    add,
    norm,
    put,
    put4,
    qconj,
    qlog,
    qmul,
    quat,
    rotate,
    scale,
    sub,
    vec,
)
from iap_description.states import Command, Mode

Array = NDArray[np.float64]


class Allocator:
    """Allocates wrenches of one platform: minimum norm, eq. (17), then attitude and thrust, eq. (18).

    Args:
        model: what is believed of the platform.
        rate_filter: time constant of the attitude command's derivative [s], fed forward as body rate.
        dt: control period [s].
    """

    def __init__(self, model: PlatformModel, *, rate_filter: float, dt: float) -> None:
        self.model = model
        self._share = dt / (rate_filter + dt)
        self._dt = dt
        low, high = model.aircraft.thrust_limits
        self._limits = np.array([low, high, math.tan(model.aircraft.tilt_max)])
        self.reset()

    def reset(self) -> None:
        """Forget past commands."""
        rigid = self.model.actuation == "rigid"
        self.command = Command.zeros(self.model.count, Mode.RPM if rigid else Mode.ATTITUDE_THRUST)
        self.command.q_WB[:, 3] = (
            0.0  # marks the first step, which has no past attitude to differentiate
        )
        self._thrusts = np.zeros(self.model.B.shape[1])
        self.saturated = False

    def __call__(self, U: Array, q_WP: Array, yaw: Array) -> Command:
        """The command for a wrench; the same object every time, overwritten.

        Args:
            U: (6,) active wrench about P's origin in P [N, N m].
            q_WP: (4,) the platform's attitude.
            yaw: (N,) headings [rad].
        """
        matvec(self.model.B_inverse, U, self._thrusts)
        command = self.command
        command.wrench_P[:] = U
        if self.model.actuation == "rigid":
            rotor = self.model.aircraft.rotor
            limits = (rotor.thrust_coefficient, rotor.rpm_min, rotor.rpm_max)
            self.saturated = _rotor_speeds(self._thrusts, limits, command.rpm, command.thrust)
        else:
            self.saturated = _attitudes(
                self._thrusts,
                q_WP,
                yaw,
                self._limits,
                self._share,
                self._dt,
                command.thrust,
                command.q_WB,
                command.w_WB_B,
            )
        return command


@njit(cache=True)
def _attitudes(
    thrusts_P: Array,
    q_WP: Array,
    yaw: Array,
    limits: Array,
    share: float,
    dt: float,
    thrust: Array,
    q_WB: Array,
    w_WB_B: Array,
) -> bool:
    """Thrust, attitude and filtered body rate of every aircraft; True if one is at a limit."""
    saturated = False
    for i in range(thrust.shape[0]):
        wanted = rotate(quat(q_WP), vec(thrusts_P[3 * i :]))
        f_W = limited_thrust(wanted, limits[0], limits[1], limits[2])
        saturated = saturated or norm(sub(f_W, wanted)) > 1e-9
        thrust[i] = norm(f_W)
        q = attitude_of_thrust(f_W, yaw[i])
        last = quat(q_WB[i])
        if last[0] != 0.0 or last[1] != 0.0 or last[2] != 0.0 or last[3] != 0.0:
            w = scale(1.0 / dt, qlog(qmul(qconj(last), q)))
            put(w_WB_B[i], add(vec(w_WB_B[i]), scale(share, sub(w, vec(w_WB_B[i])))))
        put4(q_WB[i], q)
    return saturated


@njit(cache=True)
def _rotor_speeds(
    thrusts: Array, limits: tuple[float, float, float], rpm: Array, thrust: Array
) -> bool:
    """Rotor speeds (N, 4) of rotor thrusts (4N,) and their sums; True if one is at a limit."""
    saturated = False
    for i in range(rpm.shape[0]):
        thrust[i] = 0.0
        for r in range(4):
            wanted = math.sqrt(max(thrusts[4 * i + r], 0.0) / limits[0])
            rpm[i, r] = min(max(wanted, limits[1]), limits[2])
            saturated = saturated or rpm[i, r] != wanted
            thrust[i] += limits[0] * rpm[i, r] ** 2
    return saturated
