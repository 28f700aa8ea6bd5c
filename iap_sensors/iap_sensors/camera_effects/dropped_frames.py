# SPDX-License-Identifier: BSD-3-Clause
"""Images that are taken and lost on their way, independent of each other with one probability (a Bernoulli process)."""

import numpy as np

from iap_description.config.values import Share
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraImage,
    EffectSpec,
    EffectStage,
    effect_of,
)


class DroppedFramesSpec(EffectSpec):
    """Loss of images.

    Attributes:
        share: of the images that are lost, with depth and labels.
    """

    share: Share


@effect_of(DroppedFramesSpec)
class DroppedFrames(CameraEffect[DroppedFramesSpec]):
    """Loses images."""

    stage = EffectStage.TRANSPORT

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator."""
        self._rng = rng

    def apply(self, image: CameraImage) -> None:
        """Lose the image or not."""
        image.is_lost |= bool(self._rng.random() < self._spec.share)
