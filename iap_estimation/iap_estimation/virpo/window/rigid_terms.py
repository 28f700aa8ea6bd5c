# SPDX-License-Identifier: BSD-3-Clause
"""The central body of a joint window: `virpo.factors.joint_constraints` as terms of the window's cost."""

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.virpo.algebra.states import AIRCRAFT, ALIGNMENT, CENTRE, UP, States, vertical
from iap_estimation.virpo.factors.gyro_preintegration import (
    ATTITUDE,
    FRAME,
    SIGMA,
    TILT_WIDTH,
    Turn,
    predict_turn,
    preintegrate_turn,
    tilt_deviation,
)
from iap_estimation.virpo.factors.joint_constraints import (
    JointPositions,
    add_rigid,
    attitude_of_joints,
    rigid_cost,
)
from iap_estimation.virpo.factors.preintegration import drop_first, interval_at, stack
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.interval import Interval


class RigidTerms:
    """Joints, and the turns and the tilt of the body that they are on.

    Args:
        fleet: the aircraft; with places of joints.
        spec: see `VirpoSpec`.
    """

    def __init__(self, fleet: Fleet, spec: VirpoSpec) -> None:
        assert fleet.d is not None  # noqa: S101 - a window without joints has no such terms
        self._fleet, self._spec = fleet, spec.rigid
        self._aircraft = len(fleet.aircraft)
        arms = np.array([model.p_BJ_B for model in fleet.aircraft])
        self._joints = JointPositions(np.ascontiguousarray(fleet.d), arms, spec.rigid.joint)
        self._turns = stack(Turn.empty(), spec.keyframes + 1)
        self._tilts = np.zeros((0, TILT_WIDTH))
        self._span = 1.0 / spec.rate
        self._tilt: Array | None = None
        self._count = 0  # keyframes

    def set_attitude(self, q_WB0: Array) -> None:
        """Set the central body's attitude (4,) at the first keyframe, before `begin`."""
        self._tilt = q_WB0

    def begin(self, states: States, deviations: StartDeviations, H: Array) -> None:
        """See `Terms.begin`."""
        assert self._tilt is not None  # noqa: S101 - `set_attitude` comes first
        turned = states.x[0]
        tips = turned[:, :3] + so3.rotate(turned[:, 3:7], self._joints.p_BJ_B)
        states.centre[0, 0, :4] = attitude_of_joints(tips, self._joints.d, self._tilt)
        tilt, yaw = np.deg2rad([self._spec.tilt_start_deg, self._spec.yaw_start_deg])
        up = vertical(states.centre[0, 0, :4])
        at = states.stride - CENTRE
        H[at : at + 3, at : at + 3] += (np.eye(3) - np.outer(up, up)) / tilt**2
        H[at : at + 3, at : at + 3] += np.outer(up, up) / yaw**2
        H[range(at + 3, at + 6), range(at + 3, at + 6)] += 1.0 / deviations.gyro_bias**2
        self._tilts, self._count = self._tilt_row(0, self._tilt, self._span), 1

    def enter(self, k: int, interval: Interval, states: States) -> None:
        """See `Terms.enter`."""
        bias, turn = states.centre[k, 0, 4:], interval_at(self._turns, k)
        preintegrate_turn(interval.turns, interval.span, bias, self._fleet.turn_noise, turn)
        if len(states.x) > self._count:
            self._count += 1
            predict_turn(states.centre[k, 0], turn, states.centre[k + 1, 0])
            for q in interval.tilt:
                row = self._tilt_row(k + 1, q, interval.span)
                self._tilts = np.concatenate([self._tilts, row])

    def leave(self, frame: int) -> None:
        """See `Terms.leave`."""
        self._count -= 1
        self._tilts = self._tilts[self._tilts[:, FRAME] != frame]
        self._tilts[self._tilts[:, FRAME] > frame, FRAME] -= 1.0

    def leave_first(self) -> None:
        """See `Terms.leave_first`."""
        self._count -= 1
        drop_first(self._turns)
        self._tilts = self._tilts[self._tilts[:, FRAME] > 0.0]
        self._tilts[:, FRAME] -= 1.0

    def add(self, states: States, only: int, H: Array, g: Array) -> float:
        """See `Terms.add`."""
        return add_rigid(states, *self._factors, self._spec.width, only, H, g)

    def cost(self, states: States) -> float:
        """See `Terms.cost`."""
        return rigid_cost(states, *self._factors, self._spec.width)

    @property
    def _factors(self) -> tuple[JointPositions, Turn, Array]:
        return self._joints, self._turns, self._tilts

    def count(self) -> int:
        """See `Terms.count`."""
        return 2 * len(self._tilts)

    def centre(self, t: float, states: States, w_B0: Array, covariance: Array) -> Estimate:
        """The central body at the newest keyframe: the mean of what every joint says.

        Args:
            t: of the keyframe [s].
            states: of the window.
            w_B0: (3,) its angular velocity, as measured [rad/s].
            covariance: of the newest keyframe and the alignments.
        """
        c, d, arms = states.centre[-1, 0], self._joints.d, self._joints.p_BJ_B
        R_0, share = so3.matrix_from_quaternion(c[:4]), 1.0 / self._aircraft
        p, v = np.zeros(3), -R_0 @ np.cross(w_B0 - c[4:], d.mean(axis=0))
        J = np.zeros((9, len(covariance)))
        ends = len(covariance) - ALIGNMENT * self._aircraft
        J[3:6, ends - CENTRE : ends - CENTRE + 3] = np.eye(3)
        for a in range(self._aircraft):
            x, place, at = states.x[-1, a], states.alignment[a], AIRCRAFT * a
            R_WL = so3.matrix_from_quaternion(so3.quaternion_exp(place[3] * UP))
            R = R_WL @ so3.matrix_from_quaternion(x[3:7])
            tip = R_WL @ x[:3] + R @ arms[a]
            p += share * (tip + place[:3] - R_0 @ d[a])
            v += share * R_WL @ x[7:10]
            J[0:3, at : at + 3] = J[6:9, at + 6 : at + 9] = share * R_WL
            J[0:3, at + 3 : at + 6] = -share * R @ so3.hat(arms[a])
            J[0:3, ends - CENTRE : ends - CENTRE + 3] += share * R_0 @ so3.hat(d[a])
            turn = ends + ALIGNMENT * a
            J[0:3, turn : turn + 3] = share * np.eye(3)
            J[0:3, turn + 3] = share * np.cross(UP, tip)
            J[6:9, turn + 3] = share * np.cross(UP, R_WL @ x[7:10])
        full = np.full((15, 15), np.nan)
        full[:9, :9] = J @ covariance @ J.T
        bias = slice(ends - CENTRE + 3, ends)
        full[9:12, 9:12] = covariance[bias, bias]
        return Estimate(
            t, p, c[:4].copy(), v, c[4:].copy(), np.full(3, np.nan), full, w_B0 - c[4:]
        )

    def _tilt_row(self, k: int, q: Array, span: float) -> Array:
        row = np.zeros((1, TILT_WIDTH))
        row[0, FRAME] = k
        row[0, ATTITUDE : ATTITUDE + 4] = q
        row[0, SIGMA] = tilt_deviation(self._fleet.tilt_deviation, span, self._spec.tilt_memory)
        return row
