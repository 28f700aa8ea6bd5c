# SPDX-License-Identifier: BSD-3-Clause
"""Estimates the wrench of the environment on one platform without a force sensor, from its states and commands.

Runs in the vehicle's namespace, which is `iap` unless it is remapped.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.states import Command, resting_state
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_estimation.wrench.momentum_observer import MomentumObserver
from iap_estimation.wrench.observer_responder import ObserverLoop
from iap_io.ros.conversions import BASE_LINK, frame, status_message
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, LATEST, OK, WARN, Diagnostics, SuiteNode, run
from iap_io.wire.message_views import SECOND, CommandMessage, MessageReader, StateMessage
from iap_io.wire.sample_views import WrenchMessage
from iap_msgs.msg import PlatformCommand, PlatformState

# A command must not hide the one before it, which the state that came meanwhile needs.
FEW = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
UNKNOWN = "zeros: the rotors of an aircraft count as equal"


class WrenchObserverNode(SuiteNode):
    """One platform's momentum observer between topics."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("wrench_observer_node", namespace=namespace)
        platform = self.platform()
        assembly = Assembly.of(platform)
        self._count = platform.count
        self._out = WrenchMessage.of(frame(self.get_namespace().strip("/"), BASE_LINK))
        self._wrenches = self.create_publisher(WrenchStamped, "wrench/estimated", LATEST)
        what = "Topic of the central body as it is measured: state/measured where the scenario has noise; empty: none."
        measured = self.parameter("measured_topic", "", what)
        self._loop = ObserverLoop(
            self._observer(assembly, platform.aircraft),
            len(assembly.bodies),
            is_noisy=bool(measured),
            tell=self._publish,
        )
        self._heard, self._fault = time.monotonic(), ""
        self._states, self._bases = MessageReader(StateMessage), MessageReader(StateMessage)
        self._commands = MessageReader(CommandMessage)
        self._subscribe(measured)
        self._diagnostics = Diagnostics(self, self._statuses, lambda: self._loop.stamp)

    def _observer(self, assembly: Assembly, aircraft: Aircraft) -> MomentumObserver:
        what = "Gain K_I: the estimate follows the wrench with this rate [1/s]."
        gain = self.parameter("gain", 10.0, what, limits=(0.01, 1e3))
        what = "Rate at which states come [Hz]."
        rate = self.parameter("control_rate", 200.0, what, limits=(1.0, 1e4))
        gravity = self.parameter(
            "gravity", GRAVITY, "Along -z of map [m/s^2].", limits=(0.1, 100.0)
        )
        what = "By how much the autopilots over-drive their rotors' speed; 1: not at all."
        lead = self.parameter("autopilot.rotor_lead", 1.0, what, limits=(1.0, 10.0))
        what = f"The autopilots' attitude gain, roll pitch yaw [1/s^2]; {UNKNOWN}."
        attitude = self._three("autopilot.attitude", what)
        what = f"The autopilots' rate gain, roll pitch yaw [1/s]; {UNKNOWN}."
        observer = MomentumObserver(
            assembly,
            aircraft,
            gravity=gravity,
            gain=np.full(6, gain),
            dt=1.0 / rate,
            rotor_lead=lead,
            attitude=attitude,
            rate=self._three("autopilot.rate", what),
        )
        row = resting_state(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
        for _ in range(2):  # so that whatever is loaded when first used is there
            observer(np.tile(row, (len(assembly.bodies), 1)), Command.zeros(self._count))
        observer.reset()
        return observer

    def _three(self, name: str, what: str) -> list[float]:
        values = list(self.parameter(name, [0.0, 0.0, 0.0], what, limits=(0.0, 1e6)))
        if len(values) != 3:
            raise BadInput(f"parameter {name}: three numbers are expected (got {len(values)})")
        return values

    def _subscribe(self, measured: str) -> None:
        what = "Topic of the state."
        topic = self.parameter("state_topic", "state", what)
        listen = self.create_subscription
        self._state = listen(PlatformState, topic, self._on_state, FEW, raw=True)
        if measured:
            listen(PlatformState, measured, self._on_measured, FEW, raw=True)
        self._command = listen(PlatformCommand, "command", self._on_command, FEW, raw=True)

    def _on_state(self, data: bytes) -> None:
        self._heard = time.monotonic()

        def take() -> None:
            state = self._states.read(data)
            self._loop.take_state(state.stamp, state.rows)

        self._take(take)

    def _on_measured(self, data: bytes) -> None:
        def take() -> None:
            base = self._bases.read(data)
            self._loop.take_measured(base.stamp, base.rows[0])

        self._take(take)

    def _on_command(self, data: bytes) -> None:
        def take() -> None:
            message, command = self._commands.read(data), Command.zeros(self._count)
            message.get(command)
            self._loop.take_command(message.stamp, command)

        self._take(take)

    def _take(self, take: Callable[[], None]) -> None:
        try:
            take()
        except BadInput as error:
            self._fault = str(error)
            self.get_logger().warning(str(error), throttle_duration_sec=2.0)

    def _publish(self, stamp: int, wrench_P: np.ndarray) -> None:
        self._out.put_wrench(stamp, wrench_P)
        self._wrenches.publish(self._out.dump())

    def _statuses(self) -> list[DiagnosticStatus]:
        text = self._missing() or self._fault or "observing"
        self._fault = ""
        level = OK if text == "observing" else WARN
        values = {"t": max(self._loop.stamp, 0) / SECOND}
        return [status_message(self.get_fully_qualified_name(), level, text, values)]

    def _missing(self) -> str:
        """What has not come for too long."""
        if time.monotonic() - self._heard > DIAGNOSTIC_TIMEOUT:
            return f"waiting for {self._state.topic_name}"
        if self._loop.is_silent:
            return f"no commands on {self._command.topic_name}: nothing is estimated"
        return ""


def main() -> int:
    """Run the node."""
    return run("wrench_observer_node", lambda: [WrenchObserverNode()])


if __name__ == "__main__":
    sys.exit(main())
