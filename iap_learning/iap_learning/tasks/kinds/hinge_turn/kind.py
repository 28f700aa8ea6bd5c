# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on what turns about a hinge as a kind of tasks, and their episode in an engine."""

from collections.abc import Mapping

import numpy as np

from iap_description.arrays import Array
from iap_description.states import Q
from iap_learning.tasks.kinds.hinge_turn.agents import (
    HandleAgent,
    HandleOracle,
    SwingAgent,
    SwingOracle,
)
from iap_learning.tasks.kinds.hinge_turn.arc import turned_object
from iap_learning.tasks.kinds.hinge_turn.counts import TurnCounts, TurnRules, count, measures
from iap_learning.tasks.kinds.hinge_turn.episodes import TurnEpisodes
from iap_learning.tasks.kinds.hinge_turn.interface import TurnInterface
from iap_learning.tasks.kinds.hinge_turn.task import TurnTask
from iap_learning.tasks.touch_episodes import TouchEngineEpisode
from iap_learning.tasks.touch_policy import touch_kind
from iap_simulation.simulation.simulation import Simulation


class TurnEngineEpisode(TouchEngineEpisode):
    """A turn in an engine.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: TurnTask) -> None:
        scenario = simulation.scenario
        self._hinge = turned_object(task, scenario).hinge
        has_latch = self._hinge is not None and self._hinge.latch is not None
        self._number = list(scenario.world.objects).index(task.turned)
        self._start_q = simulation.plant.engine.object_states()[self._number, Q]
        self._rules = TurnRules.of(task, scenario.dt, has_latch=has_latch)
        self._counts = TurnCounts.of(1)
        super().__init__(simulation, self._counts)

    def _count(self) -> None:
        assert self._hinge is not None  # noqa: S101 - as `turned_object` has looked
        q = self._plant.engine.object_states()[self._number, Q]
        angles = np.array([self._hinge.angle(self._start_q, q)])
        forces = np.linalg.norm(self._plant.contact_wrench(0)[None, :3], axis=1)
        count(forces, angles, self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._counts, self._dt)


HINGE_TURN = touch_kind(
    "hinge_turn",
    TurnTask,
    episodes=TurnEpisodes,
    engine_episode=TurnEngineEpisode,
    interface=TurnInterface,
    agents={
        "swing": SwingAgent,
        "swing_oracle": SwingOracle,
        "handle": HandleAgent,
        "handle_oracle": HandleOracle,
    },
)
