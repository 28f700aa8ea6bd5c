# SPDX-License-Identifier: BSD-3-Clause
"""The spaces of a task's observations and actions."""

import numpy as np

from iap_learning.environments.library import gymnasium
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.terms import BOUND

Box = gymnasium.spaces.Box


def observation_space(episodes: AnyEpisodes) -> Box:
    """Of one world."""
    return Box(-BOUND, BOUND, (episodes.observed,), np.float32)


def action_space(episodes: AnyEpisodes) -> Box:
    """Of one world."""
    return Box(-1.0, 1.0, (episodes.size,), np.float32)
