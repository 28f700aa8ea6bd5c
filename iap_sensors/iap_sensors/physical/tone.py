# SPDX-License-Identifier: BSD-3-Clause
"""From luminance to levels: exposure, the camera's curve, and how much light a lens spreads."""

import numpy as np

from iap_sensors.cameras.spec import CameraSpec

DEFAULT_CURVE = "filmic"
FILMIC_GAIN = 0.8  # of that curve, so that middle grey stays near the middle
WHITE = np.pi  # a white surface under an illuminance of 1 has a luminance of 1 / pi
GLARE_LEVELS = (
    6  # the first a quarter of the image along a side, each half as large as the one before
)
GLARE_SHARE = 0.04  # of the light that a lens spreads
BRIGHTEST = 500.0  # level that is kept of lights, so that glare stays small


def gain_of(spec: CameraSpec, exposed_for: float) -> float:
    """Factor from luminance [kcd/m^2] to levels, for an illuminance that images are exposed for [klx]."""
    curve = FILMIC_GAIN if curve_of(spec) == "filmic" else 1.0
    return float(curve * 2.0**spec.exposure * WHITE / exposed_for)


def curve_of(spec: CameraSpec) -> str:
    """From light to levels: "light" of a camera with effects, which make levels themselves."""
    return "light" if spec.gives_light else spec.tone or DEFAULT_CURVE
