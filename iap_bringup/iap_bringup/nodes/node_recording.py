# SPDX-License-Identifier: BSD-3-Clause
"""A run folder made of messages, the same as the one of the loop in one process."""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iap_bringup.nodes.step_synchronizer import StepSynchronizer, expected_topics
from iap_description.sensors.readings import Reading
from iap_description.signals import Step
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.runs.recorder import Recorder
from iap_io.runs.run_folder import write_config
from iap_io.runs.run_meta import COMPLETED, DIVERGED, RunStats
from iap_io.wire.message_views import stamp_of_time
from iap_simulation.flight import Flight
from iap_simulation.loop import is_far
from iap_simulation.run import INTERRUPTED, judge


class NodeRecording:
    """Records from the first complete tick to the end of the references, or until it is closed.

    Args:
        flight: what is flown.
        config: its resolved plain tree, kept in the folder.
        folder: an empty run folder.

    Attributes:
        folder: of the run.
        synchronizer: takes the messages.
        outcome: one word for metrics.json once the flight is over, before that None.
        collisions: as metrics.json has them.
        control_step_us: mean time of a control step, as the controllers say.
    """

    def __init__(self, flight: Flight, config: dict[str, Any], folder: Path) -> None:
        self.folder = folder
        self.synchronizer = StepSynchronizer(
            list(map(expected_topics, flight.vehicles)), self._write
        )
        self.outcome: str | None = None
        self.collisions: list[dict[str, Any]] = []
        self.control_step_us = math.nan
        self._dt = flight.scenario.dt
        self._end = flight.duration - 0.5 * self._dt
        self._began = self._wall = time.perf_counter()
        self._t = 0.0
        self._has_ticks = self._is_far = False
        write_config(folder, config, flight.sensors.suite.infos)
        self._recorder = Recorder(folder, flight.meta, flight.scenario.recording)
        flight.write_tracks(self._recorder)

    def receive(self, reading: Reading) -> None:
        """Record a reading, unless it is of a time after the flight's end."""
        if reading.t < self._end + self._dt:
            self._recorder.receive(reading)

    @property
    def stamp(self) -> int:
        """Of the last tick [ns]."""
        return stamp_of_time(self._t)

    def close(self) -> None:
        """Complete the bag; a flight that is not over counts as interrupted."""
        try:
            if self.outcome is None:
                self.synchronizer.finish()
            self.outcome = self.outcome or INTERRUPTED
            self._recorder.close()
        except RecordingFailed:
            self.outcome = "recording_failed"
            raise

    def judge(self) -> dict[str, Any]:
        """Write metrics and trajectories of the closed run; returns metrics.json.

        Raises:
            BadInput: nothing was recorded.
        """
        wall = self._wall - self._began
        stats = RunStats(self.outcome or INTERRUPTED, self._t, wall, self.control_step_us)
        return judge(self.folder, stats, self.collisions)

    def _write(self, ticks: Sequence[Step]) -> None:
        if self.outcome is not None:
            return
        self._wall = time.perf_counter()
        if not self._has_ticks:
            self._began, self._has_ticks = self._wall, True
        for i, tick in enumerate(ticks):
            self._recorder.record(i, tick)
        self._t = ticks[0].t
        was_far, self._is_far = (
            self._is_far,
            any(is_far(tick.x[0], tick.reference.row) for tick in ticks),
        )
        if was_far and self._is_far:  # one state alone may be a stranger's
            self.outcome = DIVERGED
        elif self._t > self._end:
            self.outcome = COMPLETED
