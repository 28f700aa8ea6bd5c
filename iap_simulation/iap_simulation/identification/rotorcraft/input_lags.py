# SPDX-License-Identifier: BSD-3-Clause
"""First-order lags and a delay between the inputs of a flight and what they do, as rotors have them."""

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_simulation.identification.rotorcraft.flight_table import FlightTable


@njit(cache=True)
def lagged(u: Array, dt: float, up: float, down: float) -> Array:
    """Signals (K, n) that follow commands (K, n), held over each step, by lags up and down [s]."""
    n = np.empty_like(u)
    n[0] = u[0]
    rise, fall = 1.0 - np.exp(-dt / up), 1.0 - np.exp(-dt / down)
    for k in range(1, len(u)):
        for j in range(u.shape[1]):
            off = u[k - 1, j] - n[k - 1, j]
            n[k, j] = n[k - 1, j] + off * (rise if off > 0.0 else fall)
    return n


def lagged_inputs(table: FlightTable, u: Array, times: tuple[float, ...]) -> Array:
    """Inputs (K, n) of a flight behind lags up and down and a delay [s]."""
    up, down, delay = times
    if not any(times):
        return u
    if delay > 0.0:
        u = np.stack([np.interp(table.t - delay, table.t, column) for column in u.T], axis=1)
    return np.asarray(lagged(np.ascontiguousarray(u), table.dt, up, down))
