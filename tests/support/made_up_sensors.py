# SPDX-License-Identifier: BSD-3-Clause
"""Made-up sensors of the platforms in made_up_flights, and random readings of them."""

from pathlib import Path

import numpy as np
from made_up_flights import DT, Flight, random_flight, run_meta

from iap_description.math import so3
from iap_description.sensors.readings import (
    CloudReading,
    ImageReading,
    ImuReading,
    MagneticReading,
    PoseReading,
    RangeReading,
    Reading,
    SensorSource,
)
from iap_description.sensors.sensor_info import (
    ENCODINGS,
    CameraSensorInfo,
    CaptureInfo,
    ImuInfo,
    LidarInfo,
    MagnetometerInfo,
    SensorInfo,
    UwbInfo,
)
from iap_io.recording.recorder import Recorder
from iap_io.runs.run_meta import RunMeta

WIDTH, HEIGHT, F = 64, 48, 32.0
Q_OPTICAL = (-0.5, 0.5, -0.5, 0.5)
EVERY = 10  # ticks between images


def _place(topic: str, frame: str, rate: float, body: str = "drone_1", **place: object) -> dict:
    seat = {"p_BS_B": (0.0, 0.0, 0.0), "q_BS": (0.0, 0.0, 0.0, 1.0), **place}
    return {
        "topic": f"/iap/{body}/{topic}",
        "frame": f"iap/{body}_{frame}",
        "parent": f"iap/{body}",
        "rate": rate,
        **seat,
    }


def imu(body: str = "drone_1", **changes: object) -> ImuInfo:
    """An inertial unit off the body's origin and turned."""
    turn = so3.quaternion_exp(np.array([0.1, -0.2, 0.3]))
    values = {
        "gyro_noise": 0.0015,
        "gyro_walk": 0.0002,
        "accel_noise": 0.02,
        "accel_walk": 0.02,
        "attitude_deviation": 0.01,
        "has_bias": True,
        **_place("imu", "imu", 200.0, body, p_BS_B=(0.1, -0.05, 0.02), q_BS=tuple(turn.tolist())),
    }
    return ImuInfo(**{**values, **changes})


def camera(
    name: str = "left", outputs: tuple[str, ...] = ("mono8",), y: float = 0.06, **changes: object
) -> CameraSensorInfo:
    """A small camera."""
    seat = _place(name, f"{name}_camera_optical", 20.0, p_BS_B=(0.198, y, 0.0), q_BS=Q_OPTICAL)
    cx, cy = 0.5 * (WIDTH - 1), 0.5 * (HEIGHT - 1)
    K = (F, 0.0, cx, 0.0, F, cy, 0.0, 0.0, 1.0)
    P = (F, 0.0, cx, F * (y - 0.06), 0.0, F, cy, 0.0, 0.0, 0.0, 1.0, 0.0)
    values = {"width": WIDTH, "height": HEIGHT, "K": K, "D": (0.0,) * 5, "P": P}
    return CameraSensorInfo(**{**seat, **values, "outputs": outputs, **changes})


def capture() -> CaptureInfo:
    """Markers of a motion capture."""
    deviations = {"position_deviation": 1e-3, "attitude_deviation": 1e-3, "latency": 0.01}
    return CaptureInfo(**_place("motion_capture", "markers", 100.0), **deviations)


def uwb() -> UwbInfo:
    """A tag."""
    return UwbInfo(**_place("uwb", "uwb", 50.0))


def magnetometer() -> MagnetometerInfo:
    """A magnetometer."""
    return MagnetometerInfo(**_place("mag", "imu", 100.0), deviation=1e-7)


def lidar() -> LidarInfo:
    """A lidar."""
    return LidarInfo(**_place("lidar", "lidar", 10.0), points=100)


def all_sensors() -> tuple[SensorInfo, ...]:
    """One of each kind, and a stereo pair."""
    pair = camera("left"), camera("right", y=-0.06)
    return (imu(), magnetometer(), uwb(), *pair, lidar())


def with_sensors(flight: Flight, *sensors: SensorInfo) -> RunMeta:
    """The run of a flight with sensors."""
    return run_meta(flight).model_copy(update={"sensors": sensors})


def reading(meta: SensorInfo, t: float, rng: np.random.Generator) -> list[Reading]:
    """Random reading of a sensor at one time."""
    source = SensorSource(meta.topic, meta.frame)
    if isinstance(meta, ImuInfo):
        q = so3.normalized(rng.normal(size=4)) if meta.attitude_deviation is not None else None
        biases = rng.normal(size=(2, 3)) if meta.has_bias else (None, None)
        return [ImuReading(source, t, rng.normal(size=3), rng.normal(size=3), q, *biases)]
    if isinstance(meta, MagnetometerInfo):
        return [MagneticReading(source, t, rng.normal(size=3))]
    if isinstance(meta, UwbInfo):
        ids, place = ("a1", "anchor_2", "drone_2"), rng.normal(size=(3, 3))
        place[2] = np.nan
        rows = np.abs(rng.normal(size=(2, 3)))
        return [RangeReading(source, t, ids, place, *rows, np.array([True, False, True]))]
    if isinstance(meta, CaptureInfo):
        return [PoseReading(source, t, rng.normal(size=3), so3.normalized(rng.normal(size=4)))]
    if isinstance(meta, LidarInfo):
        points = rng.normal(size=(100, 3)).astype(np.float32)
        return [CloudReading(source, t, points, rng.integers(16, size=100).astype(np.uint16))]
    assert isinstance(meta, CameraSensorInfo)
    return [
        ImageReading(source, t, ENCODINGS[each], image(each, meta, rng)) for each in meta.outputs
    ]


def image(output: str, meta: CameraSensorInfo, rng: np.random.Generator) -> np.ndarray:
    """Random pixels."""
    shape = (meta.height, meta.width)
    if output == "depth":
        depth = rng.uniform(0.5, 30.0, shape).astype(np.float32)
        depth[0] = np.nan
        return depth
    if output == "segmentation":
        return rng.integers(1000, size=shape).astype(np.uint16)
    return rng.integers(256, size=(*shape, 3) if output == "rgb8" else shape).astype(np.uint8)


def fly(
    recorder: Recorder, flight: Flight, sensors: tuple[SensorInfo, ...], ticks: int, seed: int = 0
) -> list[Reading]:
    """Record ticks of a flight, with readings of every sensor at its rate; returns these."""
    rng = np.random.default_rng(seed)
    taken = []
    for k in range(ticks):
        for meta in sensors:
            if k % round(1.0 / (DT * meta.rate)) == 0:
                for each in reading(meta, flight.t[k], rng):
                    recorder.receive(each)
                    taken.append(each)
        flight.record(recorder, k)
    return taken


def record_pairs(folder: Path, **camera_changes: object) -> tuple[SensorInfo, ...]:
    """Record 0.3 s of two aircraft on a line, each with an inertial unit, a stereo pair and ranges; returns these."""
    flight = random_flight("two_line", 60)
    flight.x[:, :, 3:7] = flight.x[:1, :, 3:7]
    pair = camera("left", **camera_changes), camera("right", y=-0.06, **camera_changes)
    sensors = []
    for body in ("drone_1", "drone_2"):
        for one in (imu(), uwb(), *pair):
            text = one.model_dump_json().replace("drone_1", body)
            sensors.append(type(one).model_validate_json(text))
    with Recorder(folder, with_sensors(flight, *sensors)) as recorder:
        fly(recorder, flight, tuple(sensors), 60)
    return tuple(sensors)
