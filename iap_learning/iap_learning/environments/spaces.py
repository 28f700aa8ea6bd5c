# SPDX-License-Identifier: BSD-3-Clause
"""The spaces of a task's observations and actions, by gymnasium: an extra."""

import numpy as np

from iap_description.process.extras import missing
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.terms import BOUND

try:
    import gymnasium as gymnasium
except ModuleNotFoundError as error:
    raise missing("gymnasium", "environments need", "learning") from error


Box = gymnasium.spaces.Box


def observation_space(episodes: AnyEpisodes) -> Box:
    """Space of the observations of one world."""
    return Box(-BOUND, BOUND, (episodes.observed,), np.float32)


def action_space(episodes: AnyEpisodes) -> Box:
    """Space of the actions of one world."""
    return Box(-1.0, 1.0, (episodes.size,), np.float32)
