# SPDX-License-Identifier: BSD-3-Clause
"""Navigation of a vehicle of one body by a motion capture and its inertial unit."""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_description.sensors.readings import ImuReading, PoseReading, Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_description.signals import EstimateHealth
from iap_description.vehicles.assembly import Assembly
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL, CaptureFilter
from iap_estimation.capture.gains import CaptureFilterSpec
from iap_estimation.navigation.health import Worst
from iap_estimation.navigation.navigator import ESTIMATE_TIMEOUT, LOCALIZATION_FAILED
from iap_estimation.navigation.vision_log import VisionLog
from iap_estimation.virpo.window.failure_checks import Fault

POSE_TIMEOUT = 2.0  # without poses, after which offsets carry no place any more [s]


class CaptureNavigator:
    """Takes readings as they come, and gives the states that a controller and autopilots go by, as `Navigator` does.

    It begins at the vehicle's start.

    Args:
        assembly: of the vehicle.
        sensors: those of the vehicle; others may be among them.
        gravity: [m/s^2].
        preset: name of the settings of `CaptureFilterSpec`.

    Attributes:
        faults: none: it never begins anew.
        worst: the worst of its health so far.

    Raises:
        BadInput: no such settings, or the vehicle lacks a sensor, or is no single body.
    """

    def __init__(
        self, assembly: Assembly, sensors: Sequence[SensorInfo], gravity: float, preset: str
    ) -> None:
        self._name, spec = assembly.name, CaptureFilterSpec.load(preset)
        self._filter = CaptureFilter.of(assembly, sensors, spec, gravity)
        self._topics = (self._filter.imu.topic, self._filter.capture.topic)
        self.faults: Sequence[Fault] = ()
        self._x = np.zeros((1, 13))

    def begin(self, x: Array) -> None:
        """A new flight, from the vehicle's rows (1, 13) at time 0."""
        self._filter.begin(0.0, x[0])
        self.worst, self._vision = Worst(), VisionLog(1)

    def receive(self, reading: Reading) -> None:
        """Take a reading; those of other sensors do not count."""
        topic, (imu, capture) = reading.source.topic, self._topics
        if topic == imu and isinstance(reading, ImuReading):
            self._filter.take_sample(reading)
            self._vision.note(reading.t)
        elif topic == capture and isinstance(reading, PoseReading):
            self._filter.take_pose(reading)
            self._vision.see(0, reading.t)

    @property
    def filter(self) -> CaptureFilter:
        """The filter that it navigates by."""
        return self._filter

    @property
    def vision_events(self) -> Sequence[tuple[float, str]]:
        """Times [s] at which poses of the motion capture stayed away, and came again."""
        return self._vision.events

    def state(self, t: float) -> Array:
        """Rows (1, 13) at a time [s], overwritten by the next call.

        Raises:
            FlightFailed: samples or poses stay away, or the estimate is not a number.
        """
        if t - self._filter.t > ESTIMATE_TIMEOUT:
            raise self._failure(t, f"no inertial samples for {ESTIMATE_TIMEOUT} s")
        if t - max(self._filter.t_pose, 0.0) > POSE_TIMEOUT:
            raise self._failure(t, f"no pose of the motion capture for {POSE_TIMEOUT} s")
        self._filter.put_row(t, self._x[0])
        if not np.isfinite(self._x).all():
            raise self._failure(t, "the estimate is not a number")
        return self._x

    def covariances(self) -> dict[int, Array]:
        """(3, 3) covariance of the position [m^2], as large along every axis as along the least known one."""
        return {0: self._filter.deviation**2 * np.eye(3)}

    def health(self, t: float) -> EstimateHealth:
        """The estimator's health at a time [s]: poses count as what is seen."""
        health = health_of(self._filter, t)
        self.worst = self.worst.with_one(health)
        return health

    def _failure(self, t: float, reason: str) -> FlightFailed:
        return FlightFailed(LOCALIZATION_FAILED, t, f"{self._name}: {CAPTURE_INERTIAL}: {reason}")


def health_of(capture_filter: CaptureFilter, t: float) -> EstimateHealth:
    """Health of a filter at a time [s]; one body is seen, or none."""
    blind = t - max(capture_filter.t_pose, 0.0)
    is_seen = blind <= capture_filter.capture.latency + 2.0 / capture_filter.capture.rate
    age = t - max(capture_filter.t, 0.0)
    return EstimateHealth(int(is_seen), blind, capture_filter.deviation, age)
