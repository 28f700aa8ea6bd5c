# SPDX-License-Identifier: BSD-3-Clause
"""Controls one platform: states, references and the measured wrench in, commands out.

Runs in the vehicle's namespace, which is `iap` unless it is remapped.

The reference that is tracked is published in standard messages, too, for tools that know no others.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped
from trajectory_msgs.msg import JointTrajectory

from iap_control.allocation.allocator import Allocator
from iap_control.modules.follower import RoleControl
from iap_control.nodes.estimate_health import EstimateHealthInput
from iap_control.nodes.gain_parameters import FLIGHT, FLIGHT_FIXED, GainParameters
from iap_control.nodes.parameters import accept_axes, make_control_responder
from iap_control.nodes.topics import ResponderParts, ResponderTopics
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import REF_A, REF_ALPHA, REF_Q, REF_V, REF_W, Command, Level, Mode, Q
from iap_description.vehicles.platform import Platform
from iap_io.ros.conversions import fill_pose, fill_twist, set_stamp
from iap_io.ros.node import EVERY, LATEST, SuiteNode
from iap_io.ros.process import program
from iap_io.ros.served_topic import ServedTopic
from iap_io.runs.topics import JOINT_COMMAND, TIP_TWIST
from iap_io.wire.joint_views import JointCommandMessage
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, StateMessage
from iap_io.wire.sample_views import ForceTaskMessage, TwistMessage, WrenchMessage
from iap_msgs.msg import ForceTask, PlatformCommand

RATE = 100.0  # as that of odometry, rounded to whole control periods [Hz]
QUEUE = 10
WRENCH_TOPIC = "command/wrench"


class TrackedReference:
    """Publishes what is tracked of a reference on ``reference/tracked/pose``, ``twist`` and ``accel``, in `map`.

    Args:
        node: of the controller; it has declared `control_rate`.
    """

    def __init__(self, node: SuiteNode) -> None:
        self._every = max(1, round(node.get_parameter("control_rate").value / RATE))
        kinds: list[tuple[str, type, Level, Callable[[Any, Reference], None]]] = [
            ("pose", PoseStamped, Level.POSE, _fill_pose),
            ("twist", TwistStamped, Level.VELOCITY, _fill_velocity),
            ("accel", AccelStamped, Level.ACCELERATION, _fill_acceleration),
        ]
        self._outlets = []
        for name, kind, level, fill in kinds:
            message = kind()
            message.header.frame_id = MAP
            publisher = node.create_publisher(kind, f"reference/tracked/{name}", QUEUE)
            self._outlets.append((ServedTopic(publisher), message, level, fill))
        self._stamp = -1  # of the last one

    def publish(self, stamp: int, k: int, reference: Reference) -> None:
        """Publish the reference of a state's stamp [ns] and number, if it is due and somebody listens.

        One that comes again goes to topics that have a new subscriber since.
        """
        if k % self._every:
            return
        again, self._stamp = stamp == self._stamp, stamp
        for topic, message, level, fill in self._outlets:
            if topic.is_due(again=again) and reference.level <= level:
                set_stamp(message.header, stamp)
                fill(message, reference)
                topic.publish(message)


def _fill_pose(message: PoseStamped, reference: Reference) -> None:
    fill_pose(message.pose, reference.row)


def _fill_velocity(message: TwistStamped, reference: Reference) -> None:
    _fill_rates(message.twist, reference.row, REF_V, REF_W)


def _fill_acceleration(message: AccelStamped, reference: Reference) -> None:
    _fill_rates(message.accel, reference.row, REF_A, REF_ALPHA)


def _fill_rates(out: Any, row: Array, linear: slice, angular: slice) -> None:  # noqa: ANN401 - Twist or Accel
    """Fill from a reference row, whose angular rates are in the platform's axes."""
    fill_twist(out, np.concatenate([row[linear], so3.rotate(row[REF_Q], row[angular])]))


class WrenchCommands:
    """Answers every message on `command/wrench` with a command of the same stamp on `command`.

    A wrench is allocated at the attitude of its stamp's state, or of a newer one. States are listened to from the
    first wrench on.

    Args:
        node: of the controller; it has declared `state_topic`.
        allocator: of the platform, for nobody else.
        bodies: of the platform.
    """

    def __init__(self, node: SuiteNode, allocator: Allocator, bodies: int) -> None:
        self._node, self._allocator, self._bodies = node, allocator, bodies
        count, read = allocator.model.count, MessageReader(CommandMessage).read
        self._wanted, self._answer = Command.zeros(count), CommandMessage.of(count)
        self._attitude, self._stamp = np.zeros(4), -1  # of the newest state
        self._head = (-1, 0)  # stamp [ns] and number of the newest wrench
        self._answered = -1  # stamp of the newest answer
        self._is_listening = False
        self._publisher = node.create_publisher(PlatformCommand, "command", EVERY)
        node.inputs.listen(CommandMessage.TYPE, WRENCH_TOPIC, read, self._on_wrench, LATEST)

    def _on_wrench(self, message: CommandMessage) -> None:
        if message.mode != Mode.WRENCH:
            raise BadInput(f"mode {message.mode} is none of a platform wrench")
        message.get(self._wanted)
        self._head = (message.stamp, message.sequence)
        if message.stamp < min(self._answered, self._stamp):
            self._stamp = -1  # simulation time began anew: the state is of the time before
        if not self._is_listening:
            topic = self._node.get_parameter("state_topic").value
            bodies = (1, self._bodies)
            self._node.inputs.listen_to_states(topic, bodies, self._on_state, LATEST)
            self._is_listening = True
        self._publish()

    def _on_state(self, state: StateMessage) -> None:
        self._attitude[:], self._stamp = state.rows[0, Q], state.stamp
        if self._head[0] > self._answered:
            self._publish()

    def _publish(self) -> None:
        """Publish the answer to the newest wrench, once its state is there; the same again if it came again."""
        stamp, number = self._head
        if self._stamp < stamp:
            return
        if stamp != self._answered:
            if stamp < self._answered:  # simulation time began anew
                self._allocator.reset()
            self._answer.put(self._allocator.allocate(self._wanted.wrench_P, self._attitude))
        self._answer.put_head(stamp, number)
        self._answered = stamp
        self._publisher.publish(self._answer.dump())


class ControllerNode(SuiteNode):
    """One platform's controller between topics."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("controller_node", namespace=namespace, of="vehicle")
        self.refuse_scenario("platform", "ros2 launch iap_bringup sim.launch.py")
        gains = GainParameters(self, FLIGHT_FIXED, FLIGHT)
        responder, wrench_topic, allocator, platform = make_control_responder(self, gains.gains)
        self._responder, self._logged_losses = responder, 0  # losses of which the log tells
        gains.apply_to(self, responder.controller)
        self._out = CommandMessage.of(platform.count)
        self._commands = self.create_publisher(PlatformCommand, "command", EVERY)
        self._declare_role()
        parts = ResponderParts(
            self._publish,
            responder.failsafe,
            None if responder.follower is None else responder.take_role,
            None if responder.arm is None else self._take_joints,
        )
        self._topics = ResponderTopics(
            self,
            responder,
            platform,
            wrench_topic=wrench_topic,
            parts=parts,
            doing="controlling",
            timing="control_step_us",
        )
        self._connect_arm(platform)
        self._health = None
        if responder.failsafe is not None:
            say = self._topics.publish_diagnostics
            self._health = EstimateHealthInput(self, responder.failsafe, say)
        self._wrench_commands = WrenchCommands(self, allocator, 1 + len(platform.joints))
        self._tracked = TrackedReference(self)
        if wrench_topic:
            self._connect_wrench_control()

    def _declare_role(self) -> None:
        """Let a module follow the role that a coordinator gives it."""
        what = "Whether references are of a coordinator of modules (ModuleReference)."
        if not self.parameter("coordinated", False, what):
            return
        what = "Whether feed-forward stands in place of followers' integrals."
        replaces = self.parameter("replaces_integral", True, what)
        controller = self._responder.controller
        self._responder.follower = RoleControl.of(self.vehicle, controller, replaces=replaces)

    def _connect_arm(self, platform: Platform) -> None:
        """Publish targets of the arm's joints, and take twists of its end effector."""
        arm = self._responder.arm
        self._joints: JointCommandMessage | None = None
        if arm is not None and platform.arm is not None and not arm.is_given:
            self._joints = JointCommandMessage.of(platform.arm.joint_names)
            self._joint_commands = self.create_publisher(JointTrajectory, JOINT_COMMAND, EVERY)
        self._stick = None if arm is None else arm.stick
        if self._stick is not None:
            read_twist = MessageReader(TwistMessage, ("", MAP)).read
            self.inputs.listen(TwistMessage.TYPE, TIP_TWIST, read_twist, self._on_tip, LATEST)

    def _connect_wrench_control(self) -> None:
        """Publish the force task, and take its axes and wrenches that are asked for."""
        accept_axes(self, self._responder)
        base = self._topics.base
        self._task = ForceTaskMessage.of(base)
        self._tasks = self.create_publisher(ForceTask, "wrench/task", EVERY)
        read = MessageReader(WrenchMessage, ("", base)).read
        self.inputs.listen(WrenchMessage.TYPE, "wrench/reference", read, self._on_demand, 10)

    def _publish(self) -> None:
        """Publish the command for the present state, after what wrench control does with it."""
        responder = self._responder
        self._say_losses()
        if self._health is not None:
            self._health.look()
        if responder.task is not None:
            self._task.put_head(responder.stamp, responder.sequence)
            self._task.mode, self._task.axes[:] = responder.task.mode, responder.task.axes
            for name in ("measured_P", "desired_P", "pose_integral_P", "wrench_integral_P"):
                getattr(self._task, name)[:] = getattr(responder.task, name)
            self._tasks.publish(self._task.dump())
        if self._joints is not None and responder.arm is not None:
            self._joints.put_target(responder.stamp, responder.arm.target)
            self._joint_commands.publish(self._joints.dump())
        self._out.put_head(responder.stamp, responder.sequence)
        self._out.put(responder.answer)
        self._commands.publish(self._out.dump())
        if responder.tracked is not None:
            self._tracked.publish(responder.stamp, responder.sequence, responder.tracked)

    def _say_losses(self) -> None:
        """Log what the controller has been told of faults since the last command."""
        faults = self._responder.faults
        if faults is None or faults.applied == self._logged_losses:
            return
        for loss in faults.losses[self._logged_losses : faults.applied]:
            log, text = self.get_logger(), f"t = {loss.at:.3f} s: re-allocates: {loss.text}"
            (log.info if loss.can_carry else log.warning)(text)
        self._logged_losses = faults.applied

    def _take_joints(self, state: StateMessage) -> None:
        """Take the arm's joints and their load, which come with the state."""
        assert self._responder.arm is not None  # noqa: S101 - nobody else listens to joints
        self._responder.take_joints(*state.arm(self._responder.arm.count), state.arm_load)

    def _on_tip(self, message: TwistMessage) -> None:
        """Take what the end effector is asked to do by hand."""
        assert self._stick is not None  # noqa: S101 - nobody else listens to twists of it
        self._stick.take(message.rates, in_map=message.frame_id == MAP)

    def _on_demand(self, message: WrenchMessage) -> None:
        self._responder.take_demand(message.wrench_P)


main = program("controller_node", ControllerNode)

if __name__ == "__main__":
    sys.exit(main())
