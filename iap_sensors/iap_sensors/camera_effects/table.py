# SPDX-License-Identifier: BSD-3-Clause
"""The table of camera effects: the key `effects` of a camera, one key for each, in the order of the light's way."""

from typing import Self

from pydantic import model_validator

from iap_description.config.record import Record
from iap_sensors.camera_effects.auto_exposure import AutoExposureSpec
from iap_sensors.camera_effects.colors import BayerSpec, WhiteBalanceSpec
from iap_sensors.camera_effects.depth_errors import DepthErrorsSpec
from iap_sensors.camera_effects.depth_of_field import DepthOfFieldSpec
from iap_sensors.camera_effects.dropped_frames import DroppedFramesSpec
from iap_sensors.camera_effects.effect import EffectSpec
from iap_sensors.camera_effects.exposure import ExposureSpec
from iap_sensors.camera_effects.image_sensor import ImageSensorSpec
from iap_sensors.camera_effects.lens_drops import LensDropsSpec
from iap_sensors.camera_effects.lens_errors import ChromaticAberrationSpec, VignettingSpec
from iap_sensors.camera_effects.shutter import FlickerSpec, MotionBlurSpec, RollingShutterSpec
from iap_sensors.camera_effects.stray_light import GlareSpec, LensFlareSpec


class CameraEffects(Record):
    """Effects of a camera; those that are left out, or null, are off."""

    depth_of_field: DepthOfFieldSpec | None = None
    lens_drops: LensDropsSpec | None = None
    glare: GlareSpec | None = None
    lens_flare: LensFlareSpec | None = None
    chromatic_aberration: ChromaticAberrationSpec | None = None
    vignetting: VignettingSpec | None = None
    exposure: ExposureSpec | None = None
    motion_blur: MotionBlurSpec | None = None
    rolling_shutter: RollingShutterSpec | None = None
    flicker: FlickerSpec | None = None
    sensor: ImageSensorSpec | None = None
    auto_exposure: AutoExposureSpec | None = None
    bayer: BayerSpec | None = None
    white_balance: WhiteBalanceSpec | None = None
    depth_errors: DepthErrorsSpec | None = None
    dropped_frames: DroppedFramesSpec | None = None

    @property
    def specs(self) -> dict[str, EffectSpec]:
        """Those that are on, by their keys."""
        return {name: each for name in type(self).model_fields if (each := getattr(self, name))}

    @property
    def needs_color(self) -> bool:
        """True if one works on colours alone."""
        return any(each.NEEDS_COLOR for each in self.specs.values())

    @property
    def needs_depth(self) -> bool:
        """True if one needs the depth of each pixel."""
        return any(each.NEEDS_DEPTH for each in self.specs.values())

    @model_validator(mode="after")
    def _have_what_they_build_on(self) -> Self:
        for name, each in self.specs.items():
            missing = [needed for needed in each.NEEDS if needed not in self.specs]
            if missing:
                raise ValueError(f"key '{name}': it needs the effect '{missing[0]}', too")
        return self
