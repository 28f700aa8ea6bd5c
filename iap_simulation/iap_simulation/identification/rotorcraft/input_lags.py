# SPDX-License-Identifier: BSD-3-Clause
"""First-order lags and a delay between the inputs of a flight and their effects, as rotors have them.

An effect comes behind its cause, and soon: inputs on another clock are refused by that.
"""

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_simulation.identification.rotorcraft.flight_table import FlightTable

BAND = (1.0, 8.0)  # in which causes and effects are compared [Hz]
EDGE = 1.0  # at both ends, which filters spoil [s]
SHIFTS, STEP = 0.4, 0.02  # times by which inputs are shifted [s]
LEAST_SHARE, BETTER = 0.3, 0.1  # R^2 of the best shift, and what it has beyond the best likely one
LIKELY = (-0.03, 0.2)  # of a rotor's lag with its delay [s]


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


def check_input_times(table: FlightTable) -> None:
    """Refuse a flight whose inputs explain its angular accelerations at a time that no rotor has.

    Raises:
        BadInput: with the time that they are apart.
    """
    from scipy.signal import butter, sosfiltfilt  # takes a quarter of a second

    high = min(BAND[1], 0.4 / table.dt, 0.4 * table.input_rate)
    if high <= 2.0 * BAND[0]:
        return
    band = butter(2, (BAND[0], high), btype="band", fs=1.0 / table.dt, output="sos")
    u = sosfiltfilt(band, table.input, axis=0)
    y = sosfiltfilt(band, np.gradient(table.w[:, :2], table.dt, axis=0), axis=0)
    edge = round(max(EDGE, SHIFTS) / table.dt)
    shifts = np.arange(-round(SHIFTS / STEP), round(SHIFTS / STEP) + 1) * STEP
    shares = np.array([_share(u, y, edge, round(float(each) / table.dt)) for each in shifts])
    likely = (shifts >= LIKELY[0]) & (shifts <= LIKELY[1])
    best = int(np.argmax(shares))
    if shares[best] < LEAST_SHARE or shares[best] < shares[likely].max() + BETTER:
        return
    when = "after" if shifts[best] > 0.0 else "before"
    raise BadInput(
        f"{table.name}: the vehicle turns {abs(shifts[best]):.2f} s {when} its inputs command it: one of their"
        " clocks is apart: correct its times by that"
    )


def _share(u: Array, y: Array, edge: int, late: int) -> float:
    """R^2 of accelerations (K, n) by inputs (K, m) that are so many rows older."""
    A, b = u[edge - late : len(u) - edge - late], y[edge:-edge]
    off = b - A @ np.linalg.lstsq(A, b, rcond=1e-3)[0]
    return 1.0 - float(np.sum(off**2) / max(np.sum(b**2), np.finfo(float).tiny))
