# SPDX-License-Identifier: BSD-3-Clause
"""Base of the nodes for flying by joystick and by keyboard: a reference, or an end effector's twist, for each state."""

from collections.abc import Callable

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TwistStamped

from iap_bringup.teleop.mappings import StickLimits
from iap_bringup.teleop.stick_reference import Demand, StickReference
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, Level, P
from iap_io.ros.node import LATEST, Diagnostics, SuiteNode
from iap_io.runs.topics import TIP_TWIST
from iap_io.wire.message_views import ReferenceMessage, StateMessage
from iap_io.wire.stamps import SECOND
from iap_msgs.msg import PlatformReference

LONGEST_STEP = 0.1  # a gap between states does not make the reference jump [s]
NO_WRENCH = np.zeros(6)


class TeleopNode(SuiteNode):
    """Answers every `state` with a `reference` of its stamp; after a reset it starts anew at the state.

    With the parameter `tip` it moves an end effector in place of the platform: every state is answered with a twist on
    `reference/tip`, along the axes of the end effector's heading, which controller_node's arm follows
    (`iap_control.arm.tip_stick`).

    Args:
        name: of the node.
        namespace: of the vehicle.
    """

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__(name, namespace=namespace, of="vehicle")
        self._reference, self._stamp = None, -1
        self._bodies = self._others = 0  # of the states that are followed, and of the last one
        what = "Whether the end effector of the platform's arm is moved, not the platform."
        self._moves_tip = self.parameter("tip", False, what)
        kind, topic = (
            (TwistStamped, TIP_TWIST) if self._moves_tip else (PlatformReference, "reference")
        )
        self._publisher = self.create_publisher(kind, topic, LATEST)

    def fly(self, limits: StickLimits, demand: Callable[[], Demand]) -> None:
        """From now on move what is flown as `demand` asks for."""

        def on_state(state: StateMessage) -> None:
            self._move(state, limits, demand)
            self._out.put_head(state.stamp, state.sequence)
            self._out.put_row(self._reference.row, Level.POSE, NO_WRENCH)
            self._publisher.publish(self._out.dump())

        def on_state_of_tip(state: StateMessage) -> None:
            self._stamp = state.stamp
            self._publisher.publish(_twist(state.stamp, demand()))

        answer = on_state_of_tip if self._moves_tip else on_state
        self.inputs.listen_to_states("state", (), answer, LATEST)
        self._diagnostics = Diagnostics(self, self._statuses)

    def _statuses(self) -> list[DiagnosticStatus]:
        return [self.inputs.status("flying by hand", {"t": max(self._stamp, 0) / SECOND})]

    def _is_new(self, state: StateMessage) -> bool:
        """True if a state is of another platform, which counts once it has come twice in a row.

        Raises:
            BadInput: it is the first such.
        """
        count, before = len(state.rows), self._others
        self._others = count
        if self._reference is not None and count not in (self._bodies, before):
            raise BadInput(f"poses: of {count} bodies, not of {self._bodies}")
        return count != self._bodies

    def _move(
        self, state: StateMessage, limits: StickLimits, demand: Callable[[], Demand]
    ) -> None:
        """Bring the reference to the time of a state; one that comes again moves nothing."""
        if self._is_new(state) or state.stamp < self._stamp:
            self._bodies = len(state.rows)
            self._reference = StickReference.at(state.rows)
            self._out = ReferenceMessage.of(len(self._reference.row) - REF_FIXED)
        elif state.stamp > self._stamp:
            dt = min(1e-9 * (state.stamp - self._stamp), LONGEST_STEP)
            at = state.rows[0, P]
            self._reference = self._reference.moved(demand(), dt, limits=limits, p_WP_W=at)
        self._stamp = state.stamp


def _twist(stamp: int, demand: Demand) -> TwistStamped:
    """A demand as a message of a time [ns]; of turns, an end effector has its heading's alone."""
    message = TwistStamped()
    seconds, message.header.stamp.nanosec = divmod(stamp, SECOND)
    message.header.stamp.sec = seconds
    if demand.held:
        linear = message.twist.linear
        linear.x, linear.y, linear.z = demand.velocity_P.tolist()
        message.twist.angular.z = float(demand.rate_P[2])
    return message
