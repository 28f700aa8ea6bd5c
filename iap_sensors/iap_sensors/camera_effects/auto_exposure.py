# SPDX-License-Identifier: BSD-3-Clause
r"""Automatic exposure: exposure time and gain follow what the last images measured.

With the mean m of an image over its black level, in shares of the largest number, and the product x = t g of exposure
time and gain,

.. math:: \log x_{k+1+d} = \log x_{k+d} + a (\log m^* - \log m_k)

for a target m*, a speed a and a delay of d images: integral control of the logarithm, as cameras do it. It is on the
mean; Zhang, Forster and Scaramuzza ("Active Exposure Control for Robust Visual Odometry in HDR Environments", ICRA
2017) show why a metric of gradients would serve odometry better. Such an integrator with a delay settles where
:math:`a < 2 \sin(\pi / (4 d + 2))`, the stability limit of :math:`e_{n+1} = e_n - a e_{n-d}` (Levin and May, "A note on
difference-delay equations", 1976). Exposure time takes what it can, gain the rest.
"""

import math
from collections import deque
from dataclasses import replace
from typing import Annotated, ClassVar, Self

import numpy as np
from numba import njit
from pydantic import Field, model_validator

from iap_description.arrays import Singles
from iap_description.config.values import Positive
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    Exposure,
    effect_of,
)
from iap_sensors.camera_effects.exposure import Decibels, check_time, gain_of

STEP = 4  # rows and columns between pixels that are metered
LEAST_MEAN = 1e-4  # that is distinguished from darkness
InnerShare = Annotated[float, Field(strict=True, gt=0.0, lt=1.0)]


class AutoExposureSpec(EffectSpec):
    """Automatic exposure.

    Attributes:
        target: mean of the image, over its largest number.
        speed: share of the error in log exposure that one image corrects.
        delay: images that are taken before a correction counts.
        time_min: least exposure time [s].
        time_max: largest one [s].
        gain_max_db: largest gain.
    """

    NEEDS: ClassVar[tuple[str, ...]] = ("exposure",)

    target: InnerShare = 0.25
    speed: Annotated[float, Field(strict=True, gt=0.0, le=1.0)] = 0.5
    delay: Annotated[int, Field(strict=True, ge=0, le=32)] = 1
    time_min: Positive = 5e-5
    time_max: Positive = 0.02
    gain_max_db: Decibels = 18.0

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if self.time_min > self.time_max:
            raise ValueError(
                f"key 'time_min': {self.time_min} s is above time_max, {self.time_max} s"
            )
        return self

    @model_validator(mode="after")
    def _settles(self) -> Self:
        limit = 2.0 * math.sin(math.pi / (4 * self.delay + 2))
        if self.speed >= limit:
            raise ValueError(
                f"key 'speed': {self.speed} swings up with a delay of {self.delay} images; less than"
                f" {limit:.3g} settles"
            )
        return self

    def check(self, camera: CameraGeometry) -> None:
        """Refuse an exposure that is longer than an image."""
        check_time(self.time_max, camera, "effects.auto_exposure.time_max")


@effect_of(AutoExposureSpec)
class AutoExposure(CameraEffect[AutoExposureSpec]):
    """Plans the exposure of the next image."""

    stage = EffectStage.PROCESSING

    def __init__(self, spec: AutoExposureSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        self._waiting: deque[float] = deque()
        self._product: float | None = None  # exposure time times gain of the next image
        self._last = 0.0  # the newest product, of which some are still waiting

    def reset(self, rng: np.random.Generator) -> None:  # noqa: ARG002
        """Start from the exposure of the description."""
        self._product = None
        self._waiting.clear()

    def plan(self, exposure: Exposure) -> Exposure:
        """Share the product between exposure time and gain."""
        spec = self._spec
        if self._product is None:
            self._product = self._last = self._kept(exposure.time * exposure.gain)
        time = min(max(self._product, spec.time_min), spec.time_max)
        return replace(exposure, time=time, gain=self._product / time)

    def apply(self, image: CameraImage) -> None:
        """Correct the product by an image."""
        spec = self._spec
        mean = (_mean(image.light.reshape(image.light.shape[0], -1)) - image.black) / (
            1.0 - image.black
        )
        step = spec.speed * (math.log(spec.target) - math.log(max(mean, LEAST_MEAN)))
        self._last = self._kept(self._last * math.exp(step))
        self._waiting.append(self._last)
        if len(self._waiting) > spec.delay:
            self._product = self._waiting.popleft()

    def _kept(self, product: float) -> float:
        """A product within what exposure times and gains allow."""
        spec = self._spec
        return min(max(product, spec.time_min), spec.time_max * gain_of(spec.gain_max_db))


@njit(cache=True)
def _mean(image: Singles) -> float:
    """Mean of some pixels of an image (h, n)."""
    total, count = 0.0, 0
    for i in range(0, image.shape[0], STEP):
        for j in range(0, image.shape[1], STEP):
            total += image[i, j]
            count += 1
    return total / count
