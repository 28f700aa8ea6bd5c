# SPDX-License-Identifier: BSD-3-Clause
"""Facts of every launch file where launch is not installed: it compiles, and what it names exists."""

import ast
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from iap_bringup.launching.flight_nodes import flight_nodes
from iap_bringup.launching.launch_arguments import (
    COMMON,
    flight_parameters,
    refuse_misspelt,
    resolve_flight,
    simulation_namespace,
)
from iap_bringup.launching.node_parameters import localization_nodes, package_of
from iap_bringup.launching.parameter_files import parameters_text
from iap_bringup.launching.rviz_view import view_text
from iap_control.gains import gains_tree
from iap_description.errors import BadInput
from iap_description.sensors.sensor_info import load_sensors
from iap_estimation.virpo.localizer import METHODS
from iap_sensors.mounted.rig_spec import RigSpec
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

ROOT = Path(__file__).parents[3]
LAUNCH = ROOT / "iap_bringup" / "launch"
FILES = sorted(LAUNCH.glob("*.launch.py"))


def calls(path, name):
    """Calls of a function or class in a file, by its last name."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", getattr(node.func, "id", "")) == name
        ):
            yield node


def keywords(call):
    return {keyword.arg: keyword.value for keyword in call.keywords}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


def dependencies():
    tree = ElementTree.parse(ROOT / "iap_bringup" / "package.xml").getroot()
    return {node.text for kind in ("depend", "exec_depend") for node in tree.iter(kind)}


def executables(package):
    text = (ROOT / package / "setup.py").read_text()
    return set(re.findall(r'"(\w+) = ', text))


def test_one_launch_file_flies_every_scenario():
    names = {path.name.removesuffix(".launch.py") for path in FILES}
    assert names == {"sim", "replay", "teleop", "localization"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_a_launch_file_imports_is_declared(path):
    outside = set(imported(path)) - set(sys.stdlib_module_names) - {"iap_bringup"}
    assert outside <= dependencies()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_argument_is_explained(path):
    for call in calls(path, "DeclareLaunchArgument"):
        given = keywords(call)
        if isinstance(given["description"], ast.Name):
            continue  # declared from a table
        assert ast.unparse(given["description"]).strip("'\"").endswith("."), ast.unparse(call)
        default = given.get("default_value")
        if isinstance(default, ast.Constant) and default.value in ("true", "false"):
            assert "choices" in given, ast.unparse(call)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_executables_and_packages_exist(path):
    for call in calls(path, "Node"):
        given = keywords(call)
        if not all(isinstance(given[key], ast.Constant) for key in ("package", "executable")):
            continue  # chosen while launching: sim.launch.py, which the nodes' tests cover
        package, executable = (given[key].value for key in ("package", "executable"))
        assert package in {*dependencies(), "iap_bringup"}
        if package.startswith("iap_"):
            assert executable in executables(package)


def flight_of(**changed):
    names = ("scenario", "bag", "topic", "actual_topic", "convention", "platform", "gains")
    names += ("sensors", "scene", "state_source")
    given = {**dict.fromkeys(names, ""), "scenario": "two_platforms", "set": "seed=3"}
    given |= {"seed": "-1", "duration": "0", "pace": "lockstep", "out": "", "localization": ""}
    given |= {"record": "true", "reference": "true", **changed}
    return flight_parameters(given), given


def launched(simulation="", *, mount_frames=True, **changed):
    """Parameters of a flight's nodes, by their full names."""
    flight, given = flight_of(**changed)
    nodes = flight_nodes(resolve_flight(flight)[0], flight, given, mount_frames=mount_frames)
    return {node.full_name(simulation): node.parameters for node in nodes}


def test_parameter_file_has_no_aliases_which_ros_refuses():
    text = parameters_text(launched())
    assert "/iap_2/controller_node" in text
    assert not re.search(r"[&*]id\d", text)


def test_all_nodes_of_a_flight_are_in_its_namespace():
    names = launched("/lab/sim_1", scenario="figure_eight", state_source="virpo", sensors="stereo")
    assert {"/lab/sim_1/physics_node", "/lab/sim_1/recorder", "/lab/sim_1/imu_node"} < set(names)
    assert {"/lab/sim_1/iap/centre_node", "/lab/sim_1/iap/drone_1/virpo_node"} < set(names)
    assert all(name.startswith("/lab/sim_1/") for name in names)


@pytest.mark.parametrize(
    ("text", "name"), [("", ""), ("/", ""), ("sim_1", "/sim_1"), ("/a/b/", "/a/b")]
)
def test_a_namespace_is_taken_with_and_without_slashes(text, name):
    assert simulation_namespace(text) == name


@pytest.mark.parametrize("text", ["a-b", "1st", "a//b", "a b", "ä"])
def test_a_namespace_that_is_none_in_ros_is_refused(text):
    with pytest.raises(BadInput, match="namespace:="):
        simulation_namespace(text)


def arguments_of(path):
    """Names of a launch file's own arguments."""
    tables = [
        node.value
        for node in ast.parse(path.read_text(), str(path)).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ARGUMENTS"
    ]
    own = {key.value for table in tables for key in table.keys if key}
    return own | set(COMMON)


def test_a_misspelt_argument_is_refused_with_the_one_that_is_meant():
    known = arguments_of(LAUNCH / "sim.launch.py")
    with pytest.raises(BadInput, match=r"duratoin:=5: no such argument; is duration:= meant\?"):
        refuse_misspelt(["scenario:=hover", "duratoin:=5"], known)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_launch_file_refuses_what_another_one_takes(path):
    """teleop.launch.py includes sim.launch.py, and both see all arguments."""
    every = {name for each in FILES for name in arguments_of(each)}
    assert len(every) > 25
    refuse_misspelt([f"{name}:=1" for name in every], arguments_of(path))


def test_a_bag_and_a_scenario_are_not_both_flown():
    with pytest.raises(BadInput, match="scenario:=wall_push: a bag is flown"):
        flight_of(scenario="wall_push", bag="flight.bag")


def test_a_yaml_file_of_gains_is_laid_over_the_preset(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("kP: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n")
    own = launched(gains=str(file))["/iap_1/controller_node"]
    gains = yaml.safe_load(own["gains.yaml"])
    assert gains["kP"] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert gains["kD"] == gains_tree("default")["kD"]
    file.write_text("kQ: 3\n")
    with pytest.raises(BadInput, match="mine.yaml: unknown key 'kQ'"):
        launched(gains=str(file))


def test_every_sensor_s_node_gets_the_rig_and_is_reliable_where_it_is_recorded():
    flight, _ = flight_of(sensors="stereo", scene="textured_walls")
    tree = launched(sensors="stereo", scene="textured_walls", mount_frames=False)
    assert not tree["/physics_node"]["mount_frames"]
    for name in ("imu_node", "uwb_node", "camera_node"):
        own = tree[f"/{name}"]
        assert own["reliable"]
        rig = RigSpec.read(own["rig"], source="test")
        assert rig == rig_spec(resolve_flight(flight)[0])
        assert set(rig.vehicles[0].sensors.cameras) == {"left", "right"}
    assert "/lidar_node" not in tree


@pytest.mark.parametrize(("sensors", "images", "clouds"), [("none", 0, 0), ("all", 24, 6)])
def test_rviz_gets_a_display_for_every_camera_and_every_lidar(sensors, images, clouds):
    flight, _ = flight_of(sensors=sensors)
    template = ROOT / "iap_bringup" / "rviz" / "iap.rviz"
    view = yaml.safe_load(view_text(template, resolve_flight(flight)[0]))
    displays = view["Visualization Manager"]["Displays"]
    for kind, count in (("Image", images), ("PointCloud2", clouds)):
        mine = [each for each in displays if each["Class"] == f"rviz_default_plugins/{kind}"]
        topics = {each["Topic"]["Value"] for each in mine}
        assert len(mine) == len(topics) == count
        assert sum(each["Enabled"] for each in mine) == min(count, 4)
    names = [each["Name"] for each in displays]
    assert names.count("Anchors") == 1
    assert names.count("Platform") == 2


def test_rviz_listens_in_the_simulation_s_namespace():
    flight, _ = flight_of(sensors="all")
    template = ROOT / "iap_bringup" / "rviz" / "iap.rviz"
    plain, inside = (
        yaml.safe_load(view_text(template, resolve_flight(flight)[0], space))
        for space in ("", "/sim_1")
    )
    topics = [
        [
            value["Value"]
            for display in view["Visualization Manager"]["Displays"]
            for key, value in display.items()
            if key in ("Topic", "Description Topic")
        ]
        for view in (plain, inside)
    ]
    assert len(topics[0]) > 30
    assert topics[1] == [f"/sim_1{topic}" for topic in topics[0]]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_localization_has_nodes_that_need_no_scenario(method):
    scenario = resolve("figure_eight", Options(sensors="stereo"))[0]
    nodes = localization_nodes(scenario, scenario.vehicles[0], method, "lockstep")
    assert {name for name, _, _ in nodes} >= {"frontend_node"}
    for name, space, values in nodes:
        assert package_of(name) == "iap_estimation"
        assert space in {"/iap", "/iap/drone_1", "/iap/drone_2", "/iap/drone_3"}
        assert "scenario" not in values
        assert len(load_sensors(values["sensors"], source="test")) == 4 + 4 + 3 + 6


def test_a_node_of_another_package_has_the_name_that_its_parameters_are_for():
    """RViz calls itself `rviz`: without a name it would never get use_sim_time."""
    views = [
        call for call in calls(LAUNCH / "sim.launch.py", "other") if call.args[0].id == "VIEW"
    ]
    assert [keywords(call)["name"].id for call in views] == ["VIEW"]


def test_programs_that_the_page_starts_by_their_paths_exist():
    """Of a clone that `./iap` has set up: its workspace lies in .venv."""
    page = (ROOT / "docs" / "how_to" / "launch.md").read_text()
    lines = [line.split()[0] for line in page.splitlines() if re.match(r"    \S*install/", line)]
    programs = [line for line in lines if not line.endswith("setup.bash")]
    assert programs
    for program in programs:
        package, node = re.fullmatch(r"\.venv/install/(\w+)/lib/\1/(\w+)", program).groups()
        assert f"{node} = " in (ROOT / package / "setup.py").read_text()
