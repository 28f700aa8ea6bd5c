# SPDX-License-Identifier: BSD-3-Clause
"""Rolling shutter: rows are exposed one after the other, each from where the camera is then.

Row v of h is exposed around t + (v - (h - 1) / 2) t_line, where t is the image's stamp (Meingast, Geyer and Sastry,
"Geometric Models of Rolling-Shutter Cameras", OMNIVIS 2005, eq. 1, counted from the middle row). How bands of rows are
drawn is in `iap_sensors.cameras.bands`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from iap_description.config.record import Positive
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    Effect,
    EffectSpec,
    EffectStage,
    Exposure,
)


class RollingShutterSpec(EffectSpec):
    """A rolling shutter.

    Attributes:
        line_time: from one row to the next [s].
        bands: of rows that are drawn at once.
    """

    line_time: Positive
    bands: Annotated[int, Field(strict=True, ge=1, le=1024)] = 32

    def check(self, camera: CameraGeometry) -> None:
        """Refuse a readout that takes longer than an image."""
        readout = self.line_time * camera.height
        if readout > 1.0 / camera.rate:
            raise ValueError(
                f"key 'effects.rolling_shutter.line_time': {camera.height} rows take {readout:.4g} s, longer"
                f" than an image at {camera.rate} Hz"
            )

    def effects(self, camera: CameraGeometry) -> Sequence[Effect]:  # noqa: ARG002
        """Effects of this description in a camera."""
        return (RollingShutter(self),)


class RollingShutter(CameraEffect):
    """Plans the times of rows."""

    stage = EffectStage.SHUTTER

    def __init__(self, spec: RollingShutterSpec) -> None:
        self._spec = spec

    def plan(self, exposure: Exposure) -> Exposure:
        """Expose row by row."""
        return replace(exposure, line_time=self._spec.line_time, bands=self._spec.bands)
