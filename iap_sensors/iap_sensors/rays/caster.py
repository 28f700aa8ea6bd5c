# SPDX-License-Identifier: BSD-3-Clause
"""Casting of rays at triangles: a protocol, and what it takes and gives."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]
Numbers = NDArray[np.int32]
NO_FACE = -1  # as the face of a ray that hits nothing


@dataclass(frozen=True, eq=False)
class Bundle:
    """Rays of a sensor in the frame S of its data.

    Attributes:
        starts_S: (n, 3) where they begin [m].
        ways_S: (n, 3) where they go, of unit length.
        reach: (n,) how long they are [m].
        far: largest distance of an end from the frame's origin [m].
    """

    starts_S: Single
    ways_S: Single
    reach: Single
    far: float


class Hits(NamedTuple):
    """The first hits of rays.

    Attributes:
        distance: (n,) from the start [m]; the reach of a ray that hits nothing.
        face: (n,) number of the triangle; `NO_FACE` where there is none.
        normal: (n, 3) across the triangle, of any length; without meaning where there is none.
    """

    distance: Single
    face: Numbers
    normal: Single
