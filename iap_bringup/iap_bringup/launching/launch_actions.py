# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of launch files: arguments, checks before anything starts, nodes whose end ends the launch."""

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_packages_with_prefixes
from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable, Shutdown
from launch.events.process import ProcessExited
from launch_ros.actions import Node

from iap_bringup.launching.flight_nodes import LaunchedNode
from iap_bringup.launching.launch_arguments import (
    RANGE,
    Arguments,
    refuse_misspelt,
    simulation_namespace,
)
from iap_bringup.launching.parameter_files import parameters_text, temporary_file
from iap_description.config.plain_yaml import read_yaml
from iap_description.errors import BadInput, IapError
from iap_io.ros.process import EXIT_BAD_INPUT, EXIT_DONE
from iap_io.ros.process_end import LAUNCHER

RESPAWN_DELAY = 1.0  # [s]
END_PATIENCE = "300"  # [s] from SIGTERM to SIGKILL: nodes end by themselves, the recorder once it has judged the flight
BY_INTERRUPT = (-signal.SIGINT, -signal.SIGTERM)  # exit codes of a process that had yet to begin


class NodeFailed(IapError):
    """A node ended with an error, which gives the launch its exit code."""


def declared(arguments: Arguments) -> list[DeclareLaunchArgument]:
    """The arguments of a launch file."""
    return [
        DeclareLaunchArgument(name, default_value=default, description=text, choices=choices)
        for name, (default, text, choices) in arguments.items()
    ]


def argument_values(context: LaunchContext, arguments: Arguments) -> dict[str, str]:
    """The values of arguments that are declared.

    Raises:
        BadInput: an argument of the command line is nearly one of them.
    """
    refuse_misspelt(context.argv, arguments)
    return {name: context.launch_configurations[name] for name in arguments}


def refuse_argument(name: str, instead: str) -> OpaqueFunction:
    """Refuse an argument of an included launch file that would have no effect.

    Args:
        name: of the argument.
        instead: says what to do.
    """

    def check(context: LaunchContext) -> None:
        if name in context.launch_configurations:
            value = context.launch_configurations[name]
            raise BadInput(f"{name}:={value} has no effect here: {instead}")

    return OpaqueFunction(function=check)


def has_package(name: str) -> bool:
    """True if a ROS 2 package is installed."""
    return name in get_packages_with_prefixes()


def need_packages(needs: Mapping[str, str]) -> None:
    """Refuse to start anything without what is missing.

    Args:
        needs: packages, and what needs each.

    Raises:
        BadInput: one of them is not installed.
    """
    for name, user in needs.items():
        if not has_package(name):
            raise BadInput(f"{user}: package '{name}' is not installed")


class NodeMaker:
    """Makes the launch's nodes, once everything that could be wrong with them has been looked at.

    Args:
        arguments: values of those in `COMMON`.
        nodes: the suite's own, which the launch starts.
        others: parameters of further nodes, by their full names in the simulation.

    Attributes:
        namespace: of the simulation; empty at the root.

    Raises:
        BadInput: the namespace is none, or there is no such file of parameters.
    """

    def __init__(
        self,
        arguments: Mapping[str, str],
        nodes: Iterable[LaunchedNode],
        others: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.namespace = simulation_namespace(arguments["namespace"])
        self._arguments, self._nodes = arguments, list(nodes)
        tree = {each.full_name(self.namespace): each.parameters for each in self._nodes}
        tree |= {f"{self.namespace}{name}": values for name, values in (others or {}).items()}
        self.parameters = [temporary_file("parameters.yaml", parameters_text(tree))]
        if arguments["params_file"]:
            read_yaml(Path(arguments["params_file"]))
            self.parameters.append(arguments["params_file"])

    @property
    def environment(self) -> list[SetEnvironmentVariable]:
        """Variables of all processes: one thread each, since more only hurt small matrices; discovery; the launch."""
        discovery = self._arguments["discovery"].upper() or os.environ.get(RANGE) or "LOCALHOST"
        return [
            SetEnvironmentVariable("OMP_NUM_THREADS", "1"),
            SetEnvironmentVariable(RANGE, discovery),
            SetEnvironmentVariable(LAUNCHER, str(os.getpid())),
        ]

    @property
    def remappings(self) -> list[tuple[str, str]]:
        """Names that rclpy (with use_sim_time) and tools have at the root, in the simulation's namespace."""
        names = ("/tf", "/tf_static", "/clock") if self.namespace else ()
        return [(name, f"{self.namespace}{name}") for name in names]

    def nodes(self) -> list[Node]:
        """A process for each node."""
        return [
            self._node(
                each.restarts,
                package=each.package,
                executable=each.executable,
                namespace=self._space(each.space),
            )
            for each in self._nodes
        ]

    def container(self) -> list[Node]:
        """One process for all nodes."""
        entries = [f"{each.executable}@{self._space(each.space) or '/'}" for each in self._nodes]
        restarts = all(each.restarts for each in self._nodes)
        arguments = ["--nodes", *entries]
        return [
            self._node(
                restarts, package="iap_bringup", executable="sim_container", arguments=arguments
            )
        ]

    def other(
        self,
        package: str,
        executable: str,
        space: str = "",
        remapped: Sequence[tuple[str, str]] = (),
        **options: Any,  # noqa: ANN401
    ) -> Node:
        """A node of another package, whose end ends nothing, with topics `remapped` besides."""
        return Node(
            package=package,
            executable=executable,
            namespace=self._space(space),
            parameters=self.parameters,
            remappings=[*self.remappings, *remapped],
            **options,
        )

    def _space(self, space: str) -> str:
        return f"{self.namespace}/{space}".rstrip("/")

    def _node(self, restarts: bool, **options: Any) -> Node:  # noqa: ANN401, FBT001
        respawn = restarts and self._arguments["respawn"] == "true"
        return Node(
            **options,
            parameters=self.parameters,
            remappings=self.remappings,
            ros_arguments=["--log-level", self._arguments["log_level"]],
            respawn=respawn,
            respawn_delay=RESPAWN_DELAY,
            sigkill_timeout=END_PATIENCE,
            on_exit=end_of_node(respawns=respawn),
        )


def end_of_node(*, respawns: bool) -> Callable[[ProcessExited, LaunchContext], Shutdown | None]:
    """Actions at the end of a node: the launch ends, too, and with an error where the node did.

    Args:
        respawns: whether the node is started again, which helps unless its parameters are wrong.
    """

    def ended(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
        code, text = event.returncode, f"{event.process_name} ended with exit code"
        if context.is_shutdown:
            if code in (EXIT_DONE, *BY_INTERRUPT):
                return None
        elif code == EXIT_DONE:
            return Shutdown(reason=f"{text} {code}")
        elif respawns and code != EXIT_BAD_INPUT:
            return None
        raise NodeFailed(f"{text} {code}")

    return ended
