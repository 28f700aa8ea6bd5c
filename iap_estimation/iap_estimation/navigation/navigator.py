# SPDX-License-Identifier: BSD-3-Clause
"""Navigation of one vehicle: states of all its bodies from its sensors' readings."""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_description.sensors.readings import Reading
from iap_description.signals import EstimateHealth
from iap_estimation.navigation.aircraft_frontend import FleetFrontend
from iap_estimation.navigation.attitude_predictor import AttitudePredictor
from iap_estimation.navigation.health import HealthWatch, Worst
from iap_estimation.navigation.jump_blend import JumpBlend
from iap_estimation.navigation.reading_adapter import ReadingAdapter
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.navigation.settings import EstimationSettings
from iap_estimation.virpo.localizer import LOST, Localizer, all_propagated, make_localizer, pass_on
from iap_estimation.virpo.messages import Measurement, Tilt
from iap_estimation.virpo.window.failure_checks import Fault

START_TIME = 0.1  # after the start, within which the truth says where the aircraft are [s]
ESTIMATE_TIMEOUT = 0.5  # without estimates, or without inertial samples [s]
LOCALIZATION_FAILED = "localization_failed"  # outcome of a flight


class Navigator:
    """Takes readings as they come, and gives the states that a controller and autopilots go by.

    Until the first estimate it gives the vehicle's start.

    Raises:
        BadInput: the method is not one for this platform.
    """

    def __init__(self, method: str, sensor_set: SensorSet, settings: EstimationSettings) -> None:
        self.method, self._sensor_set, self._settings = method, sensor_set, settings
        self._fleet = sensor_set.fleet(settings.estimator)
        self.begin(np.zeros((sensor_set.bodies, 13)))

    def begin(self, x: Array) -> None:
        """A new flight, from the vehicle's rows (bodies, 13) at time 0."""
        sensors = self._sensor_set
        self._start, self._x = x.copy(), x.copy()
        self._localizer: Localizer = make_localizer(
            self.method, self._fleet, self._settings.estimator, self._first
        )
        self._adapter = ReadingAdapter(sensors.carried, sensors.central)
        self._frontend = FleetFrontend(sensors.name, sensors.aircraft, self._settings.frontend)
        self._centre, self._blend = AttitudePredictor(), JumpBlend()
        self._health = HealthWatch(self.method, len(sensors.aircraft))

    def _first(self, aircraft: int, t: float) -> Array | None:
        if t > START_TIME:
            return None
        sensors = self._sensor_set
        return sensors.mounts[aircraft].unit(self._start[sensors.rows[aircraft]])

    @property
    def faults(self) -> Sequence[Fault]:
        """The reason why the estimator began anew, or would have."""
        return self._localizer.faults

    def health(self, t: float) -> EstimateHealth:
        """The estimator's health at a time [s]."""
        return self._health.look(t, self._localizer.estimators, self._localizer.estimates)

    def covariances(self) -> dict[int, Array]:
        """(3, 3) covariances of the newest estimated positions [m^2], by the rows of their bodies."""
        estimates, rows = self._localizer.estimates(), self._sensor_set.rows
        if len(estimates) < len(rows):  # it does not say whom it leaves out
            return {}
        return {
            row: each.covariance[:3, :3].copy() for row, each in zip(rows, estimates, strict=True)
        }

    @property
    def worst(self) -> Worst:
        """The worst of its health so far."""
        return self._health.worst

    @property
    def vision_events(self) -> Sequence[tuple[float, str]]:
        """Times [s] at which aircraft became blind, and saw again."""
        return self._health.vision.events

    def receive(self, reading: Reading) -> None:
        """Take a reading; those of other vehicles do not count.

        Raises:
            FlightFailed: the estimator has ended.
        """
        try:
            event = self._adapter(reading)
            if event is not None:
                self._take(*self._frontend(event))
        except LOST as error:
            raise self._failure(reading.t, str(error)) from error

    def _take(self, owner: int, measured: Measurement) -> None:
        self._health.see(owner, measured)
        if isinstance(measured, Tilt):
            self._centre.turn(measured)
        is_new = pass_on(self._localizer, owner, measured)
        centre = self._localizer.centre() if is_new and self._fleet.d is not None else None
        if centre is not None:
            self._centre.correct(centre)

    def state(self, t: float) -> Array:
        """Rows (bodies, 13) at a time [s], overwritten by the next call.

        Raises:
            FlightFailed: there is no estimate, it is not a number, or the estimator had to begin anew.
        """
        if faults := self.faults:
            raise self._failure(t, faults[0].reason)
        known = all_propagated(self._localizer, len(self._sensor_set.aircraft))
        if not known or not (self._centre.is_known or self._fleet.d is None):
            if t > ESTIMATE_TIMEOUT:
                raise self._failure(t, f"no estimate within {ESTIMATE_TIMEOUT} s")
            return self._start
        if t - min(estimate.t for estimate in known) > ESTIMATE_TIMEOUT:
            raise self._failure(t, f"no inertial samples for {ESTIMATE_TIMEOUT} s")
        self._sensor_set.fill_rows(known, self._centre, t, self._x)
        if not np.isfinite(self._x).all():
            raise self._failure(t, "the estimate is not a number")
        self._blend(t, self._x[0])
        return self._x

    def _failure(self, t: float, reason: str) -> FlightFailed:
        return FlightFailed(
            LOCALIZATION_FAILED, t, f"{self._sensor_set.name}: {self.method}: {reason}"
        )
