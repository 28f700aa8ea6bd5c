# SPDX-License-Identifier: BSD-3-Clause
"""The rig of a scenario: what its sensors, in this process or as nodes, are made of."""

from iap_sensors.mounted.rig_spec import RigSpec, RigVehicle
from iap_simulation.scenario.scenario import Scenario


def rig_spec(scenario: Scenario) -> RigSpec:
    """The values of a scenario that sensors depend on."""
    return RigSpec(
        seed=scenario.seed,
        physics_hz=scenario.rates.physics_hz,
        control_hz=scenario.rates.control_hz,
        world=scenario.world,
        renderer=scenario.renderer,
        cameras=scenario.cameras,
        vehicles=tuple(
            RigVehicle(name=each.name, platform=each.platform, sensors=each.sensors)
            for each in scenario.vehicles
        ),
    )
