# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of a scenario's sensors, as estimation nodes take them: sensors.yaml."""

from iap_description.sensors.sensor_info import AnySensor
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario


def sensor_infos(scenario: Scenario, vehicle: str | None = None) -> tuple[AnySensor, ...]:
    """All sensors of a scenario, or those of one vehicle."""
    every = SensorSuite(rig_spec(scenario)).infos
    return (
        every if vehicle is None else tuple(e for e in every if e.parent.startswith(f"{vehicle}/"))
    )
