# SPDX-License-Identifier: BSD-3-Clause
r"""Drops of water on the lens: each shows a wide view upside down, blurred, in place of what is behind it.

A drop is a half ball of water that refracts light towards its middle. To first order it is a lens of its own, before
the camera's, and shows the scene turned by 180 degrees and k times smaller,

.. math:: u' = u_0 - k (u - u_0)

for pixels u within the drop's radius of its middle u_0 (Halimeh and Roser, "Raindrop detection on car windshields using
geometric-photometric environment construction and intensity-based correlation", IV 2009, for the refraction). It is out
of focus, so what it shows is blurred and its rim fades. Drops land at places and times of their own, stay for a while
and are replaced.
"""

from typing import Annotated

import numpy as np
from numba import njit
from pydantic import Field

from iap_description.arrays import Array, Singles
from iap_description.config.values import Positive
from iap_description.process.extras import cv2
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    effect_of,
)

SHRINK = 4  # what drops show is that much smaller


class LensDropsSpec(EffectSpec):
    """Drops on the lens.

    Attributes:
        count: of drops at any time.
        radius: their mean radius [pixels].
        wideness: k, how much smaller than the image what they show is.
        lifetime: after which a drop is replaced by another one elsewhere [s].
    """

    count: Annotated[int, Field(strict=True, ge=1, le=1000)] = 12
    radius: Annotated[Positive, Field(ge=1.0, le=1000.0)] = 18.0
    wideness: Annotated[float, Field(strict=True, ge=1.0, le=20.0)] = 5.0
    lifetime: Positive = 10.0


@effect_of(LensDropsSpec)
class LensDrops(CameraEffect[LensDropsSpec]):
    """Draws drops; where and when they land is of the camera's seed."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: LensDropsSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        self._size = (camera.width, camera.height)
        small = (max(camera.height // SHRINK, 1), max(camera.width // SHRINK, 1))
        self._blurred = np.empty((*small, *camera.shape[2:]), np.float32)

    def reset(self, rng: np.random.Generator) -> None:
        """Draw the phase of each drop's life, and a number from which its places come."""
        self._phases = rng.random(self._spec.count)
        self._seed = int(rng.integers(2**31))

    def drops(self, t: float) -> Array:
        """(count, 3) middle and radius of each drop at a time [pixels]."""
        lives = np.floor(t / self._spec.lifetime + self._phases).astype(int)
        drawn = [
            np.random.default_rng((self._seed, k, max(life, 0))).random(3)
            for k, life in enumerate(lives)
        ]
        radii = self._spec.radius * (0.5 + np.array(drawn)[:, 2:])
        return np.hstack([np.array(drawn)[:, :2] * self._size, radii])

    def apply(self, image: CameraImage) -> None:
        """Draw what drops show."""
        size = self._blurred.shape[1::-1]
        cv2.resize(image.light, size, dst=self._blurred, interpolation=cv2.INTER_AREA)
        light = image.light.reshape(*image.light.shape[:2], -1)
        blurred = self._blurred.reshape(*self._blurred.shape[:2], -1)
        _draw(light, blurred, self.drops(image.t), self._spec.wideness)


@njit(cache=True)
def _draw(light: Singles, blurred: Singles, drops: Array, wideness: float) -> None:
    """Draw drops (n, 3) on light (h, w, channels), out of a smaller image (h, w, channels)."""
    height, width, channels = light.shape
    lower, right = blurred.shape[0] - 1, blurred.shape[1] - 1
    for n in range(drops.shape[0]):
        u0, v0, radius = drops[n]
        for i in range(max(int(v0 - radius), 0), min(int(v0 + radius) + 2, height)):
            for j in range(max(int(u0 - radius), 0), min(int(u0 + radius) + 2, width)):
                square = ((i - v0) ** 2 + (j - u0) ** 2) / radius**2
                if square >= 1.0:
                    continue
                x, y = u0 - wideness * (j - u0), v0 - wideness * (i - v0)
                column = min(max(int(x / SHRINK), 0), right)
                row = min(max(int(y / SHRINK), 0), lower)
                share = np.float32(min(1.0, 4.0 * (1.0 - square)))
                for c in range(channels):
                    light[i, j, c] += share * (blurred[row, column, c] - light[i, j, c])
