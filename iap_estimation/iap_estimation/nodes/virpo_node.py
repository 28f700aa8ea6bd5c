# SPDX-License-Identifier: BSD-3-Clause
"""Localises one aircraft: tracks, inertial samples, ranges and its neighbours' odometry in; odometry out.

Runs in the aircraft's namespace, which is ``iap/drone_1`` unless it is remapped.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.navigation.measurements import Raw
from iap_estimation.navigation.warm_up import warm_up
from iap_estimation.nodes.estimate_topics import RELIABLE_QOS, BodyFrames, BodyTopics
from iap_estimation.nodes.estimation_node_base import EstimationNode
from iap_estimation.nodes.first_states import FirstStates
from iap_estimation.nodes.health_topic import HealthTopic
from iap_estimation.nodes.odometry_messages import put_motion, reader, shared_of
from iap_estimation.nodes.track_messages import FEATURES, tracks_of
from iap_estimation.nodes.window_status import WindowStatus
from iap_estimation.virpo.messages import Estimate, ImuSample, Ranges, SharedOdometry, Tilt, Tracks
from iap_estimation.virpo.methods.vio import METHODS, SingleAircraft
from iap_io.ros.process import program
from iap_io.wire.sample_views import OdometryMessage
from iap_io.wire.stamps import stamp_of_time

PUBLISHED_HZ = (
    20.0  # of propagated estimates that nobody flies by, at times common to all aircraft
)


class VirpoNode(EstimationNode):
    """The windows of one aircraft between topics."""

    def __init__(
        self, namespace: str = "iap/drone_1", parameters: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("virpo_node", namespace, of_aircraft=True, parameters=parameters)
        what = "vio: images; vio_uwb: and ranges; virpo: and neighbours' odometry."
        self._method = self.choice("method", METHODS, what)
        self._in_control = self.declared_in_control()
        self._fleet = self.sensor_set.fleet(self.settings.estimator)
        self._aircraft_sensors = self.sensor_set.carried[self.aircraft_index]
        self._first = FirstStates(
            self, self.sensor_set, lambda: self._windows.estimator.is_running
        )
        self._status = WindowStatus(self.failed)
        self._health = HealthTopic(self, self.spaces[self.aircraft_index], self._method, 1)
        warm_up(self._method, self.sensor_set, self.settings.estimator)
        self._publish_to()
        self.restart()
        self._listen()
        self.begin()

    def restart(self) -> None:
        """A new estimator."""
        super().restart()
        spec = self.settings.estimator
        self._windows = SingleAircraft(
            self._method, self._fleet, self.aircraft_index, spec, self._first
        )
        self._first.reset()
        self._status.reset()
        self._health.reset()
        self._newest_t, self._published_t = -np.inf, -np.inf
        self._body.reset()

    def _publish_to(self) -> None:
        space = self.spaces[self.aircraft_index]
        estimated = self.unit_frame(self.aircraft_index)
        self._body = BodyTopics(self, f"{space}/virpo", estimated)
        self._message = OdometryMessage.of(estimated)
        self._propagated = self.create_publisher(Odometry, f"{space}/virpo/head", RELIABLE_QOS)
        self._shared = self.create_publisher(Odometry, f"{space}/virpo/shared", RELIABLE_QOS)
        self._frames = BodyFrames(
            self, f"{self.space_frame(self.aircraft_index)}/odom", [estimated]
        )

    def _listen(self) -> None:
        group, central = self._aircraft_sensors, self.sensor_set.central
        tracks = f"{self.spaces[self.aircraft_index]}/virpo/tracks"
        self.subscribe(FEATURES, tracks, tracks_of, self._take_tracks)
        tags = [group.tag] if group.tag is not None and self._method != "vio" else []
        self.listen([group.imu, *tags])
        if self._method != "virpo":
            return
        if central is None:
            raise BadInput(f"{self.sensor_set.name}: the central body has no inertial unit")
        self.listen([central])
        for a, other in enumerate(self.spaces):
            if a != self.aircraft_index:
                read = reader(shared_of, a)
                self.subscribe(
                    OdometryMessage.TYPE, f"{other}/virpo/shared", read, self._take_shared
                )

    def _take_shared(self, shared: SharedOdometry) -> None:
        self._windows.neighbour(shared)

    def _take_tracks(self, tracks: Tracks) -> None:
        self._status.saw(len(tracks.ids))
        self._health.see(0, tracks)
        self._give(lambda: self._windows.tracks(tracks))

    def take(self, owner: int, measured: Raw) -> None:
        """Take a measurement, and publish what is new."""
        match measured:
            case ImuSample():
                self._give(lambda: self._windows.imu(measured))
                estimator = self._windows.estimator
                self._health.go_on(measured.t, [estimator], estimator.estimates)
                self._go_on(measured.t)
            case Ranges():
                self._health.see(0, measured)
                self._windows.ranges(measured)
            case Tilt():
                self._windows.tilt(measured)

    def _give(self, give: Callable[[], bool]) -> None:
        estimator = self._windows.estimator
        if self._status.update(give, [estimator]) and estimator.is_running:
            estimate = estimator.estimates()[0]
            self._body.publish(estimate)
            self._show_frames(estimate)

    def _go_on(self, t: float) -> None:
        """Publish its propagated estimate, and its odometry for neighbours."""
        estimator = self._windows.estimator
        if self._status.failure or not estimator.is_running or t < self._newest_t:
            return
        self._newest_t = t  # the same stamp again: somebody may have missed it
        if self._is_due(t) and self._propagated.get_subscription_count():
            self._published_t = t
            put_motion(self._message, estimator.propagated(0))
            self._propagated.publish(self._message.dump())
        due = self._windows.due(t)
        if due is not None:
            put_motion(self._message, due)
            self._shared.publish(self._message.dump())

    def _is_due(self, t: float) -> bool:
        """True if the propagated estimate of a time [s] is due: every one for controllers, some to look at."""
        if self._in_control or t <= self._published_t:
            return True
        return _tick(t) > _tick(self._published_t)

    def _show_frames(self, estimate: Estimate) -> None:
        x, y, z, yaw = self._windows.estimator.alignment(0)
        odom = np.r_[x, y, z, so3.quaternion_exp(np.array([0.0, 0.0, yaw]))]
        row = np.r_[estimate.p_WB_W, estimate.q_WB]
        self._frames.publish(stamp_of_time(estimate.t), odom, row[None])

    def problem(self) -> tuple[bytes, str]:
        """Reason for the absence of an estimate."""
        return self._status.problem([self._windows.estimator])

    def values(self) -> dict[str, object]:
        """Figures of the window."""
        return {"method": self._method, **self._status.values([self._windows.estimator])}


def _tick(t: float) -> float:
    """The last tick of `PUBLISHED_HZ` at a time [s]."""
    return float(np.floor(PUBLISHED_HZ * t + 1e-6))


main = program("virpo_node", VirpoNode)

if __name__ == "__main__":
    sys.exit(main())
