# SPDX-License-Identifier: BSD-3-Clause
"""The topics of a responder: states, references and wrenches in, what they complete out."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.subscription import Subscription

from iap_control.controllers.estimate_failsafe import EstimateFailsafe
from iap_control.responders.inputs import Kind
from iap_control.responders.state_responder import StateResponder
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_description.states import REF_FIXED
from iap_description.vehicles.platform import Platform
from iap_io.ros.conversions import BASE_LINK, frame, status_message, warning_or
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, LATEST, Diagnostics, SuiteNode
from iap_io.wire.message import Message
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import ReferenceMessage, StateMessage
from iap_io.wire.module_views import ModuleReferenceMessage
from iap_io.wire.sample_views import AccelMessage, PoseMessage, TwistMessage, WrenchMessage
from iap_io.wire.stamps import SECOND

REFERENCE = "reference"
ESTIMATE_LOST = "estimate_lost"  # key in diagnostics: since when and why; empty while it is not
INPUT_QUEUE = 10  # messages of a simple input that may wait


@dataclass(frozen=True)
class ResponderParts:
    """Parts of a node that take part in answering.

    Attributes:
        publish: called once the answer is there, also again.
        failsafe: of a vehicle that flies on an estimate; None: there is none.
        take_role: takes a module's role and feed-forward (6,), which come with references; None: none do.
        take_joints: takes an arm's joints out of a state, before it is answered; None: there are none.
    """

    publish: Callable[[], None]
    failsafe: EstimateFailsafe | None = None
    take_role: Callable[[int, Array], None] | None = None
    take_joints: Callable[[StateMessage], None] | None = None


class ResponderTopics:
    """Hand messages to the responder, and the answers that they complete to `publish`.

    Args:
        node: whose topics they are.
        responder: answers states.
        platform: of which the states are.
        wrench_topic: of the measured wrench; empty: none.
        parts: of the node.
        doing: predicate of the node, for diagnostics.
        timing: name of the mean time of an answer in diagnostics.
    """

    def __init__(
        self,
        node: SuiteNode,
        responder: StateResponder[Any],
        platform: Platform,
        *,
        wrench_topic: str,
        parts: ResponderParts,
        doing: str,
        timing: str,
    ) -> None:
        self._node, self._responder, self._publish = node, responder, parts.publish
        self._take_role, self._take_joints = parts.take_role, parts.take_joints
        self._failsafe = parts.failsafe
        self._doing, self._timing = doing, timing
        self.base = frame(node.vehicle, BASE_LINK)
        self._row = np.zeros(REF_FIXED + platform.count)
        self._last_state = self._last_new_state = time.monotonic()
        self._spent = 0.0
        self._subscribe(wrench_topic, 1 + len(platform.joints))
        self._diagnostics = Diagnostics(node, self._statuses)

    def _subscribe(self, wrench_topic: str, bodies: int) -> None:
        node, inputs = self._node, self._node.inputs
        what = "Topic of the state: state, or state/measured where the scenario has noise."
        state = node.parameter("state_topic", "state", what)
        what = f"Topic of the reference: {REFERENCE}, or reference/revised."
        reference = node.parameter("reference_topic", REFERENCE, what)
        # What is measured is the central body alone.
        self._state = inputs.listen_to_states(state, (1, bodies), self._on_state, LATEST)
        self._reference = self._listen(
            ReferenceMessage if self._take_role is None else ModuleReferenceMessage,
            reference,
            self._on_reference,
        )
        self._wrench = None
        in_body = ("", self.base)
        if wrench_topic:
            self._wrench = self._listen(WrenchMessage, wrench_topic, self._on_wrench, in_body)
        if reference == REFERENCE:  # else the simple ones go to whoever revises the references
            everywhere = ("", MAP, self.base)
            self._listen(PoseMessage, "reference/pose", self._on_pose)
            self._listen(TwistMessage, "reference/twist", self._on_twist, everywhere)
            self._listen(AccelMessage, "reference/accel", self._on_accel, everywhere)

    def _listen(
        self,
        kind: type[Message],
        topic: str,
        take: Callable[[Any], None],
        frames: tuple[str, ...] = ("", MAP),
    ) -> Subscription:
        queue = INPUT_QUEUE if topic.startswith(f"{REFERENCE}/") else LATEST
        read = MessageReader(kind, frames).read
        return self._node.inputs.listen(kind.TYPE, topic, read, take, queue)

    def _on_state(self, state: StateMessage) -> None:
        self._last_state = time.monotonic()
        responder = self._responder
        if state.stamp != responder.stamp:
            self._last_new_state = self._last_state
        if self._take_joints is not None:
            self._take_joints(state)
        row = responder.central(state.rows)
        self._answer(lambda: responder.take_state(state.stamp, state.sequence, row))

    def _on_reference(self, message: ReferenceMessage) -> None:
        message.get_row(self._row)
        if self._take_role is not None and isinstance(message, ModuleReferenceMessage):
            self._take_role(message.role, message.feed_forward_P)
        arguments = (message.stamp, message.level, self._row, message.wrench_P)
        self._answer(lambda: self._responder.take_reference(*arguments))

    def _on_wrench(self, message: WrenchMessage) -> None:
        self._answer(lambda: self._responder.take_wrench(message.stamp, message.wrench_P))

    def _answer(self, take: Callable[[], object]) -> None:
        """Take a message, and publish the answer that it completes."""
        began = time.perf_counter()
        if take() is not None:
            self._spent += time.perf_counter() - began
            self._publish()

    def _on_pose(self, message: PoseMessage) -> None:
        self._refuse_beside_references()
        self._responder.take_pose(message.stamp / SECOND, message.pose)

    def _on_twist(self, message: TwistMessage) -> None:
        self._follow_rates("twist", message)

    def _on_accel(self, message: AccelMessage) -> None:
        self._follow_rates("accel", message)

    def _follow_rates(self, kind: Kind, message: TwistMessage | AccelMessage) -> None:
        self._refuse_beside_references()
        in_body = message.frame_id == self.base
        self._responder.take_rates(kind, message.rates, in_body=in_body)

    def _refuse_beside_references(self) -> None:
        """Take a simple input only where nobody publishes whole references.

        Raises:
            BadInput: somebody does.
        """
        whole = self._reference.topic_name
        if self._node.count_publishers(whole):
            raise BadInput(f"ignored, {whole} is published")

    def publish_diagnostics(self) -> None:
        """Publish the diagnostics now."""
        self._diagnostics.publish()

    def _statuses(self) -> list[DiagnosticStatus]:
        responder, counts = self._responder, self._responder.counts
        refusals = self._node.inputs.refusals
        failsafe = self._failsafe
        lost = "" if failsafe is None else failsafe.text
        wrong = lost, self._missing(), self._lost(), refusals.newest()
        values = {
            "t": max(responder.t, 0.0),
            "answered": counts.answered,
            "skipped": counts.skipped,
            "rejected": refusals.count(),
            self._timing: 1e6 * self._spent / max(1, counts.answered),
            **({} if failsafe is None else {ESTIMATE_LOST: lost}),
        }
        level, text = warning_or(self._doing, *wrong)
        return [status_message(self._node.get_fully_qualified_name(), level, text, values)]

    def _missing(self) -> str:
        """The message that has not come for too long."""
        now, responder = time.monotonic(), self._responder
        if now - self._last_state > DIAGNOSTIC_TIMEOUT:
            return f"waiting for {self._state.topic_name}"
        if responder.is_waiting and now - self._last_new_state > DIAGNOSTIC_TIMEOUT:
            late = self._wrench if responder.waits_for_wrench else self._reference
            return f"waiting for {late.topic_name} stamped {responder.t:.3f} s"
        return ""

    def _lost(self) -> str:
        """The lost wrench, if one should be measured."""
        if not self._responder.has_lost_wrench:
            return ""
        return f"no wrench on {self._wrench.topic_name}: {self._doing} without it"
