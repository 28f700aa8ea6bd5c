# SPDX-License-Identifier: BSD-3-Clause
"""The files of a recording: the bag and, where it is asked for, the folder in EuRoC's layout."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.frames import MAP
from iap_description.sensors.readings import ImageReading, Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_io.bags.bag_writer import BagWriter, Buffer
from iap_io.bags.mcap_format import Index, message_head, total
from iap_io.euroc.euroc_folder import EUROC, EurocFolder
from iap_io.recording.note_chunk import Note, NoteChunk
from iap_io.recording.state_chunk import Slots, StateChunk, size_of
from iap_io.runs import topics
from iap_io.runs.column_messages import stamps_ns
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import RecordingSettings, RunMeta, Track, WrenchTrack
from iap_io.runs.topics import BAG, META, topic
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.sensor_messages.static_transforms import TF, TF_STATIC, fixed_frames, tf_message
from iap_io.transports.pool import ImagePool
from iap_io.transports.table import PNG, taking, transports_of
from iap_io.transports.transport import Packing, Transport
from iap_io.wire.cdr import MessageLayout, in_frame, message, message_types, serialised
from iap_io.wire.sample_views import WrenchMessage
from iap_io.wire.stamps import set_stamps, stamp_of_time

STRING = "std_msgs/msg/String"
JOINED = 1 << 14  # bytes; shorter buffers are copied together, and the file does not depend on it


class RunFiles:
    """The files of one recording; not for several threads at once.

    Args:
        folder: the run folder.
        meta: the run.
        recording: how it is recorded.

    Raises:
        RecordingFailed: from here and every method, when the disk is full or cannot be written.
    """

    def __init__(self, folder: Path, meta: RunMeta, recording: RecordingSettings) -> None:
        self._meta = meta
        self._transports = transports_of(recording.compression, recording.jpeg_quality)
        self._bag = BagWriter(folder / BAG, message_types(), {META: meta.model_dump_json()})
        self._states = StateChunk(self._bag, meta)
        self.ticks = self._states.ticks  # of a full chunk
        self._tracks = list[StampedRows]()
        self._until: int | None = None  # stamp up to which they are written [ns]
        self._images = ImagePool()
        self._sensors = SensorChunk(
            self._bag, meta.sensors, transports=self._transports, pack=self._images.of
        )
        self._notes = NoteChunk(self._bag, meta)
        self._euroc = EurocFolder(folder / EUROC, meta) if recording.euroc else None
        self._latched: list[tuple[int, bytes]] = []  # channel and message
        mounts = (mount for vehicle in meta.vehicles for mount in vehicle.mounts)
        frames = fixed_frames(mounts, meta.sensors)
        if frames:
            self._append_latched(TF_STATIC, TF, tf_message(frames))

    def _append_latched(self, name: str, msgtype: str, data: bytes) -> None:
        """Keep the only message of a topic, of t = 0, for the begin of the bag."""
        self._latched.append((self._bag.add_topic(name, msgtype, is_latched=True), data))

    def _write_latched(self) -> None:
        """Write what is kept."""
        for channel, data in self._latched:
            self._bag.append(channel, 0, data)
        if self._latched:
            self._bag.flush()
        self._latched.clear()

    def add_descriptions(self, urdf: Sequence[str]) -> None:
        """Take the URDF of every vehicle, see `iap_io.recording.recorder.Recorder.add_descriptions`."""
        for vehicle, text in zip(self._meta.vehicles, urdf, strict=True):
            name = topic(vehicle.name, topics.DESCRIPTION)
            self._append_latched(name, STRING, serialised(message(STRING, data=text)))

    def add_track(self, vehicle: int, name: str, track: Track | WrenchTrack) -> None:
        """Take poses or wrenches with stamps of their own, see `iap_io.recording.recorder.Recorder.add_track`."""
        meta = self._meta.vehicles[vehicle]
        kind, frame, field, rows = (
            (topics.POSE, MAP, "pose", track.poses)
            if isinstance(track, Track)
            else (WrenchMessage.TYPE, f"{meta.name}/{meta.bodies[0]}", "wrench", track.wrenches)
        )
        channel = self._bag.add_topic(topic(meta.name, name), kind)
        layout = MessageLayout.of(in_frame(kind, frame))
        self._tracks.append(StampedRows(channel, layout, field, stamps_ns(track.t), rows))

    def _write_tracks(self, t: Array) -> None:
        """Write the rows of tracks from the last ticks to these, so that the bag holds nothing that was not flown."""
        first, last = stamps_ns(t[[0, -1]])
        after = first - 1 if self._until is None else self._until
        for track in self._tracks:
            mask = (track.stamps > after) & (track.stamps <= last)
            if mask.any():
                self._write_track(track, mask)
        self._until = last

    def _write_track(self, track: "StampedRows", mask: Booleans) -> None:
        """Write the chosen rows of a track as one chunk."""
        stamps, layout = track.stamps[mask, None], track.layout
        count, size = len(stamps), size_of(layout)
        buffer = np.zeros(count * size, np.uint8)
        slots = Slots(buffer, layout, track.channel, shape=(count, 1), strides=(size, 0), at=0)
        set_stamps(slots.messages["header"], stamps)
        slots.messages[track.field] = track.rows[mask, None]
        self._bag.write_chunk([buffer.data], dict([slots.entry(stamps, count)]))

    def add(
        self,
        columns: Sequence[Columns],
        ticks: int,
        readings: Sequence[Reading],
        notes: Sequence[Note] = (),
    ) -> None:
        """Write one chunk.

        Args:
            columns: of every vehicle.
            ticks: rows of them that are filled; at most `self.ticks`.
            readings: of sensors since the last chunk.
            notes: messages of no vehicle since then.
        """
        self._write_latched()
        self._begin_images(readings)
        parts: list[Buffer] = []
        index: Index = {}
        if ticks:
            with np.errstate(invalid="ignore"):  # a state that is no number is recorded as it is
                parts, index = self._states.fill(columns, ticks)
        sensor_parts, sensor_index = self._sensors.fill(readings, total(parts))
        noted, at = self._notes.fill(notes, total(parts) + total(sensor_parts))
        if ticks or readings:
            self._bag.write_chunk([*parts, *sensor_parts, *noted], {**index, **sensor_index, **at})
        if ticks:
            self._write_tracks(columns[0].t[:ticks])
        self._images.finish()
        if self._euroc is not None:
            self._euroc.add([each.rows(slice(ticks)) for each in columns], readings)

    def _begin_images(self, readings: Sequence[Reading]) -> None:
        for reading in readings:
            if isinstance(reading, ImageReading):
                file = None if self._euroc is None else self._euroc.image_file(reading)
                transport = taking(self._transports, reading.encoding)
                if file is not None:
                    self._images.begin(PNG, reading.pixels, file)
                if transport is not None and (file is None or transport != PNG):
                    self._images.begin(transport, reading.pixels)

    def close(self) -> None:
        """Complete everything and let go of it; may be called again, and after a failure."""
        self._images.close()
        try:
            if self._euroc is not None:
                self._euroc.close()
        finally:
            self._bag.close()


class StampedRows(NamedTuple):
    """A track as a topic of the bag.

    Attributes:
        channel: of the topic.
        layout: of its messages.
        field: of a message that a row fills.
        stamps: (K,) [ns].
        rows: (K, n).
    """

    channel: int
    layout: MessageLayout
    field: str
    stamps: Integers
    rows: Array


class SensorChunk:
    """Makes readings of all sensors the bytes of a bag's chunk, in the order in which they came.

    Args:
        bag: gets the sensors' topics.
        sensors: all whose readings come.
        transports: an image is of the first that takes its encoding, else as it is.
        pack: compresses an image.
    """

    def __init__(
        self,
        bag: BagWriter,
        sensors: Sequence[SensorInfo],
        *,
        transports: Sequence[Transport],
        pack: Packing,
    ) -> None:
        self._encoders = {
            meta.topic: encoder(meta, transports=transports, pack=pack) for meta in sensors
        }
        self._channels = {
            name: bag.add_topic(name, msgtype)
            for each in self._encoders.values()
            for name, msgtype in each.topics.items()
        }

    def fill(self, readings: Iterable[Reading], start: int) -> tuple[list[Buffer], Index]:
        """Bytes and index of readings.

        Args:
            readings: of the sensors.
            start: position in the chunk at which they begin.
        """
        done, short, at = list[Buffer](), bytearray(), start
        positions: dict[int, list[tuple[int, int]]] = {}
        for reading in readings:
            stamp = stamp_of_time(reading.t)
            for name, data in self._encoders[reading.source.topic](reading):
                channel, size = self._channels[name], total(data)
                head = message_head(channel, stamp, size)
                for part in (head, *data):
                    if len(part) < JOINED:
                        short += part
                    else:
                        done += [bytes(short), part]
                        short.clear()
                positions.setdefault(channel, []).append((stamp, at))
                at += len(head) + size
        columns = {c: np.array(rows, np.int64).T for c, rows in positions.items()}
        done.append(bytes(short))
        return done, {c: (stamps, offsets) for c, (stamps, offsets) in columns.items()}
