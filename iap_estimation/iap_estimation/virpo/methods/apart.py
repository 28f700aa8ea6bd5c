# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft in a window of its own, alone: methods ``vio`` and ``vio_uwb``."""

from collections.abc import Sequence
from dataclasses import replace

from iap_estimation.virpo.crew import Crew
from iap_estimation.virpo.messages import Estimate, Inertial, LeftOut, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.centre import centre_of
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.buffers import TiltBuffer
from iap_estimation.virpo.window.estimator import SAME, Array, Estimator, Fault, First


class Apart:
    """Every aircraft by itself: methods ``vio`` and ``vio_uwb``.

    Args:
        crew: the aircraft.
        spec: see `VirpoSpec`.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be.
        with_ranges: whether ranges count.
    """

    def __init__(
        self,
        crew: Crew,
        spec: VirpoSpec,
        first: First,
        begins: Start | None,
        *,
        with_ranges: bool,
    ) -> None:
        self._crew, self._with_ranges = crew, with_ranges
        self.estimators = [
            Estimator(crew.alone(a), spec, first_of(first, a), begins=begins)
            for a in range(len(crew.crafts))
        ]
        self._tilts = TiltBuffer()

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`."""
        return self.estimators[aircraft].imu(0, sample)

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self.estimators[aircraft].tracks(0, tracks)

    def ranges(self, aircraft: int, told: Ranges) -> None:
        """See `Localizer.ranges`."""
        if self._with_ranges:
            self.estimators[aircraft].ranges(0, told)

    def tilt(self, told: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._tilts.add(told)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return [one.estimates()[0] for one in self.estimators if one.is_running]

    def heads(self) -> list[Estimate]:
        """See `Localizer.heads`."""
        return [one.head(0) for one in self.estimators if one.is_running]

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`."""
        return centre_at(self.estimates(), self._tilts, self._crew)

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return [fault for one in self.estimators for fault in one.faults]

    def left_out(self) -> list[LeftOut]:
        """See `Localizer.left_out`."""
        return left_out_by(self.estimators)


def first_of(first: First, aircraft: int) -> First:
    """What is said of one aircraft, for an estimator that has only that one."""

    def alone(_: int, t: float) -> Array | None:
        return first(aircraft, t)

    return alone


def left_out_by(estimators: Sequence[Estimator]) -> list[LeftOut]:
    """What every aircraft's own estimator left out."""
    return [replace(said, aircraft=a) for a, one in enumerate(estimators) for said in one.left_out]


def centre_at(estimates: list[Estimate], tilts: TiltBuffer, crew: Crew) -> Estimate | None:
    """The central body, where the estimates of all aircraft are of one time."""
    if crew.d is None or len(estimates) < len(crew.crafts):
        return None
    t = estimates[0].t
    tilt = tilts.at(t)
    if tilt is None or any(abs(one.t - t) > SAME for one in estimates):
        return None
    return centre_of(estimates, tilt, crew)
