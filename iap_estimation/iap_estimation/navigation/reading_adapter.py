# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of an aircraft of this suite, and their readings as measurements: in recordings and in flight."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.math.so3 import transform
from iap_description.process.extras import cv2
from iap_description.sensors.readings import ImageReading, ImuReading, RangeReading, Reading
from iap_description.sensors.sensor_info import CameraSensorInfo, ImuInfo, SensorInfo, UwbInfo
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.navigation.fleet_data import MIN_RANGE_DEVIATION, AircraftData, CentreData
from iap_estimation.navigation.measurements import Event, Images, Raw, Tally
from iap_estimation.navigation.streams import Pairing
from iap_estimation.virpo.messages import CENTRE, ImuSample, Ranges, Tilt

GREY = ("mono8", "rgb8")  # images that count, the first that a camera gives


@dataclass(frozen=True)
class AircraftSensors:
    """The sensors of one body that count: inertial unit, left and right camera, UWB tag."""

    imu: ImuInfo
    cameras: tuple[CameraSensorInfo, CameraSensorInfo] | None = None
    tag: UwbInfo | None = None

    @property
    def all(self) -> list[SensorInfo]:
        """Those that are there."""
        return [self.imu, *(self.cameras or ()), *([self.tag] if self.tag else [])]


def sensors_of_body(frame: str, sensors: Sequence[SensorInfo]) -> AircraftSensors | None:
    """Sensors of a body, by its TF frame; None without an inertial unit."""
    mounted = [each for each in sensors if each.parent == frame]
    imus = [each for each in mounted if isinstance(each, ImuInfo)]
    tags = [each for each in mounted if isinstance(each, UwbInfo)]
    cameras = [
        e for e in mounted if isinstance(e, CameraSensorInfo) and set(e.outputs) & set(GREY)
    ]
    if not imus:
        return None
    rights = [each for each in cameras if each.P[3] < 0.0]
    lefts = [each for each in cameras if each.P[3] == 0.0]
    if len(rights) == 1 and len(lefts) > 1:
        lefts = [each for each in lefts if each.topic.endswith("left")]
    pair = (lefts[0], rights[0]) if len(lefts) == 1 and len(rights) == 1 else None
    return AircraftSensors(imus[0], pair, tags[0] if tags else None)


def aircraft_data_of(name: str, group: AircraftSensors, source: str) -> AircraftData:
    """An aircraft with all that it must carry; its truth is not known.

    Args:
        name: of the aircraft.
        group: sensors, with a stereo pair.
        source: to name in errors.

    Raises:
        BadInput: the cameras are no stereo pair.
    """
    imu = group.imu
    T_IB = np.linalg.inv(transform(imu.p_BS_B, imu.q_BS)).astype(np.float64)
    p_BA_B = np.zeros(3) if group.tag is None else np.array(group.tag.p_BS_B)
    antenna: Array = T_IB[:3, :3] @ p_BA_B + T_IB[:3, 3]
    pair = _calibration(source, T_IB, group)
    noise = np.array([imu.gyro_noise, imu.accel_noise, imu.gyro_walk, imu.accel_walk])
    return AircraftData(name, pair, noise, antenna, T_IB[:3, 3], gyro_scale=imu.gyro_scale)


def _calibration(source: str, T_IB: Array, group: AircraftSensors) -> StereoCalibration:
    assert group.cameras is not None  # noqa: S101 - checked by the caller
    lenses = [
        CameraCalibration.of(
            (each.width, each.height),
            each.K,
            each.D,
            model=each.distortion_model,
            source=each.topic,
        )
        for each in group.cameras
    ]
    T_IC = [T_IB @ transform(each.p_BS_B, each.q_BS) for each in group.cameras]
    pair = ", ".join(each.topic for each in group.cameras)
    return StereoCalibration.placed(lenses, T_IC, source=f"{source}: {pair}")


def centre_of(d: Array, imu: ImuInfo | None) -> CentreData:
    """The central body with the places d (A, 3) of its joints; its truth is not known."""
    if imu is None:
        return CentreData(d, np.zeros(4), 0.0, gyro_scale=0.0)
    noise = np.array([imu.gyro_noise, imu.accel_noise, imu.gyro_walk, imu.accel_walk])
    place, tilt = np.array(imu.p_BS_B), imu.attitude_deviation or 0.0
    return CentreData(d, noise, tilt, gyro_scale=imu.gyro_scale, p_B0I_B0=place)


class ReadingAdapter:
    """Readings of the sensors of one vehicle, or of one aircraft, as measurements for estimators.

    Args:
        aircraft: the sensors of each aircraft.
        central: inertial unit of the central body; None without one.
        tally: counts images that have no partner.
    """

    def __init__(
        self,
        aircraft: Sequence[AircraftSensors],
        central: ImuInfo | None = None,
        tally: Tally | None = None,
    ) -> None:
        self._central = central
        self._owners = {info.topic: a for a, group in enumerate(aircraft) for info in group.all}
        pairs = [group.cameras or () for group in aircraft]
        self._encodings = {info.topic: _encoding(info) for pair in pairs for info in pair}
        self._lefts = {pair[0].topic for pair in pairs if pair}
        tally = Tally() if tally is None else tally
        self._pairings: list[Pairing[ImageReading]] = [Pairing(tally) for _ in aircraft]
        self._anchors: dict[str, int] = {}  # index by name, in the order in which they appear

    def accepts(self, reading: Reading) -> bool:
        """True if a reading is of these sensors, and no image in another encoding than the one in use."""
        topic = reading.source.topic
        if isinstance(reading, ImageReading):
            return reading.encoding == self._encodings.get(topic)
        return topic in self._owners or self._is_central(topic)

    def __call__(self, reading: Reading) -> Event | None:
        """The measurement that a reading completes, with its aircraft's index or `CENTRE`."""
        if not self.accepts(reading):
            return None
        if self._is_central(reading.source.topic):
            tilt = self._tilt(reading)
            return None if tilt is None else (CENTRE, tilt)
        owner = self._owners[reading.source.topic]
        measured = self._measurement(owner, reading)
        return None if measured is None else (owner, measured)

    def end(self) -> None:
        """Count the images that still wait for a partner: no more readings will come."""
        for pairing in self._pairings:
            pairing.end()

    def _is_central(self, topic: str) -> bool:
        return self._central is not None and topic == self._central.topic

    def _tilt(self, reading: Reading) -> Tilt | None:
        """The central body's attitude and angular velocity, of those of its inertial unit; None without an attitude."""
        if not isinstance(reading, ImuReading) or reading.q_WS is None or self._central is None:
            return None
        q_BS = np.array(self._central.q_BS)
        return Tilt.by_unit(reading.t, reading.q_WS, reading.w_WS_S, reading.f_S, q_BS)

    def _measurement(self, owner: int, reading: Reading) -> Raw | None:
        if isinstance(reading, ImuReading):
            return ImuSample(reading.t, reading.w_WS_S, reading.f_S)
        if isinstance(reading, RangeReading):
            return _ranges(reading, self._anchors)
        if not isinstance(reading, ImageReading):
            return None
        side = int(reading.source.topic not in self._lefts)
        pair = self._pairings[owner].add(side, reading.t, reading)
        return None if pair is None else Images(pair[0], _grey(pair[1]), _grey(pair[2]))


def _encoding(camera: CameraSensorInfo) -> str:
    return next(each for each in GREY if each in camera.outputs)


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
    deviations = np.maximum(reading.deviations[good], MIN_RANGE_DEVIATION)
    measured = reading.p_W[good], reading.ranges[good], deviations
    return Ranges(reading.t, numbers[good], *measured)
