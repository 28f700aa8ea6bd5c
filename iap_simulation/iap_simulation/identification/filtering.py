# SPDX-License-Identifier: BSD-3-Clause
"""Low-pass filters and differences of sampled signals, as the published identification has them."""

import numpy as np
from numba import njit

from iap_description.arrays import Array


@njit(cache=True)
def low_pass(t: Array, x: Array, bandwidth: float) -> Array:
    """Response of bandwidth / (s + bandwidth) from zero to signals that are straight between samples.

    Args:
        t: (K,) times [s], evenly spaced or not.
        x: (K, n) signals.
        bandwidth: [rad/s].

    Returns:
        (K, n).
    """
    out = np.zeros(x.shape)
    for k in range(1, len(t)):
        reach = bandwidth * (t[k] - t[k - 1])
        gone = 1.0 - np.exp(-reach)
        slope = 1.0 - gone / reach
        out[k] = out[k - 1] + gone * (x[k - 1] - out[k - 1]) + slope * (x[k] - x[k - 1])
    return out


def backward_differences(t: Array, x: Array) -> Array:
    """Rates of change (K, n) of signals (K, n) from the sample before to each; zero in the first one."""
    out = np.zeros(x.shape)
    out[1:] = np.diff(x, axis=0) / np.diff(t)[:, None]
    return out
