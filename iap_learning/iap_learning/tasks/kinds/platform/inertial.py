# SPDX-License-Identifier: BSD-3-Clause
"""Terms of inertial units: means over a control period, of many worlds or of one vehicle's readings."""

from collections import deque

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.mounts import IMU, imu_mounts
from iap_description.sensors.readings import ImuReading, Reading
from iap_description.vehicles.assembly import Assembly
from iap_io.wire.stamps import SECOND
from iap_sensors.mounted.sampling import nearest_rate
from iap_simulation.batch.batch_support import NO_WHOLE_SAMPLES, samples_fit
from iap_simulation.scenario.scenario import Scenario

KEPT = 8  # control periods whose samples are kept, where messages run ahead of states


def means_of(w_S: Array, f_S: Array) -> Array:
    """Means (n, 6) of a period's samples, angular velocities [rad/s] and specific forces [m/s^2], (n, S, 3) each."""
    return np.hstack([w_S.mean(axis=1), f_S.mean(axis=1)])


class InertialMeans:
    """Keeps the samples of the central body's inertial unit, for the means of the last control period.

    Args:
        scenario: that is flown; the unit is that of its first vehicle.
        source: the policy and the key that needs it, for errors.

    Attributes:
        topic: of the unit.

    Raises:
        BadInput: there is no unit, or a control period has no whole number of its samples.
    """

    def __init__(self, scenario: Scenario, source: str) -> None:
        vehicle, rates = scenario.vehicles[0], scenario.rates
        unit = vehicle.sensors.imu
        if unit is None:
            raise BadInput(f"{source}: the scenario has no sensors.{IMU}")
        if not samples_fit(scenario):
            raise BadInput(f"{source}: {NO_WHOLE_SAMPLES}")
        count = rates.substeps // nearest_rate(unit.rate, rates.physics_hz)[1]
        self._dt_ns = SECOND * scenario.dt
        self._half = 0.5 * self._dt_ns / count  # of the time between two samples [ns]
        # Means over intervals are stamped by their ends, instants by themselves, from the period's begin on.
        self._end = self._half if unit.sampling == "integrating" else -self._half
        self._samples: deque[ImuReading] = deque(maxlen=KEPT * count)
        self._means = np.zeros((1, 6))
        self.topic = imu_mounts(Assembly.of(vehicle.platform, vehicle.name))[0].source.topic

    def receive(self, reading: Reading) -> None:
        """Receive a reading of any sensor; samples of the unit are kept."""
        if isinstance(reading, ImuReading) and reading.source.topic == self.topic:
            self._samples.append(reading)

    def is_ready(self, stamp: int, k: int) -> bool:
        """True if all samples of the period before instant k of a stamp [ns] have come; a start has none."""
        last = self._samples[-1].stamp if self._samples else -1
        return k == 0 or last > stamp + self._end - 2.0 * self._half

    def means(self, k: int) -> Array:
        """(1, 6) of the period before instant k: zero at a start, and of a unit that is silent those before."""
        end = k * self._dt_ns + self._end
        period = [each for each in self._samples if end - self._dt_ns < each.stamp < end]
        if period:
            w_S, f_S = (
                np.array([getattr(each, name) for each in period]) for name in ("w_WS_S", "f_S")
            )
            self._means = means_of(w_S[None], f_S[None])
        return self._means
