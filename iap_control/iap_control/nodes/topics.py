# SPDX-License-Identifier: BSD-3-Clause
"""The topics of a responder: states, references and wrenches in, what they complete out."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped, WrenchStamped

from iap_control.responders.inputs import Kind
from iap_control.responders.state_responder import StateResponder
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED
from iap_io.ros.conversions import (
    BASE_LINK,
    frame,
    pose_row,
    stamp_seconds,
    status_message,
    twist_row,
)
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, LATEST, OK, WARN, Diagnostics, SuiteNode
from iap_io.wire.message_views import MAP, MessageReader, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import WrenchMessage
from iap_msgs.msg import PlatformReference, PlatformState

REFERENCE = "reference"


class ResponderTopics:
    """Hand messages to the responder, and the answers that they complete to `publish`.

    Args:
        node: whose topics they are.
        responder: answers states.
        count: number of aircraft.
        wrench_topic: of the measured wrench; empty: none.
        publish: called once the answer is there, also again.
        doing: what the node does, for diagnostics.
        timing: name of the mean time of an answer in diagnostics.
    """

    def __init__(
        self,
        node: SuiteNode,
        responder: StateResponder[Any],
        count: int,
        *,
        wrench_topic: str,
        publish: Callable[[], None],
        doing: str,
        timing: str,
    ) -> None:
        self._node, self._responder, self._publish = node, responder, publish
        self._doing, self._timing = doing, timing
        self.base = frame(node.get_namespace().strip("/"), BASE_LINK)
        self._states = MessageReader(StateMessage)
        self._references = MessageReader(ReferenceMessage)
        self._wrenches, self._row = MessageReader(WrenchMessage), np.zeros(REF_FIXED + count)
        self._last_state = self._last_new_state = time.monotonic()
        self._spent, self._fault = 0.0, ""
        self._subscribe(wrench_topic)
        self._diagnostics = Diagnostics(node, self._statuses, lambda: responder.stamp)

    def _subscribe(self, wrench_topic: str) -> None:
        node = self._node
        what = "Topic of the state: state, or state/measured where the scenario has noise."
        state = node.parameter("state_topic", "state", what)
        what = f"Topic of the reference: {REFERENCE}, or reference/revised."
        reference = node.parameter("reference_topic", REFERENCE, what)
        listen = node.create_subscription
        self._state = listen(PlatformState, state, self._on_state, LATEST, raw=True)
        self._reference = listen(
            PlatformReference, reference, self._on_reference, LATEST, raw=True
        )
        self._wrench = None
        if wrench_topic:
            self._wrench = listen(WrenchStamped, wrench_topic, self._on_wrench, LATEST, raw=True)
        if reference == REFERENCE:  # else the simple ones go to whoever revises the references
            listen(PoseStamped, "reference/pose", self._on_pose, 10)
            listen(TwistStamped, "reference/twist", self._on_twist, 10)
            listen(AccelStamped, "reference/accel", self._on_accel, 10)

    def _on_state(self, data: bytes) -> None:
        self._last_state = time.monotonic()

        def take() -> object:
            state = self._states.read(data)
            if state.stamp != self._responder.stamp:
                self._last_new_state = self._last_state
            return self._responder.take_state(
                state.stamp, state.sequence, self._responder.central(state.rows)
            )

        self._answer(take)

    def _on_reference(self, data: bytes) -> None:
        def take() -> object:
            given = self._references.read(data)
            given.get_row(self._row)
            arguments = (given.stamp, given.level, self._row, given.wrench_P)
            return self._responder.take_reference(*arguments)

        self._answer(take)

    def _on_wrench(self, data: bytes) -> None:
        def take() -> object:
            message = self._wrenches.read(data)
            return self._responder.take_wrench(message.stamp, message.wrench_P)

        self._answer(take)

    def _answer(self, take: Callable[[], object]) -> None:
        """Take a message, and publish the answer that it completes."""
        began = time.perf_counter()
        try:
            answer = take()
        except BadInput as error:
            self.reject(error)
            return
        if answer is not None:
            self._spent += time.perf_counter() - began
            self._publish()

    def _on_pose(self, message: PoseStamped) -> None:
        stamp, pose = stamp_seconds(message.header.stamp), pose_row(message.pose)
        self._follow("reference/pose", lambda: self._responder.take_pose(stamp, pose))

    def _on_twist(self, message: TwistStamped) -> None:
        self._follow_rates("twist", message.header.frame_id, twist_row(message.twist))

    def _on_accel(self, message: AccelStamped) -> None:
        self._follow_rates("accel", message.header.frame_id, twist_row(message.accel))

    def _follow_rates(self, kind: Kind, given_in: str, rates: np.ndarray) -> None:
        def take() -> None:
            if given_in not in ("", MAP, self.base):
                raise BadInput(
                    f"reference/{kind}: frame_id '{given_in}' is neither {MAP} nor {self.base}"
                )
            self._responder.take_rates(kind, rates, in_body=given_in == self.base)

        self._follow(f"reference/{kind}", take)

    def _follow(self, topic: str, take: Callable[[], None]) -> None:
        """Take a simple input, unless somebody publishes whole references."""
        whole = self._reference.topic_name
        if self._node.count_publishers(whole):
            self.reject(BadInput(f"{topic}: ignored, {whole} is published"))
            return
        try:
            take()
        except BadInput as error:
            self.reject(error)

    def reject(self, error: BadInput) -> None:
        """Say in log and diagnostics that a message could not be used."""
        self._fault = str(error)
        self._node.get_logger().warning(str(error), throttle_duration_sec=2.0)

    def _statuses(self) -> list[DiagnosticStatus]:
        responder, counts = self._responder, self._responder.counts
        text = self._missing() or self._lost() or self._fault or self._doing
        self._fault = ""
        values = {
            "t": max(responder.t, 0.0),
            "answered": counts.answered,
            "skipped": counts.skipped,
            "rejected": counts.rejected,
            self._timing: 1e6 * self._spent / max(1, counts.answered),
        }
        level = OK if text == self._doing else WARN
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
