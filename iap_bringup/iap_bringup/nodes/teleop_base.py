# SPDX-License-Identifier: BSD-3-Clause
"""Base of the nodes for flying by joystick and by keyboard: one reference for every state."""

from collections.abc import Callable

import numpy as np

from iap_bringup.teleop.mappings import Limits
from iap_bringup.teleop.stick_reference import Demand, StickReference
from iap_description.states import REF_FIXED, Level, P
from iap_io.ros.node import LATEST, SuiteNode
from iap_io.wire.message_views import MessageReader, ReferenceMessage, StateMessage
from iap_msgs.msg import PlatformReference, PlatformState

LONGEST_STEP = 0.1  # a gap between states does not make the reference jump [s]
NO_WRENCH = np.zeros(6)


class TeleopNode(SuiteNode):
    """Answers every `state` with a `reference` of its stamp; after a reset it starts anew at the state.

    Args:
        name: of the node.
        namespace: of the vehicle.
    """

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__(name, namespace=namespace, of="vehicle")
        self._states, self._reference, self._stamp = MessageReader(StateMessage), None, -1
        self._publisher = self.create_publisher(PlatformReference, "reference", LATEST)

    def fly(self, limits: Limits, demand: Callable[[], Demand]) -> None:
        """From now on move the reference as `demand` asks for."""

        def on_state(data: bytes) -> None:
            state = self._states.read(data)
            self._move(state, limits, demand)
            self._out.put_head(state.stamp, state.sequence)
            self._out.put_row(self._reference.row, Level.POSE, NO_WRENCH)
            self._publisher.publish(self._out.dump())

        self.create_subscription(PlatformState, "state", on_state, LATEST, raw=True)

    def _move(self, state: StateMessage, limits: Limits, demand: Callable[[], Demand]) -> None:
        """Bring the reference to the time of a state; one that comes again moves nothing."""
        if self._reference is None or state.stamp < self._stamp:
            self._reference = StickReference.at(state.rows)
            self._out = ReferenceMessage.of(len(self._reference.row) - REF_FIXED)
        elif state.stamp > self._stamp:
            dt = min(1e-9 * (state.stamp - self._stamp), LONGEST_STEP)
            at = state.rows[0, P]
            self._reference = self._reference.moved(demand(), dt, limits=limits, p_WP_W=at)
        self._stamp = state.stamp
