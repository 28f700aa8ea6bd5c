# SPDX-License-Identifier: BSD-3-Clause
"""One exact step of ddy + 2 xi omega dy + omega^2 (y - u) = 0: a low-pass, or a mass on a damper and a spring."""

import math

import numpy as np

from iap_description.arrays import Array


def transition(frequency: float, damping: float, dt: float) -> Array:
    r"""Matrix (2, 2) that takes [y - u, dy] one period on under a constant input u, where y would come to rest.

    With A = -a I + N, a = xi omega, the square of N is (a^2 - omega^2) I, so that the exponential of A dt is
    c I + s N, with c and s hyperbolic, linear or circular functions times e^{-a dt}.

    Args:
        frequency: omega, of a mass on a spring sqrt(K / M) [rad/s].
        damping: xi, of a mass D / (2 sqrt(K M)).
        dt: period [s].
    """
    a = damping * frequency
    square = a * a - frequency * frequency
    root = math.sqrt(abs(square))
    if root * dt < 1e-6:
        c, s = math.exp(-a * dt), dt * math.exp(-a * dt)
    elif square > 0.0:
        slow, fast = math.exp((root - a) * dt), math.exp(-(root + a) * dt)
        c, s = 0.5 * (slow + fast), 0.5 * (slow - fast) / root
    else:
        decay = math.exp(-a * dt)
        c, s = decay * math.cos(root * dt), decay * math.sin(root * dt) / root
    return np.array([[c + s * a, s], [-s * frequency * frequency, c - s * a]])
