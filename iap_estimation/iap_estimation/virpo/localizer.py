# SPDX-License-Identifier: BSD-3-Clause
"""All aircraft of a platform and its centre under one method, whichever that is: measurements in, estimates out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from iap_description import so3
from iap_description.errors import BadInput
from iap_estimation.virpo.buffers import TiltBuffer
from iap_estimation.virpo.centre import centre_of
from iap_estimation.virpo.crew import Crew
from iap_estimation.virpo.drift_filter import DriftFilter
from iap_estimation.virpo.drift_spec import load_spec as load_drift_spec
from iap_estimation.virpo.estimator import SAME, Estimator, Fault, First
from iap_estimation.virpo.messages import Estimate, Inertial, Ranges, Tilt, Tracks
from iap_estimation.virpo.spec import Start, VirpoSpec

KEPT = 5.0  # odometry that a head may go back to [s]
METHODS = ("vio", "vio_uwb", "virpo", "joint", "drift_filter")


class Localizer(Protocol):
    """What every method does; each call says whether there are new estimates."""

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """Take an inertial sample of an aircraft."""

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """Take what an aircraft sees."""

    def ranges(self, aircraft: int, told: Ranges) -> None:
        """Take a round of ranges of an aircraft."""

    def tilt(self, told: Tilt) -> None:
        """Take what the autopilot of the central body says."""

    def estimates(self) -> list[Estimate]:
        """The newest of every aircraft that has any, with covariance, in the order of the crew."""

    def heads(self) -> list[Estimate]:
        """The same carried on to the newest inertial samples, without covariance."""

    def centre(self) -> Estimate | None:
        """The central body; None where the platform has none or not all aircraft are known."""

    def faults(self) -> Sequence[Fault]:
        """What went wrong so far."""


def make_localizer(
    method: str, crew: Crew, spec: VirpoSpec, first: First, begins: Start | None = None
) -> Localizer:
    """The localizer of a method.

    Args:
        method: one of `METHODS`.
        crew: who is to be localised.
        spec: see `VirpoSpec`.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be; `VirpoSpec.start` where it is left out.

    Raises:
        BadInput: there is no such method, or the platform is not one for it.
    """
    if method not in METHODS:
        raise BadInput(f"no method '{method}' (choices: {', '.join(METHODS)})")
    if method in ("vio", "vio_uwb"):
        return Apart(crew, spec, first, begins, with_ranges=method == "vio_uwb")
    if crew.d is None:
        raise BadInput(f"method '{method}' needs aircraft that are joined: use vio or vio_uwb")
    if method == "virpo":
        return Exchanging(crew, spec, first, begins)
    if method == "joint":
        return Together(crew, spec, first, begins)
    return Filtered(crew, spec, first, begins)


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
            Estimator(crew, spec, lambda _, t, a=a: first(a, t), begins=begins, own=a)
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
        return _centre(self.estimates(), self._tilts, self._crew)

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return [fault for one in self._estimators for fault in one.faults]

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


class Filtered:
    """Every aircraft's odometry by itself, and a filter that takes the drift out of all: method ``drift_filter``.

    Args:
        crew: the aircraft.
        spec: of the odometries; the filter has its own.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be.
    """

    def __init__(self, crew: Crew, spec: VirpoSpec, first: First, begins: Start | None) -> None:
        self._apart = Apart(crew, spec, first, begins, with_ranges=False)
        self._filter = DriftFilter(crew, load_drift_spec())
        self._said: dict[tuple[int, int], Estimate] = {}  # odometry by aircraft and time [ms]

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`."""
        return self._apart.imu(aircraft, sample) and self._say(aircraft)

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self._apart.tracks(aircraft, tracks) and self._say(aircraft)

    def ranges(self, aircraft: int, told: Ranges) -> None:
        """See `Localizer.ranges`."""
        self._filter.ranges(aircraft, told)

    def tilt(self, told: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._filter.tilt(told)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return self._filter.estimates()

    def heads(self) -> list[Estimate]:
        """See `Localizer.heads`."""
        corrected = self._filter.estimates()
        if len(corrected) < len(self._apart.estimators):
            return []
        pairs = enumerate(zip(corrected, self._apart.heads(), strict=True))
        return [self._carried(a, one, head) for a, (one, head) in pairs]

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`."""
        return self._filter.centre()

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return self._apart.faults()

    def _say(self, aircraft: int) -> bool:
        """Tell the filter what an aircraft's odometry says."""
        said = self._apart.estimators[aircraft].estimates()[0]
        self._said[aircraft, round(1e3 * said.t)] = said
        oldest = said.t - KEPT
        self._said = {key: one for key, one in self._said.items() if one.t > oldest}
        return self._filter.odometry(aircraft, said)

    def _carried(self, aircraft: int, one: Estimate, head: Estimate) -> Estimate:
        """A head of the odometry, with the drift taken out that was found when the estimate was made."""
        said = self._said.get((aircraft, round(1e3 * one.t)))
        if said is None:
            return one
        turn = so3.multiply(one.q_WB, so3.conjugate(said.q_WB))
        return replace(
            head,
            p_WB_W=one.p_WB_W + so3.rotate(turn, head.p_WB_W - said.p_WB_W),
            q_WB=so3.multiply(turn, head.q_WB),
            v_WB_W=so3.rotate(turn, head.v_WB_W),
        )


class Together:
    """All aircraft and the central body in one window: method ``joint``.

    Args:
        crew: the aircraft.
        spec: see `VirpoSpec`.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be.
    """

    def __init__(self, crew: Crew, spec: VirpoSpec, first: First, begins: Start | None) -> None:
        self._crew = crew
        self._estimator = Estimator(crew, spec, first, begins=begins, joined=True)

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`."""
        return self._estimator.imu(aircraft, sample)

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self._estimator.tracks(aircraft, tracks)

    def ranges(self, aircraft: int, told: Ranges) -> None:
        """See `Localizer.ranges`."""
        self._estimator.ranges(aircraft, told)

    def tilt(self, told: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._estimator.tilt(told)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return self._estimator.estimates() if self._estimator.is_running else []

    def heads(self) -> list[Estimate]:
        """See `Localizer.heads`."""
        if not self._estimator.is_running:
            return []
        return [self._estimator.head(a) for a in range(len(self._crew.crafts))]

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`."""
        return self._estimator.centre() if self._estimator.is_running else None

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return self._estimator.faults


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
            Estimator(crew.alone(a), spec, lambda _, t, a=a: first(a, t), begins=begins)
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
        return _centre(self.estimates(), self._tilts, self._crew)

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return [fault for one in self.estimators for fault in one.faults]


def _centre(estimates: list[Estimate], tilts: TiltBuffer, crew: Crew) -> Estimate | None:
    """The central body, where the estimates of all aircraft are of one time."""
    if crew.d is None or len(estimates) < len(crew.crafts):
        return None
    t = estimates[0].t
    tilt = tilts.at(t)
    if tilt is None or any(abs(one.t - t) > SAME for one in estimates):
        return None
    return centre_of(estimates, tilt, crew)
