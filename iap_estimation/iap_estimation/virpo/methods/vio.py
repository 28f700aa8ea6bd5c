# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft in a window of its own, alone: methods ``vio`` and ``vio_uwb``."""

from dataclasses import replace

from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, Inertial, LeftOut, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.centre import centre_of
from iap_estimation.virpo.methods.single import SingleAircraft
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.buffers import TiltBuffer
from iap_estimation.virpo.window.estimator import STAMP_TOLERANCE, Estimator, Fault, InitialState


class VioLocalizer:
    """Every aircraft by itself: methods ``vio`` and ``vio_uwb``.

    Args:
        method: see `SingleAircraft`.
        fleet: the aircraft.
        spec: see `VirpoSpec`.
        first: gives the initial state of an aircraft at its first images.
        deviations: how far off that may be.

    Attributes:
        aircraft: each by itself.
    """

    def __init__(
        self,
        method: str,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        deviations: Start | None,
    ) -> None:
        self._fleet, self._tilts = fleet, TiltBuffer()
        self.aircraft = [
            SingleAircraft(method, fleet, a, spec, first, deviations)
            for a in range(len(fleet.aircraft))
        ]

    @property
    def estimators(self) -> list[Estimator]:
        """See `Localizer.estimators`."""
        return [single.estimator for single in self.aircraft]

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`."""
        return self.aircraft[aircraft].imu(sample)

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self.aircraft[aircraft].tracks(tracks)

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """See `Localizer.ranges`."""
        self.aircraft[aircraft].ranges(measured)

    def tilt(self, measured: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._tilts.add(measured)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return [one.estimates()[0] for one in self.estimators if one.is_running]

    def propagated(self, aircraft: int) -> Estimate | None:
        """See `Localizer.propagated`."""
        one = self.estimators[aircraft]
        return one.propagated(0) if one.is_running else None

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`; None too where the estimates are not of one time."""
        estimates = self.estimates()
        if self._fleet.d is None or len(estimates) < len(self.aircraft):
            return None
        t = estimates[0].t
        tilt = self._tilts.at(t)
        if tilt is None or any(abs(one.t - t) > STAMP_TOLERANCE for one in estimates):
            return None
        return centre_of(estimates, tilt, self._fleet)

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return [fault for one in self.estimators for fault in one.faults]

    def left_out(self) -> list[LeftOut]:
        """See `Localizer.left_out`."""
        return [
            replace(one, aircraft=a)
            for a, single in enumerate(self.aircraft)
            for one in single.estimator.left_out
        ]
