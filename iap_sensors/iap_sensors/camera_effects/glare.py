# SPDX-License-Identifier: BSD-3-Clause
r"""Glare: a lens spreads a share of its light around where it belongs, so that bright things bloom.

.. math:: y = (1 - s) x + s \frac{1}{n} \sum_{k=1}^{n} G_k * x

with kernels G_k of unit sum, each twice as wide as the one before, in place of the measured point spread of Spencer,
Shirley, Zimmerman and Greenberg, "Physically-based glare effects for digital images", SIGGRAPH 1995. They are images at
half the size of the one before, drawn up again.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from iap_description.config.record import Share
from iap_description.process.extras import cv2
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    Effect,
    EffectSpec,
    EffectStage,
)

FIRST = 2  # powers of two that the finest blurred image is smaller


class GlareSpec(EffectSpec):
    """Glare of a lens.

    Attributes:
        share: of the light that is spread.
        levels: kernels; the widest is about 2^(levels + 1) pixels wide.
    """

    share: Share = 0.04
    levels: Annotated[int, Field(strict=True, ge=1, le=8)] = 5

    def effects(self, camera: CameraGeometry) -> Sequence[Effect]:
        """Effects of this description in a camera."""
        return (Glare(self, camera),)


class Glare(CameraEffect):
    """Spreads light."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: GlareSpec, camera: CameraGeometry) -> None:
        self._spec = spec
        rest = camera.shape[2:]
        sizes = [
            (max(camera.height >> k, 1), max(camera.width >> k, 1), *rest)
            for k in range(FIRST, FIRST + spec.levels)
        ]
        self._small = [np.empty(size, np.float32) for size in sizes]
        self._sums = [np.empty(size, np.float32) for size in sizes]
        self._spread = np.empty(camera.shape, np.float32)

    def apply(self, image: CameraImage) -> None:
        """Blur at all sizes, from the smallest on, and mix."""
        finer = image.light
        for small in self._small:
            cv2.resize(finer, small.shape[1::-1], dst=small, interpolation=cv2.INTER_AREA)
            finer = small
        wide = self._small[-1]
        for small, total in zip(self._small[-2::-1], self._sums[-2::-1], strict=True):
            cv2.resize(wide, small.shape[1::-1], dst=total, interpolation=cv2.INTER_LINEAR)
            cv2.add(total, small, dst=total)
            wide = total
        size = image.light.shape[1::-1]
        cv2.resize(wide, size, dst=self._spread, interpolation=cv2.INTER_LINEAR)
        share = self._spec.share
        cv2.addWeighted(
            image.light,
            1.0 - share,
            self._spread,
            share / self._spec.levels,
            0.0,
            dst=image.light,
        )
