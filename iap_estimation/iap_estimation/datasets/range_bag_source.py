# SPDX-License-Identifier: BSD-3-Clause
"""Bags with ranges and an inertial unit alone, whose messages of ranges a mapping in YAML explains.

.. code-block:: yaml

    imu: /imu/data                  # topic of sensor_msgs/Imu
    ranges:
      topic: /uwb                   # of any message
      each: ranges                  # its field with a list of ranges; left out where a message is one range
      anchor: id                    # fields of a range, with dots into their parts
      range: distance               # [m]
      scale: 1.0                    # factor on ranges that are not in metres: 0.001 for mm
      valid: ok                     # 0 where it does not count; left out where all do
      stamp: header.stamp           # of the message
      deviation: 0.2                # [m]
      antenna: [0.1, 0.0, 0.0]      # place on the inertial unit [m]
    anchors: [{id: 7, position: [0.0, 0.0, 2.5], bias: 0.05}]   # [m]; bias: what its ranges are too long
    up: z                           # of the anchors' frame: z, or -z where it is upside down
    truth: {topic: /vicon, point: [0.0, 0.0, 0.0], turned: true}   # in a frame of its own, which need not be level
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, validate
from iap_description.config.values import Flag, Positive, Real, Vec3
from iap_description.errors import BadInput, shown
from iap_estimation.datasets.bag_clocks import BagClocks, compare_clocks, late_sentence
from iap_estimation.datasets.bag_samples import RATE_SAMPLES, inertial, noise_of
from iap_estimation.datasets.bag_topics import IMU
from iap_estimation.datasets.dataset import FROM_CAMERAS, SensorDataset
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.fleet_data import AircraftData
from iap_estimation.navigation.measurements import Event, Tally
from iap_estimation.navigation.streams import LATEST, Sorter, in_order
from iap_estimation.virpo.messages import ImuSample, Ranges
from iap_io.trajectories.bags import Bag, opened
from iap_io.trajectories.messages import header_ns
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.topics import listing

MAX_LEVER = 5.0  # of an antenna on a vehicle [m]
MAX_TICKS = 2**62  # of a stamp [ns]


class _Ranges(Record):
    topic: str
    each: str | None = None
    anchor: str
    range: str
    scale: Positive = 1.0
    valid: str | None = None
    stamp: str = "header.stamp"
    deviation: Positive
    antenna: Vec3 = (0.0, 0.0, 0.0)

    @model_validator(mode="after")
    def _antenna_is_on_the_vehicle(self) -> "_Ranges":
        way = float(np.linalg.norm(self.antenna))
        if way > MAX_LEVER:
            raise ValueError(
                f"key 'antenna': {way:.3g} m from the inertial unit, which no vehicle here is wide: is it in mm?"
            )
        return self


class _Anchor(Record):
    id: str | int
    position: Vec3
    bias: Real = 0.0


class _TruthTopic(Record):
    topic: str
    point: Vec3 = (0.0, 0.0, 0.0)
    turned: Flag = False


class RangeMap(Record):
    """A mapping; see this module's example."""

    imu: str
    ranges: _Ranges
    anchors: Annotated[tuple[_Anchor, ...], Field(min_length=1)]
    up: Literal["z", "-z"] = "z"
    truth: _TruthTopic | None = None

    @model_validator(mode="after")
    def _ids_differ(self) -> "RangeMap":
        ids = [str(each.id) for each in self.anchors]
        twice = next((each for each in ids if ids.count(each) > 1), None)
        if twice is not None:
            raise ValueError(f"key 'anchors': id '{twice}' is given twice")
        return self


class _Anchors(NamedTuple):
    """Numbers of the anchors by id, their places (n, 3) in a level frame, and their constant errors (n,) [m]."""

    numbers: dict[str, int]
    p_W: Array
    biases: Array

    @classmethod
    def of(cls, mapping: RangeMap) -> "_Anchors":
        p = np.array([each.position for each in mapping.anchors])
        turn = np.array([1.0, 1.0, 1.0] if mapping.up == "z" else [1.0, -1.0, -1.0])  # about x
        numbers = {str(each.id): k for k, each in enumerate(mapping.anchors)}
        return cls(numbers, p * turn, np.array([each.bias for each in mapping.anchors]))


def open_range_bag(path: Path, file: Path) -> SensorDataset:
    """A bag, and the YAML file that says what is in it.

    Raises:
        BadInput: one of them cannot be read, or they do not fit each other.
    """
    mapping = validate(RangeMap, read_yaml(file), source=str(file))
    with opened(path) as bag:
        _check_topics(bag, mapping)
        clocks = _clocks(bag, mapping)
        samples = list(islice(bag.messages(mapping.imu), RATE_SAMPLES))
        sample, received = samples[0]
        end = 1e-9 * (bag.end_ns - received)
    noise, note = noise_of([each for each, _ in samples])
    start = clocks.ticks(mapping.imu, header_ns(sample), received)
    truth: Truth | None = None
    off: tuple[str, ...] = ()
    if mapping.truth is not None:
        truth, off = _truth(path, mapping.truth, start, clocks)
    notes = [note, *clocks.notes, *off]
    if truth is None:
        notes.append("nothing says what is true (key 'truth'): there are trajectories, no errors")
    antenna = np.array(mapping.ranges.antenna)
    tally = Tally()
    return SensorDataset(
        str(path),
        path.stem,
        (AircraftData("tag", None, noise, p_BA_B=antenna, truth=truth),),
        start,
        partial(_events, path, mapping, start, clocks, tally),
        tally,
        tuple(notes),
        FROM_CAMERAS,
        has_ranges=True,
        anchors=tuple(str(each.id) for each in mapping.anchors),
        end=end,
    )


def _check_topics(bag: Bag, mapping: RangeMap) -> None:
    path, topics = bag.path, bag.topics
    for key, name in (("imu", mapping.imu), ("ranges.topic", mapping.ranges.topic)):
        if name not in topics or not topics[name].messages:
            raise BadInput(
                f"{path}: key '{key}': no messages on {shown(name)}; it holds {listing(topics)}"
            )
    if topics[mapping.imu].msgtype != IMU:
        raise BadInput(f"{path}: key 'imu': {mapping.imu} is of {topics[mapping.imu].msgtype}")


def _clocks(bag: Bag, mapping: RangeMap) -> BagClocks:
    """The clocks of the ranges and of the inertial unit."""
    topic = mapping.ranges.topic
    clocks = compare_clocks(
        bag, mapping.imu, (topic,), {topic: partial(_range_ns, bag.path, mapping)}
    )
    doubt = () if clocks.late_s is None else (late_sentence(topic, clocks.late_s),)
    return replace(clocks, notes=(*clocks.notes, *doubt))


def _range_ns(path: Path, mapping: RangeMap, message: Any) -> int:  # noqa: ANN401
    """The stamp of a message of ranges [ns]."""
    stamp = _field(message, mapping.ranges.stamp, f"{path}: {mapping.ranges.topic}")
    ticks = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
    return max(-MAX_TICKS, min(MAX_TICKS, ticks))


def _truth(
    path: Path, truth_topic: _TruthTopic, start: int, clocks: BagClocks
) -> tuple[Truth, tuple[str, ...]]:
    recorded = read_recorded(path, topic=truth_topic.topic, bridge=math.inf, follows=False)
    begin, notes = clocks.start_of(recorded, truth_topic.topic)
    t = recorded.t + (begin - start) * 1e-9
    q = np.full((len(t), 4), np.nan) if truth_topic.turned else recorded.q_WP
    poses = np.hstack([recorded.p_WP_W, q])
    point = np.array(truth_topic.point)
    return Truth(t, poses, p_BM_B=point, is_turned=truth_topic.turned), notes


def _events(
    path: Path, mapping: RangeMap, start: int, clocks: BagClocks, tally: Tally
) -> Iterator[Event]:
    tally.clear()
    return in_order(_arriving(path, mapping, start, clocks, tally), 2.0 * LATEST)


def _arriving(
    path: Path, mapping: RangeMap, start: int, clocks: BagClocks, tally: Tally
) -> Iterator[Event]:
    names = (mapping.imu, mapping.ranges.topic)
    sorters: dict[str, Sorter[Any]] = {
        name: Sorter(f"{path}: {name}", tally, LATEST) for name in names
    }
    understood = partial(_measured, path, mapping, _Anchors.of(mapping), tally)
    with opened(path) as bag:
        for topic, message, received in bag.received(names):
            is_range = topic == mapping.ranges.topic
            stamp = _range_ns(path, mapping, message) if is_range else header_ns(message)
            t = (clocks.ticks(topic, stamp, received) - start) * 1e-9
            for each in sorters[topic].add(t, message):
                yield from understood(topic, *each)
    for topic, sorter in sorters.items():
        for each in sorter.end():
            yield from understood(topic, *each)


def _measured(
    path: Path,
    mapping: RangeMap,
    anchors: _Anchors,
    tally: Tally,
    topic: str,
    t: float,
    message: Any,  # noqa: ANN401 - rosbags makes these types at run time
) -> Iterator[Event]:
    """The event of a message; none where it does not count."""
    source = f"{path}: {topic}"
    measured: ImuSample | Ranges | None
    if topic == mapping.imu:
        measured = inertial(t, message, tally)
    else:
        measured = _round(source, t, message, mapping.ranges, anchors, tally)
    if measured is not None:
        yield 0, measured


def _round(
    source: str,
    t: float,
    message: Any,  # noqa: ANN401 - rosbags makes these types at run time
    fields: _Ranges,
    anchors: _Anchors,
    tally: Tally,
) -> Ranges | None:
    """The ranges of a message that count; None without any. Those that are no length, or to nobody, are counted."""
    parts = [message] if fields.each is None else _field(message, fields.each, source)
    counted: list[tuple[int, float]] = []
    for part in parts:
        if fields.valid is not None and not _field(part, fields.valid, source):
            continue
        anchor = str(_field(part, fields.anchor, source))
        length = fields.scale * float(_field(part, fields.range, source))
        if anchor not in anchors.numbers:
            tally.unlisted[anchor] = tally.unlisted.get(anchor, 0) + 1
        elif not 0.0 <= length <= MAX_SI_NUMBER:  # nor where it is NaN
            tally.lengthless += 1
        else:
            counted.append((anchors.numbers[anchor], length))
    if not counted:
        return None
    numbers = np.array([number for number, _ in counted])
    measured = np.array([length for _, length in counted])
    ranges = np.maximum(measured - anchors.biases[numbers], 0.0)
    return Ranges(
        t, numbers, anchors.p_W[numbers], ranges, np.full(len(counted), fields.deviation)
    )


def _field(message: Any, name: str, source: str) -> Any:  # noqa: ANN401
    """A field of a message, or a part of one."""
    value = message
    for part in name.split("."):
        if part.startswith("_") or not hasattr(value, part):
            raise BadInput(f"{source}: messages have no field {shown(name)}")
        value = getattr(value, part)
    return value
