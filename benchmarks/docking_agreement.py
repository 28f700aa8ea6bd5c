# SPDX-License-Identifier: BSD-3-Clause
"""The same dockings in the batched contact and in the engines, and what came of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import FlightFailed
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.docking.worlds import DockingWorlds
from iap_simulation.simulation.simulation import Simulation

BATCHED = "batched"  # the contact of `iap_physics.docking`, beside engines' names


class Dockings(NamedTuple):
    """Outcomes of n dockings.

    Attributes:
        succeeded: (n,) whether each has.
        lock: (n,) time of the lock [s], NaN without one.
        force_peak: (n,) [N].
        closing_speed: (n,) at the first touch [m/s], NaN without one.
    """

    succeeded: Booleans
    lock: Array
    force_peak: Array
    closing_speed: Array

    @classmethod
    def of(cls, rows: Sequence[tuple[bool, float, float, float]]) -> Self:
        """Of one row for each."""
        succeeded, *numbers = zip(*rows, strict=True)
        return cls(np.array(succeeded, bool), *(np.array(each, float) for each in numbers))

    @property
    def success_rate(self) -> float:
        """Share that has succeeded."""
        return float(self.succeeded.mean())

    @property
    def mean_time(self) -> float:
        """Mean time to the lock of those that have succeeded [s]; NaN if none has."""
        return float(self.lock[self.succeeded].mean()) if self.succeeded.any() else float("nan")


def fly_dockings(
    scenario: str,
    contact: str,
    seeds: Sequence[int],
    progress: Callable[[int], None] = lambda _: None,
) -> Dockings:
    """Dockings of a scenario under the script, whatever policy the scenario names.

    Args:
        scenario: its name or file.
        contact: `BATCHED`, or the name of an engine.
        seeds: of the flights.
        progress: is told how many have been flown.

    Raises:
        BadInput: there is no such scenario or engine, or it cannot be flown there.
    """
    if contact == BATCHED:
        worlds = DockingWorlds.of(scenario, seeds)
        worlds.fly_script()
        records = worlds.records
        numbers = (records.lock, records.force_peak, records.closing_speed)
        return Dockings(records.succeeded, *numbers)
    rows = []
    with Simulation.of(
        scenario, settings={"policy": "script"}, engine=contact, seed=seeds[0]
    ) as simulation:
        for seed in seeds:
            rows.append(_fly(simulation, seed))
            progress(len(rows))
    return Dockings.of(rows)


def _fly(simulation: Simulation, seed: int) -> tuple[bool, float, float, float]:
    simulation.reset(seed)
    try:
        while not simulation.is_done:
            simulation.step()
    except FlightFailed:  # a crash is no success, and no more than that here
        return _row(simulation, crashed=True)
    return _row(simulation, crashed=False)


def _row(simulation: Simulation, *, crashed: bool) -> tuple[bool, float, float, float]:
    task = simulation.task
    if not isinstance(task, DockingMonitor):
        raise TypeError("the scenario docks nothing")
    progress = task.progress
    has_docked = progress.succeeded and not crashed
    return has_docked, progress.lock, progress.force_peak, progress.closing_speed
