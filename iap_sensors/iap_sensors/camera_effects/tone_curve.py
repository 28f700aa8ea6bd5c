# SPDX-License-Identifier: BSD-3-Clause
"""Curves from digital numbers to levels, both over their largest one.

`srgb` is the transfer function of IEC 61966-2-1; `filmic` is Narkowicz' fit of ACES ("ACES Filmic Tone Mapping Curve",
2016) before it.
"""

from collections.abc import Callable

import numpy as np

from iap_description.arrays import Array

FILMIC_GAIN = 0.8  # so that middle grey stays near the middle


def _srgb(x: Array) -> Array:
    return np.where(x < 0.0031308, 12.92 * x, 1.055 * np.power(x, 1.0 / 2.4) - 0.055)


def _filmic(x: Array) -> Array:
    c = FILMIC_GAIN * x
    return _srgb(np.minimum(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 1.0))


CURVES: dict[str, Callable[[Array], Array]] = {
    "linear": lambda x: x,
    "srgb": _srgb,
    "filmic": _filmic,
}
