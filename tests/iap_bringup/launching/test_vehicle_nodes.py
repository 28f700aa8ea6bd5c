# SPDX-License-Identifier: BSD-3-Clause
"""Nodes between a vehicle's states, references and commands: what they listen to, and what they know."""

import pytest
import yaml
from flying import scenario_of

from iap_bringup.launching.node_parameters import (
    controller_parameters,
    reference_parameters,
    vehicle_nodes,
)

CONTROLLER, OBSERVER, ADMITTANCE = "controller_node", "wrench_observer_node", "admittance_node"
SEEING = {"sensors": "stereo", "scene": "textured_walls"}


def nodes_of(name, *settings, **options):
    """Parameters of the nodes of a scenario's first vehicle, by their executables."""
    scenario = scenario_of(name, *settings, engine="pybullet", **options)
    return vehicle_nodes(scenario, scenario.vehicles[0])


@pytest.mark.parametrize(
    ("settings", "lands"),
    [
        ((), False),
        (("start.mode=ground",), True),
        (("start.mode=ground", "world.ground=false"), False),
    ],
)
def test_controllers_end_the_rotors_of_flights_that_end_on_the_ground(settings, lands):
    scenario = scenario_of("hover", *settings, engine="pybullet")
    parameters = controller_parameters(scenario, scenario.vehicles[0])
    assert parameters.get("may_land", False) == lands


@pytest.mark.parametrize(
    ("settings", "options", "state", "measured"),
    [
        ((), {}, "state", ""),
        (("state_noise.position=0.01",), {}, "state/measured", "state/measured"),
        ((), {**SEEING, "state_source": "joint"}, "state/estimated", "state/estimated"),
    ],
)
def test_controllers_and_observers_go_by_the_state_that_the_vehicle_knows(
    settings, options, state, measured
):
    nodes = nodes_of("hover", "control.wrench_mode=selective", *settings, **options)
    assert nodes[CONTROLLER]["state_topic"] == state
    assert nodes[OBSERVER]["measured_topic"] == measured


@pytest.mark.parametrize(
    ("source", "topics"),
    [
        ("joint", ["virpo/health"]),
        ("vio", [f"drone_{k}/virpo/health" for k in (1, 2, 3)]),
    ],
)
def test_a_controller_on_an_estimate_watches_the_health_of_its_estimators(source, topics):
    found = nodes_of("hover", **SEEING, state_source=source)[CONTROLLER]
    assert found["health_topics"] == topics and yaml.safe_load(found["failsafe"])
    plain = nodes_of("hover")[CONTROLLER]
    assert not plain.keys() & {"health_topics", "failsafe", "faults", "arm", "coordinated"}
    blind = nodes_of("hover", "control.failsafe=null", **SEEING, state_source=source)[CONTROLLER]
    assert not blind.keys() & {"health_topics", "failsafe"}


def test_an_admittance_stands_between_the_reference_and_the_controller():
    nodes = nodes_of("peg_in_hole")
    assert nodes[ADMITTANCE]["reference_topic"] == "reference"
    assert nodes[CONTROLLER]["reference_topic"] == "reference/revised"
    assert nodes[ADMITTANCE]["wrench_topic"] == "wrench/filtered"
    assert nodes_of("hover").keys() == {CONTROLLER}


@pytest.mark.parametrize("source", ["raw", "estimated"])
def test_a_vehicle_in_contact_is_controlled_by_the_wrench_that_its_scenario_names(source):
    nodes = nodes_of("wall_push", f"control.wrench_source={source}")
    found = nodes[CONTROLLER]
    assert (found["wrench_topic"], found["wrench_mode"]) == (f"wrench/{source}", "selective")
    assert found["wrench_axes"] == ["x"] and yaml.safe_load(found["push"])["axes"] == ["x"]
    assert nodes[OBSERVER]["observer"] == "momentum" and "sensors" not in nodes[OBSERVER]


def test_an_observer_of_accelerations_reads_the_inertial_units_and_one_of_modules_has_their_gain():
    found = nodes_of("wall_push", "control.observer=acceleration", sensors="imu,uwb")[OBSERVER]
    assert found["reliable"] and "module_gain" not in found
    assert {each["kind"] for each in yaml.safe_load(found["sensors"])} == {"imu"}
    scenario = scenario_of("module_square", engine="pybullet")
    modules = vehicle_nodes(scenario, scenario.vehicles[0])
    assert modules[OBSERVER]["observer"] == "module"
    assert modules[OBSERVER]["module_gain"] == list(scenario.modules.observer_gain)
    assert modules[CONTROLLER]["replaces_integral"] is scenario.modules.replaces_integral


def test_a_controller_is_informed_of_faults_that_are_known_alone():
    (fault,) = yaml.safe_load(nodes_of("aircraft_lost")[CONTROLLER]["faults"])
    assert (fault["aircraft"], fault["motors"]) == (2, "off")
    assert "faults" not in nodes_of("rotor_weakens")[CONTROLLER]


def test_headings_of_aircraft_and_the_place_of_the_start_go_to_the_reference():
    found = {}
    for name in ("peg_in_hole", "module_square"):
        scenario = scenario_of(name, engine="pybullet")
        found[name] = reference_parameters(scenario, scenario.vehicles[0])
    assert yaml.safe_load(found["peg_in_hole"]["aircraft_yaw_deg"]) == [0.0, 0.0, 0.0]
    assert "aircraft_yaw_deg" not in found["module_square"]
    home = yaml.safe_load(found["module_square"]["home"])
    assert home[:2] == pytest.approx(found["module_square"]["offset"][:2], abs=1e-9)


def test_one_module_has_no_coordinator_to_listen_to():
    """Its scenario has modules, but nothing that is joined."""
    alone = nodes_of("module_hover", "modules.count=1")[CONTROLLER]
    assert not {"coordinated", "replaces_integral"} & alone.keys()
    assert alone["reference_topic"] == "reference"


def test_a_duration_that_is_given_ends_the_references_and_zero_is_none():
    durations = {}
    for given in (None, 12.5):
        scenario = scenario_of("hover", engine="pybullet", duration=given)
        parameters = reference_parameters(scenario, scenario.vehicles[0])
        durations[scenario.duration] = parameters["duration"]
    assert durations == {None: 0.0, 12.5: 12.5}


def test_gains_of_a_shipped_preset_are_named_and_others_are_the_default_with_their_values(
    tmp_path,
):
    shipped = nodes_of("hover", "control.preset=px4")[CONTROLLER]
    assert shipped["gains.preset"] == "px4"
    file = tmp_path / "own.yaml"
    file.write_text(shipped["gains.yaml"])
    own = nodes_of("hover", f"control.preset={file}")[CONTROLLER]
    assert (own["gains.preset"], own["gains.yaml"]) == ("default", shipped["gains.yaml"])
