# SPDX-License-Identifier: BSD-3-Clause
"""Runs any of this suite's nodes in one process on one executor, in place of a component container.

ros2 run iap_bringup sim_container --nodes physics_node controller_node reference_node \
    --ros-args -p physics_node:scenario:=hover

Parameters and remaps that start with a node's name count for that node alone. NODE@NAMESPACE puts a
node into a namespace, as several vehicles need it: controller_node@iap_1 controller_node@iap_2.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rclpy.utilities import remove_ros_args

from iap_bringup.nodes.recorder import RecorderNode
from iap_bringup.nodes.scenario_node import ALIASES, make_node
from iap_control.nodes.admittance_node import AdmittanceNode
from iap_control.nodes.controller_node import ControllerNode
from iap_control.nodes.coordinator_node import CoordinatorNode
from iap_io.ros.node import SuiteNode
from iap_io.ros.process import run
from iap_learning.nodes.policy_node import PolicyNode

NODES: dict[str, Callable[..., SuiteNode]] = {
    "admittance_node": AdmittanceNode,
    "controller_node": ControllerNode,
    "coordinator_node": CoordinatorNode,
    "policy_node": PolicyNode,
    "recorder": RecorderNode,
    **{name: partial(make_node, name) for name in ALIASES},
}


PREFIXED = re.compile(r"(?P<node>\w+):(?P<name>[\w.]+):=(?P<value>.*)", re.DOTALL)


def make_nodes(entries: Sequence[str]) -> list[SuiteNode]:
    """The nodes of entries NODE or NODE@NAMESPACE."""
    parts = [entry.partition("@") for entry in entries]
    return [NODES[n](namespace=space) if at else NODES[n]() for n, at, space in parts]


def _entry(text: str) -> str:
    name = text.partition("@")[0]
    if name not in NODES:
        raise argparse.ArgumentTypeError(f"unknown node '{name}': choose {', '.join(NODES)}")
    return text


def placed(arguments: Sequence[str], folder: Path) -> list[str]:
    """Arguments whose ``-p NODE:NAME:=VALUE`` reach the node in any namespace, by a file of parameters.

    ROS takes a name without slashes for that of a node in the root namespace, and leaves the parameter of any other
    node out without a word (``rcl_parse_arguments``).

    Args:
        arguments: of the process.
        folder: for the file.
    """
    words, values = list[str](), dict[str, list[str]]()
    for word in arguments:
        match = PREFIXED.fullmatch(word) if words and words[-1] in ("-p", "--param") else None
        if match is None or match["node"] not in NODES:
            words.append(word)
            continue
        words.pop()
        values.setdefault(match["node"], []).append(f"    {match['name']}: {match['value']}")
    if not values:
        return words
    file = folder / "parameters.yaml"
    head = "/**/{}:\n  ros__parameters:\n{}\n"
    file.write_text(
        "".join(head.format(n, "\n".join(rows)) for n, rows in values.items()), "utf-8"
    )
    return [*words, "--params-file", str(file)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the nodes; the first one that is done ends all."""
    arguments = list(sys.argv if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="sim_container",
        description="Run nodes of this suite in one process. Append --ros-args as for any node.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--nodes",
        nargs="+",
        required=True,
        type=_entry,
        metavar="NODE[@NAMESPACE]",
        help=f"any of {', '.join(NODES)}",
    )
    options = parser.parse_args(remove_ros_args(arguments)[1:])
    with TemporaryDirectory() as folder:
        words = placed(arguments, Path(folder))
        return run("sim_container", lambda: make_nodes(options.nodes), words)


if __name__ == "__main__":
    sys.exit(main())
