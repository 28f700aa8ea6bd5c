# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of the nodes of all packages: quality of service, parameters and diagnostics."""

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.clock import Clock, ClockType
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from iap_description.config.alternatives import nearest
from iap_description.config.plain_yaml import parse_yaml
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.vehicles.platform import Platform, load_platform
from iap_io.ros.node_inputs import NodeInputs
from iap_io.ros.process import ProcessNode
from iap_io.ros.process import program as program  # where nodes of one's own take these from
from iap_io.ros.process import run as run

# Of what only its newest counts; and of what is recorded, of which none may be missed: as much as comes in seconds.
LATEST, EVERY = (
    QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE) for depth in (1, 2000)
)
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
STEADY = Clock(clock_type=ClockType.STEADY_TIME)  # for timers that run while the simulation stands
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
DIAGNOSTIC_TIMEOUT = 2.0  # of what is waited for, after which diagnostics name it [s of wall time]
_OF_ROS = ("use_sim_time", "qos_overrides", "start_type_description_service")
PREFIX = "json "
"""Begins a text that YAML reads as a plain scalar: without line breaks, ``: `` and `` #`` (YAML 1.1, 9.1.3)."""
Owner = Literal["simulation", "vehicle", "aircraft"]
NAMES_BELOW: dict[Owner, int] = {"simulation": 0, "vehicle": 1, "aircraft": 2}


class SuiteNode(ProcessNode):
    """A node of this suite.

    Its namespace is that of its simulation, empty or such as ``/lab/sim_1``, of a vehicle in it (``.../iap``), or of
    an aircraft of that (``.../iap/drone_1``).

    Args:
        name: of the node, unless it is remapped.
        namespace: of the node, unless it is remapped.
        of: whose namespace it is in.
        parameters: those that win over those of the process, such as values resolved from a scenario.

    Attributes:
        simulation: namespace of the simulation; empty at the root.
        vehicle: name of its vehicle; empty for nodes of the whole simulation.
        inputs: its subscriptions.
        resolved_from: names of parameters of the process that its own values were made of; they count as known.
    """

    resolved_from: frozenset[str] = frozenset()

    def __init__(
        self,
        name: str,
        *,
        namespace: str = "",
        of: Owner = "simulation",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self._overrides = parameters or {}
        overrides = [Parameter(key, value=value) for key, value in self._overrides.items()]
        super().__init__(name, namespace=namespace, parameter_overrides=overrides)
        self.belong_to(of)

    def belong_to(self, owner: Owner) -> None:
        """Read the node's namespace as that of a simulation, a vehicle or an aircraft, before it subscribes."""
        names, inner = self.get_namespace().strip("/").split("/"), NAMES_BELOW[owner]
        outer = names[: len(names) - inner]
        self.simulation = "".join(f"/{each}" for each in outer if each)
        self.vehicle = names[len(outer)] if inner else ""
        self.inputs = NodeInputs(self, clock=self.absolute("clock"))

    @property
    def declared(self) -> frozenset[str]:
        """Names of the parameters that it has declared."""
        return frozenset(self._parameters)

    def absolute(self, name: str) -> str:
        """Absolute name of a topic of the simulation, such as ``clock`` or ``/iap/state``."""
        return f"{self.simulation}/{name.removeprefix('/')}"

    def parameter(
        self,
        name: str,
        default: Any,  # noqa: ANN401 - whatever ROS has as parameters
        description: str,
        *,
        changeable: bool = False,
        limits: tuple[float, float] | None = None,
        constraints: str = "",
    ) -> Any:  # noqa: ANN401
        """Declare a parameter and return its value; YAML is shown as `loadable` has it."""
        descriptor = ParameterDescriptor(description=description, read_only=not changeable)
        descriptor.additional_constraints = constraints
        if limits is not None:
            low, high = limits
            if isinstance(default, int):
                descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
            else:
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=float(low), to_value=float(high))
                ]
        override = self._parameter_overrides.get(name)
        value = default if override is None else override.value
        if isinstance(default, str) and isinstance(value, str):
            self.declare_parameter(name, loadable(value), descriptor, ignore_override=True)
            return yaml_of(value)
        return self.declare_parameter(name, default, descriptor).value

    def choice(
        self,
        name: str,
        choices: Sequence[str],
        description: str,
        renamed: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """Declare a parameter that is one of some words, by default the first, and return its value.

        Args:
            name: of the parameter.
            choices: the words.
            description: for `ros2 param describe`.
            renamed: old words, which are read with a warning, and their present ones.

        Raises:
            BadInput: it is none of them.
        """
        one_of = f"One of: {', '.join(choices)}."
        value = self.parameter(name, choices[0], description, constraints=one_of)
        if value in renamed:
            self.get_logger().warning(f"parameter {name}: '{value}' is now '{renamed[value]}'")
            value = renamed[value]
        if value not in choices:
            raise BadInput(f"parameter {name}: '{value}' is none of {', '.join(choices)}")
        return value

    def refuse_scenario(self, instead: str, taker: str = "") -> None:
        """Refuse the parameter `scenario` at a node made of values, unless these were resolved from it.

        Args:
            instead: name of the parameter that the node takes.
            taker: the command that takes scenarios; empty: iap_bringup's executable of the node's name.

        Raises:
            BadInput: a scenario is named.
        """
        taker = taker or f"ros2 run iap_bringup {self.get_name()}"
        what = f"Taken by {taker}; this node takes '{instead}'."
        if self.parameter("scenario", "", what) and not self._overrides:
            raise BadInput(
                f"parameter scenario: this node takes '{instead}', and {taker} takes scenarios"
            )

    def platform(self) -> Platform:
        """Declare the parameter `platform`, and return what it stands for.

        Raises:
            BadInput: no such platform, or no platform at all.
        """
        what = "Name of a platform, the path of its YAML file, or the YAML itself."
        text = self.parameter("platform", "three_star", what)
        if "\n" not in text:
            return load_platform(text)
        source = "parameter platform"
        return validate(Platform, parse_yaml(text, source=source), source=source)

    def check_parameters(self) -> None:
        """Look for parameters that were given to the process and that nobody has declared.

        Raises:
            BadInput: one is nearly the name of a parameter of this node; others are logged.
        """
        known = self.declared | self.resolved_from
        for name in self._parameter_overrides:
            if name in known or name in self._overrides or name.startswith(_OF_ROS):
                continue
            meant = nearest(name, known.difference(_OF_ROS))
            if meant:
                raise BadInput(f"parameter {name}: not known; is {meant} meant?")
            self.get_logger().warning(f"parameter {name}: not known here, has no effect")


class Diagnostics:
    """Publishes a node's statuses on the simulation's `diagnostics`, every second of wall time and when asked.

    They are stamped by the node's clock, since aggregators go by their age; simulation time, which may stand or begin
    anew, is one of the values.

    Args:
        node: whose they are.
        statuses: makes them; the hardware is the node's vehicle, unless they name another.
    """

    def __init__(
        self, node: SuiteNode, statuses: Callable[[], Sequence[DiagnosticStatus]]
    ) -> None:
        topic = node.absolute("diagnostics")
        self._publisher = node.create_publisher(DiagnosticArray, topic, 10)
        self._node, self._statuses = node, statuses
        self._look = node.inputs.look
        node.create_timer(1.0, self.publish, clock=STEADY)

    def publish(self) -> None:
        """Publish now."""
        self._look()
        array = DiagnosticArray(status=list(self._statuses()))
        array.header.stamp = self._node.get_clock().now().to_msg()
        for status in array.status:
            status.hardware_id = status.hardware_id or self._node.vehicle or "simulation"
        self._publisher.publish(array)


def loadable(text: str) -> str:
    """A parameter's text as a node shows it: what is YAML of a tree becomes ``json {...}``, which YAML reads as itself.

    ROS parameters have no trees. rclpy's `load` reads every string as YAML once more, and fails at one that is a
    mapping, so that `ros2 param dump` and `ros2 param load` would not hand it on unchanged.

    Other texts stay; so does what is no YAML, which the taker of the parameter refuses.
    """
    try:
        tree = None if text.startswith(PREFIX) else parse_yaml(text, source="")
    except BadInput:
        return text
    if not isinstance(tree, dict | list):
        return text
    word = json.dumps(tree, separators=(",", ":")).replace(" ", "\\u0020")
    return PREFIX + word if json.loads(word) == tree else text  # JSON has texts alone as keys


def yaml_of(text: str) -> str:
    """The YAML that a shown text stands for, with a line break as every YAML of a tree has one; other texts stay."""
    return f"{text.removeprefix(PREFIX)}\n" if text.startswith(PREFIX) else text
