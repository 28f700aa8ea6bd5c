# SPDX-License-Identifier: BSD-3-Clause
"""The test's own node beside those under test: hears states and diagnostics, calls services, waits on conditions."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from hang import HANG
from rcl_interfaces.srv import SetParameters
from rclpy.client import Client
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_srvs.srv import SetBool, Trigger

from iap_bringup.experiments.nodes.processes import Nodes
from iap_bringup.launching.flight_nodes import LaunchedNode, flight_nodes
from iap_bringup.launching.node_parameters import sensor_nodes
from iap_description.signals import Step as FlightStep
from iap_io.ros.process import make_executor
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import StateMessage
from iap_msgs.msg import PlatformState
from iap_msgs.srv import Step
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation

SIMULATION = "simulation"  # the process of nodes of no vehicle
EVERY = QoSProfile(depth=5000, reliability=ReliabilityPolicy.RELIABLE)


class Probe:
    """Listens to the nodes of one ROS domain.

    Args:
        domain: its number.
        nodes: of which one that ends without success ends every wait.
    """

    def __init__(self, domain: int, nodes: Nodes | None = None) -> None:
        self._nodes = nodes
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = rclpy.create_node("probe", context=self._context)
        self._executor = make_executor(self._context)
        self._executor.add_node(self.node)
        self.states: dict[str, dict[int, np.ndarray]] = {}  # by vehicle and stamp [ns]
        self.newest: dict[str, int] = {}  # stamp [ns]
        self.statuses: dict[str, tuple[bytes, str, dict[str, str]]] = {}
        self._clients: dict[str, Client] = {}  # by service
        self.hear_diagnostics()

    def close(self) -> None:
        self._executor.shutdown()  # it would keep what the node has published known to others
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def hear_diagnostics(self, simulation: str = "") -> None:
        """Of a simulation in some namespace."""
        topic = f"{simulation}/diagnostics"
        self.node.create_subscription(DiagnosticArray, topic, self._on_diagnostics, 100)

    def hear_states(self, vehicle: str) -> None:
        inlet, mine = MessageReader(StateMessage), self.states.setdefault(vehicle, {})

        def take(data: bytes) -> None:
            state = inlet.read(data)
            mine[state.stamp] = state.rows.copy()
            self.newest[vehicle] = state.stamp

        self.node.create_subscription(PlatformState, f"/{vehicle}/state", take, EVERY, raw=True)

    def hear(self, kind: type, topic: str, qos: Any = 10) -> list:
        """The messages of a topic, in a list that grows."""
        heard: list = []
        self.node.create_subscription(kind, topic, heard.append, qos)
        return heard

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        for status in array.status:
            values = {pair.key: pair.value for pair in status.values}
            self.statuses[status.name] = (status.level, status.message, values)

    def says(self, status: str, text: str) -> bool:
        return text in self.statuses.get(status, (b"", "", {}))[1]

    def value(self, status: str, key: str) -> float:
        return float(self.statuses.get(status, (b"", "", {}))[2].get(key, "nan"))

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Spin until a condition holds."""
        deadline = time.monotonic() + HANG
        while not condition():
            assert time.monotonic() < deadline, f"{what}: not within {HANG} s; {self.statuses}"
            failed = self._failed()
            assert not failed, f"{what}: awaited in vain, as these processes have ended: {failed}"
            self._executor.spin_once(timeout_sec=0.05)

    def _failed(self) -> dict[str, tuple[int, str]]:
        """Exit codes of processes that have ended without success, and what they said."""
        nodes = self._nodes
        if nodes is None:
            return {}
        codes = {key: each.poll() or 0 for key, each in nodes.processes.items()}
        return {key: (code, nodes.log(key).read_text()) for key, code in codes.items() if code}

    def stays(self, holds: Callable[[], bool], duration: float = 0.3) -> bool:
        """True if a condition holds all the time while messages could come that break it."""
        deadline = time.monotonic() + duration
        while time.monotonic() < deadline and holds():
            self._executor.spin_once(timeout_sec=0.02)
        return holds()

    def hand_over(self, publisher: Publisher, message: Any) -> None:
        """Publish a message, and wait until whoever listens has it."""
        publisher.publish(message)
        assert publisher.wait_for_all_acked(Duration(seconds=HANG))
        self.stays(lambda: True)

    def meet(self) -> None:
        """Wait for whoever speaks on the topics that are listened to, so that nothing of theirs is missed.

        A publisher may not know the probe when the probe knows it. States come again and again while time stands at
        zero, so that the first of each vehicle is awaited too.
        """
        topics = {each.topic_name for each in self.node.subscriptions}
        self.wait(lambda: all(map(self.node.count_publishers, topics)), f"speakers on {topics}")
        for vehicle in self.states:
            self.wait_for_state(vehicle, 0.0)

    def wait_for_state(self, vehicle: str, t: float) -> None:
        stamp = round(t * 1e9)
        self.wait(lambda: self.newest.get(vehicle, -1) >= stamp, f"state of {vehicle} at {t} s")

    def call(self, kind: type, name: str, request: Any) -> Any:
        """The answer of a service, whose client stays: a busy server drops answers to one that it does not yet know."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client = self._clients[name]
        self.wait(client.service_is_ready, f"service {name}")
        future = client.call_async(request)
        self.wait(future.done, f"answer of {name}")
        return future.result()

    def reset(self) -> None:
        assert self.call(Trigger, "/reset", Trigger.Request()).success

    def pause(self, paused: bool = True) -> None:
        assert self.call(SetBool, "/pause", SetBool.Request(data=paused)).success

    def step(self, steps: int) -> Any:
        return self.call(Step, "/step", Step.Request(steps=steps))

    def set_parameter(self, node: str, name: str, value: Any) -> Any:
        parameter = Parameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[parameter])
        return self.call(SetParameters, f"{node}/set_parameters", request).results[0]


def process_of(node: LaunchedNode) -> str:
    """The process in which a node flies: that of its vehicle or aircraft, or of the simulation."""
    return node.space.replace("/", ".") or SIMULATION


def start_gathered(
    nodes: Nodes,
    scenario: Scenario,
    parameters: dict[str, Any],
    within: Callable[[LaunchedNode], str] = process_of,
    simulation: str = "",
    **physics: object,
) -> None:
    """Start a flight in few processes, as each of them takes most of a second of a processor and hears of all others.

    Args:
        nodes: that are started.
        scenario: that is flown.
        parameters: that name it.
        within: name of a node's process.
        simulation: namespace of all of it.
        physics: parameters of physics_node besides.
    """
    arguments = {"reference": "true", "record": "false", "localization": ""}
    arguments["pace"] = str(physics["pace"])
    more = dict.fromkeys(sensor_nodes(scenario), {"reliable": True}) | {"physics_node": physics}
    processes: dict[str, list[LaunchedNode]] = {}
    for node in flight_nodes(scenario, {"bag": "", **parameters}, arguments):
        values = {**node.parameters, **more.get(node.executable, {})}
        processes.setdefault(within(node), []).append(node._replace(parameters=values))
    for name, members in processes.items():
        nodes.start_together(name, members, simulation=simulation)


def fly_recorded(
    nodes: Nodes,
    probe: Probe,
    scenario: Scenario,
    parameters: dict[str, Any],
    out: Path,
    *,
    start: Callable[..., None] = start_gathered,
) -> None:
    """Fly in lockstep to the recorder's end; it ends the pause, and comes when the probe hears all that it wants to.

    Args:
        nodes: that are started.
        probe: that listens.
        scenario: that is flown.
        parameters: that name it.
        out: folder of the recording.
        start: the flight, with a process for each vehicle, or with one for each node (`Nodes.start_flight`).
    """
    start(nodes, scenario, parameters, pace="lockstep", start_paused=True)
    probe.meet()
    key = nodes.start(
        "recorder", {**parameters, "out": str(out), "plot": False, "end_pause": True}
    )
    ended = nodes.processes[key].poll
    probe.wait(lambda: ended() is not None, "end of the recorder")


class Keep:
    """An observer of the loop that keeps every state by its stamp [ns]."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self.states: dict[str, dict[int, np.ndarray]] = {name: {} for name in names}

    def record(self, vehicle: int, step: FlightStep) -> None:
        self.states[self._names[vehicle]][round(step.t * 1e9)] = step.x.copy()


def flown_in_process(scenario: Scenario) -> dict[str, dict[int, np.ndarray]]:
    """The states that the same scenario flies in one process, by vehicle and stamp [ns]."""
    flight = Flight.of(scenario)
    keep = Keep([vehicle.name for vehicle in flight.vehicles])
    with Simulation(flight, render=False) as simulation:
        simulation.begin(observers=[keep])
        simulation.fly()
    return keep.states


def largest_difference(a: dict[int, np.ndarray], b: dict[int, np.ndarray], end: float) -> float:
    """Largest difference of states up to time `end` [s]; every control instant must be in both."""
    stamps = range(0, round(end * 1e9) + 1, 5_000_000)
    return max(float(np.abs(a[stamp] - b[stamp]).max()) for stamp in stamps)
