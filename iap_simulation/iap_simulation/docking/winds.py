# SPDX-License-Identifier: BSD-3-Clause
"""Wind and gusts of many worlds, each as its seed draws them."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.kernels import stacked
from iap_description.random_streams import stream
from iap_physics.plant import GUSTS
from iap_physics.wind import GustNoise, GustParameters, first_gust, step_gust
from iap_simulation.scenario.randomization import drawn_wind
from iap_simulation.scenario.scenario import Scenario


class Winds:
    """Wind and gusts of many worlds.

    Args:
        scenario: that says how it blows.
        batch: number of worlds.
    """

    def __init__(self, scenario: Scenario, batch: int) -> None:
        self._scenario, self._is_gusty = scenario, scenario.wind.turbulence > 0.0
        self._blows = scenario.has_drag
        self._mean_W = np.zeros((batch, 3))
        self._parameters = stacked([GustParameters.of(scenario.wind)] * batch)
        rngs = [np.random.default_rng(0) for _ in range(batch)]
        self._state, self._noise = first_gust(rngs, batch=batch), GustNoise(rngs)

    def reset(self, chosen: Integers, seeds: Integers) -> None:
        """Begin flights of seeds in some worlds."""
        if not (self._blows and len(chosen)):
            return
        for b, seed in zip(chosen.tolist(), seeds.tolist(), strict=True):
            wind = drawn_wind(self._scenario.model_copy(update={"seed": seed}))
            self._mean_W[b] = wind.mean_W
            self._parameters[b] = stacked([GustParameters.of(wind)])[0]
        if self._is_gusty:
            rngs = [stream(seed, GUSTS) for seed in seeds.tolist()]
            self._state[chosen] = first_gust(rngs, batch=len(rngs))
            self._noise.reset(chosen, rngs)

    def blow(self, air_W: Array, dt: float) -> None:
        """Write the air's velocity (B, 3) of the next period."""
        if not self._blows:
            return
        air_W[:] = self._mean_W
        if self._is_gusty:
            self._state, gust_W = step_gust(self._state, self._parameters, dt, self._noise())
            air_W += gust_W
