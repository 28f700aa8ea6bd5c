# SPDX-License-Identifier: BSD-3-Clause
"""Localises all aircraft of a platform and its central body together: every sensor in, all odometry out.

Method `joint` has all of them in one window; `drift_filter` has each in a window of its own, and one filter that
takes the drift out of all.

Runs in the vehicle's namespace, which is ``iap`` unless it is remapped.
"""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.sensor_info import FixedFrame
from iap_estimation.navigation.measurements import Raw
from iap_estimation.navigation.warm_up import warm_up
from iap_estimation.nodes.estimate_topics import BodyTopics
from iap_estimation.nodes.estimation_node_base import EstimationNode
from iap_estimation.nodes.first_states import FirstStates
from iap_estimation.nodes.health_topic import HealthTopic
from iap_estimation.nodes.track_messages import FEATURES, tracks_of
from iap_estimation.nodes.window_status import WindowStatus
from iap_estimation.virpo.localizer import all_propagated, make_localizer, pass_on
from iap_estimation.virpo.messages import Estimate, ImuSample, Measurement, Tilt, Tracks
from iap_estimation.virpo.window.estimator import STAMP_TOLERANCE
from iap_io.ros.process import program
from iap_io.ros.static_frames import publish_static_frames
from iap_io.ros.synchronizer import TimeSynchronizer
from iap_io.wire.stamps import stamp_of_time

METHODS = ("joint", "drift_filter")


class JointNode(EstimationNode):
    """One estimator of all aircraft between topics."""

    def __init__(
        self, namespace: str = "iap", parameters: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("joint_node", namespace, of_aircraft=False, parameters=parameters)
        what = "joint: one window over all; drift_filter: every aircraft's odometry, and a filter over all."
        self._method = self.choice("method", METHODS, what)
        sensors, spec = self.sensor_set, self.settings.estimator
        self._central = sensors.central
        if self._central is None:
            raise BadInput(
                f"{sensors.name}: no aircraft are joined, or their centre has no inertial unit"
            )
        self._fleet = sensors.fleet(spec)
        self._status = WindowStatus(self.failed)
        vehicle = self.absolute(self.vehicle)
        self._health = HealthTopic(self, vehicle, self._method, len(self.spaces))
        self._first = FirstStates(self, sensors, lambda: self._is_known)
        self._platform = self.platform_topics()
        self._first.on_state = self._platform.stand_in
        self._bodies = [
            BodyTopics(self, f"{space}/virpo", self.unit_frame(a))
            for a, space in enumerate(self.spaces)
        ]
        publish_static_frames(self, self._unit_frames())
        warm_up(self._method, sensors, spec)
        self.restart()
        self._listen()
        self.begin()

    def restart(self) -> None:
        """A new estimator."""
        super().restart()
        spec = self.settings.estimator
        self._localizer = make_localizer(self._method, self._fleet, spec, self._first)
        self._gathering = TimeSynchronizer(len(self.spaces) + 1)
        for each in (self._first, self._status, self._health, self._platform, *self._bodies):
            each.reset()

    def _unit_frames(self) -> list[FixedFrame]:
        """Frames of the aircraft's units on the bodies as they are estimated."""
        frames, sensors = self._platform.frames, self.sensor_set
        return [
            FixedFrame(
                frame=self.unit_frame(a),
                parent=frames[sensors.rows[a]],
                p_BS_B=group.imu.p_BS_B,
                q_BS=group.imu.q_BS,
            )
            for a, group in enumerate(sensors.carried)
        ]

    def _listen(self) -> None:
        for a, (space, group) in enumerate(zip(self.spaces, self.sensor_set.carried, strict=True)):
            take = partial(self._take_tracks, a)
            self.subscribe(FEATURES, f"{space}/virpo/tracks", tracks_of, take)
            tags = [] if group.tag is None else [group.tag]
            self.listen([group.imu, *tags])
        self.listen([self._central])

    @property
    def _is_known(self) -> bool:
        """True if there is an estimate of every body."""
        known = all_propagated(self._localizer, len(self.spaces))
        return bool(known) and self._platform.is_known

    def _take_tracks(self, aircraft: int, tracks: Tracks) -> None:
        self._status.saw(len(tracks.ids))
        self._give(aircraft, tracks)
        self._platform.saw(aircraft, tracks.t)

    def take(self, owner: int, measured: Raw) -> None:
        """Take a measurement, and publish what is new."""
        self._give(owner, measured)
        match measured:
            case ImuSample():
                localizer = self._localizer
                self._health.go_on(measured.t, localizer.estimators, localizer.estimates)
                has_listeners = self._platform.has_listeners
                propagated = self._localizer.propagated(owner) if has_listeners else None
                self._gather(owner, measured.t, propagated)
            case Tilt():
                self._platform.turn(measured)
                self._gather(len(self.spaces), measured.t, None)

    def _give(self, owner: int, measured: Measurement) -> None:
        localizer = self._localizer
        self._health.see(owner, measured)
        give = partial(pass_on, localizer, owner, measured)
        if not self._status.update(give, localizer.estimators):
            return
        estimates = localizer.estimates()
        if len(estimates) == len(self._bodies):
            for body, estimate in zip(self._bodies, estimates, strict=True):
                body.publish(estimate)
        centre = localizer.centre()
        if centre is not None:
            self._platform.correct(centre)

    def _gather(self, source: int, t: float, propagated: Estimate | None) -> None:
        """Publish the state of a time once all units' samples of it are here."""
        stamp = stamp_of_time(t)
        instant = self._gathering.take(source, stamp, 0, propagated)
        if instant is None or self._status.failure or not self._platform.is_known:
            return
        if stamp <= self._platform.stamp:
            self._platform.repeat()
            return
        if not self._platform.has_listeners:
            return
        known = [self._propagated_at(a, t, one) for a, one in enumerate(instant.parts[:-1])]
        if None not in known:
            x, y, z, yaw = self._localizer.estimators[0].alignment(0)
            turn = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
            self._platform.publish(stamp, known, np.r_[x, y, z, turn])

    def _propagated_at(self, aircraft: int, t: float, noted: Estimate | None) -> Estimate | None:
        """An aircraft's estimate at a time: the present one, or as it was noted then."""
        propagated = self._localizer.propagated(aircraft)
        is_of_then = propagated is not None and abs(propagated.t - t) < STAMP_TOLERANCE
        return propagated if is_of_then else noted

    def problem(self) -> tuple[bytes, str]:
        """Reason for the absence of an estimate."""
        return self._status.problem(self._localizer.estimators)

    def values(self) -> dict[str, object]:
        """Figures of the window."""
        return {"method": self._method, **self._status.values(self._localizer.estimators)}


main = program("joint_node", JointNode)

if __name__ == "__main__":
    sys.exit(main())
