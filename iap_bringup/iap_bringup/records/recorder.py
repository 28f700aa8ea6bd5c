# SPDX-License-Identifier: BSD-3-Clause
"""Records a run of the in-process loop as a rosbag2 (mcap), at a few microseconds a tick.

The loop hands over rows; they are copied into columns of `TICKS` rows and written as one chunk of
ready-made messages when the columns are full. Stamps are simulation time, so equal runs give equal
bags. What is on disk is a complete bag after every chunk (see `iap_bringup.records.bag_writer`).
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iap_bringup.records import topics
from iap_bringup.records.bag_writer import BagWriter, RecordingFailed
from iap_bringup.records.mcap_format import MESSAGE, MESSAGE_HEADER, PREFIX, Index
from iap_bringup.records.run_meta import COMPLETED, DIVERGED, RunMeta, RunStats, Track, VehicleMeta
from iap_bringup.records.topics import Columns, stamps_ns, topic
from iap_bringup.step import Step
from iap_description.cdr import Layout, message_types, set_stamps

__all__ = [
    "COMPLETED",
    "DIVERGED",
    "Recorder",
    "RecordingFailed",
    "RunMeta",
    "RunStats",
    "Track",
    "VehicleMeta",
]

Array = NDArray[np.float64]
Entry = tuple[str, Layout, int]
BAG = "bag"  # folder of the bag within the run folder
META = "iap_run"  # key of the RunMeta in the bag's custom data
TICKS = 512  # per chunk
ODOMETRY_HZ = 100.0


class Recorder:
    """Writes one run; use it as a context manager, or call `close` in a ``finally``.

    Args:
        folder: the run folder; the bag becomes its subfolder ``bag``.
        meta: the run and its vehicles.

    Raises:
        RecordingFailed: from here, `record` and `close`, when the disk is full or cannot be
            written.
    """

    def __init__(self, folder: Path, meta: RunMeta) -> None:
        self._store = message_types()
        self._bag = BagWriter(folder / BAG, self._store, {META: meta.model_dump_json()})
        self._meta = meta
        self._chunk = _Chunk(self._bag, meta)
        self._columns = [Columns.zeros(self._chunk.ticks, vehicle) for vehicle in meta.vehicles]
        self._filled = [0] * len(meta.vehicles)

    def add_track(self, vehicle: int, name: str, track: Track) -> None:
        """Write poses with stamps of their own, before the flight.

        Args:
            vehicle: index into the meta's vehicles.
            name: `topics.GIVEN` for a replay's commands as they were recorded (errors are against
                these), or `topics.ACTUAL` for what the real aircraft did.
            track: the poses on the run's time.
        """
        path = topic(self._meta.vehicles[vehicle].name, name)
        layout = Layout.of(self._store, topics.pose_sample(self._store))
        size, count = _size(layout), len(track.t)
        buffer = np.zeros(count * size, np.uint8)
        channel = self._bag.add_topic(path, topics.POSE)
        slots = _Slots(buffer, layout, channel, shape=(count, 1), strides=(size, 0), at=0)
        stamps = stamps_ns(track.t)[:, None]
        set_stamps(slots.messages["header"], stamps)
        slots.messages["pose"] = track.poses[:, None]
        self._bag.write_chunk([buffer.data], dict([slots.entry(stamps, count)]))

    def record(self, vehicle: int, step: Step) -> None:
        """Take one control tick of a vehicle, by its place in the meta; every tick gives all vehicles, in order."""
        i = self._filled[vehicle]
        if i == self._chunk.ticks:
            if min(self._filled) < i:
                raise ValueError("every tick must record every vehicle")
            self._write()
            i = 0
        self._columns[vehicle].put(i, step)
        self._filled[vehicle] = i + 1

    def close(self) -> None:
        """Write what is left and complete the bag; may be called again."""
        try:
            self._write()
        finally:
            self._bag.close()

    def __enter__(self) -> "Recorder":
        """The recorder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close, whatever happened."""
        self.close()

    def _write(self) -> None:
        """Write the ticks that all vehicles have; a tick cut off half-way is dropped."""
        ticks = min(self._filled)
        if ticks:
            with np.errstate(invalid="ignore"):  # a state that is no number is recorded as it is
                chunk, index = self._chunk.fill(self._columns, ticks)
            self._bag.write_chunk(chunk, index)
        self._filled = [0] * len(self._filled)


class _Chunk:
    """The bytes of one chunk, prepared: blocks of a few ticks, in order of time.

    A block is the odometry of all bodies (at `ODOMETRY_HZ`), then state, reference and command of
    every vehicle for each of its ticks. So each topic's messages stand at constant distances and
    are one strided array.
    """

    def __init__(self, bag: BagWriter, meta: RunMeta) -> None:
        self._vehicles = meta.vehicles
        self._every = max(1, round(meta.control_hz / ODOMETRY_HZ))  # ticks per block
        self._blocks = max(1, TICKS // self._every)
        self.ticks = self._blocks * self._every
        odometry, main = _announce(bag, meta.vehicles)
        self._odometry_size = sum(_size(layout) for _, layout, _ in odometry)
        self._tick_size = sum(_size(layout) for _, layout, _ in main)
        self._block_size = self._odometry_size + self._every * self._tick_size
        self._buffer = np.zeros(self._blocks * self._block_size, np.uint8)
        self._slots: dict[str, _Slots] = {}
        strides, at = (self._block_size, self._tick_size), 0
        for entries, per_block in ((odometry, 1), (main, self._every)):
            for name, layout, channel in entries:
                shape = (self._blocks, per_block)
                self._slots[name] = _Slots(
                    self._buffer, layout, channel, shape=shape, strides=strides, at=at
                )
                at += _size(layout)

    def fill(self, columns: list[Columns], ticks: int) -> tuple[list[memoryview], Index]:
        """The bytes and the index of the first `ticks` rows of every column."""
        for vehicle, flat in zip(self._vehicles, columns, strict=True):
            c = flat.shaped(self._blocks, self._every)
            topics.fill_state(self._at(vehicle, topics.STATE).messages, c, vehicle)
            topics.fill_reference(self._at(vehicle, topics.REFERENCE).messages, c, c.reference)
            topics.fill_command(self._at(vehicle, topics.COMMAND).messages, c)
            if c.felt is not None:
                felt = {name: self._at(vehicle, name).messages for name in topics.FELT}
                topics.fill_felt(felt, c, c.felt)
            for j, body in enumerate(vehicle.bodies):
                records = self._at(vehicle, topics.odometry_topic(body)).messages
                topics.fill_odometry(records, c.t[:, :1], c.x[:, :1, j])
        stamps = stamps_ns(columns[0].t).reshape(self._blocks, self._every)
        index = dict(slots.entry(stamps, ticks) for slots in self._slots.values())
        blocks, rest = divmod(ticks, self._every)
        size = (
            blocks * self._block_size
            + (self._odometry_size if rest else 0)
            + rest * self._tick_size
        )
        return [self._buffer[:size].data], index

    def _at(self, vehicle: VehicleMeta, name: str) -> "_Slots":
        return self._slots[topic(vehicle.name, name)]


class _Slots:
    """The places of one topic's messages in a chunk's buffer: (blocks, per block) of them."""

    def __init__(
        self,
        buffer: NDArray[np.uint8],
        layout: Layout,
        channel: int,
        *,
        shape: tuple[int, int],
        strides: tuple[int, int],
        at: int,
    ) -> None:
        head = MESSAGE_HEADER.itemsize
        self._channel = channel
        self._head = np.ndarray(shape, MESSAGE_HEADER, buffer, at, strides)
        self._head["op"], self._head["channel"] = MESSAGE, channel
        self._head["length"] = head - PREFIX + layout.dtype.itemsize
        np.ndarray((*shape, layout.template.size), np.uint8, buffer, at + head, (*strides, 1))[
            ...
        ] = layout.template
        self.messages = np.ndarray(shape, layout.dtype, buffer, at + head, strides)
        self._offsets = (
            at
            + np.add.outer(
                np.arange(shape[0]) * strides[0], np.arange(shape[1]) * strides[1]
            ).ravel()
        )

    def entry(
        self, stamps: NDArray[np.int64], ticks: int
    ) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Stamp the messages; returns the channel and the index of the first `ticks` ticks'."""
        per_block = self._head.shape[1]
        mine = stamps[:, :per_block]
        self._head["log_time"] = self._head["time"] = mine
        count = -(-ticks * per_block // stamps.shape[1])
        return self._channel, (mine.ravel()[:count], self._offsets[:count])


def _announce(
    bag: BagWriter, vehicles: tuple[VehicleMeta, ...]
) -> tuple[list[Entry], list[Entry]]:
    """Topics of the bodies' odometry, and those of every tick: absolute name, layout, channel."""
    odometry: list[Entry] = []
    main: list[Entry] = []
    store = message_types()
    for vehicle in vehicles:
        for name, sample in topics.samples(store, vehicle).items():
            path, layout = topic(vehicle.name, name), Layout.of(store, sample)
            entry = (path, layout, bag.add_topic(path, layout.msgtype))
            (odometry if layout.msgtype == topics.ODOMETRY else main).append(entry)
    return odometry, main


def _size(layout: Layout) -> int:
    return MESSAGE_HEADER.itemsize + layout.template.size
