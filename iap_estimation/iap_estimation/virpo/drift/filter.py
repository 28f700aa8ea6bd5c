# SPDX-License-Identifier: BSD-3-Clause
r"""Localises a fleet by taking the drift out of every aircraft's own visual-inertial odometry.

For when aircraft can exchange no more than odometry: an extended Kalman filter of the odometries' drifts, each
a yaw and a place that walk at random, and of the central body's attitude. Ranges to anchors and the joints'
geometry measure them; the joints pass on to all what the ranges say of one. An update comes with the
odometries; it waits for those that are late at most `DriftFilterSpec.patience`, and not at all for an aircraft
that it has waited for in vain, until that comes again.
"""

import math
from collections import deque

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.virpo.drift.outputs import (
    OdometrySample,
    aircraft_estimate,
    arm_of,
    centre_estimate,
    doubt_between,
    forgotten,
    joined_estimate,
    middle_of,
)
from iap_estimation.virpo.drift.path import STAMP_TOLERANCE, OdometryPath
from iap_estimation.virpo.drift.spec import DriftFilterSpec
from iap_estimation.virpo.drift.state import DriftState
from iap_estimation.virpo.factors.gyro_preintegration import tilt_deviation
from iap_estimation.virpo.factors.joint_constraints import attitude_of_joints
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, ImuSample, LeftOut, Ranges, Tilt
from iap_estimation.virpo.window.buffers import SampleBuffer

ROUNDS = 4000  # of ranges that wait at most, of every aircraft
TILTS = 1000  # tilts that wait at most
CENTRE = -1  # among estimates
RANGES, JOINTS = 0, 1  # what a drift agrees with
FRESH = 0.05  # age of a tilt that still holds for an update [s]


class DriftFilter:
    """Takes the drift out of odometries.

    Args:
        fleet: the aircraft; where nothing joins them, each is corrected by its ranges alone.
        spec: see `DriftFilterSpec`.

    Attributes:
        t: of the newest update [s]; minus infinity before the first.
        state: drifts, attitude of the centre and their covariance.
        reopened: how often a drift was taken to have jumped.
        left_out: anchors that were left out so far, once for every time that they began to be.
    """

    def __init__(self, fleet: Fleet, spec: DriftFilterSpec) -> None:
        self._fleet, self._spec = fleet, spec
        self._aircraft = range(len(fleet.aircraft))
        self.state = DriftState(fleet, spec)
        self._paths = [OdometryPath(spec.gap) for _ in self._aircraft]
        self._ranges: list[deque[Ranges]] = [deque(maxlen=ROUNDS) for _ in self._aircraft]
        self._turns, self._tilts = SampleBuffer(math.inf), deque[Tilt](maxlen=TILTS)
        self._now, self.t, self.reopened = -np.inf, -np.inf, 0
        self._awaited, self._tilt_awaited = [True for _ in self._aircraft], fleet.d is not None
        self._latest: dict[int, OdometrySample] = {}  # the last of every aircraft
        self._doubts = np.zeros((len(fleet.aircraft), 4))  # since they came before
        self._present: list[int] = []
        self._estimates: dict[int, Estimate] = {}
        self._known: dict[int, Estimate] = {}  # the last that was measured
        self._agreed = np.full((len(fleet.aircraft), 2), -np.inf)  # with ranges, with joints [s]
        self._w_B0 = np.zeros(3)
        self.left_out: list[LeftOut] = []

    @property
    def is_running(self) -> bool:
        """True if there are estimates."""
        return bool(np.isfinite(self.t))

    @property
    def refused(self) -> int:
        """Odometries so far that were too old, received twice or not finite."""
        return sum(path.refused for path in self._paths)

    def odometry(self, aircraft: int, measured: Estimate) -> bool:
        """Take an aircraft's odometry, in `map` before correction; True where there are new estimates."""
        self._paths[aircraft].add(measured)
        if measured.t > self.t - self._spec.gap:
            self._awaited[aircraft] = True
        return self._update(measured.t)

    def ranges(self, aircraft: int, measured: Ranges) -> bool:
        """Take a round of ranges; True where there are new estimates."""
        if len(measured.ranges):
            self._ranges[aircraft].append(measured)
        return self._update(measured.t)

    def tilt(self, measured: Tilt) -> bool:
        """Take a tilt of the central body; True where there are new estimates."""
        self._turns.add(ImuSample(measured.t, measured.w_B0, np.zeros(3)))
        self._tilts.append(measured)
        self._tilt_awaited = self._fleet.d is not None
        return self._update(measured.t)

    def estimates(self) -> list[Estimate]:
        """Estimates at the newest update of all aircraft whose odometry ever came, in order."""
        return [self._estimates[a] for a in self._aircraft if a in self._estimates]

    def centre(self) -> Estimate | None:
        """The same of the central body; None before two joined aircraft had odometry at one time."""
        return self._estimates.get(CENTRE)

    def _update(self, t: float) -> bool:
        """All updates whose measurements are there."""
        self._now = max(self._now, t)
        is_new = False
        while (due := self._due()) is not None:
            self._go_on(due)
            is_new = True
        return is_new

    def _due(self) -> float | None:
        """Time of the next update, if it need not wait any more."""
        step = 1.0 / self._spec.rate
        firsts = [path.after(self.t + 0.999 * step - STAMP_TOLERANCE) for path in self._paths]
        stamps = [t for t in firsts if t is not None]
        if not stamps and not self.is_running:
            return None
        t = min(stamps) if stamps else self.t + step
        is_waiting = not stamps or (self._tilt_awaited and self._turns.t < t - STAMP_TOLERANCE)
        for a in self._aircraft:
            is_waiting |= self._awaited[a] and self._paths[a].newest < t - STAMP_TOLERANCE
        return t if not is_waiting or self._now > t + self._spec.patience else None

    def _go_on(self, t: float) -> None:
        """One update."""
        span = t - self.t if self.is_running else 0.0
        poses = {a: pose for a in self._aircraft if (pose := self._paths[a].at(t)) is not None}
        for a in self._aircraft:
            self._carry(a, t, poses.get(a), span)
        self._present = list(poses)
        self._turn(t, span)
        for a in self._present:
            self._take_ranges(a, t, span)
        if self._has_centre:
            self._take_joints(t)
            self._take_tilt(t, span)
        self.t = t
        self._publish()

    @property
    def _has_centre(self) -> bool:
        return bool(self.state.P[-1, -1] > 0.0)

    def _carry(self, a: int, t: float, pose: Array | None, span: float) -> None:
        """Go on with an aircraft, or begin."""
        self._awaited[a] = pose is not None
        if pose is None:
            self._due_ranges(a, t)  # its place at their times stays unknown
            self.state.carry(a, None, span)
            return
        now = OdometrySample(t, pose, self._paths[a].measured(t))
        if a in self._latest:
            self._doubts[a] = doubt_between(self._latest[a], now)
            self.state.carry(a, pose[1:4], span, self._doubts[a])
        else:
            self.state.begin(a, pose[1:4])
        self._latest[a] = now
        self._paths[a].forget(t - self._spec.gap)

    def _turn(self, t: float, span: float) -> None:
        """Go on with the centre, or begin as soon as two joints are seen."""
        self._tilt_awaited = self._tilt_awaited and self._turns.t > t - STAMP_TOLERANCE
        samples = np.ascontiguousarray(self._turns.take(t)[:, :4])
        if self._has_centre:
            self.state.turn(samples, span)
            if len(samples):
                mean = samples[:, 0] @ samples[:, 1:] / samples[:, 0].sum()
                self._w_B0 = mean - self.state.centre[4:]
        elif self._fleet.d is not None and len(self._present) > 1:
            measured = self._tilt_at(t)
            p_WJ = self.state.x[self._present, :3] + self._arms()[self._present]
            q_measured = so3.IDENTITY if measured is None else measured.q_WB0
            q_WB0 = attitude_of_joints(p_WJ, self._fleet.d[self._present], q_measured)
            self.state.begin_centre(q_WB0, self._present)

    def _arms(self) -> Array:
        """From each aircraft with odometry to its joint (A, 3), in its odometry's frame [m]."""
        arms = np.zeros((len(self._aircraft), 3))
        for a in self._present:
            arms[a] = arm_of(self._fleet, a, self._latest[a].pose)
        return arms

    def _take_ranges(self, a: int, t: float, span: float) -> None:
        """All ranges of an aircraft up to now."""
        rows = _rows(self._due_ranges(a, t), self._spec.range_deviation)
        points = self._paths[a].points(
            rows[:, 0].copy(), self._fleet.aircraft[a].p_BA_B, self.state.pivots[a]
        )
        usable = np.isfinite(rows).all(axis=1) & np.isfinite(points[:, 0])
        off, before = float(np.sqrt(self._doubts[a, :3].mean())), self.state.refused(a)
        is_agreed = not usable.any() or self.state.ranges(
            a, rows[usable], points[usable], span, off
        )
        self._watch(a, RANGES, t, is_agreed)
        new = sorted(self.state.refused(a) - before)
        self.left_out += [LeftOut(t, a, anchor) for anchor in new]

    def _due_ranges(self, a: int, t: float) -> list[Ranges]:
        """Remove and return the rounds of an aircraft up to a time."""
        waiting = self._ranges[a]
        rounds = [measured for measured in waiting if measured.t <= t + STAMP_TOLERANCE]
        later = [measured for measured in waiting if measured.t > t + STAMP_TOLERANCE]
        waiting.clear()
        waiting.extend(later)
        return rounds

    def _take_joints(self, t: float) -> None:
        present = np.zeros(len(self._aircraft), dtype=bool)
        present[self._present] = True
        agreed = self.state.joints(self._arms(), present)
        for a in self._aircraft:
            is_alone = not present[a] or len(self._present) < 2
            self._watch(a, JOINTS, t, is_alone or bool(agreed[a]))

    def _take_tilt(self, t: float, span: float) -> None:
        measured = self._tilt_at(t)
        if measured is not None and span > 0.0:
            deviation = self._fleet.tilt_deviation
            memory = self._spec.tilt_memory
            self.state.tilt(measured.q_WB0, tilt_deviation(deviation, span, memory))

    def _tilt_at(self, t: float) -> Tilt | None:
        """The tilt measured for a time, if any was; those before it are forgotten."""
        while len(self._tilts) > 1 and self._tilts[1].t <= t + STAMP_TOLERANCE:
            self._tilts.popleft()
        measured = self._tilts[0] if self._tilts else None
        return (
            measured
            if measured and abs(measured.t - t) < FRESH and np.isfinite(measured.q_WB0).all()
            else None
        )

    def _watch(self, a: int, which: int, t: float, is_agreed: bool) -> None:
        """Let a drift go far that nothing has agreed with for long."""
        if is_agreed or not np.isfinite(self._agreed[a, which]):
            self._agreed[a, which] = t
        elif t - self._agreed[a, which] > self._spec.reopen.after:
            self.state.reopen(a, with_heading=which == JOINTS)
            self.reopened += 1
            self._agreed[a, which] = t

    def _publish(self) -> None:
        """Form the estimates."""
        state, floor, latest = self.state, self._spec.position_floor, self._latest
        present = {a: latest[a] for a in self._present}
        measured = {a: aircraft_estimate(state, a, one, floor) for a, one in present.items()}
        if self._has_centre and present:
            middle = middle_of(state, self._fleet, present, self._w_B0, self._spec)
            measured[CENTRE] = centre_estimate(self.t, state, middle, self._w_B0)
            for a in latest.keys() - present.keys():
                measured[a] = joined_estimate(
                    self.t, state, self._fleet, a, latest[a], middle, self._w_B0
                )
        self._known |= measured
        for a in self._known.keys() - measured.keys():
            measured[a] = forgotten(self.t, self._known[a], self._spec.speed)
        self._estimates = measured


def _rows(rounds: list[Ranges], deviation: float | None) -> Array:
    """Rows (n, 7) of all ranges: see `iap_estimation.virpo.drift.updates`."""
    if not rounds:
        return np.zeros((0, 7))
    counts = [len(measured.ranges) for measured in rounds]
    rows = np.empty((sum(counts), 7))
    rows[:, 0] = np.repeat([measured.t for measured in rounds], counts)
    rows[:, 1] = np.concatenate([measured.anchors for measured in rounds])
    rows[:, 2:5] = np.concatenate([measured.p_W for measured in rounds])
    rows[:, 5] = np.concatenate([measured.ranges for measured in rounds])
    rows[:, 6] = (
        np.concatenate([measured.deviations for measured in rounds])
        if deviation is None
        else deviation
    )
    return rows
