# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of nodes that take a scenario, as launch files and parameter files give them."""

from iap_bringup.launching.launch_arguments import PARAMETERS, resolve_flight
from iap_simulation.scenario.resolving import Options, resolve


def test_a_parameter_file_with_no_assignments_flies_the_scenario_as_it_is() -> None:
    """A list without entries has no type in ROS 2, and comes as None."""
    parameters = {name: default for name, (default, _) in PARAMETERS.items()}
    flight = {**parameters, "scenario": "wall_push", "assignments": None}
    assert resolve_flight(flight)[1] == resolve("wall_push", Options())[1]
