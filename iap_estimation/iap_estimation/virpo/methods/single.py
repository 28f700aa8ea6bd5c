# SPDX-License-Identifier: BSD-3-Clause
"""One aircraft that localises itself, whatever the method; what its neighbours show comes from outside."""

import numpy as np

from iap_description.errors import BadInput
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Inertial, Ranges, Shared, Tilt, Tracks
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.estimator import STAMP_TOLERANCE, Estimator, InitialState

METHODS = ("vio_uwb", "vio", "virpo")


class SingleAircraft:
    """The windows of one aircraft.

    Args:
        method: one of `METHODS`.
        fleet: all aircraft.
        own: index of this one.
        spec: see `VirpoSpec`; where sharing is ``self``, a second window shows what ranges alone give.
        first: gives the initial state of an aircraft at its first images.
        deviations: standard deviations of these; `VirpoSpec.start` where left out.

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
        first: InitialState,
        deviations: Start | None = None,
    ) -> None:
        looks = method == "virpo"
        if looks and fleet.d is None:
            raise BadInput(f"method '{method}' needs aircraft that are joined")
        self._own, self._with_ranges = own, method != "vio"
        self._period, self._shared_t = 1.0 / spec.physical.exchange, -np.inf

        def window(of: Fleet, looking: int | None) -> Estimator:
            return Estimator(
                of, spec, lambda _, t: first(own, t), deviations=deviations, own=looking
            )

        self.estimator = window(fleet, own) if looks else window(fleet.alone(own), None)
        self._all = [self.estimator]
        if looks and spec.physical.sharing == "self":
            self._all.append(window(fleet.alone(own), None))

    def imu(self, sample: Inertial) -> bool:
        """Take an inertial sample; True where there is a new estimate."""
        return [each.imu(0, sample) for each in self._all][0]

    def tracks(self, tracks: Tracks) -> bool:
        """Take its tracks; True where there is a new estimate."""
        return [each.tracks(0, tracks) for each in self._all][0]

    def ranges(self, measured: Ranges) -> None:
        """Take a round of ranges, where the method uses them."""
        if self._with_ranges:
            for each in self._all:
                each.ranges(0, measured)

    def tilt(self, measured: Tilt) -> None:
        """Take a tilt of the central body."""
        self.estimator.tilt(measured)

    def neighbour(self, shared: Shared) -> None:
        """Take a neighbour's odometry."""
        self.estimator.neighbour(shared)

    def due(self, t: float) -> Shared | None:
        """Odometry for its neighbours at time t [s], if it is due."""
        if t < self._shared_t + self._period - STAMP_TOLERANCE:
            return None
        shared = self._all[-1].shared(self._own)
        if shared is not None:
            self._shared_t = t
        return shared
