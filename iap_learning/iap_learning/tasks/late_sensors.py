# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of what is felt, with noise, a bias of each episode, and a delay."""

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Integers
from iap_description.math.random_streams import stream, uniforms


class LateSensors:
    """A sensor of n numbers in each of B worlds.

    Args:
        name: of the task, after which the streams of errors are named.
        noise: (n,) standard deviations.
        bias: (n,) half-widths of its draws.
        delay: samples after which a value is known.
        samples: of an episode.
        batch: number of worlds.

    Attributes:
        known: (B, n) values that are known.
    """

    def __init__(
        self,
        name: str,
        noise: ArrayLike,
        bias: ArrayLike,
        *,
        delay: int,
        samples: int,
        batch: int,
    ) -> None:
        self._streams = (f"{name}/bias", f"{name}/noise")
        self._deviation, self._width, self._delay = np.array(noise), np.array(bias), delay
        count = len(self._width)
        self._noise, self._bias = np.zeros((batch, samples, count)), np.zeros((batch, count))
        self._past = np.zeros((delay + 1, batch, count))
        self._count = np.zeros(batch, dtype=np.int64)
        self.known = np.zeros((batch, count))

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Draw the errors of some worlds' episodes."""
        bias, noise = self._streams
        self._bias[worlds] = self._width * uniforms(seeds, bias, len(self._width))
        for world, seed in zip(worlds.tolist(), seeds.tolist(), strict=True):
            draws = stream(seed, noise).standard_normal(self._noise.shape[1:])
            self._noise[world] = self._deviation * draws
        self._past[:, worlds], self._count[worlds], self.known[worlds] = 0.0, 0, 0.0

    def __call__(self, values: Array) -> None:
        """Take the values (B, n) of a control period."""
        self._past[1:] = self._past[:-1]
        worlds = np.arange(len(values))
        sample = np.minimum(self._count, self._noise.shape[1] - 1)
        self._past[0] = values + self._bias + self._noise[worlds, sample]
        self._count += 1
        self.known = self._past[self._delay].copy()
