# SPDX-License-Identifier: BSD-3-Clause
"""Launch arguments become parameters, and parameters files that ROS reads as they were meant."""

from pathlib import Path

import pytest
import yaml

from iap_bringup.launching.flight_nodes import LaunchedNode, flight_nodes, localizing_nodes
from iap_bringup.launching.launch_arguments import (
    PARAMETERS,
    by_stick,
    flight_parameters,
    localized,
    number,
    resolve_flight,
    simulation_namespace,
)  # fmt: skip
from iap_bringup.launching.node_parameters import localization_nodes, package_of, sensor_nodes
from iap_bringup.launching.parameter_files import parameters_text, temporary_file
from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import resolved

USUAL = {name: str(default) for name, (default, _) in PARAMETERS.items() if name != "assignments"}
ARGUMENTS = {
    "reference": "true",
    "record": "false",
    "pace": "realtime",
    "localization": "",
    "out": "o",
    "by_hand": "",
}


def flight(**changes):
    """Values of a flight's parameters."""
    return {**flight_parameters({**USUAL, "set": ""}), **changes}


def test_parameters_are_read_as_they_were_written_and_stay_readable():
    tree = {
        "/sim/node": {
            "y": "y",
            "text": "a: 1\nb: 2\n",
            "list": ["a", "a"],
            "number": 1.5,
            "flag": True,
            "no": "no",
        }
    }
    text = parameters_text(tree)
    assert yaml.safe_load(text) == {"/sim/node": {"ros__parameters": tree["/sim/node"]}}
    assert (
        '"y": "y"' in text
        and "|" in text.partition("text")[2].splitlines()[0]
        and '"no": "no"' in text
    )
    shared = {"k": [1.0]}
    assert "&" not in parameters_text({"/a": {"x": shared}, "/b": {"x": shared}})
    path = Path(temporary_file("x.yaml", text))
    assert path.name == "x.yaml" and path.read_text() == text
    assert Path(temporary_file("x.yaml", "")) != path


def test_arguments_are_numbers_and_texts_of_their_parameters():
    found = flight_parameters(
        {**USUAL, "set": "a=1;b=2", "seed": "7", "duration": "2.5", "scenario": "f450_x"}
    )
    assert (
        found["assignments"] == ["a=1", "b=2"] and found["seed"] == 7 and found["duration"] == 2.5
    )
    assert found["scenario"] == "f450_x" and set(found) >= set(PARAMETERS)
    assert isinstance(found["seed"], int) and isinstance(found["duration"], float)
    with pytest.raises(BadInput, match="seed:=x: a number is expected"):
        flight_parameters({**USUAL, "set": "", "seed": "x"})
    with pytest.raises(BadInput, match="a bag is flown in place of a scenario"):
        flight_parameters({**USUAL, "set": "", "bag": "b", "scenario": "other"})
    assert flight_parameters({**USUAL, "set": "", "bag": "b"})["bag"] == "b"
    assert number({"n": "3"}, "n", int) == 3 and number({"n": "3"}, "n", float) == 3.0


def test_a_flight_is_resolved_by_its_parameters():
    scenario, tree = resolve_flight(
        flight(platform="f450", seed=4, duration=1.5, assignments=["wind.speed=2", ""])
    )
    assert (
        scenario.vehicles[0].platform.name == "f450"
        and tree["seed"] == 4
        and scenario.duration == 1.5
    )
    assert tree["wind"]["speed"] == 2.0
    plain, usual = resolve_flight(flight()), resolved(str(PARAMETERS["scenario"][0]), {}, {})
    assert plain[1]["seed"] == usual[1]["seed"] and plain[0].scenario == usual[0].scenario


def test_a_stick_flies_a_platform_or_a_tip():
    own = {"vehicle": "iap", "tip": "false", "set": "a=1", "scenario": "hover"}
    assert by_stick(own) == {"by_hand": "iap", "scenario": "hover", "set": "a=1"}
    assert by_stick({"vehicle": "iap", "tip": "false"})["scenario"] == PARAMETERS["scenario"][0]
    tip = by_stick({**own, "tip": "true"})
    assert (
        tip["by_hand"] == ""
        and tip["scenario"] == "hover"
        and tip["set"].startswith("a=1;")
        and len(tip["set"]) > 5
    )
    assert ";" not in by_stick({"vehicle": "iap", "tip": "true"})["set"]


def test_a_namespace_is_absolute_or_none():
    assert [simulation_namespace(each) for each in ("", "/", "a", "/a/b_1/")] == [
        "",
        "",
        "/a",
        "/a/b_1",
    ]
    for wrong in ("1a", "a-b", "a//b", "a b"):
        with pytest.raises(BadInput, match="namespace:="):
            simulation_namespace(wrong)


def test_who_localises_takes_a_run_or_a_scenario_and_one_of_its_vehicles(tmp_path):
    words = {
        "run": "",
        "scenario": "two_platforms",
        "platform": "",
        "sensors": "",
        "scene": "",
        "set": "",
        "vehicle": "",
    }
    scenario, vehicle = localized(words)
    assert vehicle is scenario.vehicles[0]
    name = scenario.vehicles[1].name
    assert localized({**words, "vehicle": name})[1].name == name
    with pytest.raises(BadInput, match=f"vehicle:=x: two_platforms has .*{name}"):
        localized({**words, "vehicle": "x"})
    with pytest.raises(BadInput, match="no run folder"):
        localized({**words, "run": str(tmp_path)})


def test_nodes_of_a_flight_are_those_that_are_asked_for():
    scenario, _ = resolved("hover", {}, {"sensors": "imu,uwb"})
    nodes = {each.executable: each for each in flight_nodes(scenario, flight(), ARGUMENTS)}
    assert set(nodes) == {
        "physics_node",
        "controller_node",
        "reference_node",
        "imu_node",
        "uwb_node",
    }
    physics = nodes["physics_node"]
    assert (
        physics.parameters["pace"] == "realtime"
        and physics.parameters["start_paused"] is False
        and physics.restarts
    )
    assert physics.parameters["mount_frames"] is True
    assert nodes["imu_node"].parameters["reliable"] is False
    recorded = {
        each.executable: each
        for each in flight_nodes(
            scenario, flight(), {**ARGUMENTS, "record": "true"}, mount_frames=False
        )
    }
    assert (
        recorded["recorder"].parameters["end_pause"] is True and not recorded["recorder"].restarts
    )
    assert recorded["recorder"].parameters["out"] == "o" and not recorded["physics_node"].restarts
    assert (
        recorded["physics_node"].parameters["start_paused"] is True
        and recorded["physics_node"].parameters["mount_frames"] is False
    )
    assert recorded["imu_node"].parameters["reliable"] is True
    by_hand = {
        each.executable: each
        for each in flight_nodes(
            scenario, flight(), {**ARGUMENTS, "record": "true", "by_hand": "iap"}
        )
    }
    assert (
        "reference_node" not in by_hand
        and by_hand["physics_node"].parameters["start_paused"] is False
    )
    alone = {
        each.executable
        for each in flight_nodes(scenario, flight(), {**ARGUMENTS, "reference": "false"})
    }
    assert "reference_node" not in alone and "controller_node" in alone
    bag = {each.executable: each for each in flight_nodes(scenario, flight(bag="b"), ARGUMENTS)}
    assert bag["bag_player"].space == "iap" and "reference_node" not in bag


def test_nodes_that_localise_are_one_of_each_aircraft_and_wait_in_lockstep_alone():
    scenario, _ = resolved("hover", {}, {"sensors": "stereo"})
    (vehicle,) = scenario.vehicles
    count = vehicle.platform.count
    vio = localization_nodes(scenario, vehicle, "vio")
    assert sum(name == "frontend_node" for name, _, _ in vio) == count
    joint = localization_nodes(scenario, vehicle, "joint", "lockstep")
    (values,) = [values for name, _, values in joint if name == "joint_node"]
    assert values["max_lag"] == 0.2 and values["method"] == "joint"
    (values,) = [
        values
        for name, _, values in localization_nodes(scenario, vehicle, "joint", "realtime")
        if name == "joint_node"
    ]
    assert values["max_lag"] == 0.0
    for method in ("nonsense", "uwb"):
        with pytest.raises(BadInput, match=f"method '{method}'"):
            localization_nodes(scenario, vehicle, method)
    made = localizing_nodes(scenario, vehicle, "joint", "lockstep", reliable=True)
    assert all(each.parameters["reliable"] and not each.space.startswith("/") for each in made)
    asked = flight_nodes(scenario, flight(), {**ARGUMENTS, "localization": "joint"})
    assert {"joint_node", "frontend_node", "camera_node"} <= {each.executable for each in asked}
    assert all(
        each.parameters["reliable"] for each in asked if each.executable in sensor_nodes(scenario)
    )
    outside = flight_nodes(scenario, flight(), {**ARGUMENTS, "camera_node": "false"})
    assert "camera_node" not in {each.executable for each in outside}
    node = LaunchedNode("p", "x", "iap", {})
    assert node.full_name("/sim") == "/sim/iap/x" and node._replace(space="").full_name("") == "/x"
    assert (
        package_of("controller_node") == "iap_control" and package_of("recorder") == "iap_bringup"
    )
