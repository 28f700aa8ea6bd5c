# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of the aircraft and the centre from the drift filter's states, with covariance."""

from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.virpo.drift.path import STAMP_TOLERANCE
from iap_estimation.virpo.drift.spec import DriftFilterSpec
from iap_estimation.virpo.drift.state import DriftState, joints_of
from iap_estimation.virpo.factors.gyro_preintegration import UNSEEN_RATE
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate

UP = np.array([0.0, 0.0, 1.0])


@dataclass
class OdometrySample:
    """Last odometry of an aircraft.

    Attributes:
        t: [s].
        pose: (14,) of `iap_estimation.virpo.drift.path`, at that time.
        measured: the odometry as received, then or shortly before.
    """

    t: float
    pose: Array
    measured: Estimate

    @property
    def w_B(self) -> Array:
        """Angular velocity (3,) [rad/s]: as received, else between two odometries."""
        is_measured = (
            abs(self.measured.t - self.t) < STAMP_TOLERANCE
            and np.isfinite(self.measured.w_B).all()
        )
        return self.measured.w_B if is_measured else self.pose[11:14]


@dataclass
class Middle:
    """Place and velocity of the centre.

    Attributes:
        p: (3,) in W [m].
        v: (3,) in W [m/s].
        slope: (6, n) derivative of both by an error of the filter.
        C: (6, 6) covariance of both.
    """

    p: Array
    v: Array
    slope: Array
    C: Array


def aircraft_estimate(
    state: DriftState, a: int, odometry: OdometrySample, floor: float
) -> Estimate:
    """An aircraft whose odometry comes: that, its drift taken out.

    The covariance is the odometry's own, place and yaw of the filter in place of its own.
    """
    measured, pose, x = odometry.measured, odometry.pose, state.x[a]
    about = so3.quaternion_exp(x[3] * UP)
    q_WB, v_W = so3.multiply(about, pose[4:8]), so3.rotate(about, pose[8:11])
    up_B = so3.rotate(so3.conjugate(q_WB), UP)
    kept = np.eye(15)
    kept[0:3, 0:3] = 0.0
    kept[3:6, 3:6] -= np.outer(up_B, up_B)
    kept[6:9, 6:9] = so3.matrix_from_quaternion(about)
    J = np.zeros((15, 4))
    J[0:3, 0:3] = np.eye(3)
    J[3:6, 3], J[6:9, 3] = up_B, np.cross(UP, v_W)
    block = state.P[4 * a : 4 * a + 4, 4 * a : 4 * a + 4]
    is_known = np.isfinite(measured.covariance).all()
    C = J @ block @ J.T + (kept @ measured.covariance @ kept.T if is_known else 0.0)
    if not is_known:
        C[3:], C[:, 3:] = np.nan, np.nan
    C[range(3), range(3)] += floor**2
    p = x[:3] + so3.rotate(about, pose[1:4] - state.pivots[a])
    return Estimate(
        odometry.t, p, q_WB, v_W, measured.gyro_bias, measured.accel_bias, C, odometry.w_B
    )


def doubt_between(before: OdometrySample, now: OdometrySample) -> Array:
    """Variances (4,) of what an odometry's place and yaw went wrong between two times, by its own account.

    Where it sees nothing its covariance grows by them; where it corrects itself it falls by them.
    """
    spreads = []
    for one in (before, now):
        up_B = so3.rotate(so3.conjugate(one.pose[4:8]), UP)
        C = one.measured.covariance
        spreads.append(np.array([*np.diag(C)[:3], up_B @ C[3:6, 3:6] @ up_B]))
    return np.nan_to_num(np.abs(spreads[1] - spreads[0]))


def middle_of(
    state: DriftState,
    fleet: Fleet,
    odometry: dict[int, OdometrySample],
    w_B0: Array,
    spec: DriftFilterSpec,
) -> Middle:
    """The centre from all aircraft whose odometry comes: the mean of what each says of it.

    Args:
        state: the filter's.
        fleet: the aircraft, joined.
        odometry: of those aircraft, one at least.
        w_B0: (3,) angular velocity of the centre [rad/s].
        spec: see there.
    """
    d = joints_of(fleet)
    n, R_0 = len(odometry), so3.matrix_from_quaternion(state.centre[:4])
    p, v, slope, C = np.zeros(3), np.zeros(3), np.zeros((6, len(state.P))), np.zeros((6, 6))
    for a, one in odometry.items():
        arm, speed = _joint(fleet, a, one)
        about = so3.quaternion_exp(state.x[a, 3] * UP)
        tip, swing = so3.rotate(about, arm + one.pose[1:4] - state.pivots[a]), np.cross(w_B0, d[a])
        v_J = so3.rotate(about, speed)
        p += (state.x[a, :3] + tip - R_0 @ d[a]) / n
        v += (v_J - R_0 @ swing) / n
        slope[:3, 4 * a : 4 * a + 3] += np.eye(3) / n
        slope[:3, 4 * a + 3] += np.cross(UP, tip) / n
        slope[3:, 4 * a + 3] += np.cross(UP, v_J) / n
        slope += _by_centre(state, d[a], swing) / n
        C[3:, 3:] += np.nan_to_num(one.measured.covariance[6:9, 6:9], nan=spec.speed**2) / n**2
    C += slope @ state.P @ slope.T
    C[range(3), range(3)] += spec.position_floor**2
    return Middle(p, v, slope, C)


def centre_estimate(t: float, state: DriftState, middle: Middle, w_B0: Array) -> Estimate:
    """The centre, which turns with w_B0 [rad/s], as an estimate."""
    at = state.of_centre
    J = np.zeros((15, len(state.P)))
    J[0:3], J[6:9] = middle.slope[:3], middle.slope[3:]
    J[3:6, at : at + 3] = J[9:12, at + 3 :] = np.eye(3)
    C = J @ state.P @ J.T
    place = np.r_[0:3, 6:9]
    C[np.ix_(place, place)] = middle.C
    C[12:], C[:, 12:] = np.nan, np.nan
    q_0, bias = state.centre[:4].copy(), state.centre[4:].copy()
    return Estimate(t, middle.p, q_0, middle.v, bias, np.full(3, np.nan), C, w_B0)


def joined_estimate(
    t: float,
    state: DriftState,
    fleet: Fleet,
    a: int,
    last: OdometrySample,
    middle: Middle,
    w_B0: Array,
) -> Estimate:
    """An aircraft without odometry, from where the others hold its joint; its attitude as it was."""
    d = joints_of(fleet)[a]
    about = so3.quaternion_exp(state.x[a, 3] * UP)
    arm = so3.rotate(about, arm_of(fleet, a, last.pose))
    R_0, swing = so3.matrix_from_quaternion(state.centre[:4]), np.cross(w_B0, d)
    slope = middle.slope - _by_centre(state, d, swing)
    turned = min(UNSEEN_RATE * (t - last.t), 1.0) ** 2
    C = np.full((15, 15), np.nan)
    C[:9, :9] = 0.0
    place = np.r_[0:3, 6:9]
    extra = middle.C - middle.slope @ state.P @ middle.slope.T
    C[np.ix_(place, place)] = slope @ state.P @ slope.T + extra
    C[range(3), range(3)] += turned * float(arm @ arm)
    C[range(3, 6), range(3, 6)] = turned
    p, v = middle.p + R_0 @ d - arm, middle.v + R_0 @ swing
    q_WB, measured = so3.multiply(about, last.pose[4:8]), last.measured
    return Estimate(t, p, q_WB, v, measured.gyro_bias, measured.accel_bias, C)


def forgotten(t: float, last: Estimate, speed: float) -> Estimate:
    """A body that nothing measures: where it was, ever less certain."""
    age = max(t - last.t, 0.0)
    C = np.full((15, 15), np.nan)
    C[:9, :9] = np.diag(np.repeat([(speed * age) ** 2, (UNSEEN_RATE * age) ** 2, speed**2], 3))
    C[:9, :9] += np.nan_to_num(last.covariance[:9, :9])
    still = np.zeros(3)
    return Estimate(t, last.p_WB_W, last.q_WB, still, last.gyro_bias, last.accel_bias, C)


def arm_of(fleet: Fleet, a: int, pose: Array) -> Array:
    """From an aircraft to its joint, in its odometry's frame [m]."""
    return so3.rotate(pose[4:8], fleet.aircraft[a].p_BJ_B)


def _joint(fleet: Fleet, a: int, odometry: OdometrySample) -> tuple[Array, Array]:
    """The joint against its aircraft [m] and its velocity [m/s], in the odometry's frame."""
    pose = odometry.pose
    swing = so3.rotate(pose[4:8], np.cross(odometry.w_B, fleet.aircraft[a].p_BJ_B))
    return arm_of(fleet, a, pose), pose[8:11] + swing


def _by_centre(state: DriftState, d: Array, swing: Array) -> Array:
    """Derivative (6, n) of -R_0 d and of -R_0 (w x d) by the centre's error."""
    R_0, at = so3.matrix_from_quaternion(state.centre[:4]), state.of_centre
    slope = np.zeros((6, len(state.P)))
    slope[:3, at : at + 3] = R_0 @ so3.hat(d)
    slope[3:, at : at + 3] = R_0 @ so3.hat(swing)
    slope[3:, at + 3 :] = -R_0 @ so3.hat(d)
    return slope
