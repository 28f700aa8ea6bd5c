# SPDX-License-Identifier: BSD-3-Clause
"""The wrench that a vehicle's inertial units feel: their readings between an estimator and the loop."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.mounts import imu_mounts
from iap_description.sensors.readings import ImuReading, Reading
from iap_description.states import Command
from iap_description.vehicles.assembly import Assembly
from iap_estimation.wrench.acceleration_wrench import AccelerationObserver, Units
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

Array = NDArray[np.float64]


class ImuWrenchObserver:
    """Hands the mean of what the units said in a control period to an `AccelerationObserver`.

    Args:
        observer: of the wrench.
        topics: of the units, in the observer's order.
    """

    def __init__(self, observer: AccelerationObserver, topics: tuple[str, ...]) -> None:
        self._observer = observer
        self._rows = {topic: m for m, topic in enumerate(topics)}
        self._means = np.zeros((2, len(topics), 3))
        self._sums, self._counts = np.zeros_like(self._means), np.zeros(len(topics))

    @classmethod
    def of(cls, scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly) -> Self:
        """What a vehicle's keys ask for; it has inertial units."""
        control, imu, mounts = vehicle.control, vehicle.sensors.imu, imu_mounts(assembly)
        assert imu is not None  # noqa: S101 - the scenario was checked
        units = Units(
            np.array([mount.body for mount in mounts], dtype=np.int64),
            np.array([mount.p_BS_B for mount in mounts]),
            np.array([mount.q_BS for mount in mounts]),
        )
        pilot = control.gains.autopilot
        observer = AccelerationObserver(
            assembly,
            vehicle.platform.aircraft,
            units,
            cutoff=control.observer_gain / (2.0 * np.pi),
            dt=scenario.dt,
            accel_noise=imu.accel.noise or 1.0,  # without noise, they count
            gyro_noise=imu.gyro.noise or 0.1,  # as those of the paper do
            rotor_lead=pilot.rotor_lead,
            attitude=pilot.attitude,
            rate=pilot.rate,
        )
        return cls(observer, tuple(mount.source.topic for mount in mounts))

    def reset(self) -> None:
        """Nothing was felt yet."""
        self._observer.reset()
        self._means[:] = self._sums[:] = 0.0
        self._counts[:] = 0.0

    def receive(self, reading: Reading) -> None:
        """Receive a unit's sample; other readings do not count."""
        if isinstance(reading, ImuReading) and reading.source.topic in self._rows:
            m = self._rows[reading.source.topic]
            self._sums[0, m] += reading.w_WS_S
            self._sums[1, m] += reading.f_S
            self._counts[m] += 1.0

    def __call__(self, x: Array, command: Command) -> Array:
        """Estimated wrench (6,) about P's origin in P [N, N m], see `AccelerationObserver`."""
        fresh = self._counts > 0.0  # units slower than control: their last word counts
        self._means[:, fresh] = self._sums[:, fresh] / self._counts[fresh, None]
        self._sums[:], self._counts[:] = 0.0, 0.0
        return self._observer(x, command, (self._means[0], self._means[1]))
