# SPDX-License-Identifier: BSD-3-Clause
r"""The standard atmosphere below 11 km [ICAO Doc 7488, "Manual of the ICAO Standard Atmosphere", 1993].

At the height h above the sea

.. math:: p(h) = p_0 \Big(1 - \frac{L h}{T_0}\Big)^{g_0 M / (R L)} .
"""

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.earth import STANDARD_GRAVITY

SEA_LEVEL = 101_325.0  # p_0 [Pa]
TEMPERATURE = 288.15  # T_0 [K]
LAPSE = 0.0065  # L [K/m]
EXPONENT = STANDARD_GRAVITY * 0.0289644 / (8.31432 * LAPSE)


def standard_pressure(height: ArrayLike) -> Array:
    """Pressure [Pa] at heights above the sea [m] below 11 km; none from 44 km on, where the formula ends."""
    left = np.maximum(1.0 - LAPSE / TEMPERATURE * np.asarray(height), 0.0)
    return np.asarray(SEA_LEVEL * left**EXPONENT)
