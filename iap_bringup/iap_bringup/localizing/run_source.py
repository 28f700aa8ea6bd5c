# SPDX-License-Identifier: BSD-3-Clause
"""Run folders of this suite as data sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from rosbags.rosbag2 import Reader, ReaderError

from iap_bringup.localizing.data import (
    CENTRE,
    CENTRE_NAME,
    CentreData,
    CraftData,
    Dataset,
    Event,
    Images,
    Raw,
    Tally,
    Truth,
)
from iap_bringup.localizing.streams import Clock, Pairing, in_order
from iap_bringup.records.euroc_text import transform
from iap_bringup.records.recorder import BAG
from iap_bringup.records.runfolder import CONFIG, RunData, VehicleRun, load_run
from iap_bringup.records.sensor_meta import CameraMeta, ImuMeta, SensorMeta, UwbMeta
from iap_bringup.records.sensor_reader import read_sensors
from iap_bringup.records.topics import seconds
from iap_bringup.scenario import resolve_again
from iap_description import so3
from iap_description.assembly import Assembly
from iap_description.cdr import message_types, records_of, stamps_of
from iap_description.errors import BadInput
from iap_description.states import P, Q, V, W
from iap_estimation.frontend.calibration import PLUMB_BOB, Camera, StereoCalibration
from iap_estimation.virpo.messages import Inertial, Ranges, Tilt
from iap_sensors.readings import ImageReading, ImuReading, RangeReading, Reading

Array = NDArray[np.float64]
IMU, GREY = "sensor_msgs/msg/Imu", ("mono8", "rgb8")
AT_ONCE = 1e-6  # what was recorded at one time lies this close together [s]


@dataclass(frozen=True)
class _Carried:
    """The sensors of one body that count: inertial unit, left and right camera, UWB tag."""

    imu: ImuMeta
    cameras: tuple[CameraMeta, CameraMeta] | None = None
    tag: UwbMeta | None = None

    @property
    def all(self) -> list[SensorMeta]:
        """Those that are there."""
        return [self.imu, *(self.cameras or ()), *([self.tag] if self.tag else [])]


def open_run(folder: Path, vehicle: str | None = None) -> Dataset:
    """A run folder's recording of one platform.

    Args:
        folder: of the run.
        vehicle: its name; needed where several flew.

    Raises:
        BadInput: no such run, or without the sensors that localisation needs.
    """
    run = load_run(folder)
    flown = _chosen(folder, run, vehicle)
    meta, bag = flown.meta, folder / BAG
    if not run.meta.sensors:
        raise BadInput(f"{folder}: recorded without sensors; fly with --sensors stereo")
    seats = [f"{meta.name}/{meta.bodies[body]}" for body in meta.aircraft]
    found = [_carried(bag, seat, run.meta.sensors) for seat in seats]
    _check_count(folder, flown, found)
    carried = [each for each in found if each is not None]
    central = None
    if meta.joints:
        on_centre = [s for s in run.meta.sensors if s.parent == f"{meta.name}/{meta.bodies[0]}"]
        central = next((s for s in on_centre if isinstance(s, ImuMeta)), None)
    tally = Tally()
    return Dataset(
        str(folder),
        run.meta.scenario,
        tuple(
            _craft(bag, flown, body, its) for body, its in zip(meta.aircraft, carried, strict=True)
        ),
        _centre(folder, flown, central) if meta.joints else None,
        any(its.tag is not None for its in carried),
        0,
        partial(_events, bag, carried, central, tally),
        tally,
        () if central or not meta.joints else ("the central body has no inertial unit",),
    )


def _chosen(folder: Path, run: RunData, vehicle: str | None) -> VehicleRun:
    names = [each.meta.name for each in run.vehicles]
    if vehicle is None and len(names) == 1:
        return run.vehicles[0]
    if vehicle not in names:
        raise BadInput(f"{folder}: choose a vehicle with --vehicle: {', '.join(names)}")
    return run.vehicles[names.index(vehicle)]


def _check_count(folder: Path, flown: VehicleRun, found: Sequence[_Carried | None]) -> None:
    """Refuse a platform of which not every aircraft sees and feels."""
    meta = flown.meta
    missing = [
        meta.bodies[body]
        for body, its in zip(meta.aircraft, found, strict=True)
        if its is None or its.cameras is None
    ]
    if missing:
        raise BadInput(
            f"{folder}: {meta.platform} has {meta.count} aircraft, but {len(missing)} of them"
            f" ({', '.join(missing)}) came without inertial unit or stereo pair"
        )


def _carried(bag: Path, seat: str, sensors: Sequence[SensorMeta]) -> _Carried | None:
    """What an aircraft carries; None without an inertial unit."""
    own = [each for each in sensors if each.parent == seat]
    imus = [each for each in own if isinstance(each, ImuMeta)]
    tags = [each for each in own if isinstance(each, UwbMeta)]
    cameras = [e for e in own if isinstance(e, CameraMeta) and set(e.outputs) & set(GREY)]
    if not imus:
        return None
    rights = [each for each in cameras if each.P[3] < 0.0]
    lefts = [each for each in cameras if each.P[3] == 0.0]
    if len(rights) == 1 and len(lefts) > 1:
        lefts = [each for each in lefts if each.topic.endswith("left")]
    pair = (lefts[0], rights[0]) if len(lefts) == 1 and len(rights) == 1 else None
    return _Carried(imus[0], pair, tags[0] if tags else None)


def _craft(bag: Path, flown: VehicleRun, body: int, its: _Carried) -> CraftData:
    assert its.cameras is not None  # noqa: S101 - checked by the caller
    imu = its.imu
    T_IB: Array = np.linalg.inv(transform(imu.p_BS_B, imu.q_BS))
    antenna: Array = T_IB[:3, 3] if its.tag is None else (T_IB @ [*its.tag.p_BS_B, 1.0])[:3]
    truth = _truth(flown, body, imu)
    return CraftData(
        flown.meta.bodies[body],
        _calibration(bag, T_IB, its.cameras),
        np.array([imu.gyro_noise, imu.accel_noise, imu.gyro_walk, imu.accel_walk]),
        antenna,
        T_IB[:3, 3],
        truth if not imu.has_bias else _with_biases(truth, bag, f"{imu.topic}/true_bias"),
    )


def _calibration(
    bag: Path, T_IB: Array, cameras: tuple[CameraMeta, CameraMeta]
) -> StereoCalibration:
    lenses, places, turns = [], [], []
    for each in cameras:
        size = each.width, each.height
        lenses.append(Camera.of(size, each.K, each.D, model=PLUMB_BOB, source=each.topic))
        T_IC = T_IB @ transform(each.p_BS_B, each.q_BS)
        places.append(T_IC[:3, 3])
        turns.append(so3.quaternion_from_matrix(T_IC[:3, :3]))
    try:
        return StereoCalibration.of(lenses[0], lenses[1], places, turns)
    except BadInput as error:
        raise BadInput(f"{bag}: {cameras[0].topic}, {cameras[1].topic}: {error}") from error


def _truth(flown: VehicleRun, body: int, imu: ImuMeta | None) -> Truth:
    """What is true of a body's inertial unit, or of the body itself."""
    c = flown.columns
    x = c.x[:, body]
    T_BI = np.eye(4) if imu is None else transform(imu.p_BS_B, imu.q_BS)
    arm_W = so3.rotate(x[:, Q], np.broadcast_to(T_BI[:3, 3], (len(x), 3)))
    q_BI = so3.quaternion_from_matrix(T_BI[:3, :3])
    q_WI = so3.multiply(x[:, Q], np.broadcast_to(q_BI, (len(x), 4)))
    w_W = so3.rotate(x[:, Q], x[:, W])
    return Truth(c.t, np.hstack([x[:, P] + arm_W, q_WI]), x[:, V] + np.cross(w_W, arm_W))


def _with_biases(truth: Truth, bag: Path, topic: str) -> Truth:
    """The truth with the biases of the last sample that is not younger."""
    try:
        with Reader(bag) as reader:
            chosen = [each for each in reader.connections if each.topic == topic]
            data = [raw for _, _, raw in reader.messages(chosen)] if chosen else []
    except (ReaderError, OSError, ValueError, KeyError, EOFError) as error:
        raise BadInput(f"{bag}: not a readable recording: {error}") from error
    if not data:
        return truth
    rows = records_of(message_types(), IMU, data)
    told = np.hstack([rows["angular_velocity"], rows["linear_acceleration"]]).astype(float)
    last = np.searchsorted(seconds(stamps_of(rows["header"])), truth.t, side="right") - 1
    return Truth(truth.t, truth.poses, truth.v_W, told[np.maximum(last, 0)])


def _centre(folder: Path, flown: VehicleRun, imu: ImuMeta | None) -> CentreData:
    scenario, _ = resolve_again(folder / CONFIG, sensors=None, scene=None)
    platform = next(v.platform for v in scenario.vehicles if v.name == flown.meta.name)
    assembly = Assembly.of(platform, flown.meta.name)
    if assembly.aircraft != flown.meta.aircraft:
        raise BadInput(
            f"{folder}: {CONFIG} says {len(assembly.aircraft)} aircraft, the recording {flown.meta.count}"
        )
    noise = (0.0, 0.0) if imu is None else (imu.gyro_noise, imu.gyro_walk)
    return CentreData(
        CENTRE_NAME,
        assembly.p_PB_P[list(assembly.aircraft)],
        np.array(noise),
        (imu.attitude_deviation if imu else None) or 0.0,
        _truth(flown, 0, None),
    )


def _events(
    bag: Path, carried: Sequence[_Carried], central: ImuMeta | None, tally: Tally
) -> Iterator[Event]:
    tally.clear()
    return in_order(_arriving(bag, carried, central, tally), AT_ONCE)


def _arriving(
    bag: Path, carried: Sequence[_Carried], central: ImuMeta | None, tally: Tally
) -> Iterator[Event]:
    ears = [_Ear(i, its, tally) for i, its in enumerate(carried)]
    by_topic: dict[str, Any] = {s.topic: ear for ear in ears for s in ear.carried.all}
    clocks = {name: Clock(f"{bag}: {name}", tally) for name in by_topic}
    sensors = [each for its in carried for each in its.all]
    anchors: dict[str, int] = {}
    for reading in read_sensors(bag, [*sensors, *([central] if central else [])]):
        topic = reading.source.topic
        if central is not None and topic == central.topic:
            if isinstance(reading, ImuReading) and reading.q_WS is not None:
                yield CENTRE, _tilt(central, reading)
        elif _is_wanted(reading) and clocks[topic].goes_on(reading.t):
            ear = by_topic[topic]
            said = ear.heard(reading, anchors)
            if said is not None:
                yield ear.number, said
    for ear in ears:
        ear.pairing.end()


def _is_wanted(reading: Reading) -> bool:
    return not isinstance(reading, ImageReading) or reading.encoding in GREY


class _Ear:
    """Hears one aircraft."""

    def __init__(self, number: int, carried: _Carried, tally: Tally) -> None:
        self.number, self.carried = number, carried
        self.pairing: Pairing[ImageReading] = Pairing(tally)
        self._left = carried.cameras[0].topic if carried.cameras else ""

    def heard(self, reading: Reading, anchors: dict[str, int]) -> Raw | None:
        """What a reading says, if that is complete."""
        if isinstance(reading, ImuReading):
            return Inertial(reading.t, reading.w_WS_S, reading.f_S)
        if isinstance(reading, RangeReading):
            return _ranges(reading, anchors)
        if not isinstance(reading, ImageReading):
            return None
        pair = self.pairing.add(int(reading.source.topic != self._left), reading.t, reading)
        return None if pair is None else Images(pair[0], _grey(pair[1]), _grey(pair[2]))


def _grey(image: ImageReading) -> NDArray[np.uint8]:
    pixels: Any = image.pixels
    if image.encoding == "rgb8":
        pixels = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    return np.ascontiguousarray(pixels, dtype=np.uint8)


def _ranges(reading: RangeReading, anchors: dict[str, int]) -> Ranges | None:
    """The ranges to anchors whose places are known; anchors get their numbers as they appear."""
    good = reading.valid & np.isfinite(reading.p_W).all(axis=1) & np.isfinite(reading.ranges)
    if not good.any():
        return None
    numbers = np.array([anchors.setdefault(each, len(anchors)) for each in reading.ids])
    return Ranges(
        reading.t,
        numbers[good],
        reading.p_W[good],
        reading.ranges[good],
        reading.deviations[good],
    )


def _tilt(imu: ImuMeta, reading: ImuReading) -> Tilt:
    """The central body's attitude and angular velocity, of those of its inertial unit."""
    assert reading.q_WS is not None  # noqa: S101 - the caller has looked
    q_BS = np.array(imu.q_BS)
    q_WB = so3.multiply(reading.q_WS, so3.conjugate(q_BS))
    return Tilt(reading.t, q_WB, so3.rotate(q_BS, reading.w_WS_S))
