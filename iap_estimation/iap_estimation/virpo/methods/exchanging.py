# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft in a window of its own that looks at its neighbours' odometry: method ``virpo`` (virpo III)."""

import numpy as np

from iap_estimation.virpo.crew import Crew
from iap_estimation.virpo.messages import Estimate, Inertial, LeftOut, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.apart import Apart, centre_at, first_of, left_out_by
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.buffers import TiltBuffer
from iap_estimation.virpo.window.estimator import SAME, Estimator, Fault, First


class Exchanging:
    """Every aircraft in a window of its own, with its neighbours' odometry as measurements: method ``virpo``.

    Args:
        crew: the aircraft.
        spec: see `VirpoSpec`; where sharing is ``self``, neighbours show what ranges alone give them.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be.
    """

    def __init__(self, crew: Crew, spec: VirpoSpec, first: First, begins: Start | None) -> None:
        self._crew, self._period = crew, 1.0 / spec.physical.exchange
        self._estimators = [
            Estimator(crew, spec, first_of(first, a), begins=begins, own=a)
            for a in range(len(crew.crafts))
        ]
        self._shown = [-np.inf] * len(crew.crafts)
        self._background = (
            Apart(crew, spec, first, begins, with_ranges=True)
            if spec.physical.sharing == "self"
            else None
        )
        self._tilts = TiltBuffer()

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`."""
        is_new = self._estimators[aircraft].imu(0, sample)
        if self._background is not None:
            self._background.imu(aircraft, sample)
        if sample.t >= self._shown[aircraft] + self._period - SAME:
            self._show(aircraft, sample.t)
        return is_new

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        if self._background is not None:
            self._background.tracks(aircraft, tracks)
        return self._estimators[aircraft].tracks(0, tracks)

    def ranges(self, aircraft: int, told: Ranges) -> None:
        """See `Localizer.ranges`."""
        if self._background is not None:
            self._background.ranges(aircraft, told)
        self._estimators[aircraft].ranges(0, told)

    def tilt(self, told: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._tilts.add(told)
        for one in self._estimators:
            one.tilt(told)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return [one.estimates()[0] for one in self._estimators if one.is_running]

    def heads(self) -> list[Estimate]:
        """See `Localizer.heads`."""
        return [one.head(0) for one in self._estimators if one.is_running]

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`."""
        return centre_at(self.estimates(), self._tilts, self._crew)

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return [fault for one in self._estimators for fault in one.faults]

    def left_out(self) -> list[LeftOut]:
        """See `Localizer.left_out`."""
        return left_out_by(self._estimators)

    def _show(self, aircraft: int, t: float) -> None:
        """Show an aircraft's odometry to the others."""
        source = self._background.estimators if self._background else self._estimators
        if not source[aircraft].is_running:
            return
        self._shown[aircraft] = t
        shared = source[aircraft].shared(aircraft)
        for a, other in enumerate(self._estimators):
            if a != aircraft:
                other.neighbour(shared)
