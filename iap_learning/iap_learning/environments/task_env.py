# SPDX-License-Identifier: BSD-3-Clause
"""Tasks as gymnasium's environments: one world as an `Env`, or many stepped together as a `VectorEnv`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_learning.environments.camera import WorldCamera, not_drawn
from iap_learning.environments.spaces import action_space, gymnasium, observation_space
from iap_learning.tasks.episodes import AnyEpisodes, EpisodeStep
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.tasks.seeds import BITS
from iap_simulation.tasks.outcomes import OUTCOMES

RENDER_MODES = ("rgb_array",)


def check_render_mode(mode: str | None, episodes: AnyEpisodes) -> None:
    """Refuse a mode that there is not.

    Raises:
        BadInput: naming those that there are; or the task flies what nobody draws.
    """
    if mode is not None and episodes.viewpoint is None:
        raise BadInput(f"render_mode '{mode}': {not_drawn(episodes)}")
    if mode is not None and mode not in RENDER_MODES:
        raise BadInput(f"render_mode '{mode}': choose {', '.join(RENDER_MODES)}")


class TaskEnv(gymnasium.Env[Any, ArrayLike]):
    """A task in one world.

    `reset(seed=s)` begins the episode that flies with seed s, as ``./iap run`` does; every `reset()` after it the next
    one, whose seed is in `info`. World i of a `TaskVectorEnv` with seed s is this with seed s + i, bit for bit.

    Args:
        task: its name, or the path of a YAML file.
        render_mode: ``rgb_array``, or None.
        settings: of the task's keys by their dotted paths, such as ``{"action.kind": "wrench"}``.
        scenario: of the scenario's keys, such as ``{"wind.speed": 4.0}``.
        platform: that flies, in place of the task's.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES)}

    def __init__(
        self,
        task: str,
        render_mode: str | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
    ) -> None:
        self.episodes = make_episodes(
            task, 1, settings=settings, scenario=scenario, platform=platform
        )
        check_render_mode(render_mode, self.episodes)
        self.observation_space = observation_space(self.episodes)
        self.action_space = action_space(self.episodes)
        self.render_mode, self._camera = render_mode, WorldCamera(self.episodes)
        self.metadata = {**type(self).metadata, "render_fps": round(1.0 / self.episodes.dt)}
        self._is_seeded = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin the first episode of a seed, or the next one."""
        super().reset(seed=seed)
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**BITS))
        self._is_seeded = True
        observation = self.episodes.reset(seeds=None if seed is None else [seed])
        return observation[0], {"seed": int(self.episodes.episode_seeds[0])}

    def step(
        self, action: ArrayLike
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Fly a step.

        Raises:
            BadInput: the action has another shape.
        """
        if np.shape(action) != self.action_space.shape:
            raise BadInput(
                f"action: has shape {np.shape(action)}; {self.action_space.shape} is expected"
            )
        step = self.episodes.step(np.asarray(action)[None])
        terminated, truncated = bool(step.terminated[0]), bool(step.truncated[0])
        info: dict[str, Any] = {"success": bool(step.success[0])}
        if terminated or truncated:
            info["outcome"] = OUTCOMES[int(self.episodes.outcome[0])]
            info["seconds"] = float(self.episodes.steps[0]) * self.episodes.dt
            info |= {key: float(found[0]) for key, found in self.episodes.report().items()}
        return step.observation[0], float(step.reward[0]), terminated, truncated, info

    def render(self) -> NDArray[np.uint8] | None:
        """(h, w, 3) a picture of the present state; None without a `render_mode`."""
        return None if self.render_mode is None else self._camera.picture(0)

    def close(self) -> None:
        """Give back what the camera holds; a second time is fine."""
        self._camera.close()


Observations = NDArray[np.float32]


class TaskVectorEnv(gymnasium.vector.VectorEnv[Observations, ArrayLike, Any]):
    """A task in many worlds.

    An episode that is over is followed by the world's next one in the same step: the observation is the new episode's
    first, ``info["final_obs"]`` has the last one of the old, and ``info["final_info"]`` what became of it.
    World i with seed s is a `TaskEnv` with seed s + i, bit for bit.

    Args:
        task: its name, or the path of a YAML file.
        num_envs: number of worlds.
        render_mode: ``rgb_array``, or None.
        settings: of the task's keys, see `TaskEnv`.
        scenario: of the scenario's keys.
        platform: that flies, in place of the task's.
        threads: that share the worlds; no result depends on how many.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """

    metadata: dict[str, Any] = {
        "render_modes": list(RENDER_MODES),
        "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        render_mode: str | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
        threads: int = 1,
    ) -> None:
        self.episodes = make_episodes(
            task,
            num_envs,
            threads=threads,
            settings=settings,
            scenario=scenario,
            platform=platform,
        )
        check_render_mode(render_mode, self.episodes)
        self.num_envs, self.render_mode = num_envs, render_mode
        self.single_observation_space = observation_space(self.episodes)
        self.single_action_space = action_space(self.episodes)
        batch_space = gymnasium.vector.utils.batch_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {**type(self).metadata, "render_fps": round(1.0 / self.episodes.dt)}
        self._camera = WorldCamera(self.episodes)
        self._is_seeded = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin the first episodes of seeds, or the next ones.

        Args:
            seed: s, of which world i takes s + i; or one for each world.
            options: with ``reset_mask`` (num_envs,), those worlds alone.

        Raises:
            BadInput: there are more or fewer seeds than worlds.
        """
        indices = np.arange(self.num_envs)
        if options and "reset_mask" in options:
            indices = np.flatnonzero(options["reset_mask"])
        seeds = self._seeds(seed)
        self.episodes.reset(indices, seeds and [seeds[i] for i in indices])
        return self.episodes.observe(), {"seed": self.episodes.episode_seeds.copy()}

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int] | None:
        """A seed for each world; None goes on with the episodes that they are at."""
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
            seeds: list[int | None] = [int(seed) + i for i in range(self.num_envs)]
        elif seed is None:
            if self._is_seeded:
                return None
            seeds = [None] * self.num_envs
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise BadInput(f"reset: {self.num_envs} seeds are expected, got {len(seeds)}")
        self._is_seeded = True
        draw = self.np_random.integers
        return [int(draw(2**BITS)) if each is None else int(each) for each in seeds]

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observations, Array, Booleans, Booleans, dict[str, Any]]:
        """Fly a step of every world.

        Raises:
            BadInput: the actions have another shape.
        """
        step = self.episodes.step(actions)
        every = np.ones(self.num_envs, bool)
        info: dict[str, Any] = {"success": step.success, "_success": every}
        over = step.terminated | step.truncated
        observation = step.observation
        if over.any():
            info |= self._ended(step, over)
            observation[over] = self.episodes.reset(over)
        return observation, step.reward, step.terminated, step.truncated, info

    def _ended(self, step: EpisodeStep, over: Booleans) -> dict[str, Any]:
        """Summary of the episodes that are over, with the masks of gymnasium."""
        episodes = self.episodes
        final, outcome = np.empty((2, self.num_envs), dtype=object)  # of None
        for i in np.flatnonzero(over).tolist():
            final[i] = step.observation[i].copy()
            outcome[i] = OUTCOMES[int(episodes.outcome[i])]
        summary = {
            "success": step.success,
            "outcome": outcome,
            "seconds": episodes.steps * episodes.dt,
            "return": episodes.returns.copy(),
            "seed": episodes.episode_seeds.copy(),
            **episodes.report(),
        }
        masks = {f"_{key}": over for key in summary}
        ended = {"final_obs": final, "final_info": {**summary, **masks}}
        return ended | {"_final_obs": over, "_final_info": over}

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture (h, w, 3) of each world; None without a `render_mode`."""
        if self.render_mode is None:
            return None
        return tuple(self._camera.picture(i) for i in range(self.num_envs))

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Give back what the camera holds."""
        self._camera.close()
