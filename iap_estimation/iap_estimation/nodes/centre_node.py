# SPDX-License-Identifier: BSD-3-Clause
"""Composes a platform of its aircraft's odometry: its central body, and its state for a controller.

Runs in the vehicle's namespace, which is ``iap`` unless it is remapped.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from iap_description.errors import BadInput
from iap_estimation.navigation.measurements import Raw
from iap_estimation.nodes.estimation_node_base import EstimationNode
from iap_estimation.nodes.first_states import FirstStates
from iap_estimation.nodes.odometry_messages import estimate_of, propagated_of, reader
from iap_estimation.virpo.messages import Estimate, Tilt
from iap_estimation.virpo.methods.centre import CentreFilter
from iap_estimation.virpo.window.estimator import STAMP_TOLERANCE
from iap_io.ros.node import OK, WARN
from iap_io.ros.process import program
from iap_io.ros.synchronizer import TimeSynchronizer
from iap_io.wire.sample_views import OdometryMessage
from iap_io.wire.stamps import SECOND, stamp_of_time

STATE_TIMEOUT = 0.3  # behind the sensors, from which on a state is missing [s]


class CentreNode(EstimationNode):
    """Odometry of all aircraft in, the platform out."""

    def __init__(
        self, namespace: str = "iap", parameters: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("centre_node", namespace, of_aircraft=False, parameters=parameters)
        sensors = self.sensor_set
        self._central, self._fleet = sensors.central, sensors.fleet(self.settings.estimator)
        if self._fleet.d is not None and self._central is None:
            raise BadInput(f"{sensors.name}: the central body has no inertial unit")
        self._platform = self.platform_topics()
        self._first = FirstStates(self, sensors, lambda: self._is_running)
        self._first.on_state = self._platform.stand_in
        self.restart()
        for a, space in enumerate(self.spaces):
            head, odometry = f"{space}/virpo/head", f"{space}/virpo/odometry"
            kind = OdometryMessage.TYPE
            self.subscribe(kind, head, reader(propagated_of), partial(self._take_propagated, a))
            self.subscribe(kind, odometry, reader(estimate_of), partial(self._take_estimate, a))
        self.listen([self._central or sensors.carried[0].imu])
        self.begin()

    def restart(self) -> None:
        """Nothing is known."""
        super().restart()
        count, is_joined = len(self.spaces), self._central is not None
        self._propagated = TimeSynchronizer(count + is_joined)
        self._covariances = [np.full((15, 15), np.nan)] * count
        self._t_centre, self._is_running = -np.inf, False
        spec = self.settings.estimator
        self._centre = None if self._fleet.d is None else CentreFilter(self._fleet, spec)
        self._platform.reset()
        self._first.reset()

    def take(self, owner: int, measured: Raw) -> None:
        """Take the central body's tilt."""
        if isinstance(measured, Tilt):
            if self._centre is not None:
                self._centre.tilt(measured)
            self._platform.turn(measured)
            self._gather(len(self.spaces), stamp_of_time(measured.t), None)

    def _take_estimate(self, aircraft: int, estimate: Estimate) -> None:
        """Note the covariance of an aircraft's estimate."""
        self._covariances[aircraft] = estimate.covariance
        self._platform.saw(aircraft, estimate.t)

    def _take_propagated(self, aircraft: int, estimate: Estimate) -> None:
        self._gather(aircraft, stamp_of_time(estimate.t), estimate)

    def _gather(self, source: int, stamp: int, estimate: Estimate | None) -> None:
        instant = self._propagated.take(source, stamp, 0, estimate)
        if instant is None:
            return
        if stamp <= self._platform.stamp and self._is_running:
            self._platform.repeat()
            return
        propagated = instant.parts[: len(self.spaces)]
        self._estimate_centre(stamp / SECOND, propagated)
        if self._platform.has_listeners:
            self._platform.publish(stamp, propagated)

    def _estimate_centre(self, t: float, propagated: Sequence[Estimate]) -> None:
        """Estimate the central body at the rate of keyframes; aircraft have theirs at times of their own."""
        if t < self._t_centre + 1.0 / self.settings.estimator.rate - STAMP_TOLERANCE:
            return
        if self._centre is None:
            self._t_centre, self._is_running = t, True
            return
        pairs = zip(propagated, self._covariances, strict=True)
        centre = self._centre.estimate([replace(one, covariance=C) for one, C in pairs])
        if centre is not None:
            self._t_centre, self._is_running = t, True
            self._platform.correct(centre)

    def problem(self) -> tuple[bytes, str]:
        """Level, and the name of an aircraft that is missing."""
        if not self._is_running:
            return WARN, "waiting for the odometry of all aircraft"
        if self.stamp > (self._t_centre + STATE_TIMEOUT) * SECOND:
            return WARN, f"no state since {self._t_centre:.3f} s"
        return OK, ""


main = program("centre_node", CentreNode)

if __name__ == "__main__":
    sys.exit(main())
