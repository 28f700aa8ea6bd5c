# SPDX-License-Identifier: BSD-3-Clause
r"""Exposure: from the luminance of the scene to the light on the image sensor.

A lens of f-number N and transmission T gives a surface of luminance L the illuminance

.. math:: E = \frac{\pi}{4} \frac{T L}{N^2}

on its axis, for surfaces far away (Horn, "Robot Vision", 1986, chapter 10). The image sensor collects H = E t. What is
lost off the axis is the vignetting's.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from iap_description.config.values import Positive
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    Exposure,
    effect_of,
)

Decibels = Annotated[float, Field(strict=True, ge=0.0, le=60.0)]
Transmission = Annotated[float, Field(strict=True, gt=0.0, le=1.0)]


class ExposureSpec(EffectSpec):
    """Exposure time, aperture and gain.

    Attributes:
        time: of exposure [s]; with automatic exposure that of the first images.
        gain_db: of the image sensor's amplifier.
        f_number: of the lens.
        transmission: of the lens.
        illuminance: of a white surface of level 1 [lx], for renderers that draw levels; `physical` knows its own.
    """

    NEEDS: ClassVar[tuple[str, ...]] = ("sensor",)

    time: Positive
    gain_db: Decibels = 0.0
    f_number: Positive = 2.0
    transmission: Transmission = 0.9
    illuminance: Positive = 500.0

    def check(self, camera: CameraGeometry) -> None:
        """Refuse an exposure that is longer than an image."""
        check_time(self.time, camera, "effects.exposure.time")


@effect_of(ExposureSpec)
class FocalPlaneExposure(CameraEffect[ExposureSpec]):
    """Says how much light the image sensor collects."""

    stage = EffectStage.SHUTTER

    def plan(self, exposure: Exposure) -> Exposure:
        """Expose for the time and with the gain of the description."""
        return replace(exposure, time=self._spec.time, gain=gain_of(self._spec.gain_db))

    def apply(self, image: CameraImage) -> None:
        """Note the irradiation of light 1."""
        spec = self._spec
        luminance = spec.illuminance / math.pi if image.luminance is None else image.luminance
        illuminance = 0.25 * math.pi * spec.transmission * luminance / spec.f_number**2
        image.irradiation = illuminance * image.exposure.time


def check_time(time: float, camera: CameraGeometry, key: str) -> None:
    """Refuse an exposure time [s] that is longer than an image.

    Raises:
        ValueError: naming the key.
    """
    if time > 1.0 / camera.rate:
        raise ValueError(f"key '{key}': {time} s is longer than an image at {camera.rate} Hz")


def gain_of(decibels: float) -> float:
    """Amplification of a gain in decibels."""
    return float(10.0 ** (decibels / 20.0))
