# SPDX-License-Identifier: BSD-3-Clause
r"""Errors of lenses: sizes of the colours' images, and light towards the corners.

Lateral chromatic aberration: what green shows at a distance r from the axis, over that of the farthest corner, red or
blue shows at

.. math:: r_c = r \, (1 + a_c + b_c r^2)

(Mallon and Whelan, "Calibration and removal of lateral chromatic aberration in images", Pattern Recognition Letters 28,
2007, radial terms).

Vignetting: a thin lens gives a pixel at an angle theta off the axis cos^4 theta of the light (Horn, "Robot Vision",
1986, chapter 10; Kang and Weiss, "Can We Calibrate a Camera Using an Image of a Flat, Textureless Lambertian Surface?",
ECCV 2000). Mounts and stops take more, which is measured as a polynomial of the same r:

.. math:: V = \cos^4\theta \, (1 + k_2 r^2 + k_4 r^4 + k_6 r^6)
"""

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array, Singles
from iap_description.config.values import Flag, Real
from iap_description.process.extras import cv2
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    effect_of,
    scale_rows,
)

Term = Annotated[float, Field(strict=True, ge=-0.1, le=0.1)]
ITERATIONS = 8  # of a fixed point whose error shrinks to a third each time at least


class ChromaticAberrationSpec(EffectSpec):
    """Sizes of the red and the blue image.

    Attributes:
        red: a and b.
        blue: a and b.
    """

    NEEDS_COLOR: ClassVar[bool] = True

    red: tuple[Term, Term] = (0.0, 0.0)
    blue: tuple[Term, Term] = (0.0, 0.0)


@effect_of(ChromaticAberrationSpec)
class ChromaticAberration(CameraEffect[ChromaticAberrationSpec]):
    """Draws the red and the blue image in their sizes."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: ChromaticAberrationSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        self._maps = {
            channel: _maps(camera, *terms)
            for channel, terms in ((0, spec.red), (2, spec.blue))
            if any(terms)
        }
        self._from, self._to = (np.empty(camera.shape[:2], np.float32) for _ in range(2))

    def apply(self, image: CameraImage) -> None:
        """Remap colours."""
        for channel, maps in self._maps.items():
            cv2.extractChannel(image.light, channel, dst=self._from)
            cv2.remap(
                self._from, *maps, cv2.INTER_LINEAR, dst=self._to, borderMode=cv2.BORDER_REPLICATE
            )
            cv2.insertChannel(self._to, image.light, channel)


def _maps(camera: CameraGeometry, a: float, b: float) -> tuple[Singles, Singles]:
    """Columns and rows (h, w) at which green shows what the colour shows at each pixel."""
    off: Array = camera.pixels - np.array(camera.center)
    off_corner = np.linalg.norm(off, axis=-1).max()
    target = off / off_corner
    at = target
    for _ in range(ITERATIONS):
        at = target / (1.0 + a + b * np.sum(at * at, axis=-1, keepdims=True))
    columns, rows = np.moveaxis(at * off_corner + np.array(camera.center), -1, 0)
    return columns.astype(np.float32), rows.astype(np.float32)


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


@effect_of(VignettingSpec)
class Vignetting(CameraEffect[VignettingSpec]):
    """Darkens corners."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: VignettingSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        off = np.linalg.norm(camera.pixels - np.array(camera.center), axis=-1)
        kept = spec.left(off / off.max())
        if spec.natural:
            kept = kept / (1.0 + camera.tangents**2) ** 2
        self._kept = kept.astype(np.float32).ravel()

    def apply(self, image: CameraImage) -> None:
        """Take light away."""
        scale_rows(image.light.reshape(self._kept.size, -1), self._kept)
