# SPDX-License-Identifier: BSD-3-Clause
"""Initial states of aircraft at their first images, from a topic of the vehicle's states."""

from collections import deque
from collections.abc import Callable

from rclpy.subscription import Subscription

from iap_description.arrays import Array
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.nodes.estimate_topics import RELIABLE_QOS
from iap_io.ros.node import SuiteNode
from iap_io.wire.message_views import StateMessage
from iap_io.wire.stamps import SECOND

MAX_STATES = 1000  # states that are kept
STAMP_TOLERANCE = 0.01  # from an image, at which a state still holds [s]


class FirstStates:
    """Takes states until the estimator that starts from them runs; never again, so that no failure is hidden.

    Then it no longer listens, since states come more often than anything else that a node hears.
    """

    def __init__(
        self, node: SuiteNode, sensor_set: SensorSet, is_running: Callable[[], bool]
    ) -> None:
        what = "Topic of the states that give the aircraft's places when their first images come."
        default = node.absolute(f"{sensor_set.name}/state")
        topic = node.parameter("start_topic", default, what)
        self._node, self._topic = node, topic
        self._sensor_set, self._is_running = sensor_set, is_running
        self._states: deque[tuple[float, Array]] = deque(maxlen=MAX_STATES)
        self._has_begun = False
        self.on_state: Callable[[StateMessage], None] = lambda _: None
        self._subscription: Subscription | None = None
        self._listen()

    def reset(self) -> None:
        """Time began anew."""
        self._states.clear()
        self._has_begun = False
        self._listen()

    def __call__(self, aircraft: int, t: float) -> Array | None:
        """First state (16,) of an aircraft's inertial unit; None where none is known."""
        if self._has_begun:
            return None
        near = min(self._states, key=lambda known: abs(known[0] - t), default=None)
        if near is None or abs(near[0] - t) > STAMP_TOLERANCE:
            return None
        sensors = self._sensor_set
        return sensors.mounts[aircraft].unit(near[1][sensors.rows[aircraft]])

    def _listen(self) -> None:
        if self._subscription is None:
            self._subscription = self._node.inputs.listen_to_states(
                self._topic, self._sensor_set.bodies, self._on_state, RELIABLE_QOS
            )

    def _on_state(self, state: StateMessage) -> None:
        self._has_begun |= self._is_running()
        if not self._has_begun:
            self._states.append((state.stamp / SECOND, state.rows.copy()))
            self.on_state(state)
        elif self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
