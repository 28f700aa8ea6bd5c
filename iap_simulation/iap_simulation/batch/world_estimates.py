# SPDX-License-Identifier: BSD-3-Clause
"""Estimates that the only vehicle of many worlds goes by: of each world those of its single run, bit for bit.

The method is ``capture_inertial``, whose filter costs a world some microseconds a control period.
"""

from typing import Self

import numpy as np

from iap_control.controllers.estimate_failsafe import reason_of
from iap_description.arrays import Array, Booleans, Integers
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import BadInput
from iap_description.signals import EstimateHealth
from iap_description.states import STATE_SIZE
from iap_description.vehicles.assembly import Assembly
from iap_estimation.capture.capture_filter import CaptureFilter
from iap_estimation.capture.capture_filters import CaptureFilters
from iap_estimation.navigation.capture_navigator import POSE_TIMEOUT, CaptureNavigator
from iap_sensors.inertial.imu import ImuSamples
from iap_sensors.mounted.mounted_sensors import Displacement
from iap_sensors.mounted.world_captures import WorldCaptures
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.scenario import Scenario


class WorldEstimates:
    """A filter of capture and inertial unit in each of B worlds.

    Args:
        scenario: resolved, of one vehicle that is one body.
        model: filter of any of the worlds.
        batch: number of worlds.

    Attributes:
        x: (B, 1, 13) estimated states at the worlds' present instants.

    Raises:
        BadInput: poses come so rarely, or are so uncertain, that the estimate counts as lost in steady flight.
    """

    def __init__(self, scenario: Scenario, model: CaptureFilter, batch: int) -> None:
        (vehicle,), draw, rates = scenario.vehicles, scenario.draw, scenario.rates
        spec = vehicle.sensors.motion_capture
        assert spec is not None  # noqa: S101 - the filter has its description
        blind = spec.latency + 1.0 / spec.rate
        failsafe, health = vehicle.control.failsafe, (1, blind, model.deviation, scenario.dt)
        lost = "" if failsafe is None else reason_of(EstimateHealth(*health), failsafe)
        if lost or blind > POSE_TIMEOUT:
            reason = lost or f"no pose for {blind:.1f} s"
            raise BadInput(
                f"key 'sensors.motion_capture': an estimate by it counts as lost: {reason}"
            )
        displaced = Displacement(position=draw.mount_position, tilt_deg=draw.mount_tilt_deg)
        assembly = Assembly.of(vehicle.platform, vehicle.name)
        self._captures = WorldCaptures(spec, assembly, displaced, rates.control_hz, batch)
        self._filters = CaptureFilters(model.constants, batch)
        self._dt = 1.0 / rates.physics_hz
        self.x = np.zeros((batch, 1, STATE_SIZE))

    @classmethod
    def of(cls, scenario: Scenario, flight: Flight, batch: int) -> Self | None:
        """The estimates of a scenario made ready with any seed; None where its vehicle goes by the truth.

        Raises:
            BadInput: see the class.
        """
        navigator = flight.navigators.get(0)
        if navigator is None:
            return None
        assert isinstance(navigator, CaptureNavigator)  # noqa: S101 - worlds refuse all others
        return cls(scenario, navigator.filter, batch)

    def reset(self, worlds: Integers, seeds: Integers, x: Array) -> None:
        """Begin some worlds (n,), which stand at states (n, bodies, 13), with the errors of their seeds (n,)."""
        self._captures.reset(worlds, seeds.tolist())
        self._filters.begin(worlds, x[:, 0])
        self._take_poses(worlds, np.zeros(len(worlds), dtype=np.int64), np.zeros(len(worlds)), x)
        self._filters.put_rows(worlds, np.zeros(len(self.x)), self.x[:, 0])

    def update(
        self,
        worlds: Integers,
        instants: Integers,
        ticks: Integers,
        x: Array,
        samples: ImuSamples,
        ages: Integers,
    ) -> None:
        """Take what some worlds have measured over a control period, up to its end.

        Args:
            worlds: (n,) their numbers.
            instants: (B,) numbers of the present control instants.
            ticks: (B,) physics steps up to these.
            x: (B, bodies, 13) states.
            samples: of the period.
            ages: (S,) physics steps since the samples.
        """
        times = np.multiply(ticks, self._dt, dtype=np.float64)
        stamps = (ticks[:, None] - ages[None]).astype(np.float64) * self._dt
        centre = (samples.w_S[:, 0], samples.f_S[:, 0])
        self._filters.take_samples(worlds, stamps, *centre)
        self._take_poses(worlds, instants[worlds], times[worlds], x[worlds])
        self._filters.put_rows(worlds, times, self.x[:, 0])

    def _take_poses(self, worlds: Integers, k: Integers, t: Array, x: Array) -> None:
        self._filters.take_poses(*self._captures.sample(worlds, k, t, x))

    @property
    def is_lost(self) -> Booleans:
        """(B,) whether an estimate is beyond all places, or no number."""
        return np.asarray(~(np.abs(self.x) <= MAX_SI_NUMBER).all(axis=(1, 2)))
