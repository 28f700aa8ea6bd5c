# SPDX-License-Identifier: BSD-3-Clause
"""Localises all aircraft of a platform and its central body in one window: every sensor in, all odometry out.

Runs in the vehicle's namespace, which is ``iap`` unless it is remapped.
"""

import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from iap_description import so3
from iap_description.errors import BadInput
from iap_description.sensors.readings import ImuReading, Reading
from iap_estimation.navigation.data import Tally
from iap_estimation.navigation.reading_adapter import ReadingAdapter, tilt_of
from iap_estimation.navigation.warm_up import rehearse
from iap_estimation.nodes.estimate_topics import KEPT, BodyTopics
from iap_estimation.nodes.estimation_node_base import EstimationNode
from iap_estimation.nodes.first_states import FirstStates
from iap_estimation.nodes.track_messages import tracks_of
from iap_estimation.nodes.window_status import WindowStatus
from iap_estimation.virpo.messages import Estimate, Inertial, Ranges, Tracks
from iap_estimation.virpo.window.estimator import SAME, Estimator
from iap_io.ros.node import run
from iap_io.ros.synchronizer import TimeSynchronizer
from iap_io.wire.message_views import stamp_of_time
from iap_msgs.msg import FeatureTracks


class JointNode(EstimationNode):
    """One window over all aircraft between topics."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("joint_node", namespace, of_aircraft=False)
        own, spec = self.sensor_set, self.settings.estimator
        self._central = own.central
        if self._central is None:
            raise BadInput(
                f"{own.name}: no aircraft are joined, or their centre has no inertial unit"
            )
        self._crew = own.fleet(spec.pixels)
        self._status = WindowStatus(self.failed)
        self._first = FirstStates(self, own, lambda: self._estimator.is_running)
        self._platform = self.platform_topics()
        self._first.told = self._platform.stand_in
        self._bodies = [
            BodyTopics(self, f"{space}/virpo", its.imu.frame)
            for space, its in zip(self.spaces, own.carried, strict=True)
        ]
        rehearse("joint", own, spec)
        self.restart()
        self._listen()
        self.begin()

    def restart(self) -> None:
        """A new estimator."""
        count = len(self.spaces)
        self._estimator = Estimator(self._crew, self.settings.estimator, self._first, joined=True)
        self._ears = [
            ReadingAdapter(a, its, Tally()) for a, its in enumerate(self.sensor_set.carried)
        ]
        self._anchors: dict[str, int] = {}
        self._gathering = TimeSynchronizer(count + 1)
        for each in (self._first, self._status, self._platform, *self._bodies):
            each.reset()

    def _listen(self) -> None:
        for a, (space, its) in enumerate(zip(self.spaces, self.sensor_set.carried, strict=True)):
            on_tracks = partial(self._on_tracks, a)
            topic = f"{space}/virpo/tracks"
            self.create_subscription(FeatureTracks, topic, on_tracks, KEPT, raw=True)
            tags = [] if its.tag is None else [its.tag]
            self.hear([its.imu, *tags], partial(self._take, a))
        self.hear([self._central], self._take_tilt)

    def _on_tracks(self, aircraft: int, data: bytes) -> None:
        try:
            tracks = tracks_of(data)
        except BadInput as error:
            self.note(f"{self.spaces[aircraft]}: {error}")
            return
        take = partial(self._take_tracks, aircraft, tracks)
        self.later(f"{self.spaces[aircraft]}/tracks", tracks.t, take)

    def _take_tracks(self, aircraft: int, tracks: Tracks) -> None:
        self._status.saw(len(tracks.ids))
        self._give(lambda: self._estimator.tracks(aircraft, tracks))
        self._platform.saw(aircraft, tracks.t)

    def _take(self, aircraft: int, reading: Reading) -> None:
        said = self._ears[aircraft].heard(reading, self._anchors)
        if isinstance(said, Ranges):
            self._estimator.ranges(aircraft, said)
        elif isinstance(said, Inertial):
            self._give(lambda: self._estimator.imu(aircraft, said))
            is_told = self._estimator.is_running and self._platform.is_heard
            self._gather(aircraft, said.t, self._estimator.head(aircraft) if is_told else None)

    def _take_tilt(self, reading: Reading) -> None:
        told = tilt_of(self._central, reading) if isinstance(reading, ImuReading) else None
        if told is not None:
            self._estimator.tilt(told)
            self._platform.turn(told)
            self._gather(len(self.spaces), told.t, None)

    def _give(self, give: Callable[[], bool]) -> None:
        estimator = self._estimator
        if not self._status.update(give, estimator) or not estimator.is_running:
            return
        for body, told in zip(self._bodies, estimator.estimates(), strict=True):
            body.publish(told)
        self._platform.correct(estimator.centre())

    def _gather(self, source: int, t: float, head: Estimate | None) -> None:
        """Publish the state of a time once all units have spoken of it."""
        stamp = stamp_of_time(t)
        instant = self._gathering.take(source, stamp, 0, head)
        if instant is None or self._status.failure or not self._estimator.is_running:
            return
        if stamp <= self._platform.stamp:
            self._platform.repeat()
            return
        if not self._platform.is_heard:
            return
        heads = [self._head_at(a, t, told) for a, told in enumerate(instant.parts[:-1])]
        if None not in heads:
            x, y, z, yaw = self._estimator.alignment(0)
            turn = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
            self._platform.publish(stamp, heads, np.r_[x, y, z, turn])

    def _head_at(self, aircraft: int, t: float, told: Estimate | None) -> Estimate | None:
        """What is believed of an aircraft at a time: as of now, if it has said nothing since."""
        head = self._estimator.head(aircraft)
        return head if abs(head.t - t) < SAME else told

    def problem(self) -> tuple[bytes, str]:
        """What keeps it from an estimate."""
        return self._status.problem(self._estimator)

    def values(self) -> dict[str, object]:
        """How the window does."""
        return {"method": "joint", **self._status.values(self._estimator)}


def main() -> int:
    """Run the node."""
    return run("joint_node", lambda: [JointNode()])


if __name__ == "__main__":
    sys.exit(main())
