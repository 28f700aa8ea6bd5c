# SPDX-License-Identifier: BSD-3-Clause
"""Wind and gusts of many worlds, each as its seed draws them."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math.random_streams import stream
from iap_physics.air.batch_air import GUSTS, Air
from iap_simulation.scenario.randomization import drawn_wind
from iap_simulation.scenario.scenario import Scenario


class Winds:
    """Wind and gusts of many worlds.

    Args:
        scenario: that says how it blows.
        batch: number of worlds.
    """

    def __init__(self, scenario: Scenario, batch: int) -> None:
        self._scenario = scenario
        self._blows = scenario.has_drag
        self._air = Air(scenario.wind, [np.random.default_rng(0) for _ in range(batch)])

    def reset(self, chosen: Integers, seeds: Integers) -> None:
        """Begin flights of seeds in some worlds."""
        if not (self._blows and len(chosen)):
            return
        for b, seed in zip(chosen.tolist(), seeds.tolist(), strict=True):
            wind = drawn_wind(self._scenario.model_copy(update={"seed": seed}))
            self._air.set_wind(b, wind)
        if self._air.is_gusty:
            self._air.reset(chosen, [stream(seed, GUSTS) for seed in seeds.tolist()])

    def advance(self, air_W: Array, dt: float) -> None:
        """Write the air's velocity (B, 3) of the next period."""
        if self._blows:
            air_W[:] = self._air.advance(1, dt)[0]
