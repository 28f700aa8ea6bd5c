# SPDX-License-Identifier: BSD-3-Clause
"""The metrics of flights without their recordings, of one or of many worlds, for studies of thousands of flights."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.signals import Step
from iap_description.states import Command
from iap_io.recording.filled_columns import FilledColumns
from iap_io.recording.state_chunk import ODOMETRY_HZ
from iap_io.runs import topics
from iap_io.runs.column_messages import seconds, stamps_ns
from iap_io.runs.columns import Columns, put_command
from iap_io.runs.run_meta import RunMeta, RunStats, Track, WrenchTrack
from iap_io.runs.run_reader import PIECE, VehicleTracks
from iap_simulation.metrics.metrics import Scores

FIELDS = {  # of `VehicleTracks`, by topics
    topics.REFERENCE_POSE: "commanded",
    topics.ACTUAL: "actual",
    topics.ACTUAL_WRENCH: "measured",
}


class CollectedTracks:
    """The tracks that vehicles' flights are set against, as their recording has them.

    Args:
        count: of the vehicles.
    """

    def __init__(self, count: int) -> None:
        self.tracks = [VehicleTracks() for _ in range(count)]

    def add_track(self, vehicle: int, name: str, track: Track | WrenchTrack) -> None:
        """Take poses and wrenches before the flight; see `iap_io.recording.recorder.Recorder`."""
        stamped: Any = replace(track, t=seconds(stamps_ns(track.t)))
        self.tracks[vehicle] = replace(self.tracks[vehicle], **{FIELDS[name]: stamped})


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
        self._columns = FilledColumns(PIECE, run.vehicles, self._take)
        self._every = max(1, round(run.control_hz / ODOMETRY_HZ))

    def record(self, vehicle: int, step: Step) -> None:
        """Take one control tick of a vehicle; every tick gives all vehicles, in order."""
        self._columns.put(vehicle, step)

    def record_rows(self, vehicle: int, rows: Columns) -> None:
        """Take control ticks of a vehicle that follow each other, as so many calls of `record` would."""
        self._columns.put_rows(vehicle, rows)

    def metrics(self, stats: RunStats) -> dict[str, Any]:
        """All of metrics.json but the collisions, once, at the end of the flight."""
        self._columns.flush()
        return self._judge().metrics(stats)

    def _judge(self) -> Scores:
        if self._scores is None:
            self._scores = Scores(self._run, self.tracks)
        return self._scores

    def _take(self, columns: list[Columns], ticks: int) -> None:
        """Judge the first rows."""
        for c in columns:
            c.t[:ticks] = seconds(stamps_ns(c.t[:ticks]))
            if c.estimated is not None:
                unsaid = (self.ticks + np.arange(ticks)) % self._every > 0
                c.estimated[:ticks][unsaid] = np.nan
        self._judge().add([c.rows(slice(ticks)) for c in columns])
        self.ticks += ticks


class BatchScores:
    """Judges the flights of B worlds that begin together, each piece by piece as a recording is judged.

    Args:
        runs: (B,) descriptions of the runs, of one vehicle each.
        tracks: what the vehicle's flight is set against.
        ticks: that a flight has at most.
    """

    def __init__(
        self, runs: Sequence[RunMeta], tracks: Sequence[VehicleTracks], ticks: int
    ) -> None:
        self._scores = [Scores(run, tracks) for run in runs]
        (vehicle,) = runs[0].vehicles
        batch, self._most = len(runs), min(ticks, PIECE)
        self._columns = Columns.zeros(self._most * batch, vehicle).shaped(self._most, batch)
        self._filled = 0
        self._own = np.zeros(batch, dtype=np.int64)  # ticks of each world since they were judged

    def record(
        self,
        k: int,
        t: float,
        x: Array,
        references: tuple[Array, Integers],
        command: Command,
        rpm: Array,
        flies: Booleans,
    ) -> None:
        """Take one control tick of all worlds.

        Args:
            k: its number.
            t: simulation time [s].
            x: (B, bodies, 13) states.
            references: rows (B, 19 + N), and what is tracked of them (B,).
            command: arrays (B, ...).
            rpm: (B, N, 4) rotor speeds.
            flies: (B,) which worlds have this tick; one that has not has none later either.
        """
        if self._filled == self._most:
            self._judge()
        i, c = self._filled, self._columns
        c.k[i], c.t[i], c.x[i], c.rpm[i] = k, t, x, rpm
        c.reference[i], c.level[i] = references
        c.mode[i], c.wrench_P[i] = command.mode, command.wrench_P
        put_command(c.aircraft[i], command)
        self._own += flies
        self._filled += 1

    def metrics(self, stats: Sequence[RunStats]) -> list[dict[str, Any]]:
        """All of metrics.json of each world, once, at the end of the flights."""
        self._judge()
        return [
            {**scores.metrics(each), "collisions": []}
            for scores, each in zip(self._scores, stats, strict=True)
        ]

    def _judge(self) -> None:
        """Judge the rows, and begin anew."""
        for b, (scores, ticks) in enumerate(zip(self._scores, self._own.tolist(), strict=True)):
            if ticks:
                columns = self._columns.rows((slice(ticks), b)).copy()
                columns.t[:] = seconds(stamps_ns(columns.t))
                scores.add([columns])
        self._filled = 0
        self._own[:] = 0
