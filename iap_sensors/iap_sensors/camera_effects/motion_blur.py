# SPDX-License-Identifier: BSD-3-Clause
r"""Motion blur: the mean of what the camera sees over its exposure, in linear light.

The image is the mean of n images at the instants :math:`t + T ((k + 1/2) / n - 1/2)` of an exposure T around t: the
midpoint rule for the integral of Potmesil and Chakravarty, "Modeling motion blur in computer-generated images",
SIGGRAPH 1983.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    Effect,
    EffectSpec,
    EffectStage,
    Exposure,
)


class MotionBlurSpec(EffectSpec):
    """Motion blur by the exposure's time.

    Attributes:
        samples: images whose mean is taken.
    """

    NEEDS: ClassVar[tuple[str, ...]] = ("exposure",)

    samples: Annotated[int, Field(strict=True, ge=2, le=64)] = 8

    def effects(self, camera: CameraGeometry) -> Sequence[Effect]:  # noqa: ARG002
        """Effects of this description in a camera."""
        return (MotionBlur(self),)


class MotionBlur(CameraEffect):
    """Plans the instants of an exposure."""

    stage = EffectStage.SHUTTER

    def __init__(self, spec: MotionBlurSpec) -> None:
        self._spec = spec

    def plan(self, exposure: Exposure) -> Exposure:
        """Take some images over the exposure."""
        return replace(exposure, samples=self._spec.samples)
