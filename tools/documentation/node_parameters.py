# SPDX-License-Identifier: BSD-3-Clause
"""The page of the nodes' parameters, as `ros2 param` has them.

The nodes themselves declare them here, each as in a flight that needs it; nothing of them runs.
"""

import io
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import rclpy
import yaml
from markdown import MADE

from iap_bringup import DATA
from iap_bringup.launching.flight_nodes import LaunchedNode, flight_nodes
from iap_bringup.launching.launch_arguments import PARAMETERS, resolve_flight
from iap_bringup.launching.parameter_files import parameters_text
from iap_bringup.nodes.joy_teleop import JoyTeleop
from iap_bringup.nodes.keyboard_teleop import KeyboardTeleop
from iap_bringup.nodes.recorder import RecorderNode
from iap_bringup.nodes.scenario_node import ALIASES, LIMITS
from iap_bringup.nodes.sensor_player import SensorPlayer
from iap_bringup.nodes.sim_container import NODES
from iap_bringup.nodes.web_view import WebViewNode
from iap_control.nodes.offboard_node import OffboardNode
from iap_control.nodes.setpoint_node import SetpointNode
from iap_estimation.nodes import joint_node, virpo_node
from iap_io.ros.node import SuiteNode
from iap_io.runs.topics import BAG

FLIGHT = {name: default for name, (default, _) in PARAMETERS.items()}
FLIGHTS: tuple[Mapping[str, Any], ...] = (  # by which every node is made that a launch file starts
    {"scenario": "peg_in_hole"},
    {"scenario": "wall_push", "sensors": "imu", "assignments": ["control.observer=acceleration"]},
    {"scenario": "module_hover"},
    {"scenario": "docking"},
    {"scenario": "figure_eight", "sensors": "all", "state_source": "virpo"},
    {"scenario": "figure_eight", "sensors": "stereo", "state_source": "joint"},
)
ALONE: tuple[Callable[[], SuiteNode], ...] = (
    RecorderNode,
    WebViewNode,
    JoyTeleop,
    KeyboardTeleop,
    SensorPlayer,
    # Its parameters do not depend on messages, whose packages need not be here.
    partial(OffboardNode, make=lambda *_: mock.Mock(outlets=())),
    partial(SetpointNode, make=lambda *_: mock.Mock(inlets=(), outlets=())),
)
INTRO = """\
What each node declares, in the form of a parameter file, with the defaults. Launch files give nodes the values of a
scenario. `ros2 param dump` prints the values of a node that runs. A file with some of these lines is taken by
`params_file:=FILE` of a launch file, or by `--ros-args --params-file FILE`. Parameters "in flight" may be set while
the node runs.

Executables of iap_bringup that bear the name of a node take a flight's parameters in place of the values
(`bag_player` is a reference_node):
"""


class Declared(NamedTuple):
    """A parameter as a node declares it."""

    default: Any
    description: str
    changeable: bool = False
    limits: tuple[float, float] | None = None
    constraints: str = ""

    @property
    def comment(self) -> str:
        """Description, range and access of a parameter."""
        within = "" if self.limits is None else "From {:g} to {:g}.".format(*self.limits)
        when = "In flight." if self.changeable else ""
        return " ".join(filter(None, (self.description, self.constraints, within, when)))


@contextmanager
def noted() -> Iterator[dict[str, dict[str, Declared]]]:
    """Note what nodes declare, by name of node and parameter."""
    found: dict[str, dict[str, Declared]] = {}
    declare = SuiteNode.parameter

    def parameter(
        node: SuiteNode,
        name: str,
        default: object,
        description: str,
        **options: Any,  # noqa: ANN401 - limits and others of `SuiteNode.parameter`
    ) -> Any:  # noqa: ANN401 - whatever ROS has as parameters
        declared = Declared(default, description, **options)
        found.setdefault(node.get_name(), {}).setdefault(name, declared)
        return declare(node, name, default, description, **options)

    with mock.patch.object(SuiteNode, "parameter", parameter):
        yield found


def flown_by(flight: Mapping[str, Any]) -> tuple[list[Callable[[], SuiteNode]], str]:
    """Factories of the nodes that a launch file starts for a flight, and their parameter file."""
    values = FLIGHT | dict(flight)
    arguments = {"pace": "lockstep", "reference": "true", "record": "false", "localization": ""}
    nodes = flight_nodes(resolve_flight(values)[0], values, arguments)
    return [maker(each) for each in nodes], parameters_text(
        {each.full_name(""): each.parameters for each in nodes}
    )


def maker(launched: LaunchedNode) -> Callable[[], SuiteNode]:
    """Factory of a node of a flight, whose parameters the process has."""
    alias = ALIASES.get(launched.executable)
    if alias is None:
        return partial(NODES[launched.executable], namespace=launched.space)
    module, _, name = alias.node.partition(":")
    return partial(
        getattr(import_module(module), name), *alias.arguments, namespace=launched.space
    )


def alone(folder: Path) -> str:
    """Parameters of the nodes that no flight has."""
    (folder / "run").mkdir()
    (folder / "run" / BAG).symlink_to(DATA / "sample_flight")
    own = {
        "recorder": {"out": str(folder / "made")},
        "web_view": {"port": 0},
        "sensor_player": {"run": str(folder / "run")},
    }
    return parameters_text({f"/{name}": values for name, values in own.items()})


def parameters_of_nodes() -> dict[str, dict[str, Declared]]:
    """Parameters that every node declares, in all flights together."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        found = stack.enter_context(noted())
        stack.enter_context(redirect_stdout(io.StringIO()))  # the help of keyboard_teleop
        for module in (virpo_node, joint_node):  # nothing is estimated here
            stack.enter_context(mock.patch.object(module, "warm_up"))
        for makers, text in (*map(flown_by, FLIGHTS), (ALONE, alone(Path(folder)))):
            file = Path(folder, "parameters.yaml")
            file.write_text(text, encoding="utf-8")
            rclpy.init(args=["--ros-args", "--log-level", "fatal", "--params-file", str(file)])
            try:
                for make in makers:
                    make().destroy_node()
            finally:
                rclpy.shutdown()
    return found


def block(name: str, parameters: Mapping[str, Declared]) -> str:
    """A parameter file of one node, each line below what it means."""
    lines, open_names = [f"/{name}:", "  ros__parameters:"], ()
    for key in sorted(parameters, key=lambda each: each.split(".")):
        declared, (*above, last) = parameters[key], key.split(".")
        for depth, each in enumerate(above):
            if tuple(above[: depth + 1]) != open_names[: depth + 1]:
                lines.append(f"{indent(depth)}{each}:")
        open_names = tuple(above)
        value = yaml.safe_dump([declared.default], default_flow_style=True, width=1000)
        blanks = indent(len(above))
        lines += [f"{blanks}# {declared.comment}", f"{blanks}{last}: {value.strip()[1:-1]}"]
    return "\n".join(("```yaml", *lines, "```", ""))


def indent(depth: int) -> str:
    """Blanks in front of a parameter so many names deep."""
    return "  " * (depth + 2)


def node_parameters() -> str:
    """Parameters of every node."""
    flight = {key: Declared(*PARAMETERS[key], limits=LIMITS.get(key)) for key in PARAMETERS}
    out = f"{MADE}# Parameters of nodes\n\n{INTRO}\n{block('**', flight)}\n"
    for name, parameters in sorted(parameters_of_nodes().items()):
        out += f"## {name}\n\n{block(f'**/{name}', parameters)}\n"
    return out
