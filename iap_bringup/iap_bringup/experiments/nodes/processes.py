# SPDX-License-Identifier: BSD-3-Clause
"""The installed nodes as processes of their own, for measurements and tests."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix

from iap_bringup.launching.flight_nodes import LaunchedNode, flight_nodes
from iap_bringup.launching.node_parameters import (
    COORDINATOR,
    POLICY,
    coordinator_parameters,
    localization_nodes,
    package_of,
    reference_parameters,
    sensor_nodes,
    sensor_parameters,
    vehicle_nodes,
)
from iap_bringup.launching.parameter_files import parameters_text
from iap_description.errors import BadInput
from iap_io.runs.vehicle_meta import TRUTH
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

CONTAINER = "sim_container"
EXIT_TIMEOUT = 120.0  # of an interrupted process, after which it is killed [s]


def executable(name: str, package: str = "") -> Path:
    """The installed file of a node, in the package of its subject if none is named.

    Raises:
        BadInput: it is not built, or its workspace is not sourced.
    """
    package = package or package_of(name)
    try:
        path = Path(get_package_prefix(package)) / "lib" / package / name
    except PackageNotFoundError as error:
        raise BadInput(f"{package} is not installed: build the workspace and source it") from error
    if not path.is_file():
        raise BadInput(f"{path}: no such node; build the workspace again")
    return path


class Nodes:
    """Node processes that talk with each other on this host alone; use it as a context manager.

    Args:
        folder: for their parameters and what they print.
        domain: ROS_DOMAIN_ID.
        popen: starts a process, with the arguments of `subprocess.Popen` that `start` uses.
    """

    def __init__(
        self,
        folder: Path,
        domain: int,
        popen: Callable[..., "subprocess.Popen[bytes]"] = subprocess.Popen,
    ) -> None:
        self._folder, self._popen = folder, popen
        self.environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "PYTHONUNBUFFERED": "1",
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        namespace: str = "",
        package: str = "",
        arguments: tuple[str, ...] = (),
        ros_arguments: tuple[str, ...] = (),
    ) -> str:
        """Start a node's executable; returns its key in `processes`, which is also the stem of its log."""
        key = f"{namespace.strip('/')}.{name}".strip(".").replace("/", ".")
        command = [str(executable(name, package)), *arguments]
        space = ("-r", f"__ns:={namespace}") if namespace else ()
        self._run(key, command, {"/**": parameters or {}}, *space, *ros_arguments)
        return key

    def _run(
        self,
        key: str,
        command: Sequence[str],
        parameters: Mapping[str, Mapping[str, Any]],
        *ros_arguments: str,
    ) -> None:
        """Start a process with parameters by the names of its nodes."""
        file = self._folder / f"{key}.yaml"
        file.write_text(parameters_text(parameters), encoding="utf-8")
        with self.log(key).open("ab") as log:
            self.processes[key] = self._popen(
                [*command, "--ros-args", "--params-file", str(file), *ros_arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def start_container(
        self, scenario: Scenario, parameters: Mapping[str, Any], *, simulation: str = "", pace: str
    ) -> None:
        """Start all nodes that fly a scenario in one process; arguments as those of `start_flight`."""
        arguments = {"reference": "true", "record": "false", "pace": pace, "localization": ""}
        nodes = flight_nodes(scenario, {"bag": "", **parameters}, arguments)
        self.start_together(CONTAINER, nodes, simulation=simulation)

    def start_together(
        self, name: str, launched: Sequence[LaunchedNode], *, simulation: str = ""
    ) -> str:
        """Start nodes in one process of some name; returns its key in `processes`."""
        tree = {each.full_name(simulation): each.parameters for each in launched}
        entries = [
            f"{n.executable}@{f'{simulation}/{n.space}'.rstrip('/') or '/'}" for n in launched
        ]
        key = f"{simulation}/{name}".strip("/").replace("/", ".")
        self._run(key, [str(executable(CONTAINER)), "--nodes", *entries], tree)
        return key

    def start_flight(
        self,
        scenario: Scenario,
        parameters: Mapping[str, Any],
        *,
        simulation: str = "",
        **physics: object,
    ) -> None:
        """Start all nodes that fly a scenario.

        Args:
            scenario: that is flown.
            parameters: that name it.
            simulation: namespace of all of it, such as ``/sim_1``.
            physics: parameters of physics_node besides.
        """
        for vehicle in scenario.vehicles:
            space = f"{simulation}/{vehicle.name}"
            for name, parameters_of in vehicle_nodes(scenario, vehicle).items():
                self.start(name, parameters_of, namespace=space)
            if parameters.get("bag"):
                self.start("bag_player", parameters, namespace=space)
            else:
                values = reference_parameters(scenario, vehicle)
                self.start("reference_node", values, namespace=space, package="iap_control")
            source = vehicle.control.state_source
            if source != TRUTH:
                pace = str(physics.get("pace", ""))
                self.start_localization(scenario, vehicle, source, pace, simulation=simulation)
        if is_coordinated(scenario):
            self.start(COORDINATOR, coordinator_parameters(scenario), namespace=simulation)
        if scenario.policy:
            self.start(POLICY, parameters, namespace=simulation)
        for name in sensor_nodes(scenario):
            sensing = {**sensor_parameters(scenario), "reliable": True}
            self.start(name, sensing, namespace=simulation)
        self.start("physics_node", {**parameters, **physics}, namespace=simulation)

    def start_localization(
        self,
        scenario: Scenario,
        vehicle: VehicleSpec,
        method: str,
        pace: str = "",
        *,
        simulation: str = "",
    ) -> list[str]:
        """Start all nodes that localise a vehicle; returns their keys in `processes`."""
        return [
            self.start(name, {**parameters_of, "reliable": True}, namespace=f"{simulation}{space}")
            for name, space, parameters_of in localization_nodes(scenario, vehicle, method, pace)
        ]

    def log(self, key: str) -> Path:
        """File of a process' output."""
        return self._folder / f"{key}.log"

    def end(self, key: str) -> int:
        """Interrupt a process as Ctrl-C does and wait for its exit code."""
        process = self.processes[key]
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            return process.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            sys.stderr.write(f"{key}: did not end within {EXIT_TIMEOUT:.0f} s\n")
            return process.wait()

    def __enter__(self) -> "Nodes":
        """The processes."""
        return self

    def __exit__(self, *_: object) -> None:
        """End whatever still runs."""
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for key in self.processes:
            self.end(key)
