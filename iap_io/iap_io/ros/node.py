# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of the nodes of all packages: quality of service, parameters, diagnostics, and how a process runs.

A node's process ends with 0 after Ctrl-C and when its work is done, with 2 after bad input.
"""

import gc
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Literal

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from iap_description.config.plain_yaml import parse_yaml
from iap_description.config.record import validate
from iap_description.errors import BadInput, IapError
from iap_description.process import interrupts
from iap_description.vehicles.platform import Platform, load_platform
from iap_io.ros.node_inputs import NodeInputs
from iap_io.ros.parameter_trees import loadable, yaml_of
from iap_io.ros.process_end import GRACE, end_within, launch_has_ended
from iap_io.ros.shared_memory import remove_unused

# Of state, reference and command; where the next may come before a lost one is sent again; of which none may be missed.
LATEST, RESENT, EVERY = (
    QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE) for depth in (1, 8, 2000)
)
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
STEADY = Clock(clock_type=ClockType.STEADY_TIME)  # for timers that run while the simulation stands
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
DIAGNOSTIC_TIMEOUT = 2.0  # of what is waited for, after which diagnostics name it [s of wall time]
EXIT_DONE, EXIT_FAILED, EXIT_BAD_INPUT = 0, 1, 2
_OF_ROS = ("use_sim_time", "qos_overrides", "start_type_description_service")
_NEARLY = 0.8  # likeness of a misspelt parameter to the one that is meant
Owner = Literal["simulation", "vehicle", "aircraft"]
NAMES_BELOW: dict[Owner, int] = {"simulation": 0, "vehicle": 1, "aircraft": 2}


class SuiteNode(Node):
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
        exit_code: set to end the process.
        inputs: its subscriptions.
        resolved_from: names of parameters of the process that its own values were made of; they count as known.
    """

    exit_code: int | None = None
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
        """Declare a parameter and return its value; YAML is shown as `parameter_trees` has it."""
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

    def soon(self, work: Callable[[], None]) -> None:
        """Let the executor do some work after what it does now; an error in it ends the process, and is logged.

        Out of a task of its own it would end rclpy's events executor by a segmentation fault, without a word.
        """

        def guarded() -> None:
            try:
                work()
            except (
                Exception
            ) as error:  # whatever a sensor or an estimator of anybody's own may raise
                own = isinstance(error, IapError)
                self.get_logger().fatal(str(error) if own else traceback.format_exc())
                self.exit_code = EXIT_FAILED

        self.executor.create_task(guarded)

    def check_parameters(self) -> None:
        """Look for parameters that were given to the process and that nobody has declared.

        Raises:
            BadInput: one is nearly the name of a parameter of this node; others are logged.
        """
        known = sorted(self.declared | self.resolved_from)
        for name in self._parameter_overrides:
            if name in known or name in self._overrides or name.startswith(_OF_ROS):
                continue
            own = [each for each in known if each not in _OF_ROS]
            nearest = get_close_matches(name, own, n=1, cutoff=_NEARLY)
            if nearest:
                raise BadInput(f"parameter {name}: not known; is {nearest[0]} meant?")
            self.get_logger().warning(f"parameter {name}: not known here, has no effect")

    def close(self) -> None:
        """End the work; called once, also after Ctrl-C."""


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


def make_executor() -> Executor:
    """The events executor where rclpy has it (twice as fast as the other), else the single-threaded one."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def run(
    name: str,
    make: Callable[[], Iterable[SuiteNode]],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run nodes in one process on one executor until Ctrl-C, or until one of them sets its exit code.

    Args:
        name: of the process, for errors.
        make: makes the nodes.
        arguments: of the process; None takes the command line's.

    Returns:
        The exit code of the process.
    """
    code = EXIT_FAILED
    with ExitStack() as middleware:  # ends what the process has of it, while Python is whole
        middleware.callback(rclpy.try_shutdown)
        try:
            code = _work(name, make, arguments, middleware)
        finally:
            interrupts.end_by_exit_code()  # the terminal and launch both send SIGINT
            end_within(GRACE, name, code)
    return code


def _work(
    name: str,
    make: Callable[[], Iterable[SuiteNode]],
    arguments: Sequence[str] | None,
    middleware: ExitStack,
) -> int:
    """The exit code of nodes that do their work; `middleware` receives what must be destroyed."""
    nodes: list[SuiteNode] = []
    asked_to_end = _Interrupts()
    try:
        _init(arguments)
        for node in make():
            nodes.append(node)
            middleware.callback(node.destroy_node)
        for node in nodes:
            node.check_parameters()
        for node in nodes:
            node.get_logger().info("ready")
        asked_to_end.may_raise = False
        executor = make_executor()
        middleware.callback(executor.shutdown)
        _spin(executor, nodes, asked_to_end)
        for node in nodes:
            node.close()
    except (BadInput, ParameterException) as error:
        sys.stderr.write(f"{name}: {' '.join(str(error).split())}\n")
        return EXIT_BAD_INPUT
    except IapError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return EXIT_FAILED
    except KeyboardInterrupt:  # before there was a node that could end its work
        return EXIT_DONE
    return next((node.exit_code for node in nodes if node.exit_code is not None), EXIT_DONE)


class _Interrupts:
    """Lets Ctrl-C and SIGTERM end a process once: at once while nodes are made, then between two callbacks.

    It stays until the process ends: the events executor calls Python where it is destroyed, and an
    interrupt there, such as the second of a terminal and of launch, would abort the process.

    Attributes:
        came: whether one came.
        may_raise: whether the first raises KeyboardInterrupt where it comes.
    """

    def __init__(self) -> None:
        self.came, self.may_raise = False, True
        sys.unraisablehook = interrupts.pass_over_interrupts  # `came` knows of them
        interrupts.install(self._take)

    def _take(self, *_: object) -> None:
        is_first, self.came = not self.came, True
        if is_first and self.may_raise:
            raise KeyboardInterrupt


def _init(arguments: Sequence[str] | None) -> None:
    remove_unused()
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # rclpy's own, for arguments and files that it cannot read
        raise BadInput(f"--ros-args: {error}") from error


def _spin(executor: Executor, nodes: Sequence[SuiteNode], asked_to_end: _Interrupts) -> None:
    for node in nodes:
        executor.add_node(node)
    gc.collect()
    gc.freeze()  # a collection of all that was imported takes longer than a control period
    while not asked_to_end.came and all(node.exit_code is None for node in nodes):
        if launch_has_ended():
            nodes[0].get_logger().error("the launch that started this has ended; ends, too")
            break
        # With a time-out because the events executor of rclpy 9 never wakes up without one.
        executor.spin_once(timeout_sec=0.2)
