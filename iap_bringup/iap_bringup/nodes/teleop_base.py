# SPDX-License-Identifier: BSD-3-Clause
"""Base of the nodes for flying by joystick and by keyboard: one reference for every state."""

from collections.abc import Callable

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus

from iap_bringup.teleop.mappings import Limits
from iap_bringup.teleop.stick_reference import Demand, StickReference
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, Level, P
from iap_io.ros.node import LATEST, Diagnostics, SuiteNode
from iap_io.wire.message_views import SECOND, ReferenceMessage, StateMessage
from iap_msgs.msg import PlatformReference

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
        self._reference, self._stamp = None, -1
        self._bodies = self._others = 0  # of the states that are followed, and of the last one
        self._publisher = self.create_publisher(PlatformReference, "reference", LATEST)

    def fly(self, limits: Limits, demand: Callable[[], Demand]) -> None:
        """From now on move the reference as `demand` asks for."""

        def on_state(state: StateMessage) -> None:
            self._move(state, limits, demand)
            self._out.put_head(state.stamp, state.sequence)
            self._out.put_row(self._reference.row, Level.POSE, NO_WRENCH)
            self._publisher.publish(self._out.dump())

        self.inputs.listen_to_states("state", (), on_state, LATEST)
        self._diagnostics = Diagnostics(self, self._statuses)

    def _statuses(self) -> list[DiagnosticStatus]:
        return [self.inputs.status("flying by hand", {"t": max(self._stamp, 0) / SECOND})]

    def _is_new(self, state: StateMessage) -> bool:
        """Whether a state is of another platform, which counts once it has come twice in a row.

        Raises:
            BadInput: it is the first such.
        """
        count, before = len(state.rows), self._others
        self._others = count
        if self._reference is not None and count not in (self._bodies, before):
            raise BadInput(f"poses: of {count} bodies, not of {self._bodies}")
        return count != self._bodies

    def _move(self, state: StateMessage, limits: Limits, demand: Callable[[], Demand]) -> None:
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
