# SPDX-License-Identifier: BSD-3-Clause
"""Perches on a wall as a kind of tasks: their hand-written agents, and their episode in an engine."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.values import NonNegative, Positive
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.kinds.perch_on_wall.approach_line import latch_of
from iap_learning.tasks.kinds.perch_on_wall.counts import PerchCounts, PerchRules, count, measures
from iap_learning.tasks.kinds.perch_on_wall.episodes import PerchEpisodes, note
from iap_learning.tasks.kinds.perch_on_wall.interface import PerchInterface
from iap_learning.tasks.kinds.perch_on_wall.observations import PerchInputs
from iap_learning.tasks.kinds.perch_on_wall.task import PerchTask
from iap_learning.tasks.touch_episodes import TouchEngineEpisode
from iap_learning.tasks.touch_policy import touch_kind
from iap_physics.engines.engine import RUNNING
from iap_physics.latching.latches import Latches
from iap_simulation.simulation.simulation import Simulation


class AlightSettings(AgentSettings):
    """Gains of the agents.

    Attributes:
        cruise: fastest closing speed [m/s].
        touch: closing speed at the wall [m/s].
        time: time to contact below which it slows down to that [s].
        kV: share of the closing speed's error that is added to it.
        kI: rate at which that error is added up, and to it [1/s]: wind is against it.
    """

    guide: Literal["alight", "alight_oracle"]
    cruise: Positive
    touch: Positive
    time: Positive
    kV: NonNegative
    kI: NonNegative


class AlightAgent(ScriptedAgent[AlightSettings, PerchEpisodes]):
    """Comes fast, slows down by the time to contact, and keeps the speed at which the patch sticks."""

    SETTINGS = AlightSettings
    TASKS = "perches on a wall"

    def __init__(self, settings: AlightSettings, episodes: PerchEpisodes) -> None:
        self._integral = np.zeros(episodes.count)  # [m/s]
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Forget the winds of some worlds' last episodes."""
        self._integral[indices] = 0.0

    def values(self) -> Array:
        """(B, 1) velocities towards the wall at the present instant [m/s]."""
        s, perch, touch = self.settings, self._inputs, self._touch
        ahead = np.clip(perch.range / s.time, touch, s.cruise)
        missing = np.where(perch.held > 0.0, 0.0, ahead - perch.closing)
        self._integral += self.episodes.dt * s.kI * missing
        return np.asarray(ahead + s.kV * missing + self._integral)[:, None]

    @property
    def _inputs(self) -> PerchInputs:
        return self.episodes.inputs

    @property
    def _touch(self) -> Array:
        """(B,) closing speeds at the wall [m/s]."""
        return np.full(self.episodes.count, self.settings.touch)


class AlightOracle(AlightAgent):
    """Knows the range, its rate and the least speed at which this seed's face catches."""

    @property
    def _inputs(self) -> PerchInputs:
        return self.episodes.true_inputs

    @property
    def _touch(self) -> Array:
        """Halfway from the least speed that catches to the agent's own, where that is more."""
        least = [self.episodes.least_speed(world) for world in range(self.episodes.count)]
        return np.asarray(0.5 * (np.array(least) + self.settings.touch))


class PerchEngineEpisode(TouchEngineEpisode):
    """A perch in an engine.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: PerchTask) -> None:
        latch_of(task, simulation.scenario)
        latches = simulation.plant.part(Latches)
        assert latches is not None  # noqa: S101 - the scenario has a latch
        self._latches, self._name = latches, task.latch
        self._number = list(simulation.scenario.latches).index(task.latch)
        self._rules = PerchRules.of(task, simulation.scenario.dt)
        self._counts = PerchCounts.of(1)
        super().__init__(simulation, self._counts)

    def _count(self) -> None:
        forces = np.linalg.norm(self._plant.contact_wrench(0)[None, :3], axis=1)
        endings, phases = np.full(1, RUNNING), np.array([self._latches.numbers[self._number]])
        note(self._latches, self._name, 0, endings, self._counts)
        count(forces, phases, endings, self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._counts, self._dt)


PERCH_ON_WALL = touch_kind(
    "perch_on_wall",
    PerchTask,
    episodes=PerchEpisodes,
    engine_episode=PerchEngineEpisode,
    interface=PerchInterface,
    agents={"alight": AlightAgent, "alight_oracle": AlightOracle},
)
