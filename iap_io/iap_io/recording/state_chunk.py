# SPDX-License-Identifier: BSD-3-Clause
"""Ticks of all vehicles as the bytes of a bag's chunk: ready-made messages, filled by a few assignments."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Integers
from iap_io.bags.bag_writer import BagWriter, Buffer
from iap_io.bags.mcap_format import MESSAGE, MESSAGE_HEADER, PREFIX, Index
from iap_io.runs import column_messages, topics
from iap_io.runs.column_messages import stamps_ns
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import RunMeta
from iap_io.runs.topics import topic
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.wire.cdr import MessageLayout
from iap_io.wire.sample_views import OdometryMessage

Entry = tuple[str, MessageLayout, int]
TICKS = 512  # per chunk
ODOMETRY_HZ = 100.0


class StateChunk:
    """The bytes of one chunk, prepared: blocks of a few ticks, in order of time.

    A block is the odometry of all bodies and their frames (at `ODOMETRY_HZ`), then state, reference and command of
    every vehicle for each of its ticks. So each topic's messages stand at constant distances and
    are one strided array.
    """

    def __init__(self, bag: BagWriter, meta: RunMeta) -> None:
        self._vehicles = meta.vehicles
        self._every = max(1, round(meta.control_hz / ODOMETRY_HZ))  # ticks per block
        self._blocks = max(1, TICKS // self._every)
        self.ticks = self._blocks * self._every
        odometry, main = _announce(bag, meta.vehicles)
        frames = topics.frames_layout(meta.vehicles)
        odometry.append((topics.FRAMES, frames, bag.add_topic(topics.FRAMES, frames.msgtype)))
        self._odometry_size = sum(size_of(layout) for _, layout, _ in odometry)
        self._tick_size = sum(size_of(layout) for _, layout, _ in main)
        self._block_size = self._odometry_size + self._every * self._tick_size
        self._buffer = np.zeros(self._blocks * self._block_size, np.uint8)
        self._slots: dict[str, Slots] = {}
        strides, at = (self._block_size, self._tick_size), 0
        for entries, per_block in ((odometry, 1), (main, self._every)):
            for name, layout, channel in entries:
                shape = (self._blocks, per_block)
                self._slots[name] = Slots(
                    self._buffer, layout, channel, shape=shape, strides=strides, at=at
                )
                at += size_of(layout)

    def fill(self, columns: Sequence[Columns], ticks: int) -> tuple[list[Buffer], Index]:
        """The bytes and the index of the first `ticks` rows of every column."""
        shaped = [flat.shaped(self._blocks, self._every) for flat in columns]
        for vehicle, c in zip(self._vehicles, shaped, strict=True):
            column_messages.fill_state(self._at(vehicle, topics.STATE).messages, c, vehicle)
            column_messages.fill_reference(
                self._at(vehicle, topics.REFERENCE).messages, c, c.reference
            )
            column_messages.fill_command(self._at(vehicle, topics.COMMAND).messages, c)
            if c.wrench_record is not None:
                record = {name: self._at(vehicle, name).messages for name in topics.WRENCH_TOPICS}
                column_messages.fill_wrenches(record, c, c.wrench_record)
            if c.arm is not None:
                joints = {name: self._at(vehicle, name).messages for name in topics.ARM_TOPICS}
                column_messages.fill_arm(joints, c, c.arm)
            for j, body in enumerate(vehicle.bodies):
                records = self._at(vehicle, topics.odometry_topic(body)).messages
                column_messages.fill_odometry(records, c.t[:, :1], c.x[:, :1, j])
                if c.estimated is not None:
                    odometry = self._at(vehicle, topics.estimate_topic(body)).messages
                    column_messages.fill_odometry(odometry, c.t[:, :1], c.estimated[:, :1, j])
        states = [each.x[:, :1] for each in shaped]
        column_messages.fill_frames(
            self._slots[topics.FRAMES].messages, shaped[0].t[:, :1], states
        )
        stamps = stamps_ns(columns[0].t).reshape(self._blocks, self._every)
        index = dict(slots.entry(stamps, ticks) for slots in self._slots.values())
        blocks, rest = divmod(ticks, self._every)
        size = (
            blocks * self._block_size
            + (self._odometry_size if rest else 0)
            + rest * self._tick_size
        )
        return [self._buffer[:size].data], index

    def _at(self, vehicle: VehicleMeta, name: str) -> "Slots":
        return self._slots[topic(vehicle.name, name)]


class Slots:
    """The places of one topic's messages in a chunk's buffer: (blocks, per block) of them."""

    def __init__(
        self,
        buffer: NDArray[np.uint8],
        layout: MessageLayout,
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

    def entry(self, stamps: Integers, ticks: int) -> tuple[int, tuple[Integers, Integers]]:
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
    for vehicle in vehicles:
        for name, layout in topics.layouts(vehicle).items():
            path = topic(vehicle.name, name)
            entry = (path, layout, bag.add_topic(path, layout.msgtype))
            (odometry if layout.msgtype == OdometryMessage.TYPE else main).append(entry)
    return odometry, main


def size_of(layout: MessageLayout) -> int:
    """Bytes of one message in a chunk."""
    return MESSAGE_HEADER.itemsize + layout.template.size
