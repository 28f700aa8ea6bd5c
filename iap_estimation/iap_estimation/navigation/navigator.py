# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle's own idea of where all its bodies are, from what its sensors say."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import FlightFailed
from iap_description.sensors.readings import ImuReading, Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_estimation.navigation.aircraft_frontend import AircraftFrontend
from iap_estimation.navigation.attitude_predictor import AttitudePredictor
from iap_estimation.navigation.data import Images, Raw
from iap_estimation.navigation.imu_mount import centre_row
from iap_estimation.navigation.pipeline import LOST
from iap_estimation.navigation.reading_adapter import ears_of, tilt_of
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.navigation.settings import Settings, load_settings
from iap_estimation.virpo.localizer import Localizer, make_localizer
from iap_estimation.virpo.messages import Estimate, Inertial, Ranges, Tilt
from iap_estimation.virpo.window.estimator import Fault
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

Array = NDArray[np.float64]
BEGIN = 0.1  # after the start, within which the truth says where the aircraft are [s]
PATIENCE = 0.5  # without estimates, or without inertial samples [s]
LOST_WAY = "localization_failed"  # outcome of a flight


class Navigator:
    """Takes readings as they come, and gives the states that a controller and autopilots go by.

    Until the first estimate it gives the vehicle's start.

    Args:
        method: see `iap_estimation.virpo.localizer.METHODS`.
        sensor_set: what the vehicle carries.
        settings: of front end and estimator.

    Raises:
        BadInput: the method is not one for this platform.
    """

    def __init__(self, method: str, sensor_set: SensorSet, settings: Settings) -> None:
        self.method, self._own, self._settings = method, sensor_set, settings
        self._crew = sensor_set.fleet(settings.estimator.pixels)
        self.begin(np.zeros((sensor_set.bodies, 13)))

    @classmethod
    def of(cls, scenario: Scenario, vehicle: VehicleSpec, sensors: Sequence[SensorInfo]) -> Self:
        """The one that a vehicle's keys ask for.

        Raises:
            BadInput: no such settings, or sensors or a platform that the method cannot use.
        """
        sensor_set = SensorSet.of(vehicle, sensors, scenario.world.gravity)
        settings = load_settings(vehicle.control.estimator, frontend=vehicle.control.frontend)
        return cls(vehicle.control.state_source, sensor_set, settings)

    def begin(self, x: Array) -> None:
        """A new flight, from the vehicle's rows (bodies, 13) at time 0."""
        own = self._own
        self._start, self._x = x.copy(), x.copy()
        self._localizer: Localizer = make_localizer(
            self.method, self._crew, self._settings.estimator, self._first
        )
        self._ears = ears_of(own.carried)
        self._eyes = [
            AircraftFrontend(own.name, craft, self._settings.frontend) for craft in own.crafts
        ]
        self._anchors: dict[str, int] = {}
        self._centre = AttitudePredictor()

    def _first(self, aircraft: int, t: float) -> Array | None:
        if t > BEGIN:
            return None
        own = self._own
        return own.mounts[aircraft].unit(self._start[own.rows[aircraft]])

    @property
    def faults(self) -> Sequence[Fault]:
        """Why the estimator began anew, or would have."""
        return self._localizer.faults()

    def receive(self, reading: Reading) -> None:
        """Take a reading; those of other vehicles do not count.

        Raises:
            FlightFailed: the estimator has ended.
        """
        topic, central = reading.source.topic, self._own.central
        try:
            if central is not None and topic == central.topic:
                if isinstance(reading, ImuReading):
                    self._take_tilt(tilt_of(central, reading))
            elif topic in self._ears and self._ears[topic].counts(reading):
                ear = self._ears[topic]
                self._take(ear.number, ear.heard(reading, self._anchors))
        except LOST as error:
            raise self._failure(reading.t, str(error)) from error

    def _take_tilt(self, told: Tilt | None) -> None:
        if told is not None:
            self._localizer.tilt(told)
            self._centre.turn(told)

    def _take(self, number: int, said: Raw | None) -> None:
        is_new = False
        match said:
            case Inertial():
                self._eyes[number].turn(said)
                is_new = self._localizer.imu(number, said)
            case Images():
                is_new = self._localizer.tracks(number, self._eyes[number].see(said))
            case Ranges():
                self._localizer.ranges(number, said)
        centre = self._localizer.centre() if is_new and self._crew.d is not None else None
        if centre is not None:
            self._centre.correct(centre)

    def state(self, t: float) -> Array:
        """Rows (bodies, 13) at a time [s], overwritten by the next call.

        Raises:
            FlightFailed: there is no estimate, it is not a number, or the estimator had to begin anew.
        """
        if faults := self.faults:
            raise self._failure(t, faults[0].reason)
        heads = self._localizer.heads()
        is_known = len(heads) == len(self._own.crafts)
        if not is_known or not (self._centre.is_known or self._crew.d is None):
            if t > PATIENCE:
                raise self._failure(t, f"no estimate within {PATIENCE} s")
            return self._start
        self._fill(heads, t)
        if not np.isfinite(self._x).all():
            raise self._failure(t, "the estimate is not a number")
        return self._x

    def _fill(self, heads: Sequence[Estimate], t: float) -> None:
        own, x, d = self._own, self._x, self._crew.d
        if t - min(head.t for head in heads) > PATIENCE:
            raise self._failure(t, f"no inertial samples for {PATIENCE} s")
        for head, mount, row in zip(heads, own.mounts, own.rows, strict=True):
            mount.body(head, t, x[row])
        if d is not None:
            x[0] = centre_row(x[own.rows], d, self._centre.q_WB, self._centre.w_B)

    def _failure(self, t: float, reason: str) -> FlightFailed:
        return FlightFailed(LOST_WAY, t, f"{self._own.name}: {self.method}: {reason}")
