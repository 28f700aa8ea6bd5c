# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a wall as a kind of tasks: their hand-written agent, and their episode in an engine."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import NonNegative, Positive
from iap_learning.tasks.kind import SingleRun, TaskKind
from iap_learning.tasks.kinds.wall_push.counts import PushCounts, PushRules, count, measures
from iap_learning.tasks.kinds.wall_push.episodes import WallPushEpisodes
from iap_learning.tasks.kinds.wall_push.task import WallPushTask
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.touch_agents import TouchAgent, TouchAgentSettings
from iap_learning.tasks.touch_episodes import TouchEngineEpisode
from iap_simulation.simulation.simulation import Simulation


class PressSettings(TouchAgentSettings):
    """Gains of the agent.

    Attributes:
        kP: velocity of a missing force [m/(s N)].
        kI: velocity of its integral [m/(s^2 N)].
        back: fastest away from the wall [m/s].
        press: fastest towards it, once it is felt [m/s].
    """

    guide: Literal["press"]
    kP: NonNegative
    kI: NonNegative
    back: Positive
    press: Positive


class PressAgent(TouchAgent[PressSettings, WallPushEpisodes]):
    """Approaches evenly until it feels the wall, and then moves as the force that is missing asks."""

    SETTINGS = PressSettings
    TASKS = "pushes on a wall"

    def values(self) -> Array:
        """(B, 1) velocities towards the wall at the present instant [m/s]."""
        s, push = self.settings, self.episodes.inputs
        missing = push.desired - push.force
        pressing = np.clip(s.kP * missing + s.kI * push.integral, -s.back, s.press)
        return np.where(self._feels(push.force), pressing, s.approach)[:, None]


class WallPushEngineEpisode(TouchEngineEpisode):
    """A push in an engine.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: WallPushTask) -> None:
        scenario = simulation.scenario
        row = simulation.loop.vehicles[0].timeline.row(0)
        self._line = PushLine.of(task.name, task.wall, scenario, row)
        self._rules = PushRules.of(task, self._line.desired, scenario.dt)
        self._counts = PushCounts.of(1)
        super().__init__(simulation, self._counts)

    def _count(self) -> None:
        forces = self._line.forces(self._plant.contact_wrench(0)[None])
        places = np.ascontiguousarray(self._line.tips(self._plant.state(0)[:, 0])[:, 1:])
        count(forces, places, self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._rules, self._counts, self._dt)


WALL_PUSH = TaskKind(
    name="wall_push",
    task=WallPushTask,
    episodes=WallPushEpisodes,
    agents={"press": PressAgent},
    single_run=SingleRun(
        WallPushEngineEpisode, engine="mujoco", script=None, duration=attrgetter("seconds")
    ),
)
