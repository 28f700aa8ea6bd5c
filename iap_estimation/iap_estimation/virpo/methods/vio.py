# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft in a window of its own, alone: methods ``vio`` and ``vio_uwb``."""

from dataclasses import replace

from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, Inertial, LeftOut, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.centre import centre_of
from iap_estimation.virpo.methods.single import OneCraft
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.buffers import TiltBuffer
from iap_estimation.virpo.window.estimator import SAME, Estimator, Fault, First


class Apart:
    """Every aircraft by itself: methods ``vio`` and ``vio_uwb``.

    Args:
        method: see `OneCraft`.
        fleet: the aircraft.
        spec: see `VirpoSpec`.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be.

    Attributes:
        crafts: each by itself.
    """

    def __init__(
        self, method: str, fleet: Fleet, spec: VirpoSpec, first: First, begins: Start | None
    ) -> None:
        self._crew, self._tilts = fleet, TiltBuffer()
        self.crafts = [
            OneCraft(method, fleet, a, spec, first, begins) for a in range(len(fleet.crafts))
        ]

    @property
    def estimators(self) -> list[Estimator]:
        """See `Localizer.estimators`."""
        return [craft.estimator for craft in self.crafts]

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`."""
        return self.crafts[aircraft].imu(sample)

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self.crafts[aircraft].tracks(tracks)

    def ranges(self, aircraft: int, told: Ranges) -> None:
        """See `Localizer.ranges`."""
        self.crafts[aircraft].ranges(told)

    def tilt(self, told: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._tilts.add(told)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return [one.estimates()[0] for one in self.estimators if one.is_running]

    def propagated(self, aircraft: int) -> Estimate | None:
        """See `Localizer.propagated`."""
        one = self.estimators[aircraft]
        return one.head(0) if one.is_running else None

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`; None too where the estimates are not of one time."""
        estimates = self.estimates()
        if self._crew.d is None or len(estimates) < len(self.crafts):
            return None
        t = estimates[0].t
        tilt = self._tilts.at(t)
        if tilt is None or any(abs(one.t - t) > SAME for one in estimates):
            return None
        return centre_of(estimates, tilt, self._crew)

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return [fault for one in self.estimators for fault in one.faults]

    def left_out(self) -> list[LeftOut]:
        """See `Localizer.left_out`."""
        return [
            replace(said, aircraft=a)
            for a, craft in enumerate(self.crafts)
            for said in craft.estimator.left_out
        ]
