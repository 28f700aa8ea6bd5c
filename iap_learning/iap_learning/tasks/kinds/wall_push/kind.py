# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a wall as a kind of tasks: their hand-written agent, and their episode in an engine."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.config.values import NonNegative, Positive
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.kinds.wall_push.counts import PushCounts, PushRules, count, measures
from iap_learning.tasks.kinds.wall_push.episodes import WallPushEpisodes
from iap_learning.tasks.kinds.wall_push.interface import PushInterface
from iap_learning.tasks.kinds.wall_push.observations import PushInputs
from iap_learning.tasks.kinds.wall_push.task import WallPushTask
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.touch_episodes import TouchEngineEpisode
from iap_learning.tasks.touch_policy import touch_kind
from iap_simulation.simulation.simulation import Simulation


class PressSettings(AgentSettings):
    """Gains of the agents.

    Attributes:
        cruise: fastest before the wall may be met [m/s].
        touch: speed at which it may be met [m/s].
        near: gap to the believed wall from which on it may be [m].
        slow: speed of a gap beyond that [1/s].
        kV: share of the velocity's error that is added to the velocity.
        begin: velocity with which the push begins [m/s].
        kP: velocity of a missing force [m/(s N)].
        kI: velocity of its integral [m/(s^2 N)].
        back: fastest away from the wall [m/s].
        press: fastest towards it, once it is felt [m/s].
    """

    guide: Literal["press", "press_oracle"]
    cruise: Positive
    touch: Positive
    near: Positive
    slow: Positive
    kV: NonNegative
    begin: NonNegative
    kP: NonNegative
    kI: NonNegative
    back: Positive
    press: Positive


class PressAgent(ScriptedAgent[PressSettings, WallPushEpisodes]):
    r"""Comes fast to where the wall may be, meets it slowly, and then moves as the force that is missing asks.

    A wall of stiffness K that a mass m meets at a speed v pushes with up to :math:`v \sqrt{K m}`, long before a late
    sensor tells. So the speed at the touch decides on the largest force.
    """

    SETTINGS = PressSettings
    TASKS = "pushes on a wall"

    def values(self) -> Array:
        """(B, 1) velocities towards the wall at the present instant [m/s]."""
        s, push = self.settings, self._inputs
        ahead = np.minimum(s.cruise, s.touch + s.slow * np.maximum(push.gap - s.near, 0.0))
        coming = ahead + s.kV * (ahead - push.velocity[:, 0])
        missing = push.desired - push.force
        asked = s.begin + s.kP * missing + s.kI * push.integral
        pressing = np.clip(asked, -s.back, s.press)
        return np.where(push.has_felt, pressing, coming)[:, None]

    @property
    def _inputs(self) -> PushInputs:
        return self.episodes.inputs


class PressOracle(PressAgent):
    """Knows where the wall is, and the force: what forces of the platform can do at all."""

    @property
    def _inputs(self) -> PushInputs:
        return self.episodes.true_inputs


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
        places = self._line.way_along(self._plant.state(0)[:, 0])
        count(forces, places, self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._rules, self._counts, self._dt)


WALL_PUSH = touch_kind(
    "wall_push",
    WallPushTask,
    episodes=WallPushEpisodes,
    engine_episode=WallPushEngineEpisode,
    interface=PushInterface,
    agents={"press": PressAgent, "press_oracle": PressOracle},
)
