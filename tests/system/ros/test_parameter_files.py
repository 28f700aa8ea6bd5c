# SPDX-License-Identifier: BSD-3-Clause
"""Parameter files as rcl reads them: every value of every node arrives as what it is."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
from rclpy.node import Node

from iap_bringup.launching.flight_nodes import flight_nodes
from iap_bringup.launching.launch_arguments import PARAMETERS, flight_parameters, resolve_flight
from iap_bringup.launching.parameter_files import parameters_text
from iap_bringup.nodes.sim_container import placed
from iap_simulation.scenario.resolving import SCENARIOS

pytestmark = pytest.mark.ros
SWITCHES = {
    "record": "true",
    "reference": "true",
    "pace": "lockstep",
    "out": "",
    "localization": "",
}
TRICKY = [
    "y",
    "n",
    "on",
    "null",
    "~",
    "1",
    "1e3",
    "0x10",
    "",
    " a",
    "a: b",
    "#",
    "a\nb",
    "ä",
    "{}",
]


def read_by_rcl(files: list[Path], *names: tuple[str, str]) -> list[dict[str, object]]:
    """The parameters of nodes, by name and namespace, of some files in which later ones count first."""
    context, found = rclpy.Context(), []
    given = [argument for file in files for argument in ("--params-file", str(file))]
    rclpy.init(context=context, args=["--ros-args", *given])
    try:
        for name, namespace in names:
            node = Node(
                name,
                namespace=namespace,
                context=context,
                start_parameter_services=False,
                enable_rosout=False,
                automatically_declare_parameters_from_overrides=True,
            )
            found.append({key: each.value for key, each in node._parameters.items()})  # noqa: SLF001
            node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    return found


def plain(value: object) -> object:
    return list(value) if isinstance(value, list | tuple) or hasattr(value, "typecode") else value


@pytest.mark.slow
def test_every_node_of_every_scenario_gets_its_parameters(tmp_path):
    defaults = {name: str(default) for name, (default, _) in PARAMETERS.items()}
    parameters = {}
    for scenario in SCENARIOS.names():
        given = {**defaults, "scenario": scenario, "set": "", **SWITCHES}
        flight = flight_parameters(given)
        nodes = flight_nodes(resolve_flight(flight)[0], flight, given)
        started = {node.executable for node in nodes}
        assert {"physics_node", "recorder"} <= started
        assert started & {"controller_node", "policy_node"}
        for node in nodes:
            at = node.executable, f"/{scenario}/{node.space}".rstrip("/")
            parameters[at] = node.full_name(f"/{scenario}"), node.parameters
    file = tmp_path / "parameters.yaml"
    file.write_text(parameters_text(dict(parameters.values())))
    for at, read in zip(parameters, read_by_rcl([file], *parameters), strict=True):
        for key, value in parameters[at][1].items():
            assert plain(read[key]) == plain(value), (at, key)
            assert type(plain(read[key])) is type(plain(value)), (at, key)


def test_texts_stay_texts_whatever_they_look_like(tmp_path):
    file = tmp_path / "parameters.yaml"
    values = {f"text_{i}": text for i, text in enumerate(TRICKY)} | {"all": TRICKY}
    file.write_text(parameters_text({"/**": values}), encoding="utf-8")
    (read,) = read_by_rcl([file], ("node", "/iap"))
    assert {key: plain(read[key]) for key in values} == values


@pytest.mark.parametrize("pattern", ["/sim_1/iap/node", "/**/node", "/**"])
def test_a_later_file_counts_before_an_earlier_one(tmp_path, pattern):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(parameters_text({"/sim_1/iap/node": {"a": 1, "b": 2}}))
    second.write_text(parameters_text({pattern: {"a": 3}}))
    (read,) = read_by_rcl([first, second], ("node", "/sim_1/iap"))
    assert (read["a"], read["b"]) == (3, 2)


def test_parameters_of_a_node_in_a_container_reach_it_in_any_namespace(tmp_path):
    """ROS itself takes `controller_node:` for a node of the root namespace alone."""
    given = ["-p", "controller_node:platform:=f450", "-p", "controller_node:gains.kP:=[1.0, 2.0]"]
    given += ["-p", "physics_node:pace:=fast", "-p", "other:x:=1", "-p", "seed:=7"]
    words = placed(["x", "--nodes", "physics_node", "--ros-args", *given], tmp_path)
    assert words[:-2] == [*"x --nodes physics_node --ros-args".split(), *given[-4:]]
    assert words[-2] == "--params-file"
    files = [Path(words[-1])]
    in_space, at_root, other = read_by_rcl(
        files, ("controller_node", "/sim/iap"), ("physics_node", ""), ("imu_node", "/iap")
    )
    assert in_space["platform"] == "f450" and plain(in_space["gains.kP"]) == [1.0, 2.0]
    assert "pace" not in in_space
    assert at_root["pace"] == "fast" and "platform" not in at_root
    assert not {"platform", "pace"} & other.keys()
    assert placed(["x"], tmp_path) == ["x"]
