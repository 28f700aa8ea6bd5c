# SPDX-License-Identifier: BSD-3-Clause
r"""The sliding window of iap_simulator eq. (22): the states of some keyframes, and all that measurements say of them.

An update is Gauss-Newton on the whole cost, the landmarks eliminated (Schur complement). Then one
keyframe goes: the second newest, if it shows nothing new, else the oldest, of which a prior remains.
One window holds one aircraft or several; with several, every keyframe is one of all of them.
"""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_estimation.virpo.algebra.marginalization import Prior
from iap_estimation.virpo.algebra.solution import solve
from iap_estimation.virpo.algebra.states import AIRCRAFT, ALIGNMENT, States, retract, vertical
from iap_estimation.virpo.factors.imu_chain import add_chain, chain_cost, predict
from iap_estimation.virpo.factors.preintegration import (
    ImuInterval,
    drop_first,
    interval_at,
    preintegrate,
    stack,
)
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Tracks
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.interval import Interval
from iap_estimation.virpo.window.terms import ALL, Terms
from iap_estimation.virpo.window.visual_terms import VisualTerms

SILENT = np.array([0.1, 3.0, 1e-3, 1e-2, 0.0])  # densities of samples that are made up
EFFORT = 4  # times the steps while it settles
COST_TOLERANCE = 1e-3  # by which the cost may rise: rounding and landmarks at their bounds
LITTLE, MUCH = 1e-4, 1.0  # damping of the first and the last attempt at a step that was refused


class EstimateLost(RuntimeError):
    """The measurements no longer say where an aircraft is."""


class Window:
    """Keyframes of some aircraft.

    Args:
        fleet: the aircraft.
        spec: see `VirpoSpec`.
        terms: what else is said of the states.
        neighbours: how many other aircraft's drift is estimated.
        centre: whether the central body is.

    Attributes:
        states: of the keyframes, the newest last.
        intervals: what was measured between them.
        chi_square: cost of the last update over its measurements; near 1/2 when noise is what it is said to be.
    """

    def __init__(
        self,
        fleet: Fleet,
        spec: VirpoSpec,
        terms: Sequence[Terms],
        *,
        neighbours: int = 0,
        centre: bool = False,
    ) -> None:
        self._fleet, self._spec, self._terms = fleet, spec, terms
        self._blank = States.empty(1, len(fleet.aircraft), neighbours, centre)
        self._noise = [model.noise for model in fleet.aircraft]
        self._frames = spec.keyframes + 1
        self._chain = stack(ImuInterval.empty(), self._frames, len(fleet.aircraft))
        self._visual_terms = VisualTerms(fleet, spec)
        self._covariance: Array | None = None  # that belongs to the root, once somebody asked
        self.chi_square = 0.0

    def begin(self, x: Array, deviations: StartDeviations) -> None:
        """Begin with one keyframe.

        Args:
            x: (A, 16) states of the aircraft, in `map`: the frames L are laid into it.
            deviations: how far off it may be.
        """
        self.states = self._blank.copy()
        self.states.x[0] = x
        self.intervals: list[Interval] = []
        self._updates = 0
        self._visual_terms.begin()
        H = first_information(self.states, deviations)
        for terms in self._terms:
            terms.begin(self.states, deviations, H)
        self._prior = Prior.of(H, np.zeros(len(H)), self.states.copy())
        self._root, self._covariance = np.linalg.cholesky(H), None

    def see(self, tracks: Sequence[Tracks | None]) -> None:
        """Enter what the aircraft see in the newest keyframe."""
        self._visual_terms.see(len(self.states.x) - 1, tracks)

    def add(self, interval: Interval) -> None:
        """Add a keyframe, where the inertial samples of the interval lead to."""
        k = len(self.intervals)
        for a, samples in enumerate(interval.samples):
            self._preintegrate(k, a, samples, a in interval.silent)
        self.states = self.states.extended()
        for a in range(len(self._fleet.aircraft)):
            x, motion = self.states.x[:, a], interval_at(self._chain, k, a)
            predict(x[k], self._fleet.gravity, motion.span[0], motion.delta, x[k + 1])
        self._enter(k, interval)

    def leave_out(self, refused: Sequence[set[int]]) -> None:
        """Forget that intervals had ranges to some anchors, of every aircraft."""
        self.intervals = [interval.without(refused) for interval in self.intervals]

    def keep_newest(self, a: int, kept: Booleans) -> None:
        """Forget those of an aircraft's ranges in the last interval that are not to be kept (n,)."""
        self.intervals[-1] = self.intervals[-1].keeping(a, kept)

    def shift(self, i: int, j: int) -> list[float]:
        """Mean movement of tracks between two keyframes in the mean, for every aircraft [px]; NaN with too few."""
        return self._visual_terms.shift(i, j)

    def solve(self) -> None:
        """Bring all states to where the cost is least.

        Raises:
            EstimateLost: there is no such place.
        """
        self._visual_terms.begin_depths(self.states)
        damping, self._updates = 0.0, self._updates + 1
        effort = EFFORT if self._updates <= self._spec.settling else 1
        for _ in range(effort * self._spec.iterations):
            damping = self._descend(damping)
            if damping > MUCH:
                break
        self.chi_square = self._cost() / self._measurements()
        self._visual_terms.cull(self.states)

    def slide(self) -> None:
        """Make room for the next keyframe."""
        frames = len(self.states.x)
        if frames > 2 and not self._is_key(frames - 2):
            self._drop_second_newest()
        elif frames == self._frames:
            self._marginalise_oldest()

    def covariance(self) -> Array:
        """Of the newest keyframe and the alignments, in the order of a step."""
        if self._covariance is None:
            size = self.states.stride + ALIGNMENT * len(self.states.alignment)
            inverse = np.linalg.inv(self._root[-size:, -size:])
            self._covariance = inverse.T @ inverse
        return self._covariance

    def _preintegrate(self, k: int, a: int, samples: Array, is_silent: bool) -> None:
        noise = SILENT if is_silent else self._noise[a]
        preintegrate(samples, self.states.x[k, a, 10:], noise, interval_at(self._chain, k, a))

    def _enter(self, k: int, interval: Interval) -> None:
        """Keep an interval, and what it says."""
        self.intervals.append(interval)
        for terms in self._terms:
            terms.enter(k, interval, self.states)

    def _linearise(self, only: int, damping: float = 0.0) -> tuple[Array, Array, float]:
        """Normal equations and cost of all measurements, or of those that a keyframe takes along."""
        states = self.states
        H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
        cost = self._prior.add(states, H, g)
        cost += self._visual_terms.add(states, only, damping, H, g)
        cost += add_chain(states.x, self._fleet.gravity, self._chain, only, H, g, states.stride)
        return H, g, cost + sum(terms.add(states, only, H, g) for terms in self._terms)

    def _cost(self) -> float:
        """The cost of all measurements."""
        states = self.states
        cost = self._prior.cost(states) + self._visual_terms.cost(states)
        cost += chain_cost(states.x, self._fleet.gravity, self._chain)
        return cost + sum(terms.cost(states) for terms in self._terms)

    def _measurements(self) -> int:
        """Number of residuals of the cost, less those that only the past determines."""
        inertial = AIRCRAFT * len(self.intervals) * len(self._fleet.aircraft)
        others = sum(terms.count() for terms in self._terms)
        return self._visual_terms.count() + inertial + others + len(self._prior.g)

    def _descend(self, damping: float) -> float:
        """Step to a lower cost, shorter steps until one is; returns the damping that it took."""
        states, size = self.states.copy(), self._visual_terms.positions()
        while damping <= MUCH:
            H, g, cost = self._linearise(ALL, damping)
            step = self._step(H, g, damping)
            if step is not None:
                retract(self.states, step)
                self._visual_terms.step(step, self.states)
                if self._cost() <= cost + COST_TOLERANCE:
                    return 0.1 * damping if damping > LITTLE else 0.0
                self.states.assign(states)
                self._visual_terms.put_back(size)
            damping = max(LITTLE, 10.0 * damping)
        return damping

    def _step(self, H: Array, g: Array, damping: float) -> Array | None:
        """The step to the least of the quadratic; None where it has none.

        Raises:
            EstimateLost: nor has it any with the most damping, or it is not finite.
        """
        try:
            step, root = solve(H, g, damping, self.states.inner_motions())
        except np.linalg.LinAlgError as error:
            if 10.0 * damping > MUCH:
                raise EstimateLost("the normal equations have no solution") from error
            return None
        if not np.isfinite(step).all():
            raise EstimateLost("the normal equations are not finite")
        if damping == 0.0:
            self._root, self._covariance = root, None
        return step

    def _is_key(self, frame: int) -> bool:
        """True if a keyframe shows what the one before it does not (VINS' rule), or what the next one does not."""
        if self.intervals[frame - 1].span + self.intervals[frame].span > self._spec.longest:
            return True
        visual_terms = self._visual_terms
        return visual_terms.is_new(frame - 1, frame) or visual_terms.is_last_view(frame)

    def _marginalise_oldest(self) -> None:
        H, g, _ = self._linearise(0)
        self._prior = Prior.of(H, g, self.states).without(0)
        self.states = self.states.without(0)
        drop_first(self._chain)
        del self.intervals[0]
        for terms in self._terms:
            terms.leave_first()
        self._visual_terms.leave_first()

    def _drop_second_newest(self) -> None:
        k = len(self.states.x) - 2
        if len(self._prior.base.x) > k:
            self._prior = self._prior.without(k)
        self._visual_terms.leave(self.states, k)
        self.states = self.states.without(k)
        for terms in self._terms:
            terms.leave(k)
        later = self.intervals.pop()
        joined = self.intervals.pop().joined(later)
        for a, samples in enumerate(joined.samples):
            self._preintegrate(k - 1, a, samples, a in joined.silent)
        self._enter(k - 1, joined)


def first_information(states: States, deviations: StartDeviations) -> Array:
    """Prior of the aircraft at a window's first keyframe; tilt and yaw are about the world's axes."""
    aircraft = states.x.shape[1]
    tilt, yaw = np.deg2rad([deviations.tilt_deg, deviations.yaw_deg])
    H = np.zeros((states.size, states.size))
    for a in range(aircraft):
        at = AIRCRAFT * a
        sigma = [deviations.position] * 3 + [1.0] * 3 + [deviations.velocity] * 3
        sigma += [deviations.gyro_bias] * 3 + [deviations.accel_bias] * 3
        H[range(at, at + 15), range(at, at + 15)] = 1.0 / np.square(sigma)
        up = vertical(states.x[0, a, 3:7])
        across = (np.eye(3) - np.outer(up, up)) / tilt**2
        H[at + 3 : at + 6, at + 3 : at + 6] = across + np.outer(up, up) / yaw**2
    measured = [deviations.alignment_position] * 3 + [np.deg2rad(deviations.alignment_yaw_deg)]
    at = states.size - ALIGNMENT * aircraft
    H[range(at, states.size), range(at, states.size)] = np.tile(
        1.0 / np.square(measured), aircraft
    )
    return H
