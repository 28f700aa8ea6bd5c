# SPDX-License-Identifier: BSD-3-Clause
"""The spaces of a task's observations and actions, by gymnasium: an extra."""

import sys

import numpy as np

from iap_description.errors import BadInput
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.terms import BOUND

try:
    import gymnasium as gymnasium
except ModuleNotFoundError as error:
    raise BadInput(
        f"environments need gymnasium, which is not installed: {sys.executable} -m pip install"
        " --require-hashes -r requirements/lock/learning.txt"
    ) from error


Box = gymnasium.spaces.Box


def observation_space(episodes: AnyEpisodes) -> Box:
    """Space of the observations of one world."""
    return Box(-BOUND, BOUND, (episodes.observed,), np.float32)


def action_space(episodes: AnyEpisodes) -> Box:
    """Space of the actions of one world."""
    return Box(-1.0, 1.0, (episodes.size,), np.float32)
