# SPDX-License-Identifier: BSD-3-Clause
"""Seeds of the episodes of a training."""

import numpy as np

from iap_description.math.random_streams import stream
from iap_learning.tasks.seeds import BITS


def draw_seeds(seed: int, name: str, count: int) -> np.ndarray:
    """Seeds (count,) of episodes, by the training's seed and the name of what they are for."""
    return stream(seed, f"train/seeds/{name}").integers(2**BITS, size=count)
