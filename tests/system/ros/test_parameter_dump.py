# SPDX-License-Identifier: BSD-3-Clause
"""Files of `ros2 param dump`: `ros2 param load` sets them again, and another node starts with them."""

import threading

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
import yaml
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import parameter_dict_from_yaml_file, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient

from iap_bringup.launching.node_parameters import controller_parameters
from iap_bringup.launching.parameter_files import parameters_text
from iap_control.nodes.controller_node import ControllerNode
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = pytest.mark.ros
NAME = "/iap/controller_node"


def dump(client, executor):
    """The text that `ros2 param dump` prints, by the same calls."""

    def answer(future):
        executor.spin_until_future_complete(future, 10.0)
        return future.result()

    assert client.wait_for_services(timeout_sec=10.0)
    names = sorted(answer(client.list_parameters()).result.names)
    values = {}
    for name, value in zip(names, answer(client.get_parameters(names)).values, strict=True):
        tree = values
        *above, last = name.split(".")
        for each in above:
            tree = tree.setdefault(each, {})
        tree[last] = parameter_value_to_python(value)
    plain = yaml.dump({NAME: {"ros__parameters": values}}, default_flow_style=False)
    return names, plain


def values_of(node, names):
    found = {name: node.get_parameter(name).value for name in names}
    return {k: list(v) if hasattr(v, "typecode") else v for k, v in found.items()}


@pytest.fixture
def started(monkeypatch):
    """Starts controllers as processes with a parameter file would, in a domain of their own."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    nodes = []

    def start(file):
        rclpy.init(args=["--ros-args", "--params-file", str(file)])
        nodes.append(ControllerNode())
        return nodes[-1]

    yield start
    nodes[-1].destroy_node()
    rclpy.try_shutdown()


@pytest.mark.parametrize("scenario", ["wall_push", "arm_pick"])
def test_a_dumped_file_is_loaded_and_started_with(started, tmp_path, scenario):
    flown, _ = resolve(scenario, Options())
    first, second = tmp_path / "first.yaml", tmp_path / "dumped.yaml"
    values = controller_parameters(flown, flown.vehicles[0])
    first.write_text(parameters_text({NAME: values}))
    node, tool = started(first), Node("tool", use_global_arguments=False)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    other = SingleThreadedExecutor()
    other.add_node(tool)
    serving = threading.Thread(target=executor.spin, daemon=True)
    serving.start()
    try:
        client = AsyncParameterClient(tool, NAME)
        names, text = dump(client, other)
        second.write_text(text.replace("compensation: ", "compensation: 0.5 # "))
        future = client.load_parameter_file(str(second))
        other.spin_until_future_complete(future, 10.0)
        loaded = parameter_dict_from_yaml_file(str(second), target_nodes=[NAME])
        results = dict(zip(loaded, future.result().results, strict=True))
    finally:
        executor.shutdown()
        serving.join(10.0)
        other.shutdown()
    refused = {name: each.reason for name, each in results.items() if not each.successful}
    assert all("read-only" in reason for reason in refused.values()), refused
    assert node.get_parameter("gains.compensation").value == 0.5
    told = values_of(node, names)
    tool.destroy_node()
    node.destroy_node()
    rclpy.shutdown()
    again = started(second)
    assert values_of(again, names) == told
