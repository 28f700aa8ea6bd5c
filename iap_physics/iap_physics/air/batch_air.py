# SPDX-License-Identifier: BSD-3-Clause
"""The air of many worlds: mean wind, and the gusts in it."""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import packed, stacked
from iap_physics.air.wind import GustNoise, GustParameters, Wind, first_gust, step_gust

GUSTS = "gusts"  # stream of their noise


class Air:
    """Velocity of the air in B worlds, in each by its own wind and generator.

    Args:
        wind: of all worlds; with gusts or without.
        rngs: (B,) generators of the gusts.
        has_drag: whether it drags bodies along.

    Attributes:
        is_gusty: whether there are gusts.
        has_drag: whether it drags bodies along.
        now_W: (B, 3) velocity of the air in the last control period [m/s].
    """

    def __init__(
        self, wind: Wind, rngs: Sequence[np.random.Generator], *, has_drag: bool = False
    ) -> None:
        self.has_drag = has_drag
        self.is_gusty = wind.turbulence > 0.0
        self._mean_W = np.repeat(wind.mean_W[None], len(rngs), axis=0)
        self._parameters = stacked([GustParameters.of(wind)] * len(rngs))
        self._state, self._noise = first_gust(rngs, batch=len(rngs)), GustNoise(rngs)
        self.now_W = self._mean_W.copy()

    def set_wind(self, world: int, wind: Wind) -> None:
        """Let one world have a wind of its own, with gusts or without like that of all worlds."""
        self._mean_W[world] = self.now_W[world] = wind.mean_W
        self._parameters[world] = packed(GustParameters.of(wind))[0]

    def reset(self, worlds: Integers, rngs: Sequence[np.random.Generator]) -> None:
        """Start the gusts of some worlds anew, each with its generator."""
        self._state[worlds] = first_gust(rngs, batch=len(rngs))
        self._noise.reset(worlds, rngs)

    def advance(self, periods: int, dt: float) -> Array:
        """Let gusts go on by some control periods of dt [s].

        Returns:
            The velocity of the air (periods, B, 3) in each of them [m/s]; without gusts (1, B, 3), a view.
        """
        if not self.is_gusty:
            return self.now_W[None]
        air_W = np.empty((periods, *self.now_W.shape))
        for each_W in air_W:
            self._state, gust_W = step_gust(self._state, self._parameters, dt, self._noise())
            np.add(self._mean_W, gust_W, out=each_W)
        self.now_W[:] = air_W[-1]
        return air_W
