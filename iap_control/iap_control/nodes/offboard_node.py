# SPDX-License-Identifier: BSD-3-Clause
"""Passes commands or references on to real autopilots: `command` or `reference` in, px4_msgs or mavros_msgs out.

Runs in the vehicle's namespace, which is `iap` unless it is remapped. Without commands it is silent, so that an
autopilot leaves its offboard mode by its own rules.
"""

import sys
from collections.abc import Callable, Sequence

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus

from iap_control.nodes.setpoint_thrusts import declared_thrusts
from iap_control.offboard.aircraft_setpoint import (
    AircraftSetpoint,
    Classes,
    MotionSetpoint,
    Outlet,
    SetpointMessages,
)
from iap_control.offboard.kinds import KINDS, make_messages
from iap_description.errors import BadInput
from iap_description.sensors.mounts import space
from iap_description.states import REF_FIXED, Command
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import Platform
from iap_io.ros.message_classes import message_class
from iap_io.ros.node import LATEST, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage
from iap_io.wire.stamps import SECOND


class AutopilotTopics:
    """Publishes the set-points of one aircraft in its namespace.

    Args:
        node: whose topics they are.
        namespace: of the aircraft, without the simulation's.
        messages: of the aircraft.
    """

    def __init__(self, node: SuiteNode, namespace: str, messages: SetpointMessages) -> None:
        self._messages = messages
        self._publishers = {
            topic: node.create_publisher(
                type(message), node.absolute(f"{namespace}/{topic}"), LATEST
            )
            for topic, message in messages.outlets
        }

    def publish(self, setpoint: AircraftSetpoint, stamp: int) -> None:
        """Publish a set-point, of a time of the node's clock [ns]."""
        self._publish(self._messages.fill(setpoint, stamp))

    def publish_motion(self, motion: MotionSetpoint, stamp: int) -> None:
        """Publish a point of a trajectory, likewise."""
        self._publish(self._messages.fill_motion(motion, stamp))

    def _publish(self, outlets: Sequence[Outlet]) -> None:
        for topic, message in outlets:
            self._publishers[topic].publish(message)


class OffboardNode(SuiteNode):
    """The commands or references of one platform as set-points of its aircraft.

    Args:
        namespace: of the vehicle.
        make: makes the messages of one aircraft, of a kind.
    """

    def __init__(
        self,
        namespace: str = "iap",
        make: Callable[[str, Classes], SetpointMessages] = make_messages,
    ) -> None:
        super().__init__("offboard_node", namespace=namespace, of="vehicle")
        platform = self.platform()
        what = "Messages of the set-points: of px4_msgs or of mavros_msgs."
        kind = self.choice("autopilot", tuple(KINDS), what)
        numbers = self._numbers(platform)
        assembly = Assembly.of(platform, self.vehicle)
        largest = declared_thrusts(self, platform, assembly)
        self._command = Command.zeros(platform.count)
        self._outputs = []
        for number in numbers:
            messages = make(kind, message_class)
            topics = AutopilotTopics(self, space(assembly, assembly.aircraft[number]), messages)
            self._outputs.append((number, largest[number], topics))
        self._stamp, self._passed = -1, 0
        self._listen(platform)
        self._diagnostics = Diagnostics(self, self._statuses)

    def _listen(self, platform: Platform) -> None:
        """Declare what is passed on, and subscribe to it.

        Raises:
            BadInput: references are passed on, of several aircraft.
        """
        what = (
            "Topic that is passed on; references are trajectories of a platform of one aircraft."
        )
        source = self.choice("source", ("command", "reference"), what)
        if source == "command":
            read = MessageReader(CommandMessage).read
            self.inputs.listen(CommandMessage.TYPE, source, read, self._on_command, LATEST)
            return
        if platform.joints:
            raise BadInput(
                "parameter source: a reference is the motion of the whole platform; with"
                f" {platform.count} aircraft, source:=command passes on what each of them does"
            )
        self._row = np.zeros(REF_FIXED + platform.count)
        read = MessageReader(ReferenceMessage).read
        self.inputs.listen(ReferenceMessage.TYPE, source, read, self._on_reference, LATEST)

    def _numbers(self, platform: Platform) -> list[int]:
        """Declare which aircraft are flown; returns their numbers from 0."""
        what = "Number of the aircraft whose set-points are published, from 1; 0: all of them."
        number = self.parameter("aircraft", 0, what, limits=(0, platform.count))
        return [number - 1] if number else list(range(platform.count))

    def _statuses(self) -> list[DiagnosticStatus]:
        values = {"t": max(self._stamp, 0) / SECOND, "passed on": self._passed}
        doing = "passing commands on" if self._passed else "waiting for commands"
        return [self.inputs.status(doing, values)]

    def _on_command(self, message: CommandMessage) -> None:
        message.get(self._command)
        now = self.get_clock().now().nanoseconds
        for number, largest, topics in self._outputs:
            topics.publish(AircraftSetpoint.of(self._command, number, largest), now)
        self._count(message.stamp)

    def _on_reference(self, message: ReferenceMessage) -> None:
        message.get_row(self._row)
        motion = MotionSetpoint.of(self._row, message.level)
        for _, _, topics in self._outputs:
            topics.publish_motion(motion, self.get_clock().now().nanoseconds)
        self._count(message.stamp)

    def _count(self, stamp: int) -> None:
        self._stamp, self._passed = stamp, self._passed + 1


main = program("offboard_node", OffboardNode)

if __name__ == "__main__":
    sys.exit(main())
