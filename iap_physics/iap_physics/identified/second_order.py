# SPDX-License-Identifier: BSD-3-Clause
r"""Second-order channels with dead time: the plainest model of a vehicle under velocity commands, each channel alone.

    y'' = w_n^2 (gain u(t - delay) - y) - 2 damping w_n y'

Commands are held between samples, so that every piece is solved in closed form.
"""

import math

import numpy as np
from numba import njit

from iap_description.arrays import Array

GAIN, FREQUENCY, DAMPING, DELAY = range(4)  # of a row of parameters: 1, [rad/s], 1, [s]
NEARLY_CRITICAL = 1e-9


@njit(cache=True)
def propagated(
    row: Array, y: float, dy: float, target: float, seconds: float
) -> tuple[float, float]:
    """Y and y' after a time in which gain * u is `target`, from the matrix exponential of the free motion."""
    frequency, decay = row[FREQUENCY], row[FREQUENCY] * row[DAMPING]
    split = decay * decay - frequency * frequency
    if split > NEARLY_CRITICAL:
        mu = math.sqrt(split)
        slow, fast = math.exp((mu - decay) * seconds), math.exp(-(mu + decay) * seconds)
        c, s = 0.5 * (slow + fast), 0.5 * (slow - fast) / mu
    else:
        mu = math.sqrt(max(-split, 0.0))
        fade = math.exp(-decay * seconds)
        c = fade * math.cos(mu * seconds)
        s = fade * (math.sin(mu * seconds) / mu if mu > 0.0 else seconds)
    e = y - target
    return (
        target + (c + decay * s) * e + s * dy,
        -frequency * frequency * s * e + (c - decay * s) * dy,
    )


@njit(cache=True)
def response(row: Array, t: Array, u: Array, y: float, dy: float) -> Array:
    """Free run of a channel.

    Args:
        row: (4,) gain, natural frequency [rad/s], damping ratio, dead time [s].
        t: (K,) times of the samples [s], increasing.
        u: (K,) commands, each held from its time to the next; before the first one acts, the first.
        y: of the first sample.
        dy: its derivative.

    Returns:
        (K,) y at the samples.
    """
    out, delay, last = np.empty(len(t)), row[DELAY], 0
    out[0] = y
    for k in range(len(t) - 1):
        now = t[k]
        while now < t[k + 1]:
            while last + 1 < len(t) and t[last + 1] + delay <= now:
                last += 1
            until = t[k + 1]
            if last + 1 < len(t):
                until = min(until, t[last + 1] + delay)
            y, dy = propagated(row, y, dy, row[GAIN] * u[last], until - now)
            now = until
        out[k + 1] = y
    return out
