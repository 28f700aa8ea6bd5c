# SPDX-License-Identifier: BSD-3-Clause
"""Puts a platform together from what its aircraft say of themselves: its central body, and its state for a controller.

Runs in the vehicle's namespace, which is ``iap`` unless it is remapped.
"""

import sys
from collections.abc import Callable
from functools import partial

from nav_msgs.msg import Odometry

from iap_bringup.gathering import Gathering
from iap_bringup.localizing.carried import tilt_of
from iap_bringup.localizing.odometry_messages import estimate_of
from iap_bringup.nodes.crew_node import CrewNode
from iap_bringup.nodes.estimate_topics import KEPT
from iap_bringup.nodes.first_states import FirstStates
from iap_description.errors import BadInput
from iap_description.ros_node import OK, WARN, run
from iap_description.wire import SECOND, Inlet, stamp_of_time
from iap_description.wire_odometry import OdometryMessage
from iap_estimation.virpo.buffers import TiltBuffer
from iap_estimation.virpo.centre import centre_of
from iap_estimation.virpo.messages import Estimate
from iap_sensors.readings import ImuReading, Reading

LATE = 0.3  # behind the sensors, from which on a state is missing [s]


class CentreNode(CrewNode):
    """Odometry of all aircraft in, the platform out."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("centre_node", namespace, of_aircraft=False)
        own = self.equipment
        self._central, self._crew = own.central, own.crew(self.settings.estimator.pixels)
        if self._crew.d is not None and self._central is None:
            raise BadInput(f"{own.name}: the central body has no inertial unit")
        self._platform = self.platform_topics()
        self._first = FirstStates(self, own, lambda: self._is_running)
        self._first.told = self._platform.stand_in
        self.restart()
        for a, space in enumerate(self.spaces):
            for topic, take in (("head", self._take_head), ("odometry", self._take_estimate)):
                hear = partial(self._on_odometry, a, Inlet(OdometryMessage), take)
                self.create_subscription(Odometry, f"{space}/virpo/{topic}", hear, KEPT, raw=True)
        self.hear([self._central or own.carried[0].imu], self._take_tilt)
        self.begin()

    def restart(self) -> None:
        """Nothing is known."""
        count, is_joined = len(self.spaces), self._central is not None
        self._heads = Gathering(count + is_joined)
        self._keyframes, self._tilts = Gathering(count), TiltBuffer()
        self._is_running = False
        self._platform.reset()
        self._first.reset()

    def _on_odometry(
        self,
        topic: str,
        inlet: Inlet[OdometryMessage],
        take: Callable[[Estimate], None],
        data: bytes,
    ) -> None:
        try:
            told = estimate_of(inlet.read(data))
        except BadInput as error:
            self.note(f"{topic}: {error}")
            return
        self.later(topic, told.t, partial(take, told))

    def _take_tilt(self, reading: Reading) -> None:
        told = None
        if self._central is not None and isinstance(reading, ImuReading):
            told = tilt_of(self._central, reading)
        if told is not None:
            self._tilts.add(told)
            self._tilts.take(told.t)
            self._platform.turn(told)
            self._gather(len(self.spaces), stamp_of_time(told.t), None)

    def _take_estimate(self, aircraft: int, told: Estimate) -> None:
        """Estimate the central body where all aircraft tell of one time."""
        together = self._keyframes.take(aircraft, stamp_of_time(told.t), 0, told)
        tilt = None if together is None else self._tilts.at(told.t)
        if tilt is not None:
            self._platform.correct(centre_of(together.parts, tilt, self._crew))

    def _take_head(self, aircraft: int, told: Estimate) -> None:
        self._gather(aircraft, stamp_of_time(told.t), told)

    def _gather(self, source: int, stamp: int, head: Estimate | None) -> None:
        instant = self._heads.take(source, stamp, 0, head)
        if instant is None:
            return
        if stamp <= self._platform.stamp and self._is_running:
            self._platform.repeat()
            return
        self._is_running |= self._platform.publish(stamp, instant.parts[: len(self.spaces)])

    def problem(self) -> tuple[bytes, str]:
        """Which aircraft is missing."""
        if not self._is_running:
            return WARN, "waiting for the odometry of all aircraft"
        if self.stamp - self._platform.stamp > LATE * SECOND:
            return WARN, f"no state since {self._platform.stamp / SECOND:.3f} s"
        return OK, ""


def main() -> int:
    """Run the node."""
    return run("centre_node", lambda: [CentreNode()])


if __name__ == "__main__":
    sys.exit(main())
