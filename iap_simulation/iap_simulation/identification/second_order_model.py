# SPDX-License-Identifier: BSD-3-Clause
"""Identification of second-order channels with dead time, each by its free run."""

from collections.abc import Sequence

import numpy as np

from iap_description.arrays import Array
from iap_physics.identified.dynamics import CHANNELS
from iap_physics.identified.second_order import response
from iap_simulation.identification.least_squares import Fit, fitted
from iap_simulation.identification.log import Log
from iap_simulation.identification.settings import SecondOrderSettings

SCALE = np.array([1.0, 5.0, 1.0, 0.1])  # of gain, frequency, damping, dead time


def fit_channel(
    logs: Sequence[Log], channel: str, settings: SecondOrderSettings, steps: int
) -> Fit:
    """Parameters (4,) of a channel, the best of what several starts lead to."""
    i = CHANNELS.index(channel)
    bounds = tuple(
        np.array(
            [getattr(settings, key)[end] for key in ("gain", "frequency", "damping", "delay")]
        )
        for end in (0, 1)
    )

    def residuals(row: Array) -> Array:
        return np.concatenate([_errors(row, log, i) for log in logs])

    starts = (np.array([1.0, frequency, 0.8, delay]) for frequency, delay in settings.starts)
    fits = [
        fitted(residuals, start, scale=SCALE, bounds=(bounds[0], bounds[1]), steps=steps)
        for start in starts
    ]
    return min(fits, key=lambda fit: fit.cost)


def _errors(row: Array, log: Log, i: int) -> Array:
    return ((run_channel(row, log, i) - log.v[:, i]) * log.sound[:, i])[1:]


def run_channel(row: Array, log: Log, i: int) -> Array:
    """Free run (K,) of a channel from a log's first sample."""
    return np.asarray(response(row, log.t, log.command[:, i].copy(), log.v[0, i], 0.0))


def free_run_of_channels(rows: Array, log: Log) -> Array:
    """Free run (K, 7) of channels (7, 4); zeros where a log has none."""
    out = np.zeros(log.v.shape)
    for channel in log.channels:
        i = CHANNELS.index(channel)
        out[:, i] = run_channel(rows[i], log, i)
    return out
