# SPDX-License-Identifier: BSD-3-Clause
"""Estimates the wrench of the environment on one platform without a force sensor, from its states and commands.

Observer `momentum` goes by velocities, `acceleration` by the samples of the platform's inertial units.

Runs in the vehicle's namespace, which is `iap` unless it is remapped.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.sensor_info import ImuInfo, load_sensors
from iap_description.states import Command, resting_state
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_estimation.wrench.imu_wrench_observer import ImuWrenchObserver
from iap_estimation.wrench.module_observer import CommandedModule, module_observer
from iap_estimation.wrench.momentum_observer import MomentumObserver
from iap_estimation.wrench.observer_responder import ObserverLoop, WrenchObserver
from iap_io.ros.conversions import BASE_LINK, frame, status_message, warning_or
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, EVERY, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, StateMessage
from iap_io.wire.sample_views import WrenchMessage
from iap_io.wire.stamp_guard import StampGuard
from iap_io.wire.stamps import SECOND

SAMPLE_QUEUE = 2000  # messages of a unit that may wait
OBSERVERS = ("momentum", "acceleration", "module")
UNKNOWN = "zeros: the rotors of an aircraft count as equal"


class WrenchObserverNode(SuiteNode):
    """One platform's wrench observer between topics."""

    def __init__(
        self, namespace: str = "iap", parameters: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(
            "wrench_observer_node", namespace=namespace, of="vehicle", parameters=parameters
        )
        self.refuse_scenario("platform")
        platform = self.platform()
        assembly = Assembly.of(platform, self.vehicle)
        self._count = platform.count
        self._out = WrenchMessage.of(frame(self.vehicle, BASE_LINK))
        self._wrenches = self.create_publisher(WrenchStamped, "wrench/estimated", EVERY)
        what = "Topic of the central body as it is measured: state/measured where the scenario has noise; empty: none."
        measured = self.parameter("measured_topic", "", what)
        what = "momentum: by velocities; acceleration: by the samples of inertial units; module: with tilting rotors."
        kind = self.choice("observer", OBSERVERS, what)
        self._units = self._inertial_units(assembly) if kind == "acceleration" else []
        self._is_module = kind == "module"
        self._loop = self._observer_loop(assembly, platform.fleet, is_noisy=bool(measured))
        self._received = time.monotonic()
        self._listen_to_units()
        self._subscribe(measured, len(assembly.bodies))
        self._diagnostics = Diagnostics(self, self._statuses)

    def _inertial_units(self, assembly: Assembly) -> list[ImuInfo]:
        what = "The vehicle's sensors, for observer acceleration: the path of a sensors.yaml, or the YAML itself."
        text = self.parameter("sensors", "", what)
        if not text:
            raise BadInput(
                "parameter sensors: missing; observer acceleration goes by inertial units"
            )
        frames = {f"{assembly.name}/{body.name}" for body in assembly.bodies}
        sensors = load_sensors(text, source="parameter sensors")
        imus = [each for each in sensors if isinstance(each, ImuInfo) and each.parent in frames]
        return [each.model_copy(update={"has_bias": False}) for each in imus]

    def _observer_loop(
        self, assembly: Assembly, fleet: Sequence[Aircraft], *, is_noisy: bool
    ) -> ObserverLoop:
        what = "Rate [1/s] with which the estimate follows the wrench: gain K_I, or the low-pass of accelerations."
        gain = self.parameter("gain", 10.0, what, limits=(0.01, 1e3))
        what = "Rate at which states come [Hz]."
        dt = 1.0 / self.parameter("control_rate", 200.0, what, limits=(1.0, 1e4))
        what = "Along -z of map [m/s^2]."
        gravity = self.parameter("gravity", GRAVITY, what, limits=(0.1, 100.0))
        if self._is_module:
            return self._module_loop(assembly, fleet, gravity, dt, is_noisy=is_noisy)
        model, bodies = (assembly, fleet, self._autopilot()), len(assembly.bodies)
        if self._units:
            cutoff = gain / (2.0 * np.pi)
            observer = ImuWrenchObserver.of(*model, self._units, cutoff=cutoff, dt=dt)
        else:
            observer = MomentumObserver(*model, gravity=gravity, gain=np.full(6, gain), dt=dt)
        _load(observer, bodies, self._count)
        return ObserverLoop(
            observer, bodies, is_noisy=is_noisy, publish=self._publish, units=self._units
        )

    def _module_loop(
        self,
        assembly: Assembly,
        fleet: Sequence[Aircraft],
        gravity: float,
        dt: float,
        *,
        is_noisy: bool,
    ) -> ObserverLoop:
        what = "K_I of observer module, forces and torques [1/s]: six numbers."
        gain = self.parameter("module_gain", [3.0, 3.0, 3.0, 2.5, 2.5, 2.5], what)
        if len(gain) != 6:
            raise BadInput(f"parameter module_gain: six numbers are expected (got {len(gain)})")
        options = {"gravity": gravity, "gain": list(gain), "dt": dt}
        observer = module_observer(self.vehicle, fleet, assembly.mass, assembly.inertia, **options)
        commanded = CommandedModule(observer, fleet[0].rotor.c_f)
        _load(commanded, 1, 1)
        return ObserverLoop(commanded, 1, is_noisy=is_noisy, publish=self._publish, units=[])

    def _autopilot(self) -> AutopilotGains:
        what = "By how much the autopilots over-drive their rotors' speed; 1: not at all."
        lead = self.parameter("autopilot.rotor_lead", 1.0, what, limits=(1.0, 10.0))
        what = f"The autopilots' attitude gain, roll pitch yaw [1/s^2]; {UNKNOWN}."
        attitude = self._three("autopilot.attitude", what)
        what = f"The autopilots' rate gain, roll pitch yaw [1/s]; {UNKNOWN}."
        rate = self._three("autopilot.rate", what)
        return AutopilotGains(rate_hz=None, attitude=attitude, rate=rate, rotor_lead=lead)

    def _listen_to_units(self) -> None:
        """Subscribe to the samples of inertial units."""
        if not self._units:
            return
        what = "Whether lost samples are sent again, if those who publish them can."
        kind = self.parameter("reliable", False, what)
        policy = ReliabilityPolicy.RELIABLE if kind else ReliabilityPolicy.BEST_EFFORT
        qos, decode = QoSProfile(depth=SAMPLE_QUEUE, reliability=policy), Decoder(self._units)

        for topic, kind in decode.types.items():
            take, guard = self._loop.take_reading, StampGuard()
            read, name = partial(decode, topic), self.absolute(topic)
            self.inputs.listen(kind, name, read, take, qos, guard=guard)

    def _three(self, name: str, what: str) -> tuple[float, float, float]:
        values = list(self.parameter(name, [0.0, 0.0, 0.0], what, limits=(0.0, 1e6)))
        if len(values) != 3:
            raise BadInput(f"parameter {name}: three numbers are expected (got {len(values)})")
        return values[0], values[1], values[2]

    def _subscribe(self, measured: str, bodies: int) -> None:
        what = "Topic of the state."
        topic = self.parameter("state_topic", "state", what)
        inputs, queue = self.inputs, EVERY  # it integrates, and nobody waits for it
        self._state = inputs.listen_to_states(topic, bodies, self._take_state, queue)
        if measured:
            inputs.listen_to_states(measured, 1, self._take_measured, queue)
        kind, read = CommandMessage.TYPE, MessageReader(CommandMessage).read
        self._command = inputs.listen(kind, "command", read, self._take_command, queue)

    def _take_state(self, state: StateMessage) -> None:
        self._received = time.monotonic()
        self._loop.take_state(state.stamp, state.rows)

    def _take_measured(self, base: StateMessage) -> None:
        self._loop.take_measured(base.stamp, base.rows[0])

    def _take_command(self, message: CommandMessage) -> None:
        command = Command.zeros(self._count)
        message.get(command)
        self._loop.take_command(message.stamp, command)

    def _publish(self, stamp: int, wrench_P: np.ndarray) -> None:
        self._out.put_wrench(stamp, wrench_P)
        self._wrenches.publish(self._out.dump())

    def _statuses(self) -> list[DiagnosticStatus]:
        level, text = warning_or("observing", self._missing(), self.inputs.refusals.newest())
        values = {"t": max(self._loop.stamp, 0) / SECOND}
        return [status_message(self.get_fully_qualified_name(), level, text, values)]

    def _missing(self) -> str:
        """Topics without a message for too long."""
        if time.monotonic() - self._received > DIAGNOSTIC_TIMEOUT:
            return f"waiting for {self._state.topic_name}"
        if self._loop.missing:
            return f"waiting for samples on {', '.join(self._loop.missing)}"
        if self._loop.is_silent:
            return f"no commands on {self._command.topic_name}: nothing is estimated"
        return ""


def _load(observer: WrenchObserver, bodies: int, aircraft: int) -> None:
    """Load whatever is loaded when first used."""
    row = resting_state(np.zeros(3), so3.IDENTITY)
    for _ in range(2):
        observer(np.tile(row, (bodies, 1)), Command.zeros(aircraft))
    observer.reset()


main = program("wrench_observer_node", WrenchObserverNode)

if __name__ == "__main__":
    sys.exit(main())
