# SPDX-License-Identifier: BSD-3-Clause
"""The sensors of a flight in one process, sampled in the states of its plant."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.states import STATE_SIZE
from iap_physics.inertial import InertialProbe, inertial_probes
from iap_physics.plant import Plant
from iap_physics.plant_spec import PlantSpec
from iap_sensors.mounted.sensor_suite import ReadingSink, SensorSuite
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario

Array = NDArray[np.float64]
UNUSED = np.zeros((0, STATE_SIZE))  # states of objects that no sensor depends on


class PlantSensors:
    """The sensors of a scenario, and the probes that its plant needs for them.

    Args:
        scenario: resolved.
        spec: of its plant.

    Attributes:
        suite: the sensors.
        vehicle_probes: of each vehicle's inertial units; None without any.
    """

    def __init__(self, scenario: Scenario, spec: PlantSpec) -> None:
        self.suite = SensorSuite(rig_spec(scenario))
        self.vehicle_probes = inertial_probes(spec)

    @property
    def probes(self) -> list[InertialProbe]:
        """The probes that there are."""
        return [each for each in self.vehicle_probes if each is not None]

    def begin(self, plant: Plant, sinks: Sequence[ReadingSink]) -> None:
        """Begin a run for those who receive the readings; the plant is at its start."""
        self.suite.begin(plant.engine.state()[0], sinks)

    def sample(self, k: int, plant: Plant) -> None:
        """Sample the plant's present state at control instant k."""
        suite, engine = self.suite, plant.engine
        objects = engine.object_states() if suite.needs_objects(k) else UNUSED
        samples = [None if each is None else each.take() for each in self.vehicle_probes]
        suite.sample(k, plant.t, engine.state()[0], objects, samples)
