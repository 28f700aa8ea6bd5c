# SPDX-License-Identifier: BSD-3-Clause
"""The rays that some sensors need; an engine casts them."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class RayCaster(Protocol):
    """What lidars and the line of sight of ranges look along; every physics engine with contact is one."""

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray, (rays, 3) to (rays, 3) [m], at its first hit; 1 if none.

        Args:
            starts_W: where rays begin, in `map`.
            ends_W: where they end.
            world_only: rays go through vehicles.
        """
