# SPDX-License-Identifier: BSD-3-Clause
"""One world of a task as gymnasium's `Env`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.errors import BadInput
from iap_learning.environments.camera import WorldCamera, not_drawn
from iap_learning.environments.library import gymnasium
from iap_learning.environments.spaces import action_space, observation_space
from iap_learning.tasks.episodes import AnyEpisodes
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

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 50}

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
