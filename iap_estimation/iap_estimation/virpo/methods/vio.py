# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft in a window of its own: alone, or with its neighbours' odometry as measurements (virpo III)."""

from dataclasses import replace

import numpy as np

from iap_description.errors import BadInput
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import (
    Estimate,
    ImuSample,
    LeftOut,
    Ranges,
    SharedOdometry,
    Tilt,
    Tracks,
)
from iap_estimation.virpo.methods.centre import CentreFilter
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.estimator import STAMP_TOLERANCE, Estimator, InitialState
from iap_estimation.virpo.window.failure_checks import Fault

METHODS = ("vio_uwb", "vio", "virpo")
BLIND = 0.5  # without tracks, after which odometry is dead reckoning, of no use to neighbours [s]


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
        of_aircraft: int,
        spec: VirpoSpec,
        first: InitialState,
        deviations: StartDeviations | None = None,
    ) -> None:
        looks = method == "virpo"
        if looks and fleet.d is None:
            raise BadInput(f"method '{method}' needs aircraft that are joined")
        self._aircraft, self._with_ranges = of_aircraft, method != "vio"
        self._exchange, self._shared_tick = spec.physical.exchange, -np.inf
        self._fewest, self._t_tracks = spec.fewest_tracks, -np.inf

        def window(of: Fleet, looking: int | None) -> Estimator:
            return Estimator(
                of,
                spec,
                lambda _, t: first(of_aircraft, t),
                deviations=deviations,
                aircraft=looking,
            )

        self.estimator = (
            window(fleet, of_aircraft) if looks else window(fleet.alone(of_aircraft), None)
        )
        self._all = [self.estimator]
        if looks and spec.physical.sharing == "self":
            self._all.append(window(fleet.alone(of_aircraft), None))

    def imu(self, sample: ImuSample) -> bool:
        """Take an inertial sample; True where there is a new estimate."""
        return [each.imu(0, sample) for each in self._all][0]

    def tracks(self, tracks: Tracks) -> bool:
        """Take its tracks; True where there is a new estimate."""
        if len(tracks.ids) >= self._fewest:
            self._t_tracks = max(self._t_tracks, tracks.t)
        return [each.tracks(0, tracks) for each in self._all][0]

    def ranges(self, measured: Ranges) -> None:
        """Take a round of ranges, where the method uses them."""
        if self._with_ranges:
            for each in self._all:
                each.ranges(0, measured)

    def tilt(self, measured: Tilt) -> None:
        """Take a tilt of the central body."""
        self.estimator.tilt(measured)

    def neighbour(self, shared: SharedOdometry) -> None:
        """Take a neighbour's odometry."""
        self.estimator.neighbour(shared)

    def due(self, t: float) -> SharedOdometry | None:
        """Odometry for its neighbours at time t [s], if it is due and the aircraft sees.

        It is due at times common to all aircraft, whenever each has begun, and half a period from those of keyframes,
        which leaves it time to arrive. Aircraft that only dead-reckon would each count what the others have from them.
        """
        tick = np.floor(self._exchange * (t + STAMP_TOLERANCE) + 0.5)
        if tick <= self._shared_tick:
            return None
        self._shared_tick = tick
        return self._all[-1].shared(self._aircraft) if t <= self._t_tracks + BLIND else None


class VioLocalizer:
    """Every aircraft in a window of its own: methods ``vio``, ``vio_uwb`` and, looking at its neighbours, ``virpo``.

    Its arguments are those of `make_localizer`; where sharing is ``self``, neighbours show what ranges alone give them.

    Attributes:
        aircraft: each by itself.
    """

    def __init__(
        self,
        method: str,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        deviations: StartDeviations | None,
    ) -> None:
        self._looks = method == "virpo"
        self._centre = None if fleet.d is None else CentreFilter(fleet, spec)
        self.aircraft = [
            SingleAircraft(method, fleet, a, spec, first, deviations)
            for a in range(len(fleet.aircraft))
        ]

    @property
    def estimators(self) -> list[Estimator]:
        """See `Localizer.estimators`."""
        return [single.estimator for single in self.aircraft]

    def imu(self, aircraft: int, sample: ImuSample) -> bool:
        """See `Localizer.imu`; where neighbours look at it, what it shows then goes to all others."""
        is_new = self.aircraft[aircraft].imu(sample)
        shared = self.aircraft[aircraft].due(sample.t) if self._looks else None
        if shared is not None:
            for a, other in enumerate(self.aircraft):
                if a != aircraft:
                    other.neighbour(shared)
        return is_new

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self.aircraft[aircraft].tracks(tracks)

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """See `Localizer.ranges`."""
        self.aircraft[aircraft].ranges(measured)

    def tilt(self, measured: Tilt) -> None:
        """See `Localizer.tilt`."""
        if self._centre is not None:
            self._centre.tilt(measured)
        if self._looks:
            for single in self.aircraft:
                single.tilt(measured)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return [estimate for one in self.estimators for estimate in one.estimates()]

    def propagated(self, aircraft: int) -> Estimate | None:
        """See `Localizer.propagated`."""
        return self.estimators[aircraft].propagated(0)

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`; None too where the estimates are not of one time."""
        estimates = self.estimates()
        if self._centre is None or len(estimates) < len(self.aircraft):
            return None
        if any(abs(one.t - estimates[0].t) > STAMP_TOLERANCE for one in estimates):
            return None
        return self._centre.estimate(estimates)

    @property
    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return [fault for one in self.estimators for fault in one.faults]

    @property
    def left_out(self) -> list[LeftOut]:
        """See `Localizer.left_out`."""
        return [
            replace(one, aircraft=a)
            for a, single in enumerate(self.aircraft)
            for one in single.estimator.left_out
        ]
