# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of pushes, and the sensor of the force with its errors."""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math.random_streams import stream, uniforms
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term

BIAS, NOISE = "wall_push/bias", "wall_push/noise"  # streams of an episode


class PushInputs(NamedTuple):
    """Inputs of observations of B worlds, in the wall's axes: towards it, and along it.

    Attributes:
        force: (B,) of the wall on the platform, as it is measured [N].
        desired: that it shall be [N].
        integral: (B,) of what was missing [N s].
        gap: (B,) of the tip from where the wall is believed to be [m].
        velocity: (B, 3) of the central body [m/s].
        drift: (B, 2) of the tip from its line of approach [m].
        action: (B, 1) the last one.
    """

    force: Array
    desired: float
    integral: Array
    gap: Array
    velocity: Array
    drift: Array
    action: Array


TERMS = TermTable.of(
    array_term("force", 1, lambda push: push.force[:, None]),
    array_term("force_error", 1, lambda push: (push.desired - push.force)[:, None]),
    array_term("integral", 1, lambda push: push.integral[:, None]),
    array_term("gap", 1, lambda push: push.gap[:, None]),
    array_term("velocity", 3, lambda push: push.velocity),
    array_term("drift", 2, lambda push: push.drift),
    array_term("action", PER_ACTION, lambda push: push.action),
)


class ForceSensors:
    """A sensor of a force in each of B worlds, with noise, a bias and a delay.

    Args:
        noise: standard deviation [N].
        bias: half-width of its draws [N].
        delay: samples after which a force is known.
        samples: of an episode.
        batch: number of worlds.

    Attributes:
        force: (B,) that is known [N].
    """

    def __init__(self, noise: float, bias: float, delay: int, samples: int, batch: int) -> None:
        self._deviation, self._width, self._delay = noise, bias, delay
        self._noise, self._bias = np.zeros((batch, samples)), np.zeros(batch)
        self._past, self._count = np.zeros((delay + 1, batch)), np.zeros(batch, dtype=np.int64)
        self.force = np.zeros(batch)

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Draw the errors of some worlds' episodes."""
        self._bias[worlds] = self._width * uniforms(seeds, BIAS, 1)[:, 0]
        for world, seed in zip(worlds.tolist(), seeds.tolist(), strict=True):
            draws = stream(seed, NOISE).standard_normal(self._noise.shape[1])
            self._noise[world] = self._deviation * draws
        self._past[:, worlds], self._count[worlds], self.force[worlds] = 0.0, 0, 0.0

    def __call__(self, force: Array) -> None:
        """Take the forces (B,) of a control period."""
        self._past[1:] = self._past[:-1]
        worlds = np.arange(len(force))
        sample = np.minimum(self._count, self._noise.shape[1] - 1)
        self._past[0] = force + self._bias + self._noise[worlds, sample]
        self._count += 1
        self.force = self._past[self._delay].copy()
