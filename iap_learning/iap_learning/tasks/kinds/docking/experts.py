# SPDX-License-Identifier: BSD-3-Clause
"""Experts of docking: they fly it without learning, through the task's own actions (``data/experts/NAME.yaml``)."""

from typing import Any, Literal, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray
from pydantic import model_validator

from iap_control.docking.guidance import guide_by_script
from iap_control.docking.settings import ScriptParameters, ScriptSettings
from iap_control.docking.vehicle_control import subtract_disturbances
from iap_control.docking.wrench_guidance import WrenchGuidance, guidance_memory, guide_by_wrench
from iap_description.arrays import Array
from iap_description.config.record import NonNegative, Positive, Record, validate
from iap_description.math.random_streams import stream
from iap_learning.tasks.agents import read_expert
from iap_learning.tasks.kinds.docking.actions import Control, values_of
from iap_learning.tasks.kinds.docking.episodes import DockingEpisodes
from iap_physics.engines.engine import world_indices

NOISE = "expert/noise"  # name of the stream of an episode's exploration noise


class WrenchSettings(Record):
    """Numbers of `iap_control.docking.wrench_guidance.WrenchGuidance`, which says more."""

    stiffness: Positive
    integral: NonNegative
    damping: Positive
    reach: Positive
    gate: Positive
    aligned: Positive
    way_off: Positive
    push: Positive
    drag: Positive


class ExpertSettings(Record):
    """How an expert flies.

    Attributes:
        description: one sentence.
        guide: see `iap_control.docking`.
        script: keys of the scenario's script that are others here; with the guide `script` alone.
        wrench: with the guide `wrench` alone.
        turn_rate: with which angular accelerations follow wanted body rates, of actions `printed` [1/s].
        noise: standard deviation of white noise on actions, as a share of their half range.
    """

    description: str
    guide: Literal["script", "wrench"]
    script: dict[str, Any]
    wrench: WrenchSettings | None
    turn_rate: Positive
    noise: NonNegative

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.guide == "wrench") == (self.wrench is None):
            raise ValueError("key 'wrench': it goes with the guide 'wrench'")
        if self.script and self.guide != "script":
            raise ValueError("key 'script': it goes with the guide 'script'")
        return self

    @classmethod
    def of(cls, name: str) -> Self:
        """An expert by name, or by the path of a YAML file.

        Raises:
            BadInput: anything unknown, missing or impossible, in one line.
        """
        return read_expert(cls, name)


class Expert:
    """Flies all worlds of a task; of world i no more is drawn than of it alone.

    Args:
        settings: how.
        episodes: that it flies, all of them at their start.
    """

    def __init__(self, settings: ExpertSettings, episodes: DockingEpisodes) -> None:
        self._settings, self._episodes = settings, episodes
        inner, worlds = episodes.interface, episodes.worlds
        self._pair = worlds.pair._replace(dt=episodes.dt)
        own = {**worlds.spec.script.model_dump(), **settings.script}
        self._script = ScriptParameters(
            **validate(ScriptSettings, own, source="script").model_dump()
        )
        wrench = settings.wrench
        self._wrench = None if wrench is None else WrenchGuidance(**wrench.model_dump())
        self._inner = inner
        self._memory = guidance_memory(episodes.count)
        self._accelerations = np.zeros((episodes.count, 2, 3))
        self._values = np.zeros((episodes.count, episodes.size))
        self._noise = np.zeros((episodes.count, episodes.limit, episodes.size))
        self.reset()

    def reset(self, worlds: ArrayLike | None = None) -> None:
        """Begin with some worlds' new episodes, or with all."""
        chosen = world_indices(worlds, self._episodes.count)
        self._memory[chosen] = 0.0
        if self._settings.noise:
            for b in chosen.tolist():
                rng = stream(int(self._episodes.flown[b]), NOISE)
                rng.standard_normal(out=self._noise[b])
            self._noise[chosen] *= self._settings.noise

    def __call__(self) -> NDArray[np.float32]:
        """Actions (B, n) at the present instant, in [-1, 1]; once in every step."""
        episodes, inner = self._episodes, self._inner
        latched = episodes.worlds.is_caught
        seen = (episodes.measured, latched, episodes.memory)
        if self._wrench is None:
            guide_by_script(*seen, self._script, self._pair, self._memory, self._accelerations)
        else:
            places = inner.view.references
            own = (self._pair, self._memory, self._accelerations)
            guide_by_wrench(*seen, self._wrench, places, *own)
        if not inner.control.compensated:
            subtract_disturbances(episodes.memory, self._accelerations)
        rate = self._settings.turn_rate
        _values_all(self._accelerations, episodes.measured, inner.control, rate, self._values)
        steps = np.minimum(episodes.steps, episodes.limit - 1)
        noise = self._noise[np.arange(episodes.count), steps]
        actions = (self._values - inner.middle) / inner.half + noise
        return np.clip(actions, -1.0, 1.0).astype(np.float32)


@njit(cache=True)
def _values_all(
    accelerations: Array, measured: Array, control: Control, turn_rate: float, out: Array
) -> None:
    for b in range(len(out)):
        values_of(accelerations[b], measured[b], control, turn_rate, out[b])
