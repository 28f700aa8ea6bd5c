# SPDX-License-Identifier: BSD-3-Clause
"""The inertial units of many worlds: those of the single runs, sample by sample."""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Integers
from iap_description.math.random_streams import stream
from iap_description.sensors.mounts import imu_mounts
from iap_description.vehicles.assembly import Assembly
from iap_physics.plant.inertial import inertial_probe
from iap_physics.plant.plant_spec import PlantSpec
from iap_sensors.inertial.imu import Imus, ImuSamples
from iap_simulation.scenario.randomization import drawn_imu_mounts
from iap_simulation.scenario.scenario import Scenario


class WorldInertialUnits:
    """Units on the central body and on every aircraft of the only vehicle, M in each of B worlds.

    Args:
        scenario: resolved; its vehicle has inertial units, with whole numbers of samples in a control period.
        spec: of the plant of one of the worlds.
        batch: number of worlds.

    Attributes:
        probe: what the plant shows its physics steps.
        samples: of the last control period, arrays (B, M, S, 3); before the first one S is 0.
    """

    def __init__(self, scenario: Scenario, spec: PlantSpec, batch: int) -> None:
        (vehicle,), (plant_vehicle,) = scenario.vehicles, spec.vehicles
        assert vehicle.sensors.imu is not None  # noqa: S101 - the caller has looked
        assert plant_vehicle.imu is not None  # noqa: S101 - so has the plant's
        mounts = imu_mounts(Assembly.of(vehicle.platform, vehicle.name))
        self._topics = [mount.source.topic for mount in mounts]
        self._is_drawn = scenario.draw.imu_position > 0.0 or scenario.draw.imu_tilt_deg > 0.0
        self.probe = inertial_probe(spec, plant_vehicle.imu, batch=batch)
        rngs = [np.random.default_rng(0)] * (batch * len(mounts))  # until the first reset
        self._errors = Imus(
            vehicle.sensors.imu, scenario.rates.physics_hz / plant_vehicle.imu.every, rngs
        )
        self.samples = self._none(batch)

    def _none(self, batch: int) -> ImuSamples:
        return ImuSamples(*np.zeros((4, batch, len(self._topics), 0, 3)))

    def reset(self, worlds: Integers, scenarios: Sequence[Scenario]) -> None:
        """Draw the units of some worlds, before their plants are reset; `scenarios` are theirs."""
        count = len(self._topics)
        for world, scenario in zip(worlds.tolist(), scenarios, strict=True):
            units = range(world * count, (world + 1) * count)
            self._errors.reset(units, [stream(scenario.seed, topic) for topic in self._topics])
            if self._is_drawn:
                mounts = drawn_imu_mounts(scenario, scenario.vehicles[0])
                positions = np.array([mount.p_BS_B for mount in mounts])
                self.probe.set_mounts(world, positions, np.array([each.q_BS for each in mounts]))

    def measure(self) -> None:
        """Take the samples of the control period that has just been flown."""
        _, w, f = self.probe.take_all()
        steps, batch, count, _ = w.shape
        by_unit = (np.moveaxis(each, 0, 2).reshape(batch * count, steps, 3) for each in (w, f))
        measured = self._errors(*by_unit)
        self.samples = ImuSamples(*(each.reshape(batch, count, steps, 3) for each in measured))
