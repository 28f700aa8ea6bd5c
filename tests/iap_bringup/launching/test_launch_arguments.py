# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of nodes that take a scenario, as launch files and parameter files give them."""

import pytest

from iap_bringup.launching.launch_arguments import PARAMETERS, resolve_flight
from iap_bringup.launching.node_parameters import localization_nodes
from iap_bringup.launching.rviz_view import _of_topics
from iap_simulation.scenario.resolving import Options, resolve


def test_a_parameter_file_with_no_assignments_flies_the_scenario_as_it_is() -> None:
    """A list without entries has no type in ROS 2, and comes as None."""
    parameters = {name: default for name, (default, _) in PARAMETERS.items()}
    flight = {**parameters, "scenario": "wall_push", "assignments": None}
    assert resolve_flight(flight)[1] == resolve("wall_push", Options())[1]


@pytest.mark.parametrize("method", ["vio", "joint", "capture_inertial"])
def test_time_waits_for_what_is_seen_in_lockstep_alone(method):
    options = Options(
        sensors="capture,imu" if method == "capture_inertial" else "stereo,imu,uwb", duration=1.0
    )
    scenario, _ = resolve("hover", options)
    for pace, waits in (("lockstep", True), ("", False)):
        nodes = localization_nodes(scenario, scenario.vehicles[0], method, pace)
        assert (nodes[-1][2]["max_lag"] > 0.0) == waits


def test_of_many_images_the_first_four_have_a_window():
    display = {"Class": "rviz_default_plugins/Image", "Topic": {"Depth": 1}}
    made = _of_topics(display, [f"/iap/camera_{i}" for i in range(6)])
    assert [each["Enabled"] for each in made] == [True] * 4 + [False] * 2
    assert [each["Value"] for each in made] == [True] * 4 + [False] * 2
    assert made[5]["Name"] == "iap/camera_5"
    assert made[5]["Topic"] == {"Depth": 1, "Value": "/iap/camera_5"}
