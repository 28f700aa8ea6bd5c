# SPDX-License-Identifier: BSD-3-Clause
"""The navigators of all methods by which a vehicle may fly."""

from collections.abc import Sequence
from typing import Protocol

from iap_description.arrays import Array
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_description.signals import EstimateHealth
from iap_description.vehicles.assembly import Assembly
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_estimation.navigation.capture_navigator import CaptureNavigator
from iap_estimation.navigation.health import Worst
from iap_estimation.navigation.navigator import Navigator
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.localizer import METHODS
from iap_estimation.virpo.window.failure_checks import Fault

FLIGHT_METHODS = (*METHODS, CAPTURE_INERTIAL)  # of flights and nodes


class StateNavigator(Protocol):
    """Readings in, states of a vehicle's bodies out."""

    @property
    def faults(self) -> Sequence[Fault]:
        """Reasons why it began anew, or would have."""

    @property
    def worst(self) -> Worst:
        """The worst of its health so far."""

    @property
    def vision_events(self) -> Sequence[tuple[float, str]]:
        """Times [s] at which aircraft became blind, and saw again."""

    def begin(self, x: Array) -> None:
        """A new flight, from the vehicle's rows (bodies, 13) at time 0."""

    def receive(self, reading: Reading) -> None:
        """Take a reading; those of other vehicles do not count."""

    def state(self, t: float) -> Array:
        """Rows (bodies, 13) at a time [s], overwritten by the next call."""

    def covariances(self) -> dict[int, Array]:
        """(3, 3) covariances of the newest estimated positions [m^2], by the rows of their bodies."""

    def health(self, t: float) -> EstimateHealth:
        """Its health at a time [s]."""


def make_navigator(
    method: str,
    assembly: Assembly,
    sensors: Sequence[SensorInfo],
    *,
    gravity: float,
    estimator: str,
    frontend: str,
) -> StateNavigator:
    """The navigator of a method.

    Args:
        method: one of `FLIGHT_METHODS`.
        assembly: the vehicle.
        sensors: those of the vehicle; others may be among them.
        gravity: [m/s^2].
        estimator: name of the method's settings.
        frontend: name of the settings of what follows images.

    Raises:
        BadInput: no such settings, or sensors or a platform that the method cannot use.
    """
    if method == CAPTURE_INERTIAL:
        return CaptureNavigator(assembly, sensors, gravity, estimator)
    sensor_set = SensorSet.of(assembly, sensors, gravity)
    return Navigator(method, sensor_set, load_settings(estimator, frontend=frontend))
