# SPDX-License-Identifier: BSD-3-Clause
r"""Flicker of lamps on the mains: stripes where rows are exposed one after the other, pulses where they are not.

Light on mains of frequency f ripples twice a period,

.. math:: I(t) = 1 + m \cos(4 \pi f t + \varphi)

with the modulation :math:`m = (I_{max} - I_{min}) / (I_{max} + I_{min})` (IEEE 1789-2015, percent flicker). A row that
is exposed over T around its time t_v gets its mean,

.. math:: 1 + m \frac{\sin(2 \pi f T)}{2 \pi f T} \cos(4 \pi f t_v + \varphi)

so an exposure of a whole number of half periods shows none. All light of the scene ripples.
"""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numba import njit
from pydantic import Field

from iap_description.arrays import Singles
from iap_description.config.record import Positive, Real, Share
from iap_sensors.camera_effects.effect import (
    CameraEffect,
    CameraGeometry,
    CameraImage,
    Effect,
    EffectSpec,
    EffectStage,
)


class FlickerSpec(EffectSpec):
    """Flicker of lamps.

    Attributes:
        frequency: of the mains [Hz].
        modulation: m; some 0.1 of filament lamps, 0.3 to 1 of LED without smoothing.
        phase_deg: at time 0.
    """

    frequency: Annotated[Positive, Field(le=1e5)] = 50.0
    modulation: Share = 0.3
    phase_deg: Real = 0.0

    def effects(self, camera: CameraGeometry) -> Sequence[Effect]:
        """Effects of this description in a camera."""
        return (Flicker(self, camera),)


class Flicker(CameraEffect):
    """Makes rows darker and brighter."""

    stage = EffectStage.SHUTTER

    def __init__(self, spec: FlickerSpec, camera: CameraGeometry) -> None:
        self._spec, self._height = spec, camera.height

    def apply(self, image: CameraImage) -> None:
        """Multiply each row by what the lamps give in the mean over its exposure."""
        spec, exposure = self._spec, image.exposure
        depth = spec.modulation * np.sinc(2.0 * spec.frequency * exposure.time)
        times = image.t + exposure.row_times(self._height)
        phases = 4.0 * math.pi * spec.frequency * times + math.radians(spec.phase_deg)
        factors = (1.0 + depth * np.cos(phases)).astype(np.float32)
        _scale_rows(image.light.reshape(self._height, -1), factors)


@njit(cache=True)
def _scale_rows(light: Singles, factors: Singles) -> None:
    """Multiply rows (h, n) by factors (h,)."""
    for i in range(light.shape[0]):
        for j in range(light.shape[1]):
            light[i, j] *= factors[i]
