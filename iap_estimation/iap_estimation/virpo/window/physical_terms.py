# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours in the window of one aircraft: `iap_estimation.virpo.factors.physical` as terms of the window's cost."""

import math

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.algebra.states import States
from iap_estimation.virpo.factors.neighbours import MEASURED, Neighbours, fill_waypoints
from iap_estimation.virpo.factors.physical import (
    add_drift,
    add_drift_prior,
    add_physical,
    drift_cost,
    physical_cost,
)
from iap_estimation.virpo.factors.ranging import FRAME
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.spec import Physical, StartDeviations, VirpoSpec
from iap_estimation.virpo.window.interval import Interval
from iap_estimation.virpo.window.terms import RowTerms

NO_DRIFT = 1e-4  # what a drift may be [m, rad], and how it may walk [.../sqrt(s)], where none is estimated


class PhysicalTerms(RowTerms):
    """r_kp, r_kv, r_kq and r_drift of one aircraft.

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
        self._joint, self._gravity = fleet.aircraft[aircraft].p_BJ_B, fleet.gravity
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
