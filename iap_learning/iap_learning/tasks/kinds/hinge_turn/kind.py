# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on what turns about a hinge as a kind of tasks: their agents, and their episode in an engine."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import NonNegative, Positive, Real
from iap_description.states import Q
from iap_learning.tasks.kind import SingleRun, TaskKind
from iap_learning.tasks.kinds.hinge_turn.arc import turned_object
from iap_learning.tasks.kinds.hinge_turn.counts import TurnCounts, TurnRules, count, measures
from iap_learning.tasks.kinds.hinge_turn.episodes import TurnEpisodes
from iap_learning.tasks.kinds.hinge_turn.observations import TurnInputs
from iap_learning.tasks.kinds.hinge_turn.task import TurnTask
from iap_learning.tasks.touch_agents import TouchAgent, TouchAgentSettings
from iap_learning.tasks.touch_episodes import TouchEngineEpisode
from iap_simulation.simulation.simulation import Simulation


class SwingSettings(TouchAgentSettings):
    """Gains of the agents, which approach along the arc.

    Attributes:
        swing: speed along the arc from the touch on [m/s].
        resist: force along the arc at which it goes no further [N].
        stop_deg: turn of the tip since the start at which it stays.
        centering: rate at which the reference comes to where it pulls the tip back to the radius of the start [1/s].
        pull: how far beyond that radius the reference is for each metre that the tip is off it.
        inwards: how far the reference is towards the axis for each metre that it is ahead: a round tip touches a leaf
            before the leaf's middle, so that a push along the tip's arc has a part outwards.
        follows: share of the turn that the heading follows.
        turns: rate at which it does [1/s].
    """

    guide: Literal["swing", "swing_oracle"]
    swing: Positive
    resist: Positive
    stop_deg: Positive
    centering: NonNegative
    pull: NonNegative
    inwards: NonNegative
    follows: Real
    turns: NonNegative


class SwingAgent(TouchAgent[SwingSettings, TurnEpisodes]):
    """Leads its tip on the arc about the axis as it is believed, and the slower the more it is resisted."""

    SETTINGS = SwingSettings
    TASKS = "pushes what has a hinge"

    def values(self) -> Array:
        """(B, 3) velocities along the arc and away from the axis [m/s], and yaw rates [rad/s]."""
        s, push = self.settings, self._inputs
        resistance = -push.force[:, 0]
        speed = np.where(self._feels(resistance), s.swing, s.approach)
        onward = speed * np.clip(1.0 - np.abs(resistance) / s.resist, -0.3, 1.0)
        onward = np.where(push.turn < np.deg2rad(s.stop_deg), onward, 0.0)
        yaw = s.turns * (s.follows * push.turn - push.heading)
        across = push.lag[:, 1] + s.inwards * push.lag[:, 0] - s.pull * push.radius
        return np.column_stack([onward, s.centering * across, yaw])

    @property
    def _inputs(self) -> TurnInputs:
        return self.episodes.inputs


class SwingOracle(SwingAgent):
    """Knows the axis and the force: what forces of the platform can turn at all."""

    @property
    def _inputs(self) -> TurnInputs:
        return self.episodes.true_inputs


class TurnEngineEpisode(TouchEngineEpisode):
    """A turn in an engine.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: TurnTask) -> None:
        scenario = simulation.scenario
        self._hinge = turned_object(task, scenario).hinge
        self._number = list(scenario.world.objects).index(task.turned)
        self._start_q = simulation.plant.engine.object_states()[self._number, Q]
        self._rules, self._counts = TurnRules.of(task, scenario.dt), TurnCounts.of(1)
        super().__init__(simulation, self._counts)

    def _count(self) -> None:
        assert self._hinge is not None  # noqa: S101 - as `turned_object` has looked
        q = self._plant.engine.object_states()[self._number, Q]
        angles = np.array([self._hinge.angle(self._start_q, q)])
        forces = np.linalg.norm(self._plant.contact_wrench(0)[None, :3], axis=1)
        count(forces, angles, self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._counts, self._dt)


HINGE_TURN = TaskKind(
    name="hinge_turn",
    task=TurnTask,
    episodes=TurnEpisodes,
    agents={"swing": SwingAgent, "swing_oracle": SwingOracle},
    single_run=SingleRun(
        TurnEngineEpisode, engine="mujoco", script=None, duration=attrgetter("seconds")
    ),
)
