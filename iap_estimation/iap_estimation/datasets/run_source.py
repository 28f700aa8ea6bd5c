# SPDX-License-Identifier: BSD-3-Clause
"""Run folders of this suite as data sets."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.so3 import transform
from iap_description.sensors.sensor_info import ImuInfo
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import Platform
from iap_estimation.datasets.dataset import (
    FROM_CAMERAS,
    FROM_RENDERER,
    FrontendChoice,
    SensorDataset,
)
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.fleet_data import AircraftData, CentreData
from iap_estimation.navigation.measurements import Event, Tally
from iap_estimation.navigation.reading_adapter import (
    AircraftSensors,
    ReadingAdapter,
    aircraft_data_of,
    centre_of,
    sensors_of_body,
)
from iap_estimation.navigation.sensor_set import check_joint
from iap_estimation.navigation.streams import Clock, in_order
from iap_estimation.virpo.messages import ImuSample, Ranges, Tilt
from iap_io.bags.bag_reading import parsing, raw_messages
from iap_io.runs.column_messages import seconds
from iap_io.runs.run_folder import CONFIG, RunData, VehicleRun, load_run
from iap_io.runs.topics import BAG
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_io.wire.cdr import records_of
from iap_io.wire.stamps import stamps_of

IMU = "sensor_msgs/msg/Imu"
NUMBERS: dict[type, tuple[str, ...]] = {  # of measurements, that must be some
    ImuSample: ("w_B", "f_B"),
    Tilt: ("q_WB0", "w_B0"),
    Ranges: ("deviations",),
}
STAMP_TOLERANCE = 1e-6  # what was recorded at one time lies this close together [s]


def open_run(folder: Path, vehicle: str | None = None) -> SensorDataset:
    """A run folder's recording of one platform.

    Args:
        folder: of the run.
        vehicle: its name; needed where several flew.

    Raises:
        BadInput: no such run, or without the sensors that localisation needs.
    """
    run = load_run(folder)
    vehicle_run = _vehicle_run(folder, run, vehicle)
    meta, bag = vehicle_run.meta, folder / BAG
    if not run.meta.sensors:
        raise BadInput(f"{folder}: recorded without sensors; fly with --sensors stereo")
    frames = [f"{meta.name}/{meta.bodies[body]}" for body in meta.aircraft]
    groups = [sensors_of_body(frame, run.meta.sensors) for frame in frames]
    _check_count(folder, vehicle_run, groups)
    carried = [each for each in groups if each is not None]
    on_centre = sensors_of_body(f"{meta.name}/{meta.bodies[0]}", run.meta.sensors)
    central = on_centre.imu if meta.joints and on_centre is not None else None
    tally = Tally()
    return SensorDataset(
        str(folder),
        run.meta.scenario,
        tuple(
            _aircraft_data(bag, vehicle_run, body, group)
            for body, group in zip(meta.aircraft, carried, strict=True)
        ),
        0,
        partial(_events, bag, carried, central, tally),
        tally,
        () if central or not meta.joints else ("the central body has no inertial unit",),
        _frontend(meta, carried),
        _centre(folder, vehicle_run, central) if meta.joints else None,
        any(group.tag is not None for group in carried),
        run.meta.gravity,
        is_foreign=False,
        end=float(vehicle_run.columns.t[-1]),
    )


def _frontend(meta: VehicleMeta, carried: Sequence[AircraftSensors]) -> FrontendChoice:
    """The front end that it flew with, or the one for its images."""
    if meta.is_estimated or meta.frontend != FROM_RENDERER.preset:
        return FrontendChoice(meta.frontend, "as in flight")
    are_clean = all(camera.is_clean for group in carried for camera in group.cameras or ())
    return FROM_RENDERER if are_clean else FROM_CAMERAS


def _vehicle_run(folder: Path, run: RunData, vehicle: str | None) -> VehicleRun:
    names = [each.meta.name for each in run.vehicles]
    if vehicle is None and len(names) == 1:
        return run.vehicles[0]
    if vehicle not in names:
        raise BadInput(f"{folder}: choose a vehicle with --vehicle: {', '.join(names)}")
    return run.vehicles[names.index(vehicle)]


def _check_count(
    folder: Path, vehicle_run: VehicleRun, groups: Sequence[AircraftSensors | None]
) -> None:
    """Refuse a platform of which not every aircraft has its sensors."""
    meta = vehicle_run.meta
    missing = [
        meta.bodies[body]
        for body, group in zip(meta.aircraft, groups, strict=True)
        if group is None or group.cameras is None
    ]
    if missing:
        raise BadInput(
            f"{folder}: {meta.platform} has {meta.count} aircraft, but {len(missing)} of them"
            f" ({', '.join(missing)}) came without inertial unit or stereo pair"
        )


def _aircraft_data(
    bag: Path, vehicle_run: VehicleRun, body: int, group: AircraftSensors
) -> AircraftData:
    truth = _truth_of(vehicle_run, body, group.imu)
    if group.imu.has_bias:
        truth = _with_biases(truth, bag, f"{group.imu.topic}/true_bias")
    return replace(aircraft_data_of(vehicle_run.meta.bodies[body], group, str(bag)), truth=truth)


def _centre(folder: Path, vehicle_run: VehicleRun, imu: ImuInfo | None) -> CentreData:
    centre = centre_of(_joint_positions(folder, vehicle_run.meta), imu)
    return replace(centre, truth=_truth_of(vehicle_run, 0, None))


def _joint_positions(folder: Path, meta: VehicleMeta) -> Array:
    """Places (A, 3) of the aircraft's joints on the central body [m]; older recordings have them in config.yaml."""
    for i, joint in enumerate(meta.joints):
        check_joint(str(folder), i, joint.kind, joint.p_CJ_C)
    positions = {joint.child: joint.p_PJ_P for joint in meta.joints}
    if None in positions.values():
        assembly = _configured(folder, meta)
        return assembly.p_PB_P[list(assembly.aircraft)]
    return np.array([positions[body] for body in meta.aircraft])


def _configured(folder: Path, meta: VehicleMeta) -> Assembly:
    tree, source = read_yaml(folder / CONFIG), str(folder / CONFIG)
    vehicles = tree.get("vehicles", [tree])
    entry = next((each for each in vehicles if each.get("name") == meta.name), vehicles[0])
    assembly = Assembly.of(validate(Platform, entry.get("platform"), source=source), meta.name)
    if assembly.aircraft != meta.aircraft:
        raise BadInput(
            f"{folder}: {CONFIG} says {len(assembly.aircraft)} aircraft, the recording {meta.count}"
        )
    return assembly


def _events(
    bag: Path, carried: Sequence[AircraftSensors], central: ImuInfo | None, tally: Tally
) -> Iterator[Event]:
    tally.clear()
    return in_order(_arriving(bag, carried, central, tally), STAMP_TOLERANCE)


def _arriving(
    bag: Path, carried: Sequence[AircraftSensors], central: ImuInfo | None, tally: Tally
) -> Iterator[Event]:
    adapter = ReadingAdapter(carried, central, tally)
    sensors = [each for group in carried for each in group.all]
    clocks = {each.topic: Clock(f"{bag}: {each.topic}", tally) for each in sensors}
    for reading in read_sensors(bag, [*sensors, *([central] if central else [])]):
        clock = clocks.get(reading.source.topic)  # none of the central unit
        if adapter.accepts(reading) and (clock is None or clock.goes_on(reading.t)):
            event = adapter(reading)
            if event is not None:
                _check_finite(f"{bag}: {reading.source.topic}", event)
                yield event
    adapter.end()


def _check_finite(source: str, event: Event) -> None:
    _, measured = event
    for field in NUMBERS.get(type(measured), ()):
        if not np.isfinite(getattr(measured, field)).all():
            raise BadInput(f"{source}: a sample at {measured.t:.6f} s is not finite")


def _truth_of(vehicle_run: VehicleRun, body: int, imu: ImuInfo | None) -> Truth:
    """Ground truth of a body's inertial unit, or of the body itself."""
    c = vehicle_run.columns
    x = c.x[:, body]
    T_BI = np.eye(4) if imu is None else transform(imu.p_BS_B, imu.q_BS)
    arm_W = so3.rotate(x[:, Q], np.broadcast_to(T_BI[:3, 3], (len(x), 3)))
    q_BI = so3.quaternion_from_matrix(T_BI[:3, :3])
    q_WI = so3.multiply(x[:, Q], np.broadcast_to(q_BI, (len(x), 4)))
    return Truth(c.t, np.hstack([x[:, P] + arm_W, q_WI]), x[:, V] + np.cross(x[:, W], arm_W))


def _with_biases(truth: Truth, bag: Path, topic: str) -> Truth:
    """The truth with the biases of the last sample that is not younger."""
    data = [raw for _, _, raw in raw_messages(bag, (topic,))]
    if not data:
        return truth
    with parsing(bag, "recording"):
        rows = records_of(IMU, data)
    biases = np.hstack([rows["angular_velocity"], rows["linear_acceleration"]]).astype(float)
    last = np.searchsorted(seconds(stamps_of(rows["header"])), truth.t, side="right") - 1
    return Truth(truth.t, truth.poses, truth.v_W, biases[np.maximum(last, 0)])
