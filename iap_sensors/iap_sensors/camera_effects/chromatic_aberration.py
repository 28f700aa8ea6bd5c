# SPDX-License-Identifier: BSD-3-Clause
r"""Lateral chromatic aberration: red and blue images are larger or smaller than the green one.

What green shows at a distance r from the axis, over that of the farthest corner, another colour shows at

.. math:: r_c = r \, (1 + a_c + b_c r^2)

(Mallon and Whelan, "Calibration and removal of lateral chromatic aberration in images", Pattern Recognition Letters 28,
2007, radial terms).
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from iap_description.arrays import Array, Singles
from iap_description.process.extras import cv2
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    Effect,
    EffectSpec,
    EffectStage,
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

    def effects(self, camera: CameraGeometry) -> Sequence[Effect]:
        """Effects of this description in a camera."""
        return (ChromaticAberration(self, camera),)


class ChromaticAberration(CameraEffect):
    """Draws the red and the blue image in their sizes."""

    stage = EffectStage.OPTICS

    def __init__(self, spec: ChromaticAberrationSpec, camera: CameraGeometry) -> None:
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
