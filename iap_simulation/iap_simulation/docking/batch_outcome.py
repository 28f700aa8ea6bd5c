# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of dockings in many worlds, see `iap_simulation.docking.outcome`."""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import formula, norm, vec_at
from iap_description.vehicles.latch import PortFrame
from iap_physics.docking.pairs import Pairs
from iap_physics.engines.engine import RUNNING
from iap_physics.latching.kernel import CAUGHT, LOCKED
from iap_simulation.docking.outcome import (
    START,
    DockingInstant,
    DockingLimits,
    DockingProgress,
    follow,
    outcome,
    status_of,
)
from iap_simulation.tasks.outcomes import CRASHED


class DockingRecords(NamedTuple):
    """Progress and outcomes of dockings in B worlds; arrays (B,), see `DockingProgress`.

    Attributes:
        closing: [m/s].
        closing_speed: [m/s].
        force_peak: [N].
        lock: [s].
        calm: [s].
        succeeded: whether it has been calm for long enough.
        outcome: by the scenario's limits, see `iap_simulation.tasks.outcomes`; progress ends with it.
    """

    closing: Array
    closing_speed: Array
    force_peak: Array
    lock: Array
    calm: Array
    succeeded: Booleans
    outcome: Integers

    @classmethod
    def of(cls, batch: int) -> Self:
        """Records of worlds that have not begun."""
        closing, closing_speed, force_peak, lock, calm = np.zeros((5, batch))
        succeeded, outcomes = np.zeros(batch, bool), np.zeros(batch, np.int64)
        return cls(closing, closing_speed, force_peak, lock, calm, succeeded, outcomes)

    def reset(self, worlds: Integers) -> None:
        """Begin anew in some worlds."""
        for array, value in zip(self, (*START, RUNNING), strict=True):
            array[worlds] = value


@formula
def is_held(pairs: Pairs, b: int) -> bool:
    """True if the latch of world b holds the probe."""
    return pairs.phase[b] == CAUGHT or pairs.phase[b] == LOCKED


@formula
def instant_of(pairs: Pairs, records: DockingRecords, b: int, t: float) -> DockingInstant:
    """World b at simulation time t [s]; a crash in an instant before remains its status."""
    status = CRASHED if records.outcome[b] == CRASHED else pairs.status[b]
    caught = pairs.caught[b, 0] if is_held(pairs, b) else math.nan
    force = norm(vec_at(pairs.contact[b], 0))
    locked = pairs.phase[b] == LOCKED
    return DockingInstant(t, status, pairs.x[b, 0], pairs.x[b, 1], force, caught, locked)


@formula
def progress_of(records: DockingRecords, b: int) -> DockingProgress:
    """Progress of world b."""
    return DockingProgress(
        records.closing[b],
        records.closing_speed[b],
        records.force_peak[b],
        records.lock[b],
        records.calm[b],
        records.succeeded[b],
    )


@njit(cache=True)
def follow_all(
    pairs: Pairs,
    records: DockingRecords,
    ports: tuple[PortFrame, PortFrame],
    limits: DockingLimits,
    ground_clearance: tuple[float, float],
    times: Array,
) -> None:
    """Follow every world whose docking goes on by one control instant.

    Args:
        pairs: the worlds.
        records: moved on.
        ports: of probe and socket.
        limits: of the scenario.
        ground_clearance: of target and chaser, see `status_of` [m].
        times: (B,) simulation times [s].
    """
    for b in range(len(times)):
        if records.outcome[b] != RUNNING:
            continue
        now = instant_of(pairs, records, b, times[b])
        progress = progress_of(records, b)
        if now.status == RUNNING:
            progress = follow(progress, now, ports, limits)
            _store(records, b, progress)
            status = status_of(now.status, now.target, ground_clearance[0])
            status = status_of(status, now.chaser, ground_clearance[1])
            now = DockingInstant(
                now.t, status, now.target, now.chaser, now.force, now.caught, now.locked
            )
        records.outcome[b] = outcome(now, progress, limits)


@formula
def _store(records: DockingRecords, b: int, progress: DockingProgress) -> None:
    records.closing[b] = progress.closing
    records.closing_speed[b] = progress.closing_speed
    records.force_peak[b] = progress.force_peak
    records.lock[b] = progress.lock
    records.calm[b] = progress.calm
    records.succeeded[b] = progress.succeeded
