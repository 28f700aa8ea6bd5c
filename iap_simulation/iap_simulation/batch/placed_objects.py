# SPDX-License-Identifier: BSD-3-Clause
"""The objects of many worlds where their seeds place them, and their states as time goes on."""

from typing import Protocol

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.world.object_motions import MotionTable
from iap_description.world.world import World
from iap_physics.engines.batch_engine import ObjectEngine
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario


class SeededWorlds(Protocol):
    """Worlds as `PlacedObjects` reads them, see `iap_simulation.batch.worlds.Worlds`."""

    seeds: Integers
    scenario: Scenario

    @property
    def times(self) -> Array:
        """(B,) simulation time of each world [s]."""

    def world(self, i: int) -> Scenario:
        """The scenario of one world."""


class PlacedObjects:
    """The worlds (ground, scene and objects) of B seeds.

    Args:
        worlds: whose seeds place them.
        engine: in which objects move; None where they move as prescribed alone.

    Attributes:
        is_drawn: whether worlds of other seeds have other objects.
    """

    def __init__(self, worlds: SeededWorlds, engine: ObjectEngine | None) -> None:
        self._worlds, self._engine = worlds, engine
        first, count = placed_world(worlds.scenario), len(worlds.seeds)
        self.is_drawn = first is not worlds.scenario.world
        self._placed = [first] * count
        self._seeds = np.full(count, worlds.scenario.seed, dtype=np.int64)
        motions = [item.motion for item in first.objects.values()]
        self._moves = any(item.moves for item in first.objects.values())
        self._motions = MotionTable.of(first.resting_rows(), motions, count)

    def world(self, i: int) -> World:
        """The world of the present seed of world i."""
        self._renew()
        return self._placed[i]

    def states(self, indices: Integers | None = None) -> Array:
        """State rows (n, objects, 13) of all worlds' objects at their present times, or of those of some worlds."""
        which = np.arange(len(self._seeds)) if indices is None else indices
        if self._engine is not None:
            return np.array([self._engine.object_states_of(i) for i in which.tolist()])
        self._renew()
        if not self._moves:
            return self._motions.rows[which]
        return self._motions.states(which, self._worlds.times[which])

    def states_ahead(self, seconds: float) -> Array:
        """State rows (B, objects, 13) of objects that move as prescribed, a time after the present one [s]."""
        self._renew()
        every = np.arange(len(self._seeds))
        return self._motions.states(every, self._worlds.times + seconds)

    def _renew(self) -> None:
        """Place the objects of seeds that have changed."""
        if not self.is_drawn:
            return
        for i in np.flatnonzero(self._seeds != self._worlds.seeds).tolist():
            placed = placed_world(self._worlds.world(i))
            motions = [item.motion for item in placed.objects.values()]
            self._motions.put(i, placed.resting_rows(), motions)
            self._placed[i] = placed
        self._seeds[:] = self._worlds.seeds
