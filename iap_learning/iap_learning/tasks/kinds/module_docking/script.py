# SPDX-License-Identifier: BSD-3-Clause
"""The coordinator's own approach, which flies the task without learning: alignment, then approach."""

from collections.abc import Iterable

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import ModuleReports
from iap_description.arrays import Array, Integers
from iap_description.states import REF_P, REF_V
from iap_physics.engines.engine import RUNNING
from iap_simulation.batch.references import References
from iap_simulation.modules.pairs import ModulePairs

UNTOLD = np.zeros((2, 6))  # wrenches of observers, which apart modules have no use for


class Script:
    """A coordinator for each world, as single runs have it.

    Args:
        pairs: the worlds.
    """

    def __init__(self, pairs: ModulePairs) -> None:
        self._pairs = pairs
        self._coordinators: list[Coordinator | None] = [None] * len(pairs.seeds)
        rows = [worlds.timeline.row(0) for worlds in pairs.both]
        self._nominal = np.array(rows)
        self._follower = pairs.both.index(pairs.follower)
        self._rows = np.repeat(rows[self._follower][None], len(pairs.seeds), axis=0)

    def reset(self, chosen: Iterable[int]) -> None:
        """Forget the last episodes of some worlds."""
        for b in chosen:
            self._coordinators[b] = None

    def coordinate(self, outcome: Integers) -> None:
        """Let the coordinators of worlds whose episodes run decide at this instant."""
        pairs = self._pairs
        estimates = np.stack([worlds.measured for worlds in pairs.both], axis=1)
        leader, follower = pairs.shared
        rows = (follower, leader) if self._follower == 0 else (leader, follower)
        shared = np.stack(rows, axis=1)
        out = np.empty_like(self._nominal)
        for b in np.flatnonzero(outcome == RUNNING).tolist():
            coordinator = self._coordinators[b] or pairs.coordinator()
            self._coordinators[b] = coordinator
            t = float(pairs.times[b])
            command_times = np.full(2, t)
            told = ModuleReports(
                t, estimates[b], shared[b], UNTOLD, self._nominal, command_times, {}
            )
            coordinator.update(told)
            coordinator.put_rows(t, self._nominal, out)
            self._rows[b] = out[self._follower]

    def references(self, elapsed: float) -> References:
        """What followers track so long after `coordinate` [s]: setpoints go on at their velocities."""
        rows: Array = self._rows.copy()
        rows[:, REF_P] += elapsed * rows[:, REF_V]
        return References.of(rows)
