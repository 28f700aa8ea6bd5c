# SPDX-License-Identifier: BSD-3-Clause
r"""Least times to a goal through a medium of given speeds, on a grid.

They solve the eikonal equation :math:`\lVert\nabla T\rVert\, v = 1`, T = 0 at the goal, here by fast sweeping with
Godunov's upwind differences (Zhao, "A fast sweeping method for eikonal equations", Math. Comp. 74, 2005, eqs. 2.1 to
2.5).
"""

import math

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import formula

UNREACHED_TIME = 1e6  # time of what has not been reached yet [s]
TIME_TOLERANCE = 1e-3  # change of a time that calls for no further round [s]
ROUNDS = 20  # of eight sweeps, at most


def least_times(speeds: Array, spacing: float, goal: tuple[int, int, int]) -> Array:
    """Times T (nx, ny, nz) to the goal [s].

    Args:
        speeds: (nx, ny, nz), above zero [m/s].
        spacing: of the grid [m].
        goal: node at which T is zero.
    """
    times = np.full(speeds.shape, UNREACHED_TIME)
    times[goal] = 0.0
    crossings = spacing / speeds
    for _ in range(ROUNDS):
        if _sweep_all(crossings, times) < TIME_TOLERANCE:
            break
    return times


@njit(cache=True)
def _sweep_all(crossings: Array, times: Array) -> float:
    """Sweep in all eight orders; the largest change."""
    most = 0.0
    for order in range(8):
        most = max(most, _sweep(crossings, times, order & 1, (order >> 1) & 1, order >> 2))
    return most


@njit(cache=True)
def _sweep(crossings: Array, times: Array, back_x: int, back_y: int, back_z: int) -> float:
    """Update every node once, along or against each axis; the largest change."""
    nx, ny, nz = times.shape
    most = 0.0
    for a in range(nx):
        i = nx - 1 - a if back_x else a
        for b in range(ny):
            j = ny - 1 - b if back_y else b
            for c in range(nz):
                k = nz - 1 - c if back_z else c
                found = _arrival(crossings[i, j, k], *_upwind(times, i, j, k))
                if found < times[i, j, k]:
                    most = max(most, times[i, j, k] - found)
                    times[i, j, k] = found
    return most


@formula
def _upwind(times: Array, i: int, j: int, k: int) -> tuple[float, float, float]:
    """The lesser of the two neighbours' times along each axis, in rising order."""
    nx, ny, nz = times.shape
    x = min(times[max(i - 1, 0), j, k], times[min(i + 1, nx - 1), j, k])
    y = min(times[i, max(j - 1, 0), k], times[i, min(j + 1, ny - 1), k])
    z = min(times[i, j, max(k - 1, 0)], times[i, j, min(k + 1, nz - 1)])
    least, most = min(x, y, z), max(x, y, z)
    return least, max(min(x, y), min(max(x, y), z)), most


@formula
def _arrival(crossing: float, a: float, b: float, c: float) -> float:
    """Time of a node from those of its neighbours, a <= b <= c, and the time to cross the spacing."""
    found = a + crossing
    if found <= b:
        return found
    found = 0.5 * (a + b + math.sqrt(2.0 * crossing * crossing - (a - b) * (a - b)))
    if found <= c:
        return found
    total = a + b + c
    room = total * total - 3.0 * (a * a + b * b + c * c - crossing * crossing)
    return (total + math.sqrt(max(room, 0.0))) / 3.0
