# SPDX-License-Identifier: BSD-3-Clause
"""Pegs as a kind of tasks: their hand-written agent, what an oracle does, and their episode in an engine."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.values import NonNegative, Positive
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.kinds.peg_in_hole.counts import PegCounts, PegRules, count, measures
from iap_learning.tasks.kinds.peg_in_hole.episodes import PegEpisodes
from iap_learning.tasks.kinds.peg_in_hole.holes import Holes
from iap_learning.tasks.kinds.peg_in_hole.interface import PegInterface
from iap_learning.tasks.kinds.peg_in_hole.task import PegTask
from iap_learning.tasks.touch_episodes import TouchEngineEpisode
from iap_learning.tasks.touch_policy import touch_kind
from iap_simulation.simulation.simulation import Simulation


class InsertSettings(AgentSettings):
    """Gains of the agent.

    Attributes:
        approach: speed towards the mouth [m/s].
        gate: distance of the tip from where the bore is believed to begin, from which on it goes slowly [m].
        insert: speed from there on [m/s].
        stop: depth that it goes to as it believes it [m].
        yields: velocity across the rod of a force [m/(s N)].
        turns: rate of a torque about the tip [rad/(s N m)].
        steers: rate of a force across the rod, towards where the tip is pushed [rad/(s N)].
        resist: force along the rod at which it goes no further [N].
    """

    guide: Literal["insert"]
    approach: Positive
    gate: NonNegative
    insert: Positive
    stop: Positive
    yields: NonNegative
    turns: NonNegative
    steers: NonNegative
    resist: Positive


class InsertAgent(ScriptedAgent[InsertSettings, PegEpisodes]):
    """Goes along its rod, yields to forces across it, and turns as torques about its tip ask."""

    SETTINGS = InsertSettings
    TASKS = "pegs"

    def begin(self, indices: Integers) -> None:
        """Nothing is remembered."""

    def values(self) -> Array:
        """(B, 5) twists of the tip's reference at the present instant."""
        s, peg = self.settings, self.episodes.inputs
        depth = -peg.mouth[:, 0]
        speed = np.where(depth < -s.gate, s.approach, s.insert) * (depth < s.stop)
        onward = speed * np.clip(1.0 - np.abs(peg.force_P[:, 0]) / s.resist, -0.3, 1.0)
        across = s.yields * peg.force_P[:, 1:]
        towards = np.column_stack([peg.force_P[:, 2], -peg.force_P[:, 1]])
        turn = s.turns * peg.torque_P[:, 1:] + s.steers * towards
        return np.column_stack([-onward, across, turn])


class OracleSettings(AgentSettings):
    """Gains of the oracle.

    Attributes:
        approach: speed along the bore [m/s].
        rate: of ways and turns to its axis [1/s].
        near: way from the axis within which it goes in [m].
        aligned: sine of the angle to the axis within which it goes in.
        stop: depth that it goes to [m].
    """

    guide: Literal["insert_oracle"]
    approach: Positive
    rate: Positive
    near: Positive
    aligned: Positive
    stop: Positive


class OracleAgent(ScriptedAgent[OracleSettings, PegEpisodes]):
    """Knows the bore, and goes in along its axis: what forces of the platform can solve at all."""

    SETTINGS = OracleSettings
    TASKS = "pegs"

    def begin(self, indices: Integers) -> None:
        """Nothing is remembered."""

    def values(self) -> Array:
        """(B, 5) twists of the tip's reference at the present instant."""
        s, (ways, turns) = self.settings, self.episodes.off_axis()
        peg = self.episodes.inputs
        is_there = np.linalg.norm(ways[:, 1:], axis=1) < s.near
        is_there &= np.linalg.norm(turns, axis=1) < s.aligned
        onward = s.approach * (is_there & (-peg.mouth[:, 0] < s.stop))
        return np.column_stack([-onward, s.rate * ways[:, 1:], s.rate * turns[:, 1:]])


class PegEngineEpisode(TouchEngineEpisode):
    """A peg in an engine.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: PegTask) -> None:
        scenario = simulation.scenario
        self._holes = Holes.of(task, scenario, 1)
        self._holes.draw(0, task.hole, scenario)
        self._rules, self._counts = PegRules.of(task, scenario.dt), PegCounts.of(1)
        super().__init__(simulation, self._counts)

    def _count(self) -> None:
        x = self._plant.state(0)[:, 0]
        depths = self._holes.inside(self._holes.tips(x))[:, 0].copy()
        forces = np.linalg.norm(self._plant.contact_wrench(0)[None, :3], axis=1)
        count(forces, depths, self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._rules, self._counts, self._dt)


PEG_IN_HOLE = touch_kind(
    "peg_in_hole",
    PegTask,
    episodes=PegEpisodes,
    engine_episode=PegEngineEpisode,
    interface=PegInterface,
    agents={"insert": InsertAgent, "insert_oracle": OracleAgent},
)
