# SPDX-License-Identifier: BSD-3-Clause
"""Lets one platform's references yield to the measured wrench: `reference` in, `reference/revised` out.

Runs in the vehicle's namespace, which is `iap` unless it is remapped. The controller_node beside it
has `reference_topic:=reference/revised`.
"""

import sys
from collections.abc import Sequence

from rclpy.parameter import Parameter

from iap_control.nodes.gain_parameters import ADMITTANCE, GainParameters
from iap_control.nodes.parameters import make_admittance_responder
from iap_control.nodes.topics import ResponderParts, ResponderTopics
from iap_io.ros.node import EVERY, SuiteNode
from iap_io.ros.process import program
from iap_io.wire.message_views import ReferenceMessage
from iap_msgs.msg import PlatformReference


class AdmittanceNode(SuiteNode):
    """One platform's admittance between topics."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("admittance_node", namespace=namespace, of="vehicle")
        self.refuse_scenario("platform", "ros2 launch iap_bringup sim.launch.py")
        gains = GainParameters(self, ADMITTANCE, {}).gains
        self._responder, wrench_topic, platform = make_admittance_responder(self, gains)
        self._declare_active()
        self._out = ReferenceMessage.of(platform.count)
        self._revised = self.create_publisher(PlatformReference, "reference/revised", EVERY)
        ResponderTopics(
            self,
            self._responder,
            platform,
            wrench_topic=wrench_topic,
            parts=ResponderParts(self._publish),
            doing="revising",
            timing="admittance_step_us",
        )

    def _declare_active(self) -> None:
        what = "Whether references yield; switched off, what they have yielded comes back."
        self._responder.is_active = self.parameter("active", True, what, changeable=True)

        def take(parameters: Sequence[Parameter]) -> None:
            for parameter in parameters:
                if parameter.name == "active":
                    self._responder.is_active = parameter.value

        self.add_post_set_parameters_callback(take)

    def _publish(self) -> None:
        """Publish the revised reference for the present state."""
        responder, revised = self._responder, self._responder.answer
        self._out.put_head(responder.stamp, responder.sequence)
        self._out.put_row(revised.row, revised.level, revised.wrench_P)
        self._revised.publish(self._out.dump())


main = program("admittance_node", AdmittanceNode)

if __name__ == "__main__":
    sys.exit(main())
