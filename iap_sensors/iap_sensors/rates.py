# SPDX-License-Identifier: BSD-3-Clause
"""Rates that steps allow."""


def nearest_rate(wanted: float, steps_hz: float) -> tuple[float, int]:
    """The rate nearest to `wanted` [Hz] at which every n-th step is sampled, and n.

    Args:
        wanted: rate that is asked for [Hz].
        steps_hz: rate of the steps [Hz].
    """
    fewer = max(1, int(steps_hz / wanted))
    return min(
        ((steps_hz / n, n) for n in (fewer, fewer + 1)), key=lambda pair: abs(pair[0] - wanted)
    )
