# SPDX-License-Identifier: BSD-3-Clause
"""Topic on which a node says how well it estimates."""

from collections.abc import Callable, Iterable

import numpy as np

from iap_estimation.navigation.health import LOOK_EVERY, HealthWatch
from iap_estimation.virpo.messages import Estimate, Measurement
from iap_estimation.virpo.window.estimator import STAMP_TOLERANCE, Estimator
from iap_io.ros.node import SuiteNode
from iap_io.runs.topics import HEALTH
from iap_io.wire.sample_views import HealthMessage
from iap_io.wire.stamps import stamp_of_time
from iap_msgs.msg import EstimateHealth


class HealthTopic:
    """Publishes an estimator's health every `LOOK_EVERY` of simulation time.

    Args:
        node: that estimates.
        space: absolute namespace of the vehicle, or of the aircraft.
        method: of the estimator.
        count: of the aircraft.
    """

    def __init__(self, node: SuiteNode, space: str, method: str, count: int) -> None:
        self._method, self._count = method, count
        self._message = HealthMessage.empty()
        self._publisher = node.create_publisher(EstimateHealth, f"{space}/{HEALTH}", 1)
        self.reset()

    def reset(self) -> None:
        """Time began anew."""
        self._watch = HealthWatch(self._method, self._count)
        self._published_t = -np.inf

    def see(self, owner: int, measured: Measurement) -> None:
        """Note what one of the aircraft, or `CENTRE`, has measured."""
        self._watch.see(owner, measured)

    def go_on(
        self,
        t: float,
        estimators: Iterable[Estimator],
        estimates: Callable[[], Iterable[Estimate]],
    ) -> None:
        """Publish the health at a time [s] if it is due; arguments as of `HealthWatch.look`."""
        if t < self._published_t + LOOK_EVERY - STAMP_TOLERANCE:
            return
        self._published_t = t
        self._message.put(self._watch.look(t, estimators, estimates))
        self._publisher.publish(self._message.stamped(stamp_of_time(t)))
