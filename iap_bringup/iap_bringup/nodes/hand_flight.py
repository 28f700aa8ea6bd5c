# SPDX-License-Identifier: BSD-3-Clause
"""What flying by joystick and by keyboard share as ROS nodes: one reference for every state."""

from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import QoSProfile

from iap_bringup.teleop import Demand, Hand, Limits
from iap_description.conversions import reference_message, stamp_seconds, state_rows
from iap_msgs.msg import PlatformReference, PlatformState

LONGEST_STEP = 0.1  # [s] a gap between states does not make the reference jump


class HandFlight:
    """Publishes `reference` for every `state`, with its stamp; starts anew at the state after a reset.

    Args:
        node: in the vehicle's namespace.
        limits: what the pilot cannot exceed.
        demand: what the pilot asks for now.
    """

    def __init__(self, node: Node, limits: Limits, demand: Callable[[], Demand]) -> None:
        self._limits, self._demand = limits, demand
        self._hand: Hand | None = None
        self._t = 0.0
        latest = QoSProfile(depth=1)
        self._references = node.create_publisher(PlatformReference, "reference", latest)
        node.create_subscription(PlatformState, "state", self._on_state, latest)

    def _on_state(self, state: PlatformState) -> None:
        x, t = state_rows(state), stamp_seconds(state.header.stamp)
        if self._hand is None or t < self._t:
            self._hand = Hand.at(x)
        else:
            dt = min(t - self._t, LONGEST_STEP)
            self._hand = self._hand.moved(self._demand(), dt, limits=self._limits, p_WP_W=x[0, :3])
        self._t = t
        self._references.publish(reference_message(self._hand.row, state.header.stamp, state.sequence))
