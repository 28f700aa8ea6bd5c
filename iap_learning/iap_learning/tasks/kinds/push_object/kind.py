# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a loose object as a kind of tasks: their agents, and their episode in an engine."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.values import NonNegative, Positive
from iap_learning.tasks.kinds.push_object.counts import ShoveCounts, ShoveRules, count, measures
from iap_learning.tasks.kinds.push_object.episodes import ShoveEpisodes
from iap_learning.tasks.kinds.push_object.goals import Goals
from iap_learning.tasks.kinds.push_object.interface import ShoveInterface
from iap_learning.tasks.kinds.push_object.observations import ShoveInputs
from iap_learning.tasks.kinds.push_object.task import ShoveTask
from iap_learning.tasks.touch_agents import TouchAgent, TouchAgentSettings
from iap_learning.tasks.touch_episodes import TouchEngineEpisode
from iap_learning.tasks.touch_policy import touch_kind
from iap_simulation.simulation.simulation import Simulation


class ShoveSettings(TouchAgentSettings):
    """Gains of the agents.

    Attributes:
        shove: speed from the touch on [m/s].
        hastens: how much faster the reference is for each metre per second that the platform is too slow: when the
            object breaks loose it is too fast.
        slows: rate at which it goes down towards the goal [1/s].
        steers: place of the push beside the object's middle, of an angle that it shall turn [m/rad].
        side: furthest such place [m].
        leads: how far the reference is beside the tip for each metre that the tip is off this place.
        shifts: rate at which the reference goes there [1/s].
        turn_deg: largest turn that it gives the object to steer it towards its goal [deg].
        stop: way left at which it lets go [m].
        retreat: speed backwards then, less of what the reference is ahead [m/s].
        lets_go: rate at which the reference comes back to the tip then [1/s].
    """

    guide: Literal["shove", "shove_oracle"]
    shove: Positive
    hastens: NonNegative
    slows: Positive
    steers: NonNegative
    side: Positive
    leads: NonNegative
    shifts: NonNegative
    turn_deg: NonNegative
    stop: Positive
    retreat: NonNegative
    lets_go: NonNegative


class ShoveAgent(TouchAgent[ShoveSettings, ShoveEpisodes]):
    """Pushes beside the middle of the object, so that it turns towards its goal, and lets go there."""

    SETTINGS = ShoveSettings
    TASKS = "pushes a loose object"

    def __init__(self, settings: ShoveSettings, episodes: ShoveEpisodes) -> None:
        self._has_arrived = np.zeros(episodes.count, bool)
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Forget what some worlds have felt and reached."""
        super().begin(indices)
        self._has_arrived[indices] = False

    def values(self) -> Array:
        """(B, 2) velocities of the tip's reference, forwards and to the left [m/s]."""
        s, shove = self.settings, self._inputs
        feels = self._feels(np.linalg.norm(shove.force, axis=1))
        self._has_arrived |= shove.left[:, 0] < s.stop
        pace = np.clip(s.slows * shove.left[:, 0], 0.4 * s.shove, s.shove)
        late = pace - shove.velocity[:, 0]
        onward = np.where(feels, pace + s.hastens * late, s.approach)
        bearing = np.arctan2(shove.left[:, 1], np.maximum(shove.left[:, 0], 0.1))
        limit = np.deg2rad(s.turn_deg)
        turn = np.clip(bearing, -limit, limit) - shove.heading
        place = np.clip(-s.steers * turn, -s.side, s.side)
        cosine, sine = np.cos(shove.heading), np.sin(shove.heading)
        beside = cosine * shove.tip[:, 1] - sine * shove.tip[:, 0]
        lead = sine * shove.lag[:, 0] - cosine * shove.lag[:, 1]
        across = s.shifts * (s.leads * (place - beside) - lead)
        back = s.lets_go * np.minimum(shove.lag[:, 0], 0.0) - s.retreat
        return np.column_stack(
            [
                np.where(self._has_arrived, back, cosine * onward - sine * across),
                np.where(self._has_arrived, 0.0, sine * onward + cosine * across),
            ]
        )

    @property
    def _inputs(self) -> ShoveInputs:
        return self.episodes.inputs


class ShoveOracle(ShoveAgent):
    """Knows where the object is, and the force: what forces of the platform can do at all."""

    @property
    def _inputs(self) -> ShoveInputs:
        return self.episodes.true_inputs


class ShoveEngineEpisode(TouchEngineEpisode):
    """A push in an engine.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: ShoveTask) -> None:
        scenario = simulation.scenario
        self._goals = Goals.of(task, scenario, 1)
        self._goals.draw(0, task, scenario.seed)
        self._rules, self._counts = ShoveRules.of(task, scenario.dt), ShoveCounts.of(1)
        super().__init__(simulation, self._counts)

    def _count(self) -> None:
        objects = self._plant.engine.object_states()[self._goals.number, :][None]
        forces = np.linalg.norm(self._plant.contact_wrench(0)[None, :3], axis=1)
        count(forces, self._goals.measures(objects), self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._counts, self._dt)


PUSH_OBJECT = touch_kind(
    "push_object",
    ShoveTask,
    episodes=ShoveEpisodes,
    engine_episode=ShoveEngineEpisode,
    interface=ShoveInterface,
    agents={"shove": ShoveAgent, "shove_oracle": ShoveOracle},
)
