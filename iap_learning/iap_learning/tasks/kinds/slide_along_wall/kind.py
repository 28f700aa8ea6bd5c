# SPDX-License-Identifier: BSD-3-Clause
"""Slides along a wall as a kind of tasks: episodes in many worlds and in an engine, and their agents."""

from collections.abc import Mapping
from typing import Literal, Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.config.values import NonNegative, Positive
from iap_learning.tasks.episodes import CameraPlacement
from iap_learning.tasks.kinds.slide_along_wall.counts import (
    SlideCounts,
    SlideRules,
    count,
    measures,
)
from iap_learning.tasks.kinds.slide_along_wall.interface import SlideInterface
from iap_learning.tasks.kinds.slide_along_wall.observations import SlideInputs
from iap_learning.tasks.kinds.slide_along_wall.task import SlideTask
from iap_learning.tasks.push_line import PushLine, nearer_walls
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_agents import TouchAgent, TouchAgentSettings
from iap_learning.tasks.touch_episodes import TouchEngineEpisode, WorldsOptions
from iap_learning.tasks.touch_policy import touch_kind
from iap_simulation.simulation.simulation import Simulation


class SlideEpisodes(TipEpisodes[SlideTask, SlideInterface]):
    """A slide in B worlds, by velocities of the tip's reference, or by the scenario's own wrench control.

    Args:
        task: what is to be done.
        worlds: B.
        how: see `WorldsOptions`.

    Raises:
        BadInput: no such scenario, or it has no push, tool or wall.
    """

    _counts: SlideCounts

    def __init__(self, task: SlideTask, worlds: int, **how: Unpack[WorldsOptions]) -> None:
        super().__init__(task, worlds, SlideInterface, SlideCounts.of(worlds), **how)
        self.line = self.interface.line
        self._rules = SlideRules.of(task, self.line.desired, self.worlds.scenario.dt)
        self._nearer = np.zeros(worlds)
        self._begin(np.arange(worlds))

    @property
    def viewpoint(self) -> CameraPlacement:
        """Place of a camera."""
        return CameraPlacement(self.line.start, self.line.wall)

    def report(self) -> dict[str, Array]:
        """Results of the episodes, (B,) each."""
        return measures(self._counts, self.worlds.scenario.dt)

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        self._nearer[indices] = nearer_walls(self.line, self.task.wall, self.worlds, indices)

    def _look(self) -> None:
        """Take the end of a control period."""
        forces = self.line.forces(self.worlds.contact_wrenches)
        places = self.line.way_along(self.worlds.state[:, 0])
        count(forces, places, self.status, self._rules, self._counts)
        self._feel(np.abs(self.line.desired - forces), self.line.desired)

    def _progress(self) -> Array:
        """Rewards of path that is new, and of the force's errors since the last step."""
        weights = self.task.reward
        further, errors = self._gains(self._counts.progress, self._rules.length)
        return weights.progress * further + weights.error * errors + weights.time * self.dt

    @property
    def true_inputs(self) -> SlideInputs:
        """Inputs with the true forces of the last control period, and the true gaps."""
        x, force_W = self.worlds.state[:, 0], self.worlds.contact_wrenches[:, :3]
        return self.interface.inputs_of(x, self._action, force_W, self._nearer)


class GlideSettings(TouchAgentSettings):
    """Gains of the agents.

    Attributes:
        rush: speed towards the wall while it is far [m/s].
        near: distance from the wall, as it is believed, from which on it approaches [m].
        brakes: rate at which it goes down to that [1/s].
        kP: velocity of a missing force [m/(s N)].
        press: fastest of that, both ways [m/s].
        settled: missing force below which it slides [N].
        glide: speed along the wall [m/s].
        gather: acceleration up to that speed [m/s^2].
        yields: rate at which the reference follows a tip that sticks, off the path [1/s].
        returns: rate at which it comes back to the path on the way [1/s].
    """

    guide: Literal["glide", "glide_oracle"]
    rush: Positive
    near: NonNegative
    brakes: NonNegative
    kP: Positive
    press: Positive
    settled: Positive
    glide: Positive
    gather: Positive
    yields: NonNegative
    returns: NonNegative


class GlideAgent(TouchAgent[GlideSettings, SlideEpisodes]):
    """Approaches until it feels the wall, presses as the missing force asks, and slides once the force is there."""

    SETTINGS = GlideSettings
    TASKS = "slides along a wall"

    def __init__(self, settings: GlideSettings, episodes: SlideEpisodes) -> None:
        self._speed = np.zeros(episodes.count)
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Forget that some worlds have felt anything and slide."""
        super().begin(indices)
        self._speed[indices] = 0.0

    def values(self) -> Array:
        """(B, 3) velocities of the tip's reference towards the wall, along the path and across [m/s]."""
        s, slide = self.settings, self._inputs
        force = slide.force[:, 0]
        feels, missing = self._feels(force), slide.desired - force
        approach = np.clip(s.brakes * (slide.gap - s.near), s.approach, s.rush)
        towards = np.where(feels, np.clip(s.kP * missing, -s.press, s.press), approach)
        slides = feels & ((np.abs(missing) < s.settled) | (self._speed > 0.0))
        self._speed += slides * np.clip(s.glide - self._speed, 0.0, s.gather * self.episodes.dt)
        across, off = slide.lag[:, 2], slide.way[:, 1]
        sticks = feels & ~slides
        centering = np.where(sticks, s.yields * across, -s.returns * off)
        return np.column_stack([towards, self._speed, centering])

    @property
    def _inputs(self) -> SlideInputs:
        return self.episodes.inputs


class GlideOracle(GlideAgent):
    """Knows where the wall is, and the force: what forces of the platform can do at all."""

    @property
    def _inputs(self) -> SlideInputs:
        return self.episodes.true_inputs


class SlideEngineEpisode(TouchEngineEpisode):
    """A slide in an engine.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: SlideTask) -> None:
        scenario, row = simulation.scenario, simulation.loop.vehicles[0].timeline.row(0)
        self._line = PushLine.of(task.name, task.wall, scenario, row)
        self._rules = SlideRules.of(task, self._line.desired, scenario.dt)
        self._counts = SlideCounts.of(1)
        super().__init__(simulation, self._counts)

    def _count(self) -> None:
        forces = self._line.forces(self._plant.contact_wrench(0)[None])
        places = self._line.way_along(self._plant.state(0)[:, 0])
        count(forces, places, self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._counts, self._dt)


SLIDE_ALONG_WALL = touch_kind(
    "slide_along_wall",
    SlideTask,
    episodes=SlideEpisodes,
    engine_episode=SlideEngineEpisode,
    interface=SlideInterface,
    agents={"glide": GlideAgent, "glide_oracle": GlideOracle},
)
