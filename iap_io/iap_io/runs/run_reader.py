# SPDX-License-Identifier: BSD-3-Clause
"""Reads a recorded run back some seconds at a time, so that an hour takes no more memory than a minute."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError
from rosbags.interfaces import Connection

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.text_files import is_file
from iap_description.errors import BadInput
from iap_io.bags.bag_reading import METADATA, parsing, raw_messages
from iap_io.runs import topics
from iap_io.runs.column_messages import columns_of, seconds
from iap_io.runs.columns import Columns, joined
from iap_io.runs.object_track import ObjectTrack
from iap_io.runs.run_meta import RunMeta, Track, WrenchTrack
from iap_io.runs.topics import BAG, META, topic
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.wire.cdr import records_of
from iap_io.wire.stamps import stamps_of

PIECE = 4096  # control ticks that are read at once; what is read does not depend on it


@dataclass(frozen=True)
class VehicleTracks:
    """Poses and wrenches with stamps of their own that belong to a vehicle's flight.

    Attributes:
        commanded: a replay's commands as they were recorded.
        actual: what the real aircraft did.
        measured: wrenches of the environment on it.
    """

    commanded: Track | None = None
    actual: Track | None = None
    measured: WrenchTrack | None = None


class RunReader:
    """A recorded run, also one that was interrupted or recorded by the ROS nodes.

    Args:
        folder: the run folder.

    Attributes:
        meta: the run, its vehicles and its sensors.

    Raises:
        BadInput: from here and any method, when it is no run folder, or its bag is damaged or empty.
    """

    def __init__(self, folder: Path) -> None:
        self._bag = folder / BAG
        self.meta = _read_meta(self._bag)

    def tracks(self) -> tuple[VehicleTracks, ...]:
        """The poses that each vehicle's flight is set against."""
        names = (topics.REFERENCE_POSE, topics.ACTUAL, topics.ACTUAL_WRENCH)
        names_of_tracks = {topic(each.name, name) for each in self.meta.vehicles for name in names}
        by_topic = dict[str, tuple[str, list[bytes]]]()
        for connection, _, data in raw_messages(self._bag, names_of_tracks):
            by_topic.setdefault(connection.topic, (connection.msgtype, []))[1].append(data)
        with parsing(self._bag, "recording"):
            records = {name: records_of(*each) for name, each in by_topic.items()}
            return tuple(_tracks(vehicle, records) for vehicle in self.meta.vehicles)

    def objects(self, *, at_most: int | None = None) -> ObjectTrack | None:
        """States of the world's objects, or of a longer run about `at_most` of them; None where none were recorded."""
        if not self.meta.objects:
            return None
        records = raw_messages(self._bag, {topics.OBJECTS})
        messages = [data for _, _, data in records]
        every = 1 if at_most is None else max(1, len(messages) // at_most)
        with parsing(self._bag, "recording"):
            return (
                ObjectTrack.of_messages(self.meta.objects, messages[::every]) if messages else None
            )

    def pieces(self, ticks: int = PIECE) -> Iterator[tuple[Columns, ...]]:
        """Rows of all vehicles, in order of time, so many control ticks at a time."""
        pending = _Pending(self.meta.vehicles)
        for connection, stamp, data in raw_messages(self._bag, pending.topic_names):
            if pending.ticks >= ticks and stamp > pending.stamp and pending.is_complete:
                yield self._columns_until(pending)
            pending.add(connection, stamp, data)
        yield self._columns_until(pending)

    def _columns_until(self, pending: "_Pending") -> tuple[Columns, ...]:
        with parsing(self._bag, "recording"):
            return pending.take()

    def columns(self, *, at_most: int | None = None) -> tuple[Columns, ...]:
        """All rows of every vehicle, or of a longer run about `at_most` of them, evenly chosen."""
        every, rows_read = 1, 0
        kept: list[tuple[Columns, ...]] = []
        for piece in self.pieces():
            first, rows_read = -rows_read % every, rows_read + len(piece[0].t)
            kept.append(tuple(each.rows(slice(first, None, every)).copy() for each in piece))
            while at_most is not None and rows_read > at_most * every:
                every *= 2
                kept = [_joined(kept, slice(None, None, 2))]
        return _joined(kept, slice(None))


class _Pending:
    """Messages that wait to become columns."""

    def __init__(self, vehicles: Sequence[VehicleMeta]) -> None:
        self._vehicles = vehicles
        self._first = topic(vehicles[0].name, topics.STATE)
        self._needed = [topic(v.name, name) for v in vehicles for name in _needed(v)]
        self.topic_names = {*self._needed} | {
            topic(v.name, name) for v in vehicles for name in _estimates(v)
        }
        self._types = dict[str, str]()
        self._messages: dict[str, list[bytes]] = {name: [] for name in self.topic_names}
        self._last = dict[str, bytes]()  # before them, for where a message is missing
        self._newest = -math.inf  # state that was taken [s]
        self.stamp = 0  # of the newest message [ns]

    def add(self, connection: Connection, stamp: int, data: bytes) -> None:
        """Take the next message."""
        self._types[connection.topic], self.stamp = connection.msgtype, stamp
        self._messages[connection.topic].append(data)

    @property
    def ticks(self) -> int:
        """Control ticks that wait."""
        return len(self._messages[self._first])

    @property
    def is_complete(self) -> bool:
        """True if there has been something on every topic."""
        return all(name in self._types for name in self._needed)

    def take(self) -> tuple[Columns, ...]:
        """Make columns of what waits.

        Raises:
            ValueError: nothing has ever come on a topic, or messages are not what they should be.
        """
        for name in self._needed:
            if name not in self._types:
                raise ValueError(f"no message on {name}")
        columns = tuple(map(self._columns, self._vehicles))
        t = [float(c.t[i]) for c in columns if len(c.t) for i in (0, -1)]
        if t and min(t) <= self._newest:
            raise ValueError(f"stamps on {topics.STATE} go backwards")
        self._newest = max(t, default=self._newest)
        for name in self._needed:
            self._last[name] = [self._last.get(name, b""), *self._messages[name]][-1]
        self._messages = {name: [] for name in self.topic_names}
        return columns

    def _columns(self, vehicle: VehicleMeta) -> Columns:
        messages = self._messages
        if not messages[topic(vehicle.name, topics.STATE)]:
            return Columns.zeros(0, vehicle)
        records = {}
        for name in (*_needed(vehicle), *_estimates(vehicle)):
            path = topic(vehicle.name, name)
            is_continued = name != topics.STATE and path in self._last
            blobs = [self._last[path], *messages[path]] if is_continued else messages[path]
            if blobs:
                records[name] = records_of(self._types[path], blobs)
        return columns_of(records, vehicle)


def _joined(pieces: Sequence[tuple[Columns, ...]], part: slice) -> tuple[Columns, ...]:
    return tuple(joined(each).rows(part) for each in zip(*pieces, strict=True))


def _needed(vehicle: VehicleMeta) -> tuple[str, ...]:
    """The topics that every recording of a vehicle has."""
    always = (topics.STATE, topics.REFERENCE, topics.COMMAND)
    wrenches = topics.WRENCH_TOPICS if vehicle.feels else ()
    return (*always, *wrenches, *(topics.ARM_TOPICS if vehicle.arm_joints else ()))


def _estimates(vehicle: VehicleMeta) -> tuple[str, ...]:
    """Topics of the estimates that a vehicle flies on."""
    return tuple(map(topics.estimate_topic, vehicle.bodies)) if vehicle.is_estimated else ()


def _tracks(vehicle: VehicleMeta, records: Mapping[str, Any]) -> VehicleTracks:
    """The tracks of a vehicle among the records of all topics."""
    names = (topics.REFERENCE_POSE, topics.ACTUAL, topics.ACTUAL_WRENCH)
    reference, actual, measured = (records.get(topic(vehicle.name, name)) for name in names)
    return VehicleTracks(
        None if reference is None else Track(*_rows(reference, "pose")),
        None if actual is None else Track(*_rows(actual, "pose")),
        None if measured is None else WrenchTrack(*_rows(measured, "wrench")),
    )


def _rows(records: Any, field: str) -> tuple[Array, Array]:  # noqa: ANN401 - structured
    """Times (K,) [s] and rows (K, n) of a track.

    Raises:
        ValueError: these are no path in time.
    """
    t, rows = seconds(stamps_of(records["header"])), records[field].astype(float)
    if not (np.abs(rows) <= MAX_SI_NUMBER).all() or not np.all(np.diff(t) > 0.0):
        raise ValueError("a recorded command or flight is no path in time")
    return t, rows


def _read_meta(bag: Path) -> RunMeta:
    path = bag / METADATA
    if not is_file(path):
        raise BadInput(f"{bag}: no recording of a run: there is no {METADATA}")
    try:
        return RunMeta.model_validate_json(
            read_yaml(path)["rosbag2_bagfile_information"]["custom_data"][META]
        )
    except (TypeError, KeyError, ValidationError) as error:
        raise BadInput(f"{path}: key 'custom_data.{META}' is missing or damaged") from error
