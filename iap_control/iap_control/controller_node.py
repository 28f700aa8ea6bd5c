# SPDX-License-Identifier: BSD-3-Clause
"""Controls one platform: states and references in, commands out.

Runs in the vehicle's namespace, which is `iap` unless it is remapped.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped

from iap_control.inputs import Kind
from iap_control.parameters_node import GainParameters, make_loop
from iap_description.conversions import (
    BASE_LINK,
    frame,
    pose_row,
    stamp_seconds,
    status_message,
    twist_row,
)
from iap_description.errors import BadInput
from iap_description.ros_node import LATEST, OK, WARN, Diagnostics, SuiteNode, run
from iap_description.states import REF_FIXED, Command
from iap_description.wire import MAP, CommandMessage, Inlet, ReferenceMessage, StateMessage
from iap_msgs.msg import PlatformCommand, PlatformReference, PlatformState

SILENCE = 2.0  # wall time after which diagnostics say what is missing [s]


class ControllerNode(SuiteNode):
    """One platform's controller between topics."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("controller_node", namespace=namespace)
        gains = GainParameters(self)
        self._loop = make_loop(self, gains.gains)
        gains.apply_to(self, self._loop.controller)
        count = self._loop.controller.model.count
        self._states, self._references = Inlet(StateMessage), Inlet(ReferenceMessage)
        self._row, self._out = np.zeros(REF_FIXED + count), CommandMessage.of(count)
        self._heard = self._asked = time.monotonic()  # last state, and the last one that was new
        self._spent, self._fault = 0.0, ""
        self._commands = self.create_publisher(PlatformCommand, "command", LATEST)
        self._subscribe()
        self._diagnostics = Diagnostics(self, self._statuses, lambda: self._loop.stamp)

    def _subscribe(self) -> None:
        what = "Topic of the state: state, or state/measured where the scenario has noise."
        state = self.parameter("state_topic", "state", what)
        what = "Topic of the reference: reference, or reference/revised."
        reference = self.parameter("reference_topic", "reference", what)
        self._state = self.create_subscription(
            PlatformState, state, self._on_state, LATEST, raw=True
        )
        self._reference = self.create_subscription(
            PlatformReference, reference, self._on_reference, LATEST, raw=True
        )
        self.create_subscription(PoseStamped, "reference/pose", self._on_pose, 10)
        self.create_subscription(TwistStamped, "reference/twist", self._on_twist, 10)
        self.create_subscription(AccelStamped, "reference/accel", self._on_accel, 10)

    def _on_state(self, data: bytes) -> None:
        self._heard = time.monotonic()

        def take() -> Command | None:
            state = self._states.read(data)
            if state.stamp != self._loop.stamp:
                self._asked = self._heard
            return self._loop.take_state(state.stamp, state.sequence, state.rows[0])

        self._answer(take)

    def _on_reference(self, data: bytes) -> None:
        def take() -> Command | None:
            reference = self._references.read(data)
            reference.get_row(self._row)
            return self._loop.take_reference(
                reference.stamp, reference.level, self._row, reference.wrench_P
            )

        self._answer(take)

    def _answer(self, take: Callable[[], Command | None]) -> None:
        """Take a message, and publish the command that it completes."""
        began = time.perf_counter()
        try:
            command = take()
        except BadInput as error:
            self._reject(error)
            return
        if command is not None:
            self._spent += time.perf_counter() - began
            self._out.put_head(self._loop.stamp, self._loop.sequence)
            self._out.put(command)
            self._commands.publish(self._out.dump())

    def _on_pose(self, message: PoseStamped) -> None:
        stamp, pose = stamp_seconds(message.header.stamp), pose_row(message.pose)
        self._follow("reference/pose", lambda: self._loop.take_pose(stamp, pose))

    def _on_twist(self, message: TwistStamped) -> None:
        self._follow_rates("twist", message.header.frame_id, twist_row(message.twist))

    def _on_accel(self, message: AccelStamped) -> None:
        self._follow_rates("accel", message.header.frame_id, twist_row(message.accel))

    def _follow_rates(self, kind: Kind, given_in: str, rates: np.ndarray) -> None:
        body = frame(self.get_namespace().strip("/"), BASE_LINK)

        def take() -> None:
            if given_in not in ("", MAP, body):
                raise BadInput(
                    f"reference/{kind}: frame_id '{given_in}' is neither {MAP} nor {body}"
                )
            self._loop.take_rates(kind, rates, in_body=given_in == body)

        self._follow(f"reference/{kind}", take)

    def _follow(self, topic: str, take: Callable[[], None]) -> None:
        """Take a simple input, unless somebody publishes whole references."""
        if self.count_publishers(self._reference.topic_name):
            self._reject(BadInput(f"{topic}: ignored, {self._reference.topic_name} is published"))
            return
        try:
            take()
        except BadInput as error:
            self._reject(error)

    def _reject(self, error: BadInput) -> None:
        self._fault = str(error)
        self.get_logger().warning(str(error), throttle_duration_sec=2.0)

    def _statuses(self) -> list[DiagnosticStatus]:
        loop, counts = self._loop, self._loop.counts
        text = self._missing() or self._fault or "controlling"
        self._fault = ""
        values = {
            "t": max(loop.t, 0.0),
            "answered": counts.answered,
            "skipped": counts.skipped,
            "rejected": counts.rejected,
            "control_step_us": 1e6 * self._spent / max(1, counts.answered),
        }
        level = OK if text == "controlling" else WARN
        return [status_message(self.get_fully_qualified_name(), level, text, values)]

    def _missing(self) -> str:
        """What has not come for too long."""
        now = time.monotonic()
        if now - self._heard > SILENCE:
            return f"waiting for {self._state.topic_name}"
        if self._loop.waits_for_reference and now - self._asked > SILENCE:
            return f"waiting for {self._reference.topic_name} stamped {self._loop.t:.3f} s"
        return ""


def main() -> int:
    """Run the node."""
    return run("controller_node", lambda: [ControllerNode()])


if __name__ == "__main__":
    sys.exit(main())
