# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that fly modules: joined ones have a coordinator, one alone has none."""

import pytest

from iap_bringup.launching.flight_nodes import LaunchedNode, flight_nodes
from iap_control.modules.coordination import CoordinationSpec
from iap_description.errors import BadInput
from iap_physics.plant.plant_spec import PlantSpec
from iap_simulation.scenario.resolving import Options, resolve

GIVEN = {"reference": "true", "record": "false", "pace": "lockstep", "localization": "", "out": ""}
FLIGHT = {"scenario": "module_hover", "bag": "", "assignments": []}


def launched(*assignments: str, by_hand: str = "") -> dict[str, list[LaunchedNode]]:
    """The nodes of module_hover, by their executables."""
    scenario, _ = resolve("module_hover", Options(assignments=assignments))
    found: dict[str, list[LaunchedNode]] = {}
    for node in flight_nodes(scenario, FLIGHT, {**GIVEN, "by_hand": by_hand}):
        found.setdefault(node.executable, []).append(node)
    return found


def test_joined_modules_have_a_coordinator_and_one_alone_has_none() -> None:
    nodes = launched("modules.count=3")
    (coordinator,), (physics,) = nodes["coordinator_node"], nodes["physics_node"]
    assert (coordinator.package, coordinator.space) == ("iap_control", "")
    assert len(nodes["wrench_observer_node"]) == len(nodes["controller_node"]) == 3
    assert all(node.parameters["coordinated"] for node in nodes["controller_node"])
    text = coordinator.parameters["coordination"]
    assert CoordinationSpec.read(text, source="test").yaml() == text
    plant = PlantSpec.read(physics.parameters["plant"], source="test")
    assert plant.modules is not None
    assert all(joint.joined for joint in plant.modules.joints.values())
    alone = launched("modules.count=1")
    assert "coordinator_node" not in alone
    assert "coordinated" not in alone["controller_node"][0].parameters


def test_of_joined_modules_the_leader_is_flown_by_hand_and_the_others_have_their_references() -> (
    None
):
    nodes = launched("modules.count=3", by_hand="m2")
    assert [node.space for node in nodes["reference_node"]] == ["m1", "m3"]
    with pytest.raises(BadInput, match="'m1' cannot be flown by hand: it is joined to 'm2'"):
        launched("modules.count=3", by_hand="m1")
    with pytest.raises(BadInput, match="no vehicle 'iap' to fly by hand: choose m1, m2"):
        launched("modules.count=2", by_hand="iap")


def test_a_controller_that_falls_silent_by_a_key_is_for_one_process() -> None:
    silent = "modules.faults=[{module: m2, at: 5.0, kind: controller}]"
    with pytest.raises(BadInput, match="end the node"):
        launched("modules.count=2", silent)
