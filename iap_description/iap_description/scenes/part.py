# SPDX-License-Identifier: BSD-3-Clause
"""Something that is seen: triangles with one texture, one colour and one label."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description.vehicles.aircraft import Rgba

Vertices = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Part:
    """Triangles in the frame of a body, or in `map`; they are seen from their front, where they run ccw.

    Attributes:
        name: of what they belong to.
        vertices: (n, 3) [m].
        normals: (n, 3) of the surface at each vertex, of unit length.
        uv: (n, 2) place of each vertex in the texture, which repeats; v is upwards.
        faces: (m, 3) vertices of each triangle.
        texture: name of a texture of the scene; None for plain colour.
        color: of the surface, sRGB and opacity in 0..1; multiplies the texture.
        label: in segmented images; 0 is nothing.
    """

    name: str
    vertices: Vertices
    normals: Vertices
    uv: Vertices
    faces: NDArray[np.int32]
    texture: str | None
    color: Rgba
    label: int
