# SPDX-License-Identifier: BSD-3-Clause
r"""The time of an exposure: motion during it, rows one after the other, and lamps that ripple.

Motion blur: the image is the mean of n images, in linear light, at the instants :math:`t + T ((k + 1/2) / n - 1/2)` of
an exposure T around t. It is the midpoint rule for the integral of Potmesil and Chakravarty, "Modeling motion blur in
computer-generated images", SIGGRAPH 1983.

Rolling shutter: row v of h is exposed around t + (v - (h - 1) / 2) t_line, where t is the image's stamp (Meingast,
Geyer and Sastry, "Geometric Models of Rolling-Shutter Cameras", OMNIVIS 2005, eq. 1, counted from the middle row). How
bands of rows are drawn is in `iap_sensors.cameras.bands`.

Flicker: light on mains of frequency f ripples twice a period,

.. math:: I(t) = 1 + m \cos(4 \pi f t + \varphi)

with the modulation :math:`m = (I_{max} - I_{min}) / (I_{max} + I_{min})` (IEEE 1789-2015, percent flicker). A row that
is exposed over T around its time t_v gets its mean,

.. math:: 1 + m \frac{\sin(2 \pi f T)}{2 \pi f T} \cos(4 \pi f t_v + \varphi)

so an exposure of a whole number of half periods shows none. All light of the scene ripples. Images of a rolling shutter
get stripes; others become brighter and darker.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from iap_description.config.values import Degrees, Positive, Share
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    EffectSpec,
    EffectStage,
    Exposure,
    effect_of,
    scale_rows,
)


class MotionBlurSpec(EffectSpec):
    """Motion blur by the exposure's time.

    Attributes:
        samples: images whose mean is taken.
    """

    NEEDS: ClassVar[tuple[str, ...]] = ("exposure",)

    samples: Annotated[int, Field(strict=True, ge=2, le=64)] = 8


@effect_of(MotionBlurSpec)
class MotionBlur(CameraEffect[MotionBlurSpec]):
    """Plans the instants of an exposure."""

    stage = EffectStage.SHUTTER

    def plan(self, exposure: Exposure) -> Exposure:
        """Take some images over the exposure."""
        return replace(exposure, samples=self._spec.samples)


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


@effect_of(RollingShutterSpec)
class RollingShutter(CameraEffect[RollingShutterSpec]):
    """Plans the times of rows."""

    stage = EffectStage.SHUTTER

    def plan(self, exposure: Exposure) -> Exposure:
        """Expose row by row."""
        return replace(exposure, line_time=self._spec.line_time, bands=self._spec.bands)


class FlickerSpec(EffectSpec):
    """Flicker of lamps.

    Attributes:
        frequency: of the mains [Hz].
        modulation: m; some 0.1 of filament lamps, 0.3 to 1 of LED without smoothing.
        phase_deg: at time 0.
    """

    frequency: Annotated[Positive, Field(le=1e5)] = 50.0
    modulation: Share = 0.3
    phase_deg: Degrees = 0.0


@effect_of(FlickerSpec)
class Flicker(CameraEffect[FlickerSpec]):
    """Makes rows darker and brighter."""

    stage = EffectStage.SHUTTER

    def apply(self, image: CameraImage) -> None:
        """Multiply each row by what the lamps give in the mean over its exposure."""
        spec, exposure = self._spec, image.exposure
        depth = spec.modulation * np.sinc(2.0 * spec.frequency * exposure.time)
        times = image.t + exposure.row_times(self._camera.height)
        phases = 4.0 * math.pi * spec.frequency * times + math.radians(spec.phase_deg)
        factors = (1.0 + depth * np.cos(phases)).astype(np.float32)
        scale_rows(image.light.reshape(self._camera.height, -1), factors)
