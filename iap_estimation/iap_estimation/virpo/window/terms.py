# SPDX-License-Identifier: BSD-3-Clause
"""Terms of a window besides those of every aircraft's cameras and inertial unit: ranges, rest, neighbours."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_estimation.virpo.algebra.states import AIRCRAFT, States
from iap_estimation.virpo.factors.neighbours import MEASURED, Neighbours, fill_waypoints
from iap_estimation.virpo.factors.physical import (
    add_drift,
    add_drift_prior,
    add_physical,
    drift_cost,
    physical_cost,
)
from iap_estimation.virpo.factors.ranging import AIRCRAFT as OF
from iap_estimation.virpo.factors.ranging import (
    FRAME,
    NAME,
    SIGMA,
    WIDTH,
    add_ranges,
    ranges_cost,
    ranges_off,
)
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.spec import Physical, StartDeviations, VirpoSpec
from iap_estimation.virpo.window.interval import Interval

NO_DRIFT = 1e-4  # what a drift may be [m, rad], and how it may walk [.../sqrt(s)], where none is estimated
ALL = -1  # factors of every keyframe


class Terms(Protocol):
    """One kind of terms of the cost; interval k is between the keyframes k and k + 1."""

    def begin(self, states: States, deviations: StartDeviations, H: Array) -> None:
        """Forget all; a window begins with one keyframe, and H is its first information, to be added to."""

    def enter(self, k: int, interval: Interval, states: States) -> None:
        """Interval k has come, as the last one; predict what of the newest states is these terms' own."""

    def leave(self, frame: int) -> None:
        """The second newest keyframe goes; its two intervals will enter as one."""

    def leave_first(self) -> None:
        """The oldest keyframe goes, and all that `add` gives for it."""

    def add(self, states: States, only: int, H: Array, g: Array) -> float:
        """Add all terms, or those that the oldest keyframe takes along, to the normal equations; their cost."""

    def cost(self, states: States) -> float:
        """The cost alone."""

    def count(self) -> int:
        """Number of measured components."""


class RowTerms:
    """Base of terms that are rows, each of an instant after the keyframe in its column `FRAME`."""

    def __init__(self, width: int) -> None:
        self._rows = np.zeros((0, width))

    def leave(self, frame: int) -> None:
        """See `Terms.leave`."""
        self._rows = self._rows[self._rows[:, FRAME] < frame - 1]

    def leave_first(self) -> None:
        """See `Terms.leave_first`."""
        self._rows = self._rows[self._rows[:, FRAME] > 0.0]
        self._rows[:, FRAME] -= 1.0

    def count(self) -> int:
        """See `Terms.count`."""
        return len(self._rows)


class RangeTerms(RowTerms):
    """Ranges to anchors: `iap_estimation.virpo.factors.ranging`."""

    def __init__(self, fleet: Fleet, width: float) -> None:
        super().__init__(WIDTH)
        self._antennas = np.array([model.p_BA_B for model in fleet.aircraft])
        self._gravity, self._width = fleet.gravity, width

    @property
    def aircraft_count(self) -> int:
        """Number of aircraft."""
        return len(self._antennas)

    def begin(self, states: States, deviations: StartDeviations, H: Array) -> None:
        """See `Terms.begin`."""
        self._rows = self._rows[:0]

    def enter(self, k: int, interval: Interval, states: States) -> None:
        """See `Terms.enter`."""
        rows = interval.range_rows(states.x[k, :, 10:], self._antennas, self._gravity)
        rows[:, FRAME] = k
        self._rows = np.concatenate([self._rows, rows])

    def newest(self, states: States) -> list[Array]:
        """Residuals of the ranges after the second newest keyframe, of every aircraft: see `RangeGate.judge`."""
        rows = self._rows[self._rows[:, FRAME] == len(states.x) - 2]
        off = np.empty((len(rows), 4))
        ranges_off(states.x, states.alignment, rows, off)
        measured = np.column_stack([rows[:, NAME], off[:, 0], rows[:, SIGMA], off[:, 1:]])
        return [measured[rows[:, OF] == a] for a in range(self.aircraft_count)]

    def keep_newest(self, states: States, a: int, kept: Booleans) -> None:
        """Forget those of an aircraft's ranges after the second newest keyframe that are not to be kept (n,)."""
        is_newest = (self._rows[:, FRAME] == len(states.x) - 2) & (self._rows[:, OF] == a)
        stays = ~is_newest
        stays[is_newest] = kept
        self._rows = self._rows[stays]

    def leave_out(self, refused: Sequence[set[int]]) -> None:
        """Forget all ranges to some anchors, of every aircraft."""
        for a, anchors in enumerate(refused):
            is_of = (self._rows[:, OF] == a) & np.isin(self._rows[:, NAME], list(anchors))
            self._rows = self._rows[~is_of]

    def add(self, states: States, only: int, H: Array, g: Array) -> float:
        """See `Terms.add`."""
        x, stride = states.x, states.stride
        return add_ranges(x, states.alignment, self._rows, only, self._width, H, g, stride)

    def cost(self, states: States) -> float:
        """See `Terms.cost`."""
        return ranges_cost(states.x, states.alignment, self._rows, self._width)


class RestTerms:
    """Aircraft that stand still do not move.

    Args:
        fleet: the aircraft.
        deviation: of their velocity from zero [m/s].
    """

    def __init__(self, fleet: Fleet, deviation: float) -> None:
        self._aircraft_count, self._weight = len(fleet.aircraft), 1.0 / deviation**2
        self._still = np.zeros((1, self._aircraft_count), dtype=bool)

    def hold(self, aircraft: int) -> None:
        """Note that an aircraft stands still at the newest keyframe."""
        self._still[-1, aircraft] = True

    def is_held(self, aircraft: int) -> bool:
        """True if an aircraft stands still at the newest keyframe."""
        return bool(self._still[-1, aircraft])

    def begin(self, states: States, deviations: StartDeviations, H: Array) -> None:
        """See `Terms.begin`."""
        self._still = np.zeros((1, self._aircraft_count), dtype=bool)

    def enter(self, k: int, interval: Interval, states: States) -> None:
        """See `Terms.enter`."""
        if len(self._still) < len(states.x):
            self._still = np.vstack([self._still, np.zeros(self._aircraft_count, dtype=bool)])

    def leave(self, frame: int) -> None:
        """See `Terms.leave`."""
        self._still = np.delete(self._still, frame, axis=0)

    def leave_first(self) -> None:
        """See `Terms.leave_first`."""
        self._still = self._still[1:]

    def add(self, states: States, only: int, H: Array, g: Array) -> float:
        """See `Terms.add`."""
        cost = 0.0
        for k, a in np.argwhere(self._still):
            if only in (ALL, k):
                v = states.x[k, a, 7:10]
                at = k * states.stride + AIRCRAFT * a + 6
                g[at : at + 3] += self._weight * v
                H[range(at, at + 3), range(at, at + 3)] += self._weight
                cost += 0.5 * self._weight * float(v @ v)
        return cost

    def cost(self, states: States) -> float:
        """See `Terms.cost`."""
        v = states.x[:, :, 7:10][self._still]
        return 0.5 * self._weight * float(np.sum(v * v))

    def count(self) -> int:
        """See `Terms.count`."""
        return 3 * int(self._still.sum())


class PhysicalTerms(RowTerms):
    """Neighbours of one aircraft, r_kp, r_kv, r_kq and r_drift: `iap_estimation.virpo.factors.physical`.

    Args:
        fleet: all aircraft; with places of joints.
        aircraft: index of the aircraft.
        spec: see `VirpoSpec`.
    """

    def __init__(self, fleet: Fleet, aircraft: int, spec: VirpoSpec) -> None:
        assert fleet.d is not None  # noqa: S101 - aircraft that nothing joins have no such terms
        measured = spec.physical
        deviations = (measured.distance, measured.turn, measured.tilt)
        flags = (measured.position, measured.velocity, measured.attitude)
        self._neighbours = Neighbours.of(fleet.d, aircraft, deviations, flags)
        self._joint = np.ascontiguousarray(fleet.aircraft[aircraft].p_BJ_B)
        self._gravity = fleet.gravity
        self._most, self._width = measured.instants, spec.huber.physical
        self._walk, self._prior = _drift_of(measured)
        super().__init__(self._neighbours.width)
        self._spans = np.zeros(0)

    def begin(self, states: States, deviations: StartDeviations, H: Array) -> None:
        """See `Terms.begin`."""
        self._rows, self._spans = self._rows[:0], np.zeros(0)
        add_drift_prior(states, self._prior, H)

    def enter(self, k: int, interval: Interval, states: States) -> None:
        """See `Terms.enter`."""
        self._spans = np.append(self._spans[:k], interval.span)
        met = interval.meetings
        if self._most is not None and len(met) > self._most:
            last = (np.arange(self._most) + 1) * len(met) // self._most - 1
            met = met[last]
        if not len(met):
            return
        rows = np.zeros((len(met), self._neighbours.width))
        rows[:, MEASURED:] = met[:, 1:]
        samples, times = interval.samples[0], np.ascontiguousarray(met[:, 0])
        fill_waypoints(samples, states.x[k, 0, 10:], times, self._joint, self._gravity, rows)
        rows[:, FRAME] = k
        self._rows = np.concatenate([self._rows, rows])

    def leave_first(self) -> None:
        """See `Terms.leave_first`."""
        super().leave_first()
        self._spans = self._spans[1:]

    def add(self, states: States, only: int, H: Array, g: Array) -> float:
        """See `Terms.add`."""
        cost = add_physical(states, self._rows, self._neighbours, only, self._width, H, g)
        return cost + add_drift(states, self._spans, self._walk, only, H, g)

    def cost(self, states: States) -> float:
        """See `Terms.cost`."""
        cost = physical_cost(states, self._rows, self._neighbours, self._width)
        return cost + drift_cost(states, self._spans, self._walk)


def _drift_of(measured: Physical) -> tuple[Array, Array]:
    """Walk (position, yaw, memory) and prior (position, yaw) of the drifts."""
    if not measured.drift:
        return np.array([NO_DRIFT, NO_DRIFT, math.inf]), np.full(2, NO_DRIFT)
    memory = math.inf if measured.drift_memory is None else measured.drift_memory
    return (
        np.array([measured.drift_position, measured.drift_yaw, memory]),
        np.array([measured.prior_position, measured.prior_yaw]),
    )
