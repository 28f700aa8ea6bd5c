# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of a scenario that a policy flies."""

import pytest

from iap_bringup.launching.flight_nodes import flight_nodes
from iap_simulation.scenario.resolving import Options, resolve

GIVEN = {"reference": "true", "record": "false", "pace": "lockstep", "localization": "", "out": ""}


@pytest.mark.parametrize("assignments", [(), ("policy=null",)])
def test_a_policy_has_one_node_in_place_of_all_controllers(assignments: tuple[str, ...]) -> None:
    scenario = resolve("docking", Options(assignments=assignments))[0]
    flight = {"scenario": "docking", "bag": "", "assignments": list(assignments)}
    nodes = flight_nodes(scenario, flight, GIVEN)
    names = sorted(node.executable for node in nodes)
    common = ["physics_node", *["reference_node"] * 2, *["wrench_observer_node"] * 2]
    own = ["controller_node"] * 2 if assignments else ["policy_node"]
    assert names == sorted([*common, *own])
    if not assignments:
        (node,) = (each for each in nodes if each.executable == "policy_node")
        assert (node.package, node.space, node.parameters["scenario"]) == (
            "iap_learning",
            "",
            "docking",
        )


def test_a_recorder_that_has_ended_is_not_started_again_and_what_flies_is() -> None:
    scenario = resolve("hover", Options())[0]
    flight = {"scenario": "hover", "bag": "", "assignments": []}
    nodes = flight_nodes(scenario, flight, {**GIVEN, "record": "true", "out": "run"})
    restarts = {node.executable: node.restarts for node in nodes}
    assert restarts["recorder"] is False
    assert restarts["physics_node"] is False  # a flight that begins anew is another recording
    assert restarts["controller_node"]
    (recorder,) = (node for node in nodes if node.executable == "recorder")
    assert recorder.parameters["out"] == "run"
