# SPDX-License-Identifier: BSD-3-Clause
r"""Stray light in a lens: glare around bright things, and flare, their ghosts.

Glare is a share s of the light that is spread around where it belongs,

.. math:: y = (1 - s) x + s \frac{1}{n} \sum_{k=1}^{n} G_k * x

with kernels G_k of unit sum, each twice as wide as the one before, in place of the measured point spread of Spencer,
Shirley, Zimmerman and Greenberg, "Physically-based glare effects for digital images", SIGGRAPH 1995. They are images at
half the size of the one before, drawn up again.

Flare is made by reflections between the surfaces of the lens. To first order a ray that two surfaces reflect is mapped
linearly to the image (Hullin, Eisemann, Seidel and Lee, "Physically-based real-time lens flare rendering", SIGGRAPH
2011, on ray transfer matrices). So ghost i shows what is bright at r from the axis at

.. math:: r_i = s_i \, r

blurred, by its own share of the light. The magnifications s_i are given here in place of a lens' surfaces.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.values import NonNegative, Share
from iap_description.process.extras import cv2
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    effect_of,
)

FIRST = 2  # powers of two that the finest blurred image is smaller
SHRINK = 4  # ghosts are drawn this much smaller
Magnification = Annotated[float, Field(strict=True, ge=-5.0, le=5.0)]


class GlareSpec(EffectSpec):
    """Glare of a lens.

    Attributes:
        share: of the light that is spread.
        levels: kernels; the widest is about 2^(levels + 1) pixels wide.
    """

    share: Share = 0.04
    levels: Annotated[int, Field(strict=True, ge=1, le=8)] = 5


@effect_of(GlareSpec)
class Glare(CameraEffect[GlareSpec]):
    """Spreads light."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: GlareSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
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


class LensFlareSpec(EffectSpec):
    """Ghosts of bright lights.

    Attributes:
        ghosts: magnification of each.
        share: of the light in each.
        threshold: light above which something is bright.
        blur: standard deviation of a ghost [pixels].
    """

    ghosts: Annotated[tuple[Magnification, ...], Field(min_length=1, max_length=16)] = (
        -0.4,
        -0.8,
        0.5,
        -1.4,
    )
    share: Share = 0.005
    threshold: NonNegative = 1.0
    blur: NonNegative = 6.0

    def check(self, camera: CameraGeometry) -> None:  # noqa: ARG002
        """Refuse a ghost that is a point."""
        if 0.0 in self.ghosts:
            raise ValueError("key 'effects.lens_flare.ghosts': a magnification is 0")


@effect_of(LensFlareSpec)
class LensFlare(CameraEffect[LensFlareSpec]):
    """Adds ghosts."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: LensFlareSpec, camera: CameraGeometry) -> None:
        super().__init__(spec, camera)
        small = (max(camera.height // SHRINK, 1), max(camera.width // SHRINK, 1))
        rest = camera.shape[2:]
        self._bright, self._ghost, self._sum = (
            np.empty((*small, *rest), np.float32) for _ in range(3)
        )
        self._large = np.empty(camera.shape, np.float32)
        scale = np.array([small[1] / camera.width, small[0] / camera.height])
        center = (np.array(camera.center) + 0.5) * scale - 0.5
        self._smooth = max(
            0.5, 0.5 / min(map(abs, spec.ghosts))
        )  # so that small ghosts lose no light
        self._maps = [_magnified(s, center) for s in spec.ghosts]

    def apply(self, image: CameraImage) -> None:
        """Mirror, scale and blur what is bright."""
        spec, size = self._spec, self._bright.shape[1::-1]
        cv2.resize(image.light, size, dst=self._bright, interpolation=cv2.INTER_AREA)
        np.subtract(self._bright, np.float32(spec.threshold), out=self._bright)
        np.maximum(self._bright, np.float32(0.0), out=self._bright)
        if not self._bright.any():
            return
        cv2.GaussianBlur(self._bright, (0, 0), self._smooth, dst=self._bright)
        self._sum[:] = 0.0
        for magnification, matrix in zip(spec.ghosts, self._maps, strict=True):
            cv2.warpAffine(self._bright, matrix, size, dst=self._ghost, flags=cv2.INTER_LINEAR)
            cv2.scaleAdd(self._ghost, spec.share / magnification**2, self._sum, dst=self._sum)
        if spec.blur > 0.0:
            cv2.GaussianBlur(self._sum, (0, 0), spec.blur / SHRINK, dst=self._sum)
        full = image.light.shape[1::-1]
        cv2.resize(self._sum, full, dst=self._large, interpolation=cv2.INTER_LINEAR)
        cv2.add(image.light, self._large, dst=image.light)


def _magnified(s: float, center: Array) -> Array:
    """(2, 3) affine map of pixels that scales them about a centre."""
    return np.column_stack([s * np.eye(2), (1.0 - s) * center])
