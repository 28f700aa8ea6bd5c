# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of what is felt, with noise, a bias of each episode, and a delay."""

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import NonNegative
from iap_description.math import so3
from iap_description.math.random_streams import stream, uniforms
from iap_description.states import Q
from iap_learning.tasks.task import Task

MAX_DELAY_PERIODS = 2000  # whose readings wait in memory: 10 s at 200 Hz
DelayPeriods = Annotated[int, Field(strict=True, ge=0, le=MAX_DELAY_PERIODS)]


class WrenchSensorSpec(Record):
    """Errors of the wrench that is observed.

    Attributes:
        force_noise: standard deviation of each control period's force, per axis [N].
        torque_noise: likewise of the torque [N m].
        force_bias: half-width of an even draw for each episode, per axis [N].
        torque_bias: likewise [N m].
        delay: control periods after which the wrench is known.
    """

    force_noise: NonNegative
    torque_noise: NonNegative
    force_bias: NonNegative
    torque_bias: NonNegative
    delay: DelayPeriods

    def sensors(self, task: Task, samples: int, batch: int) -> "LateWrenchSensors":
        """Sensors of B worlds of a task with so many samples in an episode."""
        return LateWrenchSensors(self, task, samples, batch)


class LateSensors:
    """A sensor of n numbers in each of B worlds.

    Args:
        name: of the task, after which the streams of errors are named.
        noise: (n,) standard deviations.
        bias: (n,) half-widths of its draws.
        delay: samples after which a value is known.
        samples: of an episode.
        batch: number of worlds.
        window: samples in the mean.
        hold: calls for which each sample stays.

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
        window: int = 1,
        hold: int = 1,
    ) -> None:
        self._hold = hold
        self._streams = (f"{name}/bias", f"{name}/noise")
        self._deviation, self._width, self._delay = np.array(noise), np.array(bias), delay
        count = len(self._width)
        self._noise, self._bias = np.zeros((batch, samples, count)), np.zeros((batch, count))
        self._past = np.zeros((delay + 1, batch, count))
        self._recent = np.zeros((window, batch, count))
        self._count = np.zeros(batch, dtype=np.int64)
        self.known = np.zeros((batch, count))

    @property
    def mean(self) -> Array:
        """(B, n) mean of the values that came to be known last."""
        return self._recent.mean(axis=0)

    def reset(self, worlds: Integers, seeds: Integers) -> None:
        """Draw the errors of some worlds' episodes."""
        bias, noise = self._streams
        self._bias[worlds] = self._width * uniforms(seeds, bias, len(self._width))
        for world, seed in zip(worlds.tolist(), seeds.tolist(), strict=True):
            draws = stream(seed, noise).standard_normal(self._noise.shape[1:])
            self._noise[world] = self._deviation * draws
        self._past[:, worlds], self._count[worlds], self.known[worlds] = 0.0, 0, 0.0
        self._recent[:, worlds] = 0.0

    def begin(self, worlds: Integers, values: Array) -> None:
        """Know values (B, n) in some worlds before the first control period, with their bias."""
        self.known[worlds] = values[worlds] + self._bias[worlds]
        self._past[:, worlds] = self._recent[:, worlds] = self.known[worlds]

    def __call__(self, values: Array) -> None:
        """Take the values (B, n) of a control period."""
        self._past[1:] = self._past[:-1]
        (new,) = np.nonzero(self._count % self._hold == 0)
        sample = np.minimum(self._count[new], self._noise.shape[1] - 1)
        self._past[0, new] = values[new] + self._bias[new] + self._noise[new, sample]
        self._count += 1
        self.known = self._past[self._delay].copy()
        self._recent[:-1] = self._recent[1:]
        self._recent[-1] = self.known


class LateWrenchSensors(LateSensors):
    """A sensor of the contact wrench in axes of P in each of B worlds.

    Args:
        spec: of its errors.
        task: after whose kind the streams of errors are named.
        samples: of an episode.
        batch: number of worlds.
    """

    def __init__(self, spec: WrenchSensorSpec, task: Task, samples: int, batch: int) -> None:
        noise = [spec.force_noise] * 3 + [spec.torque_noise] * 3
        bias = [spec.force_bias] * 3 + [spec.torque_bias] * 3
        how = {"delay": spec.delay, "samples": samples, "batch": batch, "window": task.repeat}
        super().__init__(task.kind, noise, bias, **how)

    def measure(self, x: Array, wrenches_W: Array) -> None:
        """Take the wrenches (B, 6) of a control period on central bodies (B, 13)."""
        q_PW = so3.conjugate(x[:, Q])
        felt = [so3.rotate(q_PW, wrenches_W[:, :3]), so3.rotate(q_PW, wrenches_W[:, 3:])]
        self(np.hstack(felt))
