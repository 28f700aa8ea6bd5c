# SPDX-License-Identifier: BSD-3-Clause
"""Topics of a whole platform's estimate: a state for controllers, the centre's odometry, frames."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.vehicles.assembly import Assembly
from iap_estimation.navigation.attitude_predictor import AttitudePredictor
from iap_estimation.navigation.jump_blend import JumpBlend
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.nodes.estimate_topics import BodyFrames, BodyTopics
from iap_estimation.virpo.messages import Estimate, Tilt
from iap_io.ros.conversions import frame
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, EVERY, STEADY, SuiteNode
from iap_io.runs.topics import ESTIMATED
from iap_io.wire.message_views import StateMessage
from iap_io.wire.stamps import SECOND
from iap_msgs.msg import PlatformState

AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class FleetTopics:
    """Publishes the state of a platform at every inertial sample, and its central body at every keyframe.

    Args:
        node: that publishes.
        sensor_set: of the vehicle.
        assembly: of the vehicle.
        control_hz: rate at which states are numbered [Hz].
        in_control: whether controllers go by it, so that its frames have the vehicle's names.

    Attributes:
        frames: TF frames of the estimated bodies.
    """

    def __init__(
        self,
        node: SuiteNode,
        sensor_set: SensorSet,
        assembly: Assembly,
        control_hz: float,
        *,
        in_control: bool,
    ) -> None:
        self._sensor_set, self._control_hz = sensor_set, control_hz
        name = sensor_set.name
        self._aircraft = [assembly.bodies[body].name for body in assembly.aircraft]
        self._message = StateMessage.of(assembly, 4 * len(sensor_set.rows))
        self._no_rpm = np.zeros((len(sensor_set.rows), 4))
        self._states = node.create_publisher(
            PlatformState, node.absolute(f"{name}/{ESTIMATED}"), EVERY
        )
        prefix = name if in_control else f"{name}/estimate"
        self.frames = [frame(prefix, body.name) for body in assembly.bodies]
        self._frames = BodyFrames(node, frame(name, "odom"), self.frames)
        self._body = None
        if sensor_set.centre is not None:
            self._body = BodyTopics(node, node.absolute(f"{name}/virpo"), self.frames[0])
        self._x = np.zeros((sensor_set.bodies, 13))
        what = "States wait until nothing that is seen is older [s], as in lockstep; 0: they never wait."
        self._max_lag = node.parameter("max_lag", 0.0, what, limits=(0.0, 10.0))
        self._node = node
        self.reset()
        if self._max_lag:
            node.create_timer(DIAGNOSTIC_TIMEOUT / 4, self._look, clock=STEADY)

    def reset(self) -> None:
        """Time began anew."""
        self._centre, self._last = AttitudePredictor(), b""
        self._blend = JumpBlend()
        self._newest = np.full(len(self._sensor_set.rows), -np.inf)
        self._is_silent = np.zeros(
            len(self._sensor_set.rows), bool
        )  # aircraft that nothing waits for
        self._pending: tuple[int, float] | None = (
            None  # stamp [ns], and since when [s of wall time]
        )
        self.stamp = -1
        if self._body is not None:
            self._body.reset()

    @property
    def is_known(self) -> bool:
        """True if the central body's attitude is known, if there is such a body."""
        return self._body is None or self._centre.is_known

    @property
    def has_listeners(self) -> bool:
        """True if states or frames have subscribers."""
        return self._states.get_subscription_count() > 0 or self._frames.has_listeners

    def turn(self, tilt: Tilt) -> None:
        """Take a tilt of the central body."""
        self._centre.turn(tilt)

    def correct(self, centre: Estimate) -> None:
        """Take an estimate of the central body, and publish it."""
        self._centre.correct(centre)
        if self._body is not None:
            self._body.publish(centre)

    def stand_in(self, state: StateMessage) -> None:
        """Pass a state on, while there is no estimate."""
        if state.stamp >= self.stamp:
            self._send(state.stamp, state.dump())

    def saw(self, aircraft: int, t: float) -> None:
        """Note that an aircraft's tracks of a time [s] are taken into account."""
        self._newest[aircraft] = max(self._newest[aircraft], t)
        if self.stamp / SECOND - t <= self._max_lag:
            self._is_silent[aircraft] = False
        if self._pending is not None and not self._is_behind(self._pending[0]):
            self._let_go()

    def repeat(self) -> None:
        """Publish the last state again, for those who have missed it."""
        if self._last and self._pending is None:
            self._states.publish(self._last)

    def _send(self, stamp: int, data: bytes) -> None:
        self.stamp, self._last, self._pending = stamp, data, (stamp, time.monotonic())
        if not self._is_behind(stamp):
            self._let_go()

    def _is_behind(self, stamp: int) -> bool:
        return bool(self._max_lag) and bool(self._awaited(stamp).any())

    def _awaited(self, stamp: int) -> NDArray[np.bool_]:
        """Aircraft whose images a state waits for."""
        # What is seen before anything moves is as good as new.
        since = np.maximum(self._newest, 0.0)
        return ~self._is_silent & (stamp / SECOND - since > self._max_lag)

    def _let_go(self) -> None:
        self._pending = None
        self._states.publish(self._last)

    def _look(self) -> None:
        """Let a state go that has waited for too long; the next ones wait for those who see, as when all are blind."""
        if self._pending is None or time.monotonic() - self._pending[1] <= DIAGNOSTIC_TIMEOUT:
            return
        for aircraft in np.flatnonzero(self._awaited(self._pending[0])):
            name, last = self._aircraft[aircraft], self._newest[aircraft]
            text = f"{name}: nothing that is seen is newer than {last:.3f} s; states no longer wait for it"
            self._node.get_logger().warning(text)
            self._is_silent[aircraft] = True
        self._let_go()

    def publish(self, stamp: int, known: Sequence[Estimate], odom: Array = AT_ORIGIN) -> bool:
        """Publish the aircraft's estimates of a stamp [ns]; False while the central body is not known.

        Args:
            stamp: of all of it [ns].
            known: one of each aircraft, of that time.
            odom: (7,) pose of the frame ``odom``.
        """
        x, t = self._x, stamp / SECOND
        if not self.is_known:
            return False
        self._sensor_set.fill_rows(known, self._centre, t, x)
        if not np.isfinite(x).all():
            return False
        self._blend(t, x[0])
        self._message.put_head(stamp, round(t * self._control_hz))
        self._message.put_rows(x, self._no_rpm)
        self._send(stamp, self._message.dump())
        self._frames.publish(stamp, odom, x)
        return True
