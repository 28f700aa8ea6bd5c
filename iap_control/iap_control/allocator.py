# SPDX-License-Identifier: BSD-3-Clause
"""From the platform's active wrench to one command per aircraft, within the aircraft's limits."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_control.allocation import attitude_of_thrust, limited_thrust
from iap_control.model import PlatformModel
from iap_control.saturation import force_share, share_out
from iap_control.tracking import matvec
from iap_description import so3
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
        self._dt = dt
        self.set_rate_filter(rate_filter)
        low, high = model.aircraft.thrust_limits
        self._limits = np.array([low, high, math.tan(model.aircraft.tilt_max)])
        self._parts = [np.ascontiguousarray(model.B_inverse @ split) for split in _splits(model)]
        self.reset()

    def set_rate_filter(self, rate_filter: float) -> None:
        """Change the time constant [s] of the attitude command's derivative."""
        self._share = self._dt / (rate_filter + self._dt)

    def reset(self) -> None:
        """Forget past commands."""
        rigid = self.model.actuation == "rigid"
        self.command = Command.zeros(self.model.count, Mode.RPM if rigid else Mode.ATTITUDE_THRUST)
        self.command.q_WB[:, 3] = (
            0.0  # marks the first step, which has no past attitude to differentiate
        )
        self._thrusts = [np.zeros(self.model.B.shape[1]) for _ in self._parts]
        self.saturated = False

    def __call__(self, U: Array, q_WP: Array, yaw: Array) -> Command:
        """The command for a wrench; the same object every time, overwritten.

        Args:
            U: (6,) active wrench about P's origin in P [N, N m].
            q_WP: (4,) the platform's attitude.
            yaw: (N,) headings [rad].
        """
        for part, thrusts in zip(self._parts, self._thrusts, strict=True):
            matvec(part, U, thrusts)
        command = self.command
        command.wrench_P[:] = U
        if self.model.actuation == "rigid":
            rotor = self.model.aircraft.rotor
            limits = (rotor.thrust_coefficient, rotor.rpm_min, rotor.rpm_max)
            self.saturated = _rotor_speeds(*self._thrusts, limits, command.rpm, command.thrust)
        else:
            self.saturated = _attitudes(
                *self._thrusts,
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


def _splits(model: PlatformModel) -> list[Array]:
    """(6, 6) projections of a wrench on its parts, which add up to it and are given up one after another.

    The force with its lever to the CoM, so that it turns nothing, and the torque about the CoM; the latter once more
    split into tilt and yaw for a rigid platform.
    """
    force = np.zeros((6, 6))
    force[:3, :3], force[3:, :3] = np.eye(3), so3.hat(model.inertia.d_0)
    torque = np.eye(6) - force
    if model.actuation != "rigid":
        return [force, torque]
    about_z = np.diag([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    return [force, (np.eye(6) - about_z) @ torque, about_z @ torque]


@njit(cache=True)
def _attitudes(
    forces_P: Array,
    torques_P: Array,
    q_WP: Array,
    yaw: Array,
    limits: Array,
    share: float,
    dt: float,
    thrust: Array,
    q_WB: Array,
    w_WB_B: Array,
) -> bool:
    """Thrust, attitude and filtered body rate of every aircraft; True if one is at a limit.

    Where an aircraft cannot bear its share, all give up the same part of the force: the platform loses height
    or way, but not its attitude.
    """
    kept = 1.0
    for i in range(thrust.shape[0]):
        kept = min(kept, force_share(vec(forces_P[3 * i :]), vec(torques_P[3 * i :]), limits[1]))
    saturated = kept < 1.0
    for i in range(thrust.shape[0]):
        wanted_P = add(scale(kept, vec(forces_P[3 * i :])), vec(torques_P[3 * i :]))
        wanted = rotate(quat(q_WP), wanted_P)
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
    lift: Array,
    tilt: Array,
    yaw: Array,
    limits: tuple[float, float, float],
    rpm: Array,
    thrust: Array,
) -> bool:
    """Rotor speeds (N, 4) of rotor thrusts (4N,) in three parts, and their sums; True if one is at a limit."""
    c_f, lowest, highest = limits[0], limits[0] * limits[1] ** 2, limits[0] * limits[2] ** 2
    forces = np.empty(lift.shape[0])
    saturated = share_out(lift, tilt, yaw, lowest, highest, forces)
    for i in range(rpm.shape[0]):
        thrust[i] = 0.0
        for r in range(4):
            thrust[i] += forces[4 * i + r]
            rpm[i, r] = math.sqrt(forces[4 * i + r] / c_f)
    return saturated
