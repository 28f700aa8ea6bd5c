# SPDX-License-Identifier: BSD-3-Clause
"""Localises one aircraft: its tracks, inertial samples and ranges in, and what its neighbours show; odometry out.

Runs in the aircraft's namespace, which is ``iap/drone_1`` unless it is remapped.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry

from iap_description import so3
from iap_description.errors import BadInput
from iap_estimation.navigation.data import Raw
from iap_estimation.navigation.warm_up import rehearse
from iap_estimation.nodes.estimate_topics import KEPT, BodyFrames, BodyTopics
from iap_estimation.nodes.estimation_node_base import EstimationNode
from iap_estimation.nodes.first_states import FirstStates
from iap_estimation.nodes.odometry_messages import put_motion, shared_of
from iap_estimation.nodes.track_messages import tracks_of
from iap_estimation.nodes.window_status import WindowStatus
from iap_estimation.virpo.messages import Estimate, Inertial, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.single import METHODS, OneCraft
from iap_io.ros.node import run
from iap_io.wire.message_views import MessageReader, stamp_of_time
from iap_io.wire.sample_views import OdometryMessage
from iap_msgs.msg import FeatureTracks

TRACKS = "virpo/tracks"
SHOWN_HZ = 20.0  # of heads where nobody flies by them, on a grid that is the same for all aircraft


class VirpoNode(EstimationNode):
    """The windows of one aircraft between topics."""

    def __init__(
        self, namespace: str = "iap/drone_1", given: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("virpo_node", namespace, of_aircraft=True, given=given)
        what = "vio: images; vio_uwb: and ranges; virpo: and what neighbours show."
        self._method = self.choice("method", METHODS, what)
        self._in_control = self.declared_in_control()
        self._crew = self.sensor_set.fleet(self.settings.estimator.pixels)
        self._its = self.sensor_set.carried[self.own]
        self._first = FirstStates(self, self.sensor_set, lambda: self._craft.estimator.is_running)
        self._status = WindowStatus(self.failed)
        rehearse(self._method, self.sensor_set, self.settings.estimator)
        self._publish_to()
        self.restart()
        self._listen()
        self.begin()

    def restart(self) -> None:
        """A new estimator."""
        super().restart()
        spec = self.settings.estimator
        self._craft = OneCraft(self._method, self._crew, self.own, spec, self._first)
        self._first.reset()
        self._status.reset()
        self._newest_head, self._told_head = -np.inf, -np.inf
        self._body.reset()

    def _publish_to(self) -> None:
        space, frame = self.spaces[self.own], self._its.imu.frame
        self._body = BodyTopics(self, f"{space}/virpo", frame)
        self._message = OdometryMessage.of(frame)
        self._heads = self.create_publisher(Odometry, f"{space}/virpo/head", KEPT)
        self._shared = self.create_publisher(Odometry, f"{space}/virpo/shared", KEPT)
        within = space.strip("/")
        self._frames = BodyFrames(self, f"{within}/odom", [f"{within}/virpo"])

    def _listen(self) -> None:
        space, its, central = self.spaces[self.own], self._its, self.sensor_set.central
        self.create_subscription(
            FeatureTracks, f"{space}/virpo/tracks", self._on_tracks, KEPT, raw=True
        )
        tags = [its.tag] if its.tag is not None and self._method != "vio" else []
        self.listen([its.imu, *tags])
        if self._method != "virpo":
            return
        if central is None:
            raise BadInput(f"{self.sensor_set.name}: the central body has no inertial unit")
        self.listen([central])
        for a, other in enumerate(self.spaces):
            if a != self.own:
                hear = partial(self._on_shared, a, MessageReader(OdometryMessage))
                self.create_subscription(Odometry, f"{other}/virpo/shared", hear, KEPT, raw=True)

    def _on_tracks(self, data: bytes) -> None:
        try:
            tracks = tracks_of(data)
        except BadInput as error:
            self.note(str(error))
            return
        self.later(TRACKS, tracks.t, partial(self._take_tracks, tracks))

    def _take_tracks(self, tracks: Tracks) -> None:
        self._status.saw(len(tracks.ids))
        self._give(lambda: self._craft.tracks(tracks))

    def take(self, owner: int, measured: Raw) -> None:
        """Take a measurement, and publish what is new."""
        match measured:
            case Inertial():
                self._give(lambda: self._craft.imu(measured))
                self._go_on(measured.t)
            case Ranges():
                self._craft.ranges(measured)
            case Tilt():
                self._craft.tilt(measured)

    def _on_shared(
        self, aircraft: int, inlet: MessageReader[OdometryMessage], data: bytes
    ) -> None:
        try:
            shared = shared_of(inlet.read(data), aircraft)
        except BadInput as error:
            self.note(f"{self.spaces[aircraft]}/virpo/shared: {error}")
            return
        topic = f"{self.spaces[aircraft]}/virpo/shared"
        self.later(topic, shared.t, lambda: self._craft.neighbour(shared))

    def _give(self, give: Callable[[], bool]) -> None:
        estimator = self._craft.estimator
        if self._status.update(give, [estimator]) and estimator.is_running:
            told = estimator.estimates()[0]
            self._body.publish(told)
            self._show_frames(told)

    def _go_on(self, t: float) -> None:
        """Publish where it is now, and what it shows to others."""
        estimator = self._craft.estimator
        if self._status.failure or not estimator.is_running or t < self._newest_head:
            return
        self._newest_head = t  # the same stamp again: somebody may have missed it
        if self._is_told(t) and self._heads.get_subscription_count():
            self._told_head = t
            put_motion(self._message, estimator.head(0))
            self._heads.publish(self._message.dump())
        due = self._craft.due(t)
        if due is not None:
            put_motion(self._message, due)
            self._shared.publish(self._message.dump())

    def _is_told(self, t: float) -> bool:
        """Whether the head of a time [s] is to be published: all that controllers fly by, some to look at."""
        if self._in_control or t <= self._told_head:
            return True
        return _tick(t) > _tick(self._told_head)

    def _show_frames(self, told: Estimate) -> None:
        x, y, z, yaw = self._craft.estimator.alignment(0)
        odom = np.r_[x, y, z, so3.quaternion_exp(np.array([0.0, 0.0, yaw]))]
        row = np.r_[told.p_WB_W, told.q_WB]
        self._frames.publish(stamp_of_time(told.t), odom, row[None])

    def problem(self) -> tuple[bytes, str]:
        """What keeps it from an estimate."""
        return self._status.problem([self._craft.estimator])

    def values(self) -> dict[str, object]:
        """How the window does."""
        return {"method": self._method, **self._status.values([self._craft.estimator])}


def _tick(t: float) -> float:
    """The last tick of `SHOWN_HZ` at a time [s]."""
    return float(np.floor(SHOWN_HZ * t + 1e-6))


def main() -> int:
    """Run the node."""
    return run("virpo_node", lambda: [VirpoNode()])


if __name__ == "__main__":
    sys.exit(main())
