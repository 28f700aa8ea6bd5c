# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of one vehicle of a run; its rows come piece by piece."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import Mode, P, Q
from iap_estimation.evaluation import trajectory_errors
from iap_estimation.virpo.messages import CENTRE_NAME
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import RunMeta, Track
from iap_io.runs.run_reader import VehicleTracks
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_simulation.metrics.contact import ContactScores
from iap_simulation.metrics.errors import (
    TOLERANCE,
    ErrorSums,
    finite,
    inside,
    pose_errors,
    saturated,
    thrusts,
)
from iap_simulation.metrics.measured_wrench import MeasuredWrenchScores

Metrics = dict[str, Any]


class VehicleScores:
    """Judges one vehicle; what comes behind its first state that is not a number is not counted.

    Args:
        meta: the vehicle.
        tracks: what its flight is set against.
        run: the run that it belongs to.

    Attributes:
        meta: the vehicle.
        has_diverged: whether there was a state that is not a number.
    """

    def __init__(self, meta: VehicleMeta, tracks: VehicleTracks, run: RunMeta) -> None:
        self.meta, self.has_diverged = meta, False
        self._last = meta.window_s[0]
        self._ticks = self._saturated = 0
        self._thrust = 0.0
        self._tracking = PoseScores(meta, tracks.commanded)
        self._actual = None if tracks.actual is None else PoseScores(meta, tracks.actual)
        self._velocity = ErrorSums()
        self._contact = ContactScores(meta, run) if meta.feels else None
        measured = tracks.measured
        self._measured = None if measured is None else MeasuredWrenchScores(measured)
        self._estimates = [EstimateScore() for _ in meta.bodies] if meta.is_estimated else []

    def add(self, columns: Columns) -> None:
        """Take the next rows."""
        if self.has_diverged:
            return
        c = finite(columns)
        self.has_diverged = len(c.t) < len(columns.t)
        if not len(c.t):
            return
        self._last = float(c.t[-1])
        ticks = inside(c.t, self.meta.window_s)
        self._velocity.add(c.x[ticks, 0, 7:10] - c.reference[ticks, 7:10])
        self._tracking.add(c)
        if self._actual is not None:
            self._actual.add(c)
        self._thrust = max(self._thrust, float(thrusts(self.meta, c).max(initial=0.0)))
        self._ticks += len(c.t)
        self._saturated += int(saturated(self.meta, c).sum())
        if self._contact is not None and c.wrench_record is not None:
            self._contact.add(c, c.wrench_record)
            if self._measured is not None:
                self._measured.add(c, c.wrench_record)
        if c.estimated is not None:
            for j, estimate in enumerate(self._estimates):
                estimate.add(c.estimated[:, j], c.x[:, j])

    @property
    def window(self) -> list[float]:
        """The vehicle's window, as far as it was flown."""
        start, stop = self.meta.window_s
        return [start, min(stop, self._last)]

    def metrics(self) -> Metrics:
        """The keys that each vehicle has of its own; NaN where there is nothing to count."""
        tracking, actual = self._tracking, self._actual
        return {
            "position_rmse_m": tracking.position.rmse_of_vectors,
            "position_max_m": tracking.position.maximum,
            "velocity_rmse_mps": self._velocity.rmse_of_vectors,
            "attitude_rmse_deg": np.rad2deg(tracking.attitude.rmse),
            "attitude_max_deg": np.rad2deg(tracking.attitude.maximum),
            "axis_rmse_deg": math.degrees(tracking.axis.rmse_of_vectors),
            "thrust_max_n": self._thrust,
            "saturated_fraction": self._saturated / self._ticks if self._ticks else math.nan,
            "actual_position_rmse_m": actual and actual.position.rmse_of_vectors,
            "actual_attitude_rmse_deg": actual and np.rad2deg(actual.attitude.rmse),
            **({} if self._contact is None else self._contact.metrics()),
            **({} if self._measured is None else self._measured.metrics()),
        }

    def estimation(
        self,
        faults: Sequence[tuple[float, str]],
        losses: Sequence[tuple[float, str]],
        health: Mapping[str, float] | None = None,
    ) -> Metrics:
        """Keys `estimation` and `methods`, errors over the whole flight without alignment; nothing for the truth."""
        meta = self.meta
        if not self._estimates:
            return {}
        names = (
            CENTRE_NAME if j not in meta.aircraft else name for j, name in enumerate(meta.bodies)
        )
        estimation = {
            name: {meta.state_source: estimate.metrics()}
            for name, estimate in zip(names, self._estimates, strict=True)
        }
        reasons = [{"t_s": t, "reason": reason} for t, reason in faults]
        events = [{"t_s": t, "what": what} for t, what in losses]
        method: Metrics = {"faults": reasons, "events": events}
        if health is not None:
            method["health"] = dict(health)
        return {"estimation": estimation, "methods": {meta.state_source: method}}


class PoseScores:
    """Errors of a vehicle's poses within its window, against its reference or against a track.

    Attributes:
        position: [m].
        attitude: [rad].
        axis: of the axis of an under-actuated platform [rad]; empty for others.
    """

    def __init__(self, meta: VehicleMeta, track: Track | None) -> None:
        self._meta, self._track = meta, track
        self._before: tuple[Array, Array] | None = None  # the last time and pose that came
        self.position, self.attitude, self.axis = ErrorSums(), ErrorSums(), ErrorSums()

    def add(self, c: Columns) -> None:
        """Take the next rows, at least one."""
        t, reference, poses = c.t, c.reference[:, :7], c.x[:, 0, :7]
        if self._track is not None:
            t, reference, poses = self._at_track(self._track, t, poses)
        indices = inside(t, self._meta.window_s)
        if self._track is None:  # velocity commands have no pose that is to be reached
            indices &= c.mode != Mode.VELOCITY
        position, attitude, axis = pose_errors(reference[indices], poses[indices], self._meta)
        self.position.add(position)
        self.attitude.add(attitude)
        if axis is not None:
            self.axis.add(axis)

    def _at_track(self, track: Track, t: Array, poses: Array) -> tuple[Array, Array, Array]:
        """Times (M,) of the track since the rows before, its poses, and the flown poses (M, 7) there."""
        done = np.searchsorted(track.t, t[0] - TOLERANCE)
        if self._before is not None:
            done = np.searchsorted(track.t, self._before[0][0] + TOLERANCE, side="right")
            t, poses = np.append(self._before[0], t), np.vstack([self._before[1], poses])
        self._before = t[-1:], poses[-1:]
        indices = slice(done, np.searchsorted(track.t, t[-1] + TOLERANCE, side="right"))
        at = track.t[indices]
        return at, track.poses[indices], trajectory_errors.poses_at(at, t, poses)


class EstimateScore:
    """Errors of the estimates of one body, where there are any."""

    def __init__(self) -> None:
        self._position, self._turns = ErrorSums(), ErrorSums()
        self._largest = self._newest = self._path = 0.0
        self._before = np.zeros((0, 3))  # the last true position

    def add(self, estimates: Array, x: Array) -> None:
        """Take states (K, 13) as they were estimated, NaN where they were not, and as they were."""
        known = np.isfinite(estimates).all(axis=1)
        estimates, x = estimates[known], x[known]
        if not len(x):
            return
        errors = estimates[:, P] - x[:, P]
        sizes = np.linalg.norm(errors, axis=1)
        way = np.diff(np.vstack([self._before, x[:, P]]), axis=0)
        self._path += float(np.linalg.norm(way, axis=1).sum())
        self._before, self._newest = x[-1:, P], float(sizes[-1])
        self._largest = max(self._largest, float(sizes.max()))
        turns = so3.quaternion_log(so3.multiply(so3.conjugate(x[:, Q]), estimates[:, Q]))
        self._position.add(errors)
        self._turns.add(turns)

    def metrics(self) -> Metrics:
        """The keys of one body; null without an estimate."""
        if not self._position.count:
            none = ("ate_rmse_m", "ate_max_m", "drift_percent", "attitude_rmse_deg")
            return dict.fromkeys(none)
        return {
            "ate_rmse_m": self._position.rmse_of_vectors,
            "ate_max_m": self._largest,
            "drift_percent": 100.0 * self._newest / self._path if self._path > 0.0 else None,
            "attitude_rmse_deg": math.degrees(self._turns.rmse_of_vectors),
        }
