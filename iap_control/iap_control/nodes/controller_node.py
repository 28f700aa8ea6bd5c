# SPDX-License-Identifier: BSD-3-Clause
"""Controls one platform: states, references and the measured wrench in, commands out.

Runs in the vehicle's namespace, which is `iap` unless it is remapped.
"""

import sys

from geometry_msgs.msg import WrenchStamped

from iap_control.nodes.parameters import FLIGHT, FLIGHT_FIXED, GainParameters
from iap_control.nodes.responder_parameters import accept_axes, make_control_responder
from iap_control.nodes.topics import ResponderTopics
from iap_control.nodes.wrench_commands import WrenchCommands
from iap_description.errors import BadInput
from iap_io.ros.conversions import wrench_row
from iap_io.ros.node import LATEST, SuiteNode, run
from iap_io.wire.message_views import CommandMessage
from iap_io.wire.sample_views import ForceTaskMessage
from iap_msgs.msg import ForceTask, PlatformCommand


class ControllerNode(SuiteNode):
    """One platform's controller between topics."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("controller_node", namespace=namespace)
        self.refuse_scenario("platform", "ros2 launch iap_bringup sim.launch.py")
        gains = GainParameters(self, FLIGHT_FIXED, FLIGHT)
        self._responder, wrench_topic, allocator = make_control_responder(self, gains.gains)
        gains.apply_to(self, self._responder.controller)
        count = self._responder.references.count
        self._out = CommandMessage.of(count)
        self._commands = self.create_publisher(PlatformCommand, "command", LATEST)
        self._topics = ResponderTopics(
            self,
            self._responder,
            count,
            wrench_topic=wrench_topic,
            publish=self._publish,
            doing="controlling",
            timing="control_step_us",
        )
        self._wrench_commands = WrenchCommands(self, allocator)
        if wrench_topic:
            accept_axes(self, self._responder)
            self._task = ForceTaskMessage.of(self._topics.base)
            self._tasks = self.create_publisher(ForceTask, "wrench/task", LATEST)
            self.create_subscription(WrenchStamped, "wrench/reference", self._on_demand, 10)

    def _publish(self) -> None:
        """Publish the command for the present state, after what wrench control does with it."""
        responder = self._responder
        if responder.task is not None:
            self._task.put_head(responder.stamp, responder.sequence)
            self._task.mode, self._task.axes[:] = responder.task.mode, responder.task.axes
            for name in ("measured_P", "desired_P", "pose_integral_P", "wrench_integral_P"):
                getattr(self._task, name)[:] = getattr(responder.task, name)
            self._tasks.publish(self._task.dump())
        self._out.put_head(responder.stamp, responder.sequence)
        self._out.put(responder.answer)
        self._commands.publish(self._out.dump())

    def _on_demand(self, message: WrenchStamped) -> None:
        given_in, base = message.header.frame_id, self._topics.base
        try:
            if given_in not in ("", base):
                raise BadInput(f"wrench/reference: frame_id '{given_in}' is not {base}")
            self._responder.take_demand(wrench_row(message.wrench))
        except BadInput as error:
            self._topics.reject(error)


def main() -> int:
    """Run the node."""
    return run("controller_node", lambda: [ControllerNode()])


if __name__ == "__main__":
    sys.exit(main())
