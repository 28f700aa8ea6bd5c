# SPDX-License-Identifier: BSD-3-Clause
"""The metrics of a flight without its recording, for studies of thousands of flights."""

from typing import Any

import numpy as np

from iap_description.signals import Step
from iap_io.runs import topics
from iap_io.runs.column_messages import seconds, stamps_ns
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import RunMeta, RunStats, Track
from iap_io.runs.run_reader import PIECE, Tracks
from iap_io.runs.state_chunk import ODOMETRY_HZ
from iap_simulation.metrics.metrics import Scores


class CollectedTracks:
    """The tracks that vehicles' flights are set against, as their recording has them.

    Args:
        count: of the vehicles.
    """

    def __init__(self, count: int) -> None:
        self.tracks = [Tracks() for _ in range(count)]

    def add_track(self, vehicle: int, name: str, track: Track) -> None:
        """Take poses with stamps of their own, before the flight; see `iap_io.runs.recorder.Recorder.add_track`."""
        stamped, old = Track(seconds(stamps_ns(track.t)), track.poses), self.tracks[vehicle]
        is_given = name == topics.GIVEN
        self.tracks[vehicle] = (
            Tracks(stamped, old.actual) if is_given else Tracks(old.given, stamped)
        )


class FlightScores(CollectedTracks):
    """Judges a flight while it is flown: an observer whose metrics are those of the flight's recording.

    Rows are as a recording has them: stamps in whole nanoseconds, estimates at the rate of odometry.

    Args:
        run: the run and its vehicles.

    Attributes:
        ticks: control ticks that were seen.
    """

    def __init__(self, run: RunMeta) -> None:
        super().__init__(len(run.vehicles))
        self._run, self.ticks = run, 0
        self._scores: Scores | None = None
        self._columns = [Columns.zeros(PIECE, vehicle) for vehicle in run.vehicles]
        self._filled = [0] * len(run.vehicles)
        self._every = max(1, round(run.control_hz / ODOMETRY_HZ))

    def record(self, vehicle: int, step: Step) -> None:
        """Take one control tick of a vehicle; every tick gives all vehicles, in order."""
        i = self._place(vehicle)
        self._columns[vehicle].put(i, step)
        self._filled[vehicle] = i + 1

    def record_rows(self, vehicle: int, rows: Columns) -> None:
        """Take control ticks of a vehicle that follow each other, as so many calls of `record` would."""
        begin, count = 0, len(rows.k)
        while begin < count:
            i = self._place(vehicle)
            end = min(count, begin + PIECE - i)
            self._columns[vehicle].put_rows(i, rows.rows(slice(begin, end)))
            self._filled[vehicle] = i + end - begin
            begin = end

    def _place(self, vehicle: int) -> int:
        """Row of a vehicle's next tick; what is full is judged."""
        i = self._filled[vehicle]
        if i < PIECE:
            return i
        self._take(PIECE)
        return 0

    def metrics(self, stats: RunStats) -> dict[str, Any]:
        """All of metrics.json but the collisions, once, at the end of the flight."""
        self._take(min(self._filled))  # a tick cut off half-way is dropped
        return self._judge().metrics(stats)

    def _judge(self) -> Scores:
        if self._scores is None:
            self._scores = Scores(self._run, self.tracks)
        return self._scores

    def _take(self, ticks: int) -> None:
        """Judge the first rows, and begin anew."""
        for c in self._columns:
            c.t[:ticks] = seconds(stamps_ns(c.t[:ticks]))
            if c.estimated is not None:
                unsaid = (self.ticks + np.arange(ticks)) % self._every > 0
                c.estimated[:ticks][unsaid] = np.nan
        self._judge().add([c.rows(slice(ticks)) for c in self._columns])
        self.ticks += ticks
        self._filled = [0] * len(self._filled)
