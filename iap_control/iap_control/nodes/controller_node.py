# SPDX-License-Identifier: BSD-3-Clause
"""Controls one platform: states, references and the wrench that is felt in, commands out.

Runs in the vehicle's namespace, which is `iap` unless it is remapped.
"""

import sys

from geometry_msgs.msg import WrenchStamped

from iap_control.allocator import Allocator
from iap_control.nodes.parameters import FLIGHT, FLIGHT_FIXED, GainParameters
from iap_control.nodes.responder_parameters import follow_axes, make_control_loop
from iap_control.nodes.topics import LoopTopics
from iap_control.nodes.wrench_commands import WrenchCommands
from iap_description.errors import BadInput
from iap_io.ros.conversions import wrench_row
from iap_io.ros.node import LATEST, SuiteNode, run
from iap_io.wire.message_views import CommandMessage
from iap_io.wire.wrench_views import ForceTaskMessage
from iap_msgs.msg import ForceTask, PlatformCommand


class ControllerNode(SuiteNode):
    """One platform's controller between topics."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("controller_node", namespace=namespace)
        gains = GainParameters(self, FLIGHT_FIXED, FLIGHT)
        self._loop, wrench_topic = make_control_loop(self, gains.gains)
        gains.apply_to(self, self._loop.controller)
        count = self._loop.controller.model.count
        self._out = CommandMessage.of(count)
        self._commands = self.create_publisher(PlatformCommand, "command", LATEST)
        self._topics = LoopTopics(
            self,
            self._loop,
            count,
            wrench_topic=wrench_topic,
            publish=self._publish,
            doing="controlling",
            timing="control_step_us",
        )
        controller, rate_filter = self._loop.controller, gains.gains.rate_filter
        allocator = Allocator(controller.model, rate_filter=rate_filter, dt=controller.dt)
        self._wrench_commands = WrenchCommands(self, allocator)
        if wrench_topic:
            follow_axes(self, self._loop)
            self._task = ForceTaskMessage.of(self._topics.base)
            self._tasks = self.create_publisher(ForceTask, "wrench/task", LATEST)
            self.create_subscription(WrenchStamped, "wrench/reference", self._on_demand, 10)

    def _publish(self) -> None:
        """Publish the command for the present state, after what wrench control does with it."""
        loop = self._loop
        if loop.task is not None:
            self._task.put_head(loop.stamp, loop.sequence)
            self._task.mode, self._task.axes[:] = loop.task.mode, loop.task.axes
            for name in ("measured_P", "desired_P", "pose_integral_P", "wrench_integral_P"):
                getattr(self._task, name)[:] = getattr(loop.task, name)
            self._tasks.publish(self._task.dump())
        self._out.put_head(loop.stamp, loop.sequence)
        self._out.put(loop.answer)
        self._commands.publish(self._out.dump())

    def _on_demand(self, message: WrenchStamped) -> None:
        given_in, base = message.header.frame_id, self._topics.base
        try:
            if given_in not in ("", base):
                raise BadInput(f"wrench/reference: frame_id '{given_in}' is not {base}")
            self._loop.take_demand(wrench_row(message.wrench))
        except BadInput as error:
            self._topics.reject(error)


def main() -> int:
    """Run the node."""
    return run("controller_node", lambda: [ControllerNode()])


if __name__ == "__main__":
    sys.exit(main())
