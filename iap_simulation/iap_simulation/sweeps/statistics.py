# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of many runs."""

import math

Z95 = 1.959963984540054  # of the normal distribution: 95 % are within so many deviations


def wilson_interval(successes: int, runs: int, z: float = Z95) -> tuple[float, float]:
    r"""Bounds of a probability of which some of n runs were successes.

    With :math:`\hat p = k/n` (Wilson, J. Am. Stat. Assoc. 22, 1927):

    .. math::
        \frac{\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    Args:
        successes: k.
        runs: n, at least one.
        z: deviations of the normal distribution.
    """
    share, spread = successes / runs, z * z / runs
    middle = share + 0.5 * spread
    half = z * math.sqrt(share * (1.0 - share) / runs + 0.25 * spread / runs)
    low, high = (middle - half) / (1.0 + spread), (middle + half) / (1.0 + spread)
    return max(0.0, low), min(1.0, high)
