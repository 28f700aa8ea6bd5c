# SPDX-License-Identifier: BSD-3-Clause
r"""States of the drift filter: drift of every odometry's frame, and the central body's attitude.

An odometry's drift has four degrees of freedom, since gravity shows the others. It is held as the place s in W
of a pivot c in the odometry's frame, and the yaw psi between both frames:

.. math::
    p_W = s + R_z(\psi)\,(p_{odo} - c) .

The pivot goes along with the aircraft, so that the walk of the yaw turns the way ahead, and not the
aircraft about a far origin.
"""

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.math import so3
from iap_description.math.kernels import vec
from iap_estimation.virpo.drift.spec import DriftFilterSpec
from iap_estimation.virpo.drift.updates import (
    ANCHOR,
    apply_joints,
    apply_ranges,
    apply_tilt,
    carry,
    move,
    turn_centre,
)
from iap_estimation.virpo.factors.gyro_preintegration import Turn, preintegrate_turn
from iap_estimation.virpo.fleet import Fleet

Flags = Booleans


class DriftState:
    """States, covariance and how measurements change them.

    Attributes:
        x: (A, 4) place s in W [m] and yaw psi [rad].
        pivots: (A, 3) places c in the odometries' frames [m].
        centre: (7,) q_WB0 xyzw and the bias of its gyroscope [rad/s].
        P: (4 A + 6, 4 A + 6) covariance of [dp, dpsi] of every aircraft, [dtheta, dbg].
    """

    def __init__(self, fleet: Fleet, spec: DriftFilterSpec) -> None:
        self._fleet, self._spec = fleet, spec
        aircraft = len(fleet.aircraft)
        self.x, self.pivots = np.zeros((aircraft, 4)), np.zeros((aircraft, 3))
        self.centre = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        self.P = np.zeros((4 * aircraft + 6, 4 * aircraft + 6))
        self._error = np.zeros(len(self.P))
        self._turn = Turn.empty()
        self._off = np.zeros((aircraft, 0, 3))  # of each anchor's ranges: see `apply_ranges`

    @property
    def of_centre(self) -> int:
        """Place of the centre in an error."""
        return 4 * len(self.x)

    def begin(self, aircraft: int, p_odo: Array) -> None:
        """Begin with an aircraft whose odometry's frame is W, as far as is known."""
        start, at = self._spec.start, 4 * aircraft
        self.x[aircraft, :3], self.x[aircraft, 3] = p_odo, 0.0
        self.pivots[aircraft] = p_odo
        deviations = np.array([start.position] * 3 + [np.deg2rad(start.yaw_deg)])
        self._set(at, np.diag(deviations**2))

    def begin_centre(self, q_WB0: Array, indices: list[int]) -> None:
        """Begin with an attitude of the centre, its yaw from the joints of aircraft that are seen."""
        start, d = self._spec.start, joints_of(self._fleet)[indices]
        tilt, heading = np.deg2rad([start.tilt_deg, start.heading_deg])
        position_variance = np.mean([self.P[4 * a, 4 * a] for a in indices])
        heading = np.hypot(
            heading, np.sqrt(position_variance) / np.linalg.norm(d - d.mean(axis=0))
        )
        self.centre[:4], self.centre[4:] = q_WB0, 0.0
        up = so3.rotate(so3.conjugate(q_WB0), np.array([0.0, 0.0, 1.0]))
        along = np.outer(up, up)
        block = np.zeros((6, 6))
        block[:3, :3] = tilt**2 * (np.eye(3) - along) + heading**2 * along
        block[3:, 3:] = start.gyro_bias**2 * np.eye(3)
        self._set(self.of_centre, block)

    def carry(
        self, aircraft: int, p_odo: Array | None, span: float, doubt: Array | None = None
    ) -> None:
        """Go on with an aircraft for a while; without an odometry its drift is less certain.

        Args:
            aircraft: which.
            p_odo: (3,) where its odometry says that it is now [m]; None where that says nothing.
            span: how long it was since the last [s].
            doubt: (4,) variances that the odometry gives its way and turn; the walk's are the least.
        """
        walk = self._spec.blind_walk if p_odo is None else self._spec.walk
        at = 4 * aircraft
        if p_odo is not None:
            carry(self.x[aircraft], at, vec(p_odo - self.pivots[aircraft]), self.P)
            self.pivots[aircraft] = p_odo
        noise = span * np.square([walk.position] * 3 + [walk.yaw])
        if doubt is not None:
            noise = np.maximum(noise, doubt)
        self.P[range(at, at + 4), range(at, at + 4)] += noise

    def turn(self, samples: Array, span: float) -> None:
        """Go on with the centre by samples (S, 4) of its gyroscope: length, angular velocity."""
        preintegrate_turn(samples, span, self.centre[4:], self._fleet.turn_noise, self._turn)
        turn_centre(self.centre, self._turn, self.of_centre, self.P)

    def ranges(
        self, aircraft: int, rows: Array, points: Array, span: float, off: float = 0.0
    ) -> bool:
        """Take ranges of some time; says whether any agreed.

        Args:
            aircraft: which.
            rows: (n, 7), and
            points: (n, 3) see `apply_ranges`.
            span: the time [s].
            off: deviation of what the odometry went wrong in it [m].
        """
        order = np.argsort(rows[:, ANCHOR], kind="stable")
        more = int(rows[:, ANCHOR].max()) + 1 - self._off.shape[1]
        if more > 0:
            self._off = np.pad(self._off, ((0, 0), (0, more), (0, 0)))
        floor = float(np.hypot(self._spec.range_floor, off))
        limits = (self._spec.gates.range, floor, -float(np.expm1(-span / self._spec.range_memory)))
        used = apply_ranges(
            self.x[aircraft],
            4 * aircraft,
            rows[order],
            points[order],
            limits,
            self._off[aircraft],
            (self._error, self.P),
        )
        self._move()
        return used > 0

    def refused(self, aircraft: int) -> set[int]:
        """Anchors whose ranges to an aircraft have been wrong for long, so that they do not count."""
        return {int(anchor) for anchor in np.flatnonzero(self._off[aircraft, :, 2])}

    def joints(self, arms: Array, present: Flags) -> Flags:
        """Take where the joints are; returns which aircraft (A,) agreed with any other.

        Args:
            arms: (A, 3) from each aircraft to its joint, in its odometry's frame [m].
            present: (A,) which aircraft are.
        """
        agreed = np.zeros(len(present), dtype=bool)
        deviation, gate = self._spec.joint_deviation, self._spec.gates.joints
        x, centre, d = self.x, self.centre, joints_of(self._fleet)
        estimate = (self._error, self.P)
        apply_joints(x, centre, (arms, d, present), deviation, gate, estimate, agreed)
        self._move()
        return agreed

    def tilt(self, q_WB0: Array, deviation: float) -> None:
        """Take a measured attitude's roll and pitch."""
        row = np.concatenate([[0.0], q_WB0, [deviation]])
        gate = self._spec.gates.tilt
        apply_tilt(self.centre, row, gate, self.of_centre, self._error, self.P)
        self._move()

    def reopen(self, aircraft: int, *, with_heading: bool) -> None:
        """An aircraft's drift may have jumped, or the centre's heading be wrong."""
        reopen, at = self._spec.reopen, 4 * aircraft
        yaw = np.deg2rad(reopen.yaw_deg)
        deviations = [reopen.position] * 3 + [yaw]
        self.P[range(at, at + 4), range(at, at + 4)] += np.square(deviations)
        if with_heading:
            up = so3.rotate(so3.conjugate(self.centre[:4]), np.array([0.0, 0.0, 1.0]))
            block_rows = slice(self.of_centre, self.of_centre + 3)
            self.P[block_rows, block_rows] += yaw**2 * np.outer(up, up)

    def _move(self) -> None:
        move(self.x, self.centre, self._error)

    def _set(self, at: int, block: Array) -> None:
        """Set the covariance of states that are independent of others."""
        block_rows = slice(at, at + len(block))
        self.P[block_rows], self.P[:, block_rows] = 0.0, 0.0
        self.P[block_rows, block_rows] = block


def joints_of(fleet: Fleet) -> Array:
    """Places of the joints (A, 3) of a fleet that has any."""
    if fleet.d is None:
        raise ValueError("nothing joins this fleet")
    return fleet.d
