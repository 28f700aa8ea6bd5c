# SPDX-License-Identifier: BSD-3-Clause
"""All effects of one camera, one behind the other, from linear light to levels of 8 bits.

The last are curves from digital numbers to levels, both over their largest one. `srgb` is the transfer function of IEC
61966-2-1; `filmic` is Narkowicz' fit of ACES ("ACES Filmic Tone Mapping Curve", 2016) before it.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from iap_description.arrays import Array, Pixels, Singles
from iap_description.math import srgb
from iap_sensors.camera_effects.effect import CameraGeometry, CameraImage, Exposure
from iap_sensors.camera_effects.table import CameraEffects

FILMIC_GAIN = 0.8  # so that middle grey stays near the middle
ENTRIES = 2**14  # of the table from numbers to levels


def _filmic(x: Array) -> Array:
    c = FILMIC_GAIN * x
    return srgb.encoded(np.minimum(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 1.0))


CURVES: dict[str, Callable[[Array], Array]] = {
    "linear": lambda x: x,
    "srgb": srgb.encoded,
    "filmic": _filmic,
}


class EffectChain:
    """The effects of a camera; each has a random stream of its own.

    Args:
        effects: that are on.
        camera: that has them.
        curve: from digital numbers to levels, of `CURVES`.
    """

    def __init__(self, effects: CameraEffects, camera: CameraGeometry, curve: str) -> None:
        made = [each for spec in effects.specs.values() for each in spec.effects(camera)]
        self._effects = sorted(made, key=lambda each: each.stage)
        shares = np.arange(ENTRIES) / (ENTRIES - 1)
        self._levels = np.floor(255.0 * CURVES[curve](shares) + 0.5).astype(np.uint8)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew: all that is fixed for a camera is drawn."""
        for effect, stream in zip(self._effects, rng.spawn(len(self._effects)), strict=True):
            effect.reset(stream)

    def plan(self) -> Exposure:
        """Exposure of the next image."""
        exposure = Exposure()
        for effect in self._effects:
            exposure = effect.plan(exposure)
        return exposure

    def apply(self, image: CameraImage) -> Pixels:
        """Levels (h, w) or (h, w, 3) of an image that is drawn; its light is written to."""
        for effect in self._effects:
            effect.apply(image)
        levels = np.empty(image.light.shape, np.uint8)
        _look_up(image.light.reshape(-1), self._levels, levels.reshape(-1))
        return levels


@njit(cache=True)
def _look_up(numbers: Singles, table: Pixels, out: Pixels) -> None:
    """Write the levels of numbers (n,) between 0 and 1."""
    last = np.float32(table.size - 1)
    zero, half = np.float32(0.0), np.float32(0.5)
    for i in range(numbers.size):
        out[i] = table[np.uint32(np.int32(min(max(numbers[i] * last, zero), last) + half))]
