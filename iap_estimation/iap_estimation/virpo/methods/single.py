# SPDX-License-Identifier: BSD-3-Clause
"""One aircraft that localises itself, whatever the method; what its neighbours show comes from outside."""

import numpy as np

from iap_description.errors import BadInput
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Inertial, Ranges, Shared, Tilt, Tracks
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.estimator import SAME, Array, Estimator, First

METHODS = ("vio_uwb", "vio", "virpo")


class OneCraft:
    """The windows of one aircraft.

    Args:
        method: one of `METHODS`.
        fleet: all aircraft.
        own: index of this one.
        spec: see `VirpoSpec`; where sharing is ``self``, a second window shows what ranges alone give.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be; `VirpoSpec.start` where it is left out.

    Attributes:
        estimator: whose estimates count.

    Raises:
        BadInput: the method needs aircraft that are joined.
    """

    def __init__(
        self,
        method: str,
        fleet: Fleet,
        own: int,
        spec: VirpoSpec,
        first: First,
        begins: Start | None = None,
    ) -> None:
        looks = method == "virpo"
        if looks and fleet.d is None:
            raise BadInput(f"method '{method}' needs aircraft that are joined")
        self._own, self._with_ranges = own, method != "vio"
        self._period, self._shown = 1.0 / spec.physical.exchange, -np.inf

        def its_first(_: int, t: float) -> Array | None:
            return first(own, t)

        def alone() -> Estimator:
            return Estimator(fleet.alone(own), spec, its_first, begins=begins)

        if looks:
            self.estimator = Estimator(fleet, spec, its_first, begins=begins, own=own)
        else:
            self.estimator = alone()
        self._all = [self.estimator]
        if looks and spec.physical.sharing == "self":
            self._all.append(alone())

    def imu(self, sample: Inertial) -> bool:
        """Take an inertial sample; says whether there is a new estimate."""
        return [each.imu(0, sample) for each in self._all][0]

    def tracks(self, tracks: Tracks) -> bool:
        """Take what it sees; says whether there is a new estimate."""
        return [each.tracks(0, tracks) for each in self._all][0]

    def ranges(self, told: Ranges) -> None:
        """Take a round of ranges, where the method uses them."""
        if self._with_ranges:
            for each in self._all:
                each.ranges(0, told)

    def tilt(self, told: Tilt) -> None:
        """Take what the autopilot of the central body says."""
        self.estimator.tilt(told)

    def neighbour(self, shared: Shared) -> None:
        """Take what a neighbour shows."""
        self.estimator.neighbour(shared)

    def due(self, t: float) -> Shared | None:
        """What it shows to its neighbours now, at time t [s], if it is time to."""
        source = self._all[-1]
        if not source.is_running or t < self._shown + self._period - SAME:
            return None
        self._shown = t
        return source.shared(self._own)
