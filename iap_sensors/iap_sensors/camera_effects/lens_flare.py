# SPDX-License-Identifier: BSD-3-Clause
r"""Lens flare: ghosts of bright lights, by reflections between the surfaces of the lens.

To first order a ray that two surfaces reflect is mapped linearly to the image (Hullin, Eisemann, Seidel and Lee,
"Physically-based real-time lens flare rendering", SIGGRAPH 2011, on ray transfer matrices). So ghost i shows what is
bright at r from the axis at

.. math:: r_i = s_i \, r

blurred, by its own share of the light. The magnifications s_i are given here in place of a lens' surfaces.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.record import NonNegative, Share
from iap_description.process.extras import cv2
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    Effect,
    EffectSpec,
    EffectStage,
)

SHRINK = 4  # ghosts are drawn this much smaller
Magnification = Annotated[float, Field(strict=True, ge=-5.0, le=5.0)]


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

    def effects(self, camera: CameraGeometry) -> Sequence[Effect]:
        """Effects of this description in a camera."""
        return (LensFlare(self, camera),)


class LensFlare(CameraEffect):
    """Adds ghosts."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: LensFlareSpec, camera: CameraGeometry) -> None:
        self._spec = spec
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
