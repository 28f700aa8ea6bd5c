# SPDX-License-Identifier: BSD-3-Clause
"""Bags with the sensors of several aircraft, whose topics a mapping in YAML names.

.. code-block:: yaml

    aircraft:                         # two or more, by name
      one:
        imu: /one/imu                 # sensor_msgs/Imu
        left: /one/left/image_raw     # images
        right: /one/right/image_raw   # left out: the one beside the left camera, if any
        calibration: [left.yaml, right.yaml]   # EuRoC's sensor.yaml, beside this file; left out: CameraInfo, /tf_static
        truth: {topic: /vicon/one}    # poses of the inertial unit; body and frame where there are several
        joint: [0.0, 0.0, -0.05]      # place of its joint on the inertial unit [m]
      two: {imu: /two/imu, left: /two/left/image_raw}
    center:                           # the body that joins them; left out where they fly apart
      imu: /center/imu                # with attitudes
      joints: {one: [0.5, 0.0, 0.0], two: [-0.5, 0.0, 0.0]}   # their places on the body [m]
      position: [0.0, 0.0, 0.0]       # of the inertial unit on the body [m]
      rpy_deg: [0.0, 0.0, 0.0]        # its attitude there
      tilt_deg: 1.0                   # standard deviation of roll and pitch
      truth: {topic: /vicon/center}   # poses of the body
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, validate
from iap_description.config.values import Positive, RpyDegrees, Vec3, VehicleName
from iap_description.errors import BadInput, shown
from iap_description.math import euler
from iap_estimation.datasets.bag_clocks import BagClocks, compare_clocks
from iap_estimation.datasets.bag_samples import RATE_SAMPLES, inertial, noise_of
from iap_estimation.datasets.bag_source import TruthPoses, open_bag, read_truth
from iap_estimation.datasets.bag_topics import IMU, TopicNames
from iap_estimation.datasets.dataset import FROM_CAMERAS, SensorDataset
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.fleet_data import CentreData
from iap_estimation.navigation.measurements import Event, Tally
from iap_estimation.navigation.streams import LATEST, Sorter
from iap_estimation.virpo.messages import CENTRE, CENTRE_NAME, Tilt
from iap_io.trajectories.bags import opened
from iap_io.trajectories.messages import header_ns
from iap_io.trajectories.topics import listing

NO_ATTITUDE = -1.0  # in the first covariance of an attitude that a sensor_msgs/Imu does not have
UNIT_WITHIN = 0.01  # of a quaternion's length


class _TruthOfBody(Record):
    topic: str
    body: str | None = None
    frame: str | None = None

    @property
    def poses(self) -> TruthPoses:
        """As bags take it."""
        return TruthPoses(self.topic, self.body, self.frame)


class _AircraftTopics(Record):
    imu: str
    left: str
    right: str | None = None
    calibration: tuple[str, ...] = ()
    truth: _TruthOfBody | None = None
    joint: Vec3 = (0.0, 0.0, 0.0)


class _CentreTopics(Record):
    imu: str
    joints: dict[str, Vec3]
    position: Vec3 = (0.0, 0.0, 0.0)
    rpy_deg: RpyDegrees = (0.0, 0.0, 0.0)
    tilt_deg: Positive = 1.0
    truth: _TruthOfBody | None = None


class FleetMap(Record):
    """A mapping; see this module's example."""

    aircraft: Annotated[dict[VehicleName, _AircraftTopics], Field(min_length=2)]
    center: _CentreTopics | None = None

    @model_validator(mode="after")
    def _joins_all(self) -> Self:
        if CENTRE_NAME in self.aircraft:
            raise ValueError(f"key 'aircraft': '{CENTRE_NAME}' is the name of the central body")
        if self.center is not None and set(self.center.joints) != set(self.aircraft):
            raise ValueError(
                f"key 'center.joints': places of {', '.join(self.aircraft)} are expected,"
                f" got {', '.join(self.center.joints)}"
            )
        return self


class _CentreUnit(NamedTuple):
    """The inertial unit of the central body in a bag: its topic, the time of the start [ns], clocks, attitude."""

    path: Path
    topic: str
    start: int
    clocks: BagClocks
    q_BS: Array


def open_fleet_bag(path: Path, file: Path) -> SensorDataset:
    """A bag, and the YAML file that says which topics are whose.

    Raises:
        BadInput: one of them cannot be read, or they do not fit each other.
    """
    mapping = validate(FleetMap, read_yaml(file), source=str(file))
    parts = [_part(path, file, name, each) for name, each in mapping.aircraft.items()]
    start = min(each.start_ns for each in parts)
    parts = [_beginning(each, start) for each in parts]
    aircraft = tuple(
        replace(part.aircraft[0], name=name, p_BJ_B=np.array(topics.joint))
        for part, (name, topics) in zip(parts, mapping.aircraft.items(), strict=True)
    )
    notes = [
        f"{one.name}: {note}"
        for one, part in zip(aircraft, parts, strict=True)
        for note in part.notes
    ]
    centre, unit = None, None
    if mapping.center is not None:
        centre, unit, more = _centre(path, mapping, mapping.center, start)
        notes += [f"{CENTRE_NAME}: {note}" for note in more]
    tally = Tally()
    events = partial(_joined, parts, unit, tally)
    return SensorDataset(
        *(str(path), path.stem, aircraft, start, events, tally, tuple(notes), FROM_CAMERAS),
        centre=centre,
        end=max(each.end or 0.0 for each in parts),
        parts=tuple(parts),
    )


def _part(path: Path, file: Path, name: str, topics: _AircraftTopics) -> SensorDataset:
    """One aircraft of a bag as a data set."""
    names = TopicNames(topics.left, topics.right, topics.imu)
    files = tuple(file.parent / each for each in topics.calibration)
    truth = TruthPoses() if topics.truth is None else topics.truth.poses
    try:
        return open_bag(path, names, files, truth)
    except BadInput as error:
        raise BadInput(f"{file}: key 'aircraft.{name}': {error}") from error


def _beginning(part: SensorDataset, start: int) -> SensorDataset:
    """A data set with times since another start [ns]."""
    later = (part.start_ns - start) * 1e-9
    one = part.aircraft[0]
    if one.truth is not None:
        one = replace(one, truth=replace(one.truth, t=one.truth.t + later))
    end = None if part.end is None else part.end + later
    events = partial(_later, part, later)
    return replace(part, aircraft=(one,), start_ns=start, events=events, end=end)


def _later(part: SensorDataset, later: float) -> Iterator[Event]:
    for who, measured in part.events():
        yield who, replace(measured, t=measured.t + later)


def _joined(
    parts: Sequence[SensorDataset], unit: _CentreUnit | None, tally: Tally
) -> Iterator[Event]:
    """The events of all aircraft and of the central body, in order of time."""
    tally.clear()
    central = Tally()
    streams = [_numbered(number, part) for number, part in enumerate(parts)]
    if unit is not None:
        streams.append(_tilts(unit, central))
    yield from heapq.merge(*streams, key=lambda event: event[1].t)
    for each in (*(part.tally for part in parts), central):
        tally.add(each)


def _numbered(number: int, part: SensorDataset) -> Iterator[Event]:
    return ((number, measured) for _, measured in part.events())


def _centre(
    path: Path, mapping: FleetMap, topics: _CentreTopics, start: int
) -> tuple[CentreData, _CentreUnit, tuple[str, ...]]:
    """The central body, its inertial unit, and what the user should know of it."""
    with opened(path) as bag:
        about = bag.topics.get(topics.imu)
        if about is None or about.msgtype != IMU or not about.messages:
            raise BadInput(
                f"{path}: key 'center.imu': no messages of {IMU} on {shown(topics.imu)}; it holds {listing(bag.topics)}"
            )
        clocks = compare_clocks(bag, topics.imu, ())
        samples = [each for each, _ in islice(bag.messages(topics.imu), RATE_SAMPLES)]
    noise, note = noise_of(samples)
    truth: Truth | None = None
    notes = (note, *clocks.notes)
    if topics.truth is not None:
        truth, more = read_truth(path, topics.truth.poses, start, clocks)
        notes = (*notes, *more)
    d = np.array([topics.joints[name] for name in mapping.aircraft])
    tilt, place = math.radians(topics.tilt_deg), np.array(topics.position)
    unit = _CentreUnit(
        path, topics.imu, start, clocks, euler.quaternion_from_rpy_deg(topics.rpy_deg)
    )
    return CentreData(d, noise, tilt, truth, p_B0I_B0=place), unit, notes


def _tilts(unit: _CentreUnit, tally: Tally) -> Iterator[Event]:
    """Tilts by the inertial unit of the central body, in order of time.

    Raises:
        BadInput: it has no attitudes.
    """
    source = f"{unit.path}: {unit.topic}"
    sorter: Sorter[Tilt] = Sorter(source, tally, LATEST)
    with opened(unit.path) as bag:
        for message, received in bag.messages(unit.topic):
            t = (unit.clocks.ticks(unit.topic, header_ns(message), received) - unit.start) * 1e-9
            sample = inertial(t, message, tally)
            if sample is None:
                continue
            o = message.orientation
            q_WS = np.array([o.x, o.y, o.z, o.w], dtype=float)
            has_none = message.orientation_covariance[0] == NO_ATTITUDE
            if has_none or not abs(np.linalg.norm(q_WS) - 1.0) < UNIT_WITHIN:
                raise BadInput(
                    f"{source}: key 'center.imu': no attitude at {t:.3f} s; leave 'center' out,"
                    " or name an inertial unit with an attitude estimate"
                )
            q_WS = q_WS / np.linalg.norm(q_WS)
            tilt = Tilt.by_unit(t, q_WS, sample.w_B, sample.f_B, unit.q_BS)
            yield from ((CENTRE, each) for _, each in sorter.add(t, tilt))
    yield from ((CENTRE, each) for _, each in sorter.end())
