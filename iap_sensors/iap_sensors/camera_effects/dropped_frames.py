# SPDX-License-Identifier: BSD-3-Clause
"""Images that are taken and lost on their way, independent of each other with one probability (a Bernoulli process)."""

import numpy as np

from iap_description.config.record import Share
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    Effect,
    EffectSpec,
    EffectStage,
)


class DroppedFramesSpec(EffectSpec):
    """Loss of images.

    Attributes:
        share: of the images that are lost, with depth and labels.
    """

    share: Share

    def effect(self, camera: CameraGeometry) -> Effect:  # noqa: ARG002
        """The effect in a camera."""
        return DroppedFrames(self.share)


class DroppedFrames(CameraEffect):
    """Loses images."""

    stage = EffectStage.TRANSPORT

    def __init__(self, share: float) -> None:
        self._share = share

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._rng = rng

    def apply(self, image: CameraImage) -> None:
        """Lose the image or not."""
        image.is_lost |= bool(self._rng.random() < self._share)
