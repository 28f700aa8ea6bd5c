# SPDX-License-Identifier: BSD-3-Clause
"""White noise of the gyroscope and accelerometer of a firmware."""

import numpy as np

from iap_physics.firmware.firmware import AircraftMotion
from iap_physics.firmware.settings import FirmwareSettings

BLOCK = 1024  # samples that are drawn at once


class SensorNoise:
    """Adds noise to motions, the same for the same generator.

    Args:
        settings: standard deviations of samples.
        rng: of the aircraft.
    """

    def __init__(self, settings: FirmwareSettings, rng: np.random.Generator) -> None:
        self._rng = rng
        deviations = (settings.gyro_noise, settings.accelerometer_noise)
        self._scale = np.repeat(deviations, 3)
        self._block: list[list[float]] = []

    def __call__(self, motion: AircraftMotion) -> AircraftMotion:
        """The motion with noise on its angular velocity and specific force."""
        if not self._block:
            self._block = (self._scale * self._rng.standard_normal((BLOCK, 6))).tolist()
        a, b, c, d, e, f = self._block.pop()
        p, q, r = motion.w_WB_B
        x, y, z = motion.f_B
        return motion._replace(w_WB_B=(p + a, q + b, r + c), f_B=(x + d, y + e, z + f))
