# SPDX-License-Identifier: BSD-3-Clause
"""Records a run of the in-process loop as a rosbag2 (mcap), at a few microseconds a tick.

The loop hands over rows and readings; rows are copied into columns, readings are kept. Once there
are enough of either, a thread turns them into one chunk of messages, and writes it while the loop
goes on. Stamps are simulation time, and what is in a chunk depends on them alone, so equal runs give
equal bags. What is on disk is a complete bag after every chunk (see
`iap_io.bags.bag_writer`).
"""

import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from iap_description.sensors.readings import CloudReading, ImageReading, Reading
from iap_description.signals import Step
from iap_io.recording.filled_columns import FilledColumns
from iap_io.recording.note_chunk import Note
from iap_io.recording.run_files import RunFiles
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import PLAIN, RecordingSettings, RunMeta, Track, WrenchTrack

Job = Callable[[], None]
MAX_JOBS = 3  # that may wait; the caller of another one then waits too, and nothing is dropped
MAX_CHUNK_BYTES = 8_000_000  # bytes of readings in a chunk
SAMPLE_BYTES = 400  # bytes of a reading that is neither image nor cloud


class Recorder:
    """Writes one run; use it as a context manager, or call `close` in a ``finally``.

    Args:
        folder: the run folder; the bag becomes its subfolder ``bag``.
        meta: the run, its vehicles and its sensors.
        recording: how it is recorded.

    Attributes:
        written: control ticks that are on the disk.

    Raises:
        RecordingFailed: from here and any later call, when the disk is full or cannot be written;
            once, after which nothing more is recorded.
    """

    def __init__(self, folder: Path, meta: RunMeta, recording: RecordingSettings = PLAIN) -> None:
        self._archive = RunFiles(folder, meta, recording)
        self._thread = Background("recorder")
        self._columns = FilledColumns(self._archive.ticks, meta.vehicles, self._write)
        self._readings: list[Reading] = []
        self._notes: list[Note] = []
        self._readings_size = 0
        self.written = 0

    def add_track(self, vehicle: int, name: str, track: Track | WrenchTrack) -> None:
        """Take poses or wrenches with stamps of their own, before the flight; what lies within the flight is written.

        Args:
            vehicle: index into the meta's vehicles.
            name: `topics.REFERENCE_POSE` for a replay's commands as they were recorded (errors are against
                these), `topics.ACTUAL` for what the real aircraft did, or `topics.ACTUAL_WRENCH` for what was measured
                on it.
            track: the poses or wrenches on the run's time.
        """
        self._thread.do(lambda: self._archive.add_track(vehicle, name, track))

    def add_descriptions(self, urdf: Sequence[str]) -> None:
        """Take the URDF of every vehicle, before the flight; RViz shows it."""
        self._thread.do(lambda: self._archive.add_descriptions(urdf))

    def record(self, vehicle: int, step: Step) -> None:
        """Take one control tick of a vehicle, by its place in the meta; every tick gives all vehicles, in order."""
        self._columns.put(vehicle, step)

    def record_rows(self, vehicle: int, rows: Columns) -> None:
        """Take control ticks of a vehicle that follow each other, as so many calls of `record` would."""
        self._columns.put_rows(vehicle, rows)

    def note(self, note: Note) -> None:
        """Record a message that is of no vehicle, such as what the meta's latches do; in order of time."""
        self._notes.append(note)

    def receive(self, reading: Reading) -> None:
        """Receive a reading of one of the meta's sensors; it is kept, so its arrays must stay as they are."""
        self._readings.append(reading)
        self._readings_size += _size(reading)
        if self._readings_size >= MAX_CHUNK_BYTES:
            self._write([], 0)

    def close(self) -> None:
        """Write what is left and complete the bag; may be called again."""
        try:
            self._columns.flush()
            self._write([], 0)
        finally:
            try:
                self._thread.close()
            finally:
                self._archive.close()

    def __enter__(self) -> "Recorder":
        """The recorder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close, whatever happened."""
        self.close()

    def _write(self, columns: list[Columns], ticks: int) -> None:
        """Hand over so many ticks, or none, and all readings."""
        readings, notes = self._readings, self._notes
        if ticks or readings:
            self._thread.do(lambda: self._add(columns, ticks, readings, notes))
        self._readings, self._notes, self._readings_size = [], [], 0

    def _add(
        self,
        columns: list[Columns],
        ticks: int,
        readings: list[Reading],
        notes: list[Note],
    ) -> None:
        self._archive.add(columns, ticks, readings, notes)
        self.written += ticks


def _size(reading: Reading) -> int:
    if isinstance(reading, ImageReading):
        return reading.pixels.nbytes
    return SAMPLE_BYTES + (reading.points_S.nbytes if isinstance(reading, CloudReading) else 0)


class Background:
    """A thread that does jobs one after another until the first of them fails.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._jobs: queue.Queue[Job | None] = queue.Queue(MAX_JOBS)
        self._failure: BaseException | None = None
        self._has_failed = False
        self._thread: threading.Thread | None = threading.Thread(
            target=self._work, name=name, daemon=True
        )
        self._thread.start()

    def do(self, job: Job) -> None:
        """Take a job; waits while too many do. After a failure jobs are forgotten.

        Raises:
            BaseException: of an earlier job, once.
        """
        self.check()
        if not self._has_failed:
            self._jobs.put(job)

    def check(self) -> None:
        """Raise what stopped an earlier job; only once."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def close(self) -> None:
        """Finish all jobs and end the thread; may be called again.

        Raises:
            BaseException: of a job, if it was not raised before.
        """
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
        self.check()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._has_failed:
                continue
            try:
                job()
            except BaseException as error:  # raised again by the next call
                self._has_failed, self._failure = True, error
