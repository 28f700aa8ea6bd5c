# SPDX-License-Identifier: BSD-3-Clause
r"""Anchors whose ranges are wrong for long, as behind a wall that they go around: those are left out.

One range's noise hides what is wrong with it; the mean over a while does not. Let m be the means, over all
anchors of an aircraft, of what ranges are off where the window's states lead to, with

.. math::
    S = U P U^T + \operatorname{diag}(\sigma_i^2) ,

U the ways from the anchors, P the covariance of the aircraft's place and sigma_i that of the means. An anchor
is judged by its mean against what P and the others say of it (Baarda's data snooping):
:math:`z_i = (S^{-1} m)_i / \sqrt{(S^{-1})_{ii}}` . Where most anchors are at odds with the estimate, that is
off and not they.

Single ranges that took a detour, as around a body or off a wall: those are left out.

A range that the window's states foresee as :math:`\hat d` counts where

.. math::
    (d - \hat d)^2 \le g^2 ( u^T P u + \sigma^2 ) ,

with u the way from the anchor, P the covariance of the place and g the gate (Bar-Shalom, Li and Kirubarajan,
"Estimation with Applications to Tracking and Navigation", 5.4.2). Huber's kernel alone pulls by its width for ever:
of a third of the ranges, all too long, that is a place beside the right one. Where most ranges are at odds with the
states, those are off, and all count.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_estimation.virpo.algebra.states import covariance_in_world
from iap_estimation.virpo.messages import LeftOut
from iap_estimation.virpo.spec import RangeGateSpec, VirpoSpec
from iap_estimation.virpo.window.interval import Interval
from iap_estimation.virpo.window.terms import RangeTerms
from iap_estimation.virpo.window.window import Window

MEMORY = 60  # ranges, of which so many have to fit
FEWEST = 0.4  # share of them
MEMORY_FACTOR = 5.0  # times the memory after which an anchor that says nothing is forgotten


class DetourGate:
    """Says which ranges count.

    Args:
        aircraft: how many aircraft there are.
        gate: deviations beyond which a range took a detour.
    """

    def __init__(self, aircraft: int, gate: float) -> None:
        self._gate = gate
        self._fitting: list[deque[bool]] = [deque(maxlen=MEMORY) for _ in range(aircraft)]

    def begin(self) -> None:
        """Forget which ranges did not fit: the states are new ones."""
        for fitting in self._fitting:
            fitting.clear()

    def direct(self, a: int, measured: Array, P: Array) -> Booleans:
        """(n,) whether ranges count.

        Args:
            a: the aircraft.
            measured: (n, 6) anchor, range less the foreseen one [m], its deviation [m], direction from the anchor (3).
            P: (3, 3) covariance of the foreseen place [m^2].
        """
        off, sigma, ways = measured[:, 1], measured[:, 2], measured[:, 3:]
        spread = np.einsum("ni,ij,nj->n", ways, P, ways) + sigma**2
        fits: Booleans = off**2 <= self._gate**2 * spread
        fitting = self._fitting[a]
        fitting.extend(fits.tolist())
        is_lost = len(fitting) == MEMORY and sum(fitting) < FEWEST * MEMORY
        return np.ones(len(fits), dtype=bool) if is_lost else fits


@dataclass
class RangeErrorMean:
    """Running mean of what an anchor's ranges are off; of weights that fade.

    Attributes:
        total: of weights times what is off [1/m].
        weight: of all [1/m^2].
        noise: what the sum of the weights' squares would be, each over its weight [1/m^2].
        way: (3,) newest direction from the anchor to the aircraft.
        age: of the newest [s].
    """

    total: float
    weight: float
    noise: float
    way: Array
    age: float = 0.0

    def fade(self, span: float, memory: float) -> None:
        """Let what came so far count less after some time [s]."""
        share = float(np.exp(-span / memory))
        self.age += span
        self.total *= share
        self.weight *= share
        self.noise *= share**2

    def take(self, off: float, weight: float, way: Array) -> None:
        """Take what ranges of one time are off in the mean [m]."""
        self.total += weight * off
        self.weight += weight
        self.noise += weight
        self.way, self.age = way, 0.0


class RangeGate:
    """Says which anchors an aircraft is to leave out.

    Args:
        aircraft: how many aircraft there are.
        spec: see `RangeGateSpec`.
        width: deviations to which one range is taken in; that of the ranges' robust kernel.

    Attributes:
        refused: of every aircraft, the anchors that are left out now.
    """

    def __init__(self, aircraft: int, spec: RangeGateSpec, width: float) -> None:
        self._spec, self._width = spec, width
        self._means: list[dict[int, RangeErrorMean]] = [{} for _ in range(aircraft)]
        self.refused: list[set[int]] = [set() for _ in range(aircraft)]

    @property
    def knows_any(self) -> bool:
        """True if any aircraft had a range of late."""
        return any(self._means)

    def begin(self) -> None:
        """Forget what ranges were off: the states are new ones."""
        for means in self._means:
            means.clear()

    def check(self, a: int, measured: Array, span: float, P: Array) -> None:
        """Take an aircraft's ranges of some time, and decide on its anchors.

        Args:
            a: the aircraft.
            measured: (n, 6) anchor, range less the foreseen one [m], its deviation [m], direction from the anchor (3).
            span: length of that time [s].
            P: (3, 3) covariance of the foreseen place [m^2].
        """
        memory = self._spec.memory
        for mean in self._means[a].values():
            mean.fade(span, memory)
        means = {of: one for of, one in self._means[a].items() if one.age < MEMORY_FACTOR * memory}
        self._means[a] = means
        for anchor in np.unique(measured[:, 0]):
            _, offs, sigmas, *ways = measured[measured[:, 0] == anchor].T
            weights, limit = sigmas**-2, self._width * sigmas
            off = float(weights @ np.clip(offs, -limit, limit) / weights.sum())
            mean = means.setdefault(int(anchor), RangeErrorMean(0.0, 0.0, 0.0, np.zeros(3)))
            mean.take(off, float(weights.sum()), np.mean(ways, axis=1))
        self._decide(a, P)

    def _decide(self, a: int, P: Array) -> None:
        anchors, means = list(self._means[a]), list(self._means[a].values())
        if not anchors:
            self.refused[a] = set()
            return
        m = np.array([mean.total / mean.weight for mean in means])
        U = np.array([mean.way for mean in means])
        noise = np.array([mean.noise / mean.weight**2 for mean in means]) + self._spec.floor**2
        accepted = [i for i, anchor in enumerate(anchors) if anchor not in self.refused[a]]
        accepted = self._consistent(m, U @ P @ U.T + np.diag(noise), accepted)
        if 2 * len(accepted) < len(anchors):  # rather it is the estimate that is off
            accepted = list(range(len(anchors)))
        self.refused[a] = set(anchors) - {anchors[i] for i in accepted}

    def _consistent(self, m: Array, S: Array, accepted: list[int]) -> list[int]:
        """The means that are consistent with each other and S, if some were so before."""
        for i in set(range(len(m))) - set(accepted):
            if abs(apart(m, S, [*accepted, i])[-1]) < self._spec.back:
                accepted = [*accepted, i]
        while accepted:
            z = np.abs(apart(m, S, accepted))
            if z.max() <= self._spec.limit:
                break
            accepted = [i for i in accepted if i != accepted[int(np.argmax(z))]]
        return accepted


def apart(m: Array, S: Array, among: list[int]) -> Array:
    """Distance of each mean from that of S and of the others, in deviations."""
    inverse = np.linalg.inv(S[np.ix_(among, among)])
    return (inverse @ m[among]) / np.sqrt(np.diag(inverse))


class AnchorWatch:
    """Takes anchors out of a window whose ranges are wrong for long, and single ranges that took a detour.

    Attributes:
        left_out: what was left out so far, once for every time that it began to be.
    """

    def __init__(self, window: Window, ranges: RangeTerms, spec: VirpoSpec) -> None:
        self._window, self._ranges = window, ranges
        lasting, width = spec.range_gate, spec.huber.ranges
        self._gate = (
            RangeGate(ranges.aircraft_count, lasting, width) if lasting is not None else None
        )
        self._detours = (
            None
            if spec.detour_gate is None
            else DetourGate(ranges.aircraft_count, spec.detour_gate)
        )
        self.left_out: list[LeftOut] = []

    @property
    def refused(self) -> list[set[int]]:
        """The anchors that are left out now, of every aircraft."""
        if self._gate is None:
            return [set() for _ in range(self._ranges.aircraft_count)]
        return self._gate.refused

    def begin(self) -> None:
        """The window begins anew."""
        for gate in (self._gate, self._detours):
            if gate is not None:
                gate.begin()

    def look(self, t: float, interval: Interval) -> None:
        """Judge by the last interval, which ends at t and from which nothing has been estimated yet."""
        if self._detours is None and self._gate is None:
            return
        newest = self._ranges.newest(self._window.states)
        knows_any = self._gate is not None and self._gate.knows_any
        if not any(map(len, newest)) and not knows_any:
            return
        places = self._places(interval)
        if self._detours is not None:
            self._leave_detours(newest, places, self._detours)
        if self._gate is not None:
            self._leave_anchors(t, interval.span, newest, places, self._gate)

    def _places(self, interval: Interval) -> dict[int, Array]:
        """Covariance (3, 3) of each foreseen place [m^2], but of aircraft of which nothing says where they are."""
        states, C = self._window.states, self._window.covariance()
        return {
            a: place_after(
                covariance_in_world(C, a, states.x[-2], states.alignment[a]), interval.span
            )
            for a in range(self._ranges.aircraft_count)
            if a not in interval.silent
        }

    def _leave_detours(
        self, newest: list[Array], places: dict[int, Array], gate: DetourGate
    ) -> None:
        for a, P in places.items():
            kept = gate.direct(a, newest[a], P)
            self._ranges.keep_newest(self._window.states, a, kept)
            self._window.keep_newest(a, kept)

    def _leave_anchors(
        self,
        t: float,
        span: float,
        newest: list[Array],
        places: dict[int, Array],
        gate: RangeGate,
    ) -> None:
        for a, P in places.items():
            before = gate.refused[a]
            gate.check(a, newest[a], span, P)
            new = sorted(gate.refused[a] - before)
            self.left_out += [LeftOut(t, a, anchor) for anchor in new]
        if any(gate.refused):
            self._window.leave_out(gate.refused)
            self._ranges.leave_out(gate.refused)


def place_after(C: Array, span: float) -> Array:
    """Covariance (3, 3) of a place some time [s] after that of a state (15, 15)."""
    drift = span * C[:3, 6:9]
    return C[:3, :3] + drift + drift.T + span**2 * C[6:9, 6:9]
