# SPDX-License-Identifier: BSD-3-Clause
r"""Pose of the central body from its inertial unit and the places and velocities of its joints.

An extended Kalman filter over the attitude R and the biases of gyroscope and accelerometer, with errors
[dtheta in B0, dbg, dba]. Samples of the gyroscope carry it from one estimate of the aircraft to the next, T later.
There it is corrected by the joints' places p_i about their weighted mean,

.. math::
    r_i = \frac{1}{\sigma_i} \big( (p_i - \bar p) - R (d_i - \bar d) \big) , \quad
    \frac{\partial r_i}{\partial \theta} = \frac{1}{\sigma_i} R [d_i - \bar d]_\times ,

and by the vertical, which the preintegrated specific force shows once the unit's own change of velocity, known by its
joints, is taken out of it (Forster et al., "On-manifold preintegration", 2017, (37), u in the axes at the end):

.. math::
    r_f = \frac{1}{\sigma_f} \big( R u - (v_k - v_{k-1}) - g T e_z \big) , \quad
    u = \Delta R^T \Delta v(b_a) , \quad
    \frac{\partial r_f}{\partial \theta} = -\frac{1}{\sigma_f} R [u]_\times .

An autopilot's vertical is no substitute: 20 mg of bias lean it by 1.1 deg, and the flight's accelerations lean it, too.
Errors of places last: those of a correlation time tau count as white ones of equal power at low frequencies (see
`tilt_deviation`), so that the inertial unit decides about what is shorter. Then p = mean(p_i) - R mean(d_i).
"""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.virpo.factors.gyro_preintegration import (
    MAX_SAMPLE_TIME,
    Turn,
    predict_turn,
    preintegrate_turn,
    tilt_deviation,
)
from iap_estimation.virpo.factors.joint_constraints import attitude_of_joints
from iap_estimation.virpo.factors.preintegration import motions_at
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, Tilt
from iap_estimation.virpo.spec import VirpoSpec
from iap_estimation.virpo.window.buffers import TiltBuffer
from iap_estimation.virpo.window.estimator import STAMP_TOLERANCE

LEAST_DEVIATION = 1e-4  # of a joint's place [m], and of its velocity [m/s]
UNKNOWN = 1.0  # variance of a place and of a velocity that come without one [m^2, m^2/s^2]
ERRORS = 9  # places of an error: [dtheta, dbg, dba]


class CentreFilter:
    """The central body of aircraft whose estimates it takes as measured, and as independent of each other.

    Args:
        fleet: with places of joints.
        spec: see `VirpoSpec`.
    """

    def __init__(self, fleet: Fleet, spec: VirpoSpec) -> None:
        assert fleet.d is not None  # noqa: S101 - who makes this has a platform
        self._fleet, self._d, self._spec = fleet, fleet.d, spec.rigid
        self._gyro_bias_start = spec.start.gyro_bias
        self._tilts = TiltBuffer()
        self._newest: Estimate | None = None
        self._turn, self._next = Turn.empty(), np.empty(7)
        self._c, self._accel_bias = np.zeros(7), np.zeros(3)  # attitude and bias of the gyroscope
        self._P = np.zeros((ERRORS, ERRORS))
        self._v, self._v_variance = np.zeros(3), 0.0  # of the unit, at the newest estimate

    def tilt(self, measured: Tilt) -> None:
        """Take a sample of the inertial unit, and what the autopilot says."""
        self._tilts.add(measured)

    def estimate(self, estimates: Sequence[Estimate]) -> Estimate | None:
        """The central body at a time of which there are estimates of all aircraft; None without its own samples.

        Of the time before, the estimate is the same again.
        """
        t, newest = estimates[0].t, self._newest
        if newest is not None and t <= newest.t + STAMP_TOLERANCE:
            return newest if t >= newest.t - STAMP_TOLERANCE else None
        tilt = self._tilts.at(t)
        if tilt is None:
            return None
        joints, variances = self._joints(estimates)
        if newest is None:
            self._begin(t, joints, variances, tilt)
        else:
            span, samples = t - newest.t, self._tilts.take(t)
            lasting = tilt_deviation(1.0, span, self._spec.place_memory) ** 2
            self._go_on(samples, span)
            self._correct(*self._by_joints(joints, lasting * variances))
            if _is_whole(samples, span):
                self._correct(*self._by_force(samples, span, *self._unit(estimates, tilt)))
        self._v, self._v_variance = self._unit(estimates, tilt)
        self._newest = self._estimate(estimates, joints, tilt)
        return self._newest

    def _joints(self, estimates: Sequence[Estimate]) -> tuple[Array, Array]:
        """Places (n, 3) of the joints in W, and variances (n,) of each in the mean over directions."""
        tips = zip(estimates, self._fleet.aircraft, strict=True)
        p = [one.p_WB_W + so3.rotate(one.q_WB, model.p_BJ_B) for one, model in tips]
        variances = np.array([np.trace(one.covariance[:3, :3]) / 3.0 for one in estimates])
        known = np.where(np.isfinite(variances), variances, UNKNOWN)
        return np.array(p), np.maximum(known, LEAST_DEVIATION**2)

    def _velocity(self, estimates: Sequence[Estimate]) -> Array:
        """Mean velocity (3,) of the joints [m/s]."""
        velocities = [
            one.v_WB_W + so3.rotate(one.q_WB, np.cross(one.w_B, model.p_BJ_B))
            for one, model in zip(estimates, self._fleet.aircraft, strict=True)
        ]
        return np.mean(velocities, axis=0)

    def _unit(self, estimates: Sequence[Estimate], tilt: Tilt) -> tuple[Array, float]:
        """Velocity (3,) of the central unit as the joints say [m/s], and its variance."""
        arm = self._fleet.p_B0I_B0 - self._d.mean(axis=0)
        swing = so3.rotate(self._c[:4], np.cross(tilt.w_B0 - self._c[4:], arm))
        total = sum(np.trace(one.covariance[6:9, 6:9]) for one in estimates)
        variance = float(total) / (3.0 * len(estimates) ** 2)
        known = variance if np.isfinite(variance) else UNKNOWN
        return self._velocity(estimates) + swing, max(known, LEAST_DEVIATION**2)

    def _begin(self, t: float, joints: Array, variances: Array, tilt: Tilt) -> None:
        self._tilts.take(t)
        spec = self._spec
        self._c[:4] = attitude_of_joints(joints, self._d, tilt.q_WB0)
        self._c[4:], self._accel_bias[:] = 0.0, 0.0
        up = so3.rotate(so3.conjugate(self._c[:4]), np.array([0.0, 0.0, 1.0]))
        level, yaw = np.eye(3) - np.outer(up, up), np.outer(up, up)
        known = (
            level / np.deg2rad(spec.tilt_start_deg) ** 2
            + yaw / np.deg2rad(spec.yaw_start_deg) ** 2
        )
        J = self._by_joints(joints, variances)[0][:, :3]
        self._P[:] = 0.0
        self._P[:3, :3] = np.linalg.inv(known + J.T @ J)
        self._P[3:6, 3:6] = self._gyro_bias_start**2 * np.eye(3)
        self._P[6:, 6:] = spec.accel_bias_start**2 * np.eye(3)

    def _go_on(self, samples: Array, span: float) -> None:
        """Carry the state on by the gyroscope."""
        turn, turns = self._turn, np.ascontiguousarray(samples[:, :4])
        preintegrate_turn(turns, span, self._c[4:], self._fleet.turn_noise, turn)
        predict_turn(self._c, turn, self._next)
        self._c[:] = self._next
        F = np.eye(ERRORS)
        F[:3, :3] = so3.matrix_from_quaternion(turn.delta).T
        F[:3, 3:6] = turn.slope
        self._P = F @ self._P @ F.T
        self._P[:6, :6] += turn.covariance
        self._P[6:, 6:] += span * self._fleet.force_noise[1] ** 2 * np.eye(3)

    def _by_joints(self, joints: Array, variances: Array) -> tuple[Array, Array]:
        """Derivative (m, 9) by an error and whitened residuals (m,) of the joints' places."""
        weights = 1.0 / variances
        share = weights / weights.sum()
        R, arms = so3.matrix_from_quaternion(self._c[:4]), self._d - share @ self._d
        off = joints - share @ joints - arms @ R.T
        slopes = np.array([R @ so3.hat(arm) for arm in arms]) * np.sqrt(weights)[:, None, None]
        J = np.zeros((3 * len(arms), ERRORS))
        J[:, :3] = slopes.reshape(-1, 3)
        return J, (off * np.sqrt(weights)[:, None]).ravel()

    def _by_force(
        self, samples: Array, span: float, v: Array, variance: float
    ) -> tuple[Array, Array]:
        """Derivative (3, 9) by an error and whitened residual (3,) of the specific force, see above.

        Args:
            samples: (S, 7) of the unit since the newest estimate.
            span: their length [s].
            v: (3,) velocity of the unit at their end, as the joints say [m/s].
            variance: of each of its components.
        """
        motion = np.empty((1, 10))
        biases = np.concatenate([self._c[4:], self._accel_bias])
        motions_at(samples, biases, np.array([span]), motion)
        turn = motion[0, 3:7]
        u = so3.rotate(so3.conjugate(turn), motion[0, 7:])
        R = so3.matrix_from_quaternion(self._c[:4])
        half = so3.matrix_from_quaternion(so3.quaternion_exp(-0.5 * so3.quaternion_log(turn)))
        J = np.zeros((3, ERRORS))
        J[:, :3], J[:, 6:] = -R @ so3.hat(u), -span * R @ half
        fall = np.array([0.0, 0.0, self._fleet.gravity * span])
        white = span * self._fleet.force_noise[0] ** 2
        sigma = np.sqrt(variance + self._v_variance + white)
        return J / sigma, (R @ u - (v - self._v) - fall) / sigma

    def _correct(self, J: Array, r: Array) -> None:
        """Kalman update by whitened residuals, in the form of information; Huber's weight on all of them."""
        size = float(np.linalg.norm(r))
        limit = self._spec.width * np.sqrt(len(r))
        weight = min(1.0, limit / size) if size > 0.0 else 1.0
        P = np.linalg.inv(np.linalg.inv(self._P) + weight * J.T @ J)
        step = -P @ (weight * J.T @ r)
        self._P = 0.5 * (P + P.T)
        turned = so3.multiply(self._c[:4], so3.quaternion_exp(step[:3]))
        self._c[:4] = so3.normalized(turned)
        self._c[4:] += step[3:6]
        self._accel_bias += step[6:]

    def _estimate(self, estimates: Sequence[Estimate], joints: Array, tilt: Tilt) -> Estimate:
        q, bias, middle = self._c[:4].copy(), self._c[4:].copy(), self._d.mean(axis=0)
        w_B0, R, count = tilt.w_B0 - bias, so3.matrix_from_quaternion(q), len(estimates) ** 2
        p = joints.mean(axis=0) - R @ middle
        v = self._velocity(estimates) - R @ np.cross(w_B0, middle)
        covariance, lever = np.full((15, 15), np.nan), R @ so3.hat(middle)
        position_covariance = sum(one.covariance[:3, :3] for one in estimates) / count
        covariance[:3, :3] = position_covariance + lever @ self._P[:3, :3] @ lever.T
        covariance[6:9, 6:9] = sum(one.covariance[6:9, 6:9] for one in estimates) / count
        covariance[3:6, 3:6], covariance[9:12, 9:12] = self._P[:3, :3], self._P[3:6, 3:6]
        return Estimate(estimates[0].t, p, q, v, bias, np.full(3, np.nan), covariance, w_B0)


def _is_whole(samples: Array, span: float) -> bool:
    """True if samples (S, 7) show the specific force of all of a time [s]."""
    lengths = samples[:, 0]
    return bool(abs(lengths.sum() - span) < STAMP_TOLERANCE and lengths.max() <= MAX_SAMPLE_TIME)
