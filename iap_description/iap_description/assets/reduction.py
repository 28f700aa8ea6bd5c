# SPDX-License-Identifier: BSD-3-Clause
"""Fewer triangles: vertices in the same cell of a grid become one (Rossignac and Borrel 1993).

No point moves farther than the diagonal of a cell.
"""

import numpy as np

from iap_description.arrays import Array, Integers

STEPS = 14  # of the search for the size of cells


def reduced(vertices: Array, faces: Integers, most: int) -> tuple[Integers, Integers]:
    """The vertices (k,) that stay, and faces (m, 3) between them: so many at most, or those of the coarsest grid.

    Args:
        vertices: (n, 3) [m].
        faces: (n, 3) by vertex.
        most: faces that are left.
    """
    if len(faces) <= most:
        return np.arange(len(vertices)), faces
    corner, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    low, high = size * 1e-6, size
    best = _clustered(vertices - corner, faces, high)
    for _ in range(STEPS):
        cell = float(np.sqrt(low * high))
        made = _clustered(vertices - corner, faces, cell)
        if len(made[1]) > most:
            low = cell
        else:
            high, best = cell, made
    return best


def _clustered(points: Array, faces: Integers, cell: float) -> tuple[Integers, Integers]:
    """The vertices that stay in a grid, of each cell the first, and the faces that are left."""
    at = np.floor(points / cell).astype(np.int64)
    keys = (at[:, 0] << 42) + (at[:, 1] << 21) + at[:, 2]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    made = inverse.reshape(-1)[faces]
    a, b, c = made.T
    made = made[(a != b) & (b != c) & (c != a)]
    _, kept = np.unique(np.sort(made, axis=1), axis=0, return_index=True)
    return first, made[np.sort(kept)]
