# SPDX-License-Identifier: BSD-3-Clause
"""The wrench by a vehicle's inertial units: their readings between an estimator and the loop."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.readings import ImuReading, Reading
from iap_description.sensors.sensor_info import ImuInfo
from iap_description.states import Command
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_estimation.wrench.acceleration_wrench import AccelerationObserver, Units


class ImuWrenchObserver:
    """Passes the mean of the units' samples in a control period to an `AccelerationObserver`.

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
    def of(
        cls,
        assembly: Assembly,
        fleet: Sequence[Aircraft],
        autopilot: AutopilotGains,
        units: Sequence[ImuInfo],
        *,
        cutoff: float,
        dt: float,
    ) -> Self:
        """The observer of a vehicle by its inertial units.

        Args:
            assembly: the platform as the model has it; its name is that of the units' parent frames.
            fleet: see `AccelerationObserver`.
            autopilot: as there.
            units: the vehicle's inertial units; their noise is that of the first.
            cutoff: of the first-order low-pass [Hz].
            dt: control period [s].

        Raises:
            BadInput: there is no unit on a body, or none on the central body.
        """
        bodies = {f"{assembly.name}/{body.name}": i for i, body in enumerate(assembly.bodies)}
        mounted = [unit for unit in units if unit.parent in bodies]
        if not mounted:
            raise BadInput(f"{assembly.name}: acceleration observer: no inertial unit on a body")
        observer = AccelerationObserver(
            assembly,
            fleet,
            autopilot,
            Units(
                np.array([bodies[unit.parent] for unit in mounted], dtype=np.int64),
                np.array([unit.p_BS_B for unit in mounted]),
                np.array([unit.q_BS for unit in mounted]),
                mounted[0].accel_noise or 1.0,  # units without noise count
                mounted[0].gyro_noise or 0.1,  # as those of the paper do
            ),
            cutoff=cutoff,
            dt=dt,
        )
        return cls(observer, tuple(unit.topic for unit in mounted))

    def reset(self) -> None:
        """Forget the past."""
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
