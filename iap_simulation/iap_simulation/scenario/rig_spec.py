# SPDX-License-Identifier: BSD-3-Clause
"""The rig of a scenario, of which its sensors are made in this process and as nodes, and the sensors' descriptions."""

from iap_description.sensors.sensor_info import AnySensor
from iap_description.vehicles.faults import SensorFault
from iap_sensors.mounted.mounted_sensors import Displacement
from iap_sensors.mounted.rig_spec import RigSpec, RigVehicle
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario


def rig_spec(scenario: Scenario) -> RigSpec:
    """The values of a scenario that sensors depend on."""
    return RigSpec(
        seed=scenario.seed,
        physics_hz=scenario.rates.physics_hz,
        control_hz=scenario.rates.control_hz,
        world=placed_world(scenario),
        renderer=scenario.renderer,
        cameras=scenario.cameras,
        vehicles=tuple(
            RigVehicle(
                name=each.name,
                platform=each.platform,
                sensors=each.sensors,
                displaced=Displacement(
                    position=scenario.draw.mount_position, tilt_deg=scenario.draw.mount_tilt_deg
                ),
                faults=tuple(fault for fault in each.faults if isinstance(fault, SensorFault)),
            )
            for each in scenario.vehicles
        ),
    )


def sensor_infos(scenario: Scenario, vehicle: str = "") -> tuple[AnySensor, ...]:
    """Descriptions of a scenario's sensors, or of one vehicle's, as estimation nodes take them: sensors.yaml."""
    infos = SensorSuite(rig_spec(scenario)).infos
    return tuple(
        each for each in infos if each.parent.startswith(f"{vehicle}/" if vehicle else "")
    )
