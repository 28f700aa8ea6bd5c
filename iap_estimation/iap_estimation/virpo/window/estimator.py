# SPDX-License-Identifier: BSD-3-Clause
"""An estimator of one aircraft, or of several in one window: measurements in, estimates out.

Measurements may come in any order between sensors. An update waits until the inertial samples reach its
images, and for images of other aircraft at most `VirpoSpec.patience`; without any images, keyframes go on.
"""

from collections.abc import Callable, Sequence

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.algebra.states import covariance_in_world, in_world
from iap_estimation.virpo.factors.imu_chain import propagate
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
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.buffers import MeetingBuffer
from iap_estimation.virpo.window.failure_checks import Fault, check, doubts_after, sound
from iap_estimation.virpo.window.interval import Interval
from iap_estimation.virpo.window.measurement_queue import STAMP_TOLERANCE, MeasurementQueue
from iap_estimation.virpo.window.range_gate import AnchorWatch
from iap_estimation.virpo.window.rigid_terms import RigidTerms
from iap_estimation.virpo.window.terms import PhysicalTerms, RangeTerms, RestTerms, Terms
from iap_estimation.virpo.window.window import EstimateLost, Window

# aircraft and time -> state (16,) in `map`, None while it is not known
InitialState = Callable[[int, float], Array | None]


class Estimator:
    """Localises the aircraft of a fleet in one window; with `joined`, method ``joint``.

    Args:
        fleet: the aircraft.
        spec: see `VirpoSpec`.
        first: gives the initial state of an aircraft at its first images.
        deviations: standard deviations of these; `VirpoSpec.start` where left out.
        joined: whether the central body joins the aircraft in the window.
        own: for an aircraft that looks at its neighbours, the fleet being all of them: which one it is.
        others: terms of the user's own, see `Terms`.

    Attributes:
        t: of the newest keyframe [s]; minus infinity before the first.
        faults: what went wrong so far.
        late: images that came after their time.
    """

    def __init__(
        self,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        *,
        deviations: StartDeviations | None = None,
        joined: bool = False,
        aircraft: int | None = None,
        others: Sequence[Terms] = (),
    ) -> None:
        neighbours = 0 if aircraft is None else len(fleet.aircraft) - 1
        physical = [] if aircraft is None else [PhysicalTerms(fleet, aircraft, spec)]
        arms = np.array([model.p_BJ_B for model in fleet.aircraft])
        meetings = MeetingBuffer(arms, aircraft if aircraft is not None else 0)
        fleet = fleet if aircraft is None else fleet.alone(aircraft)
        self.fleet, self.spec, self._first = fleet, spec, first
        self._deviations = spec.start if deviations is None else deviations
        self._rest = RestTerms(fleet, spec.rest.velocity)
        self._rigid = RigidTerms(fleet, spec) if joined else None
        ranges = RangeTerms(fleet, spec.huber.ranges)
        terms: list[Terms] = [ranges, self._rest, *physical]
        terms += [*([self._rigid] if self._rigid is not None else []), *others]
        self.window = Window(fleet, spec, terms, neighbours=neighbours, centre=joined)
        self._watch = AnchorWatch(self.window, ranges, spec)
        self._queue = MeasurementQueue(fleet, spec, meetings, needs_tilts=joined)
        self._propagated = np.zeros((len(fleet.aircraft), 16))
        self._turning = np.zeros((len(fleet.aircraft), 3))  # newest samples [rad/s]
        self._newest: list[Estimate] = []  # at the newest keyframe, once they were asked for
        self.t = -np.inf
        self.faults: list[Fault] = []
        self.late = 0

    @property
    def is_running(self) -> bool:
        """True if there are estimates."""
        return bool(np.isfinite(self.t))

    @property
    def estimators(self) -> "list[Estimator]":
        """See `Localizer.estimators`."""
        return [self]

    def imu(self, aircraft: int, sample: ImuSample) -> bool:
        """Take an inertial sample; True where there are new estimates."""
        buffer = self._queue.samples[aircraft]
        before = buffer.t
        buffer.add(sample)
        self._turning[aircraft] = sample.w_B
        if self.is_running and buffer.t > before >= self.t:
            row = np.concatenate([[buffer.t - before], sample.w_B, sample.f_B])
            propagate(self._propagated[aircraft], self.fleet.gravity, row[None])
        return self._update()

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """Take the tracks of an aircraft; True where there are new estimates."""
        if tracks.t <= self.t + STAMP_TOLERANCE:
            self.late += 1
            self._queue.came_late(tracks)
            return False
        self._queue.tracks(aircraft, tracks)
        return self._update()

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """Take a round of ranges."""
        self._queue.ranges(aircraft, measured)

    def tilt(self, measured: Tilt) -> None:
        """Take a tilt of the central body."""
        self._queue.tilts.add(measured)

    def neighbour(self, shared: SharedOdometry) -> None:
        """Take a neighbour's odometry."""
        self._queue.neighbour(shared)

    def estimates(self) -> list[Estimate]:
        """Estimates at the newest keyframe, with covariance; none before the first."""
        if not self.is_running:
            return []
        if not self._newest:
            x = self.window.states.x[-1]
            C = self.window.covariance()
            self._newest = [
                self._estimate(a, self.t, x[a], covariance_in_world(C, a, x, self.alignment(a)))
                for a in self._all
            ]
        return list(self._newest)

    def centre(self) -> Estimate | None:
        """Estimate of the central body at the newest keyframe.

        None before the first, without a sample of its own at that time, and of a window without such a body.
        """
        if self._rigid is None or not self.is_running:
            return None
        tilt = self._queue.tilts.at(self.t)
        if tilt is None:
            return None
        covariance = self.window.covariance()
        return self._rigid.centre(self.t, self.window.states, tilt.w_B0, covariance)

    def propagated(self, aircraft: int) -> Estimate | None:
        """Estimate of an aircraft at its newest inertial sample, without covariance; None while it is not known."""
        if not self.is_running:
            return None
        t, x = self._queue.samples[aircraft].t, self._propagated[aircraft]
        return self._estimate(aircraft, t, x, np.full((15, 15), np.nan))

    def shared(self, aircraft: int) -> SharedOdometry | None:
        """Odometry of the only aircraft for its neighbours, as the aircraft of that index."""
        one = self.propagated(0)
        if one is None:
            return None
        return SharedOdometry(one.t, aircraft, one.p_WB_W, one.q_WB, one.v_WB_W, one.w_B)

    @property
    def left_out(self) -> list[LeftOut]:
        """Anchors that were left out so far."""
        return self._watch.left_out

    @property
    def refused(self) -> list[set[int]]:
        """Anchors that are left out now, of every aircraft."""
        return self._watch.refused

    def is_still(self, aircraft: int) -> bool:
        """True if an aircraft was taken to stand still at the newest keyframe."""
        return self._rest.is_held(aircraft)

    def alignment(self, aircraft: int) -> Array:
        """Place and yaw (4,) of an aircraft's frame L in `map`."""
        return self.window.states.alignment[aircraft]

    @property
    def _all(self) -> range:
        return range(len(self.fleet.aircraft))

    def _estimate(self, a: int, t: float, x: Array, covariance: Array) -> Estimate:
        p, q, v, gyro_bias, accel_bias = np.split(in_world(x, self.alignment(a)), [3, 7, 10, 13])
        w_B = self._turning[a] - x[10:13]
        return Estimate(t, p, q, v, gyro_bias, accel_bias, covariance, w_B)

    def _update(self) -> bool:
        """All updates whose measurements are there."""
        is_new = False
        while (t := self._queue.due(self.t)) is not None:
            tracks_now = self._queue.tracks_at(t)
            if t >= self.t + 0.999 / self.spec.rate - STAMP_TOLERANCE:
                go = self._go_on if self.is_running else self._begin
                is_new = go(t, tracks_now) or is_new
        return is_new

    def _begin(self, t: float, tracks: dict[int, Tracks]) -> bool:
        """The first keyframe."""
        states = [self._first(a, t) for a in self._all]
        known = [x for x in states if x is not None]
        for buffer in self._queue.samples:
            buffer.take(t)
        return len(known) == len(states) and self._start(
            t, np.array(known), self._deviations, tracks
        )

    def _start(
        self, t: float, x: Array, deviations: StartDeviations, tracks: dict[int, Tracks]
    ) -> bool:
        """Begin from states (A, 16) in `map`; False where the central body's attitude is not known."""
        self._queue.tilts.take(t)
        if self._rigid is not None:
            tilt = self._queue.tilts.at(t)
            if tilt is None:
                return False
            self._rigid.set_attitude(tilt.q_WB0)
        self.window.begin(x, deviations)
        self._watch.begin()
        self._finish(t, tracks)
        return True

    def _go_on(self, t: float, tracks: dict[int, Tracks]) -> bool:
        """The next keyframe."""
        end = self._queue.end_of_gap()
        if end is not None:
            self._restart(max(t, end), tracks if end <= t else {}, "a gap in the inertial samples")
            return True
        interval = self._queue.interval(self.t, t, self.window.states.x[-1])
        doubts = doubts_after(t - self.t, self.window)
        self.window.add(interval)
        self._watch.look(t, interval)
        predicted = self.window.states.x[-1].copy()
        self.window.see([tracks.get(a) for a in self._all])
        self._hold_still(interval)
        try:
            self.window.solve()
            check(self.window.states.x[-1], predicted, doubts, self.fleet, self.spec.failure)
        except EstimateLost as lost:
            self.window.states.x[-1] = predicted
            self._restart(t, tracks, str(lost))
            return True
        self._finish(t, None)
        self.window.slide()
        return True

    def _finish(self, t: float, first_tracks: dict[int, Tracks] | None) -> None:
        """Carry the newest states on to the newest inertial samples."""
        if first_tracks is not None:
            self.window.see([first_tracks.get(a) for a in self._all])
        self.t, self._newest = t, []
        self._propagated[:] = self.window.states.x[-1]
        for a, buffer in enumerate(self._queue.samples):
            propagate(self._propagated[a], self.fleet.gravity, buffer.waiting())

    def _restart(self, t: float, tracks: dict[int, Tracks], reason: str) -> None:
        """Begin anew from where the inertial samples lead."""
        self.faults.append(Fault(t, reason))
        x = self.window.states.x[-1].copy()
        for a, buffer in enumerate(self._queue.samples):
            gap = buffer.end_of_gap(self.spec.failure.gap)
            if gap is None:
                propagate(x[a], self.fleet.gravity, buffer.take(t))
            else:  # as if nothing had pushed it
                buffer.take(t)
                x[a, :3] += (t - self.t) * x[a, 7:10]
        self._queue.skip_ranges(t)
        x = np.array([in_world(x[a], self.alignment(a)) for a in self._all])
        if not self._start(t, sound(x, self.spec.failure), self.spec.restart, tracks):
            self.t = -np.inf

    def _hold_still(self, interval: Interval) -> None:
        """Note which aircraft stand still."""
        newest, rest = len(self.window.states.x) - 1, self.spec.rest
        shifts = self.window.shift(newest - 1, newest)
        for a, samples in enumerate(interval.samples):
            bias = self.window.states.x[-1, a, 10:]
            w, f = np.split(samples[:, 0] @ samples[:, 1:] / interval.span - bias, 2)
            is_calm = np.linalg.norm(w) < rest.turn
            is_free = abs(np.linalg.norm(f) - self.fleet.gravity) < rest.force
            if shifts[a] < rest.parallax and is_calm and is_free:
                self._rest.hold(a)
