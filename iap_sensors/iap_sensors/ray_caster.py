# SPDX-License-Identifier: BSD-3-Clause
"""The rays that some sensors need."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class RayCaster(Protocol):
    """Casts the rays of lidars and of the ranges' lines of sight, as `iap_sensors.rays.Rays` does."""

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray, (rays, 3) to (rays, 3) [m], at its first hit; 1 if none.

        Args:
            starts_W: where rays begin, in `map`.
            ends_W: where they end.
            world_only: rays go through vehicles.
        """
