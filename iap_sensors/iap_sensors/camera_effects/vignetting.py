# SPDX-License-Identifier: BSD-3-Clause
r"""Vignetting: what a lens loses towards the corners.

A thin lens gives a pixel at an angle theta off the axis cos^4 theta of the light (Horn, "Robot Vision", 1986, chapter
10; Kang and Weiss, "Can We Calibrate a Camera Using an Image of a Flat, Textureless Lambertian Surface?", ECCV 2000).
Mounts and stops take more, which is measured as a polynomial of the distance r from the axis over that of the farthest
corner:

.. math:: V = \cos^4\theta \, (1 + k_2 r^2 + k_4 r^4 + k_6 r^6)
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numba import njit
from pydantic import model_validator

from iap_description.arrays import Array, Singles
from iap_description.config.record import Flag, Real
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    Effect,
    EffectSpec,
    EffectStage,
)


class VignettingSpec(EffectSpec):
    """Vignetting.

    Attributes:
        natural: whether cos^4 theta counts.
        polynomial: k2, k4, k6.
    """

    natural: Flag = True
    polynomial: tuple[Real, Real, Real] = (0.0, 0.0, 0.0)

    @model_validator(mode="after")
    def _leaves_light(self) -> Self:
        if np.any(self.left(np.linspace(0.0, 1.0, 101)) < 0.0):
            raise ValueError(
                f"key 'polynomial': {list(self.polynomial)} leaves less than no light somewhere"
            )
        return self

    def left(self, r: Array) -> Array:
        """Share of light that mounts and stops leave at distances r."""
        k2, k4, k6 = self.polynomial
        s = r * r
        return np.asarray(1.0 + s * (k2 + s * (k4 + s * k6)))

    def effects(self, camera: CameraGeometry) -> Sequence[Effect]:
        """Effects of this description in a camera."""
        return (Vignetting(self, camera),)


class Vignetting(CameraEffect):
    """Darkens corners."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: VignettingSpec, camera: CameraGeometry) -> None:
        off = np.linalg.norm(camera.pixels - np.array(camera.center), axis=-1)
        kept = spec.left(off / off.max())
        if spec.natural:
            kept = kept / (1.0 + camera.tangents**2) ** 2
        self._kept = kept.astype(np.float32).ravel()

    def apply(self, image: CameraImage) -> None:
        """Take light away."""
        _scale(image.light.reshape(self._kept.size, -1), self._kept)


@njit(cache=True)
def _scale(light: Singles, shares: Singles) -> None:
    """Multiply pixels (n, channels) by shares (n,)."""
    for i in range(light.shape[0]):
        for k in range(light.shape[1]):
            light[i, k] *= shares[i]
