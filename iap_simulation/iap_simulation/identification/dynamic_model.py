# SPDX-License-Identifier: BSD-3-Clause
"""Identification of the velocity dynamics, aerial_manipulator eqs. (18) to (22): errors of equation and of free run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans
from iap_physics.identified.dynamics import SIZE, Dynamics, advance, command
from iap_physics.identified.plant_file import DynamicPlant
from iap_simulation.identification.channel_samples import FREEZE
from iap_simulation.identification.least_squares import Fit, fitted
from iap_simulation.identification.log import Log
from iap_simulation.identification.settings import Settings

LONGEST_STEP = 0.06  # of Runge-Kutta in free runs [s]
SMALLEST = 1e-3  # size of a parameter that starts at zero
MEMORY = 3.0  # of the filter, in its time constants
BOUND = 10.0  # beyond which a free run that diverges stays [m/s, rad/s]


@dataclass(frozen=True)
class FilteredSignals:
    """Signals of a log behind the low-pass filter, (K, n) each."""

    q: Array
    v: Array
    dv: Array
    v_d: Array


def filtered(log: Log, bandwidth: float) -> FilteredSignals:
    """Signals of a log as eq. (19) takes them: differences first, then the low-pass, on all signals alike."""
    parts = (log.q, log.v, backward_differences(log.t, log.v), log.command)
    return FilteredSignals(*(low_pass(log.t, part, bandwidth) for part in parts))


def equation_errors(model: Dynamics, signals: FilteredSignals) -> Array:
    """v_d - Y zeta of (20), (K, 7)."""
    return signals.v_d - _commands(model, signals.q, signals.v, signals.dv)


@njit(cache=True)
def _commands(model: Dynamics, q: Array, v: Array, dv: Array) -> Array:
    out = np.empty(v.shape)
    for k in range(len(v)):
        out[k] = command(model, q[k], v[k], dv[k])
    return out


def free_run(model: Dynamics, log: Log) -> Array:
    """Velocities (K, 7) from the first sample on, with nothing but the commands, each held to the next sample."""
    commands = np.ascontiguousarray(log.command)  # as those for which the kernels are compiled
    return _free_run(model, log.t, commands, log.q[0], log.v[0])


@njit(cache=True)
def _free_run(model: Dynamics, t: Array, v_d: Array, q_0: Array, v_0: Array) -> Array:
    q, v, out = q_0.copy(), v_0.copy(), np.empty((len(t), SIZE))
    out[0] = v
    for k in range(len(t) - 1):
        count = int(np.ceil((t[k + 1] - t[k]) / LONGEST_STEP))
        for _ in range(count):
            advance(model, q, v, v_d[k], (t[k + 1] - t[k]) / count)
        for i in range(SIZE):
            v[i] = min(max(v[i], -BOUND), BOUND) if np.isfinite(v[i]) else BOUND
        out[k + 1] = v
    return out


def fit_dynamic(logs: Sequence[Log], start: DynamicPlant, error: str, settings: Settings) -> Fit:
    """Parameters zeta (32,) of the smallest errors.

    Args:
        logs: of flights with an arm.
        start: whose parameters the search begins with, and whose links and gravity it keeps.
        error: `equation`, as in the paper, or `free_run`.
        settings: filter, L1 term, evaluations.
    """
    behind = [filtered(log, settings.bandwidth) for log in logs]
    counts = [_counted_rows(log, settings.bandwidth)[:, None] for log in logs]

    def of_equation(zeta: Array) -> Array:
        model = with_parameters(start, zeta)
        errors = (n * equation_errors(model, each) for n, each in zip(counts, behind, strict=True))
        return np.concatenate([each.T.ravel() for each in errors])

    def of_free_run(zeta: Array) -> Array:
        model = with_parameters(start, zeta)
        return np.concatenate(
            [((free_run(model, log) - log.v) * log.sound)[1:].T.ravel() for log in logs]
        )

    zeta = np.array(start.zeta)
    scale = np.maximum(np.abs(zeta), SMALLEST)
    how = {"scale": scale, "steps": settings.steps, "penalty": settings.alpha}
    if error == "equation":
        return fitted(of_equation, zeta, **how)
    return fitted(of_free_run, zeta, **how)


def _counted_rows(log: Log, bandwidth: float) -> Booleans:
    """Samples (K,) whose errors count: not behind a cut, nor while the filter knows of a channel that is lost."""
    counts = log.sound.any(axis=1)
    for column in log.sound.T:
        edges = np.flatnonzero(np.diff(np.concatenate([[1], column, [1]]).astype(int)))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            first, last = log.t[start], log.t[stop - 1]
            if last - first >= FREEZE:
                counts &= (log.t < first) | (log.t > last + MEMORY / bandwidth)
    return np.asarray(counts)


def with_parameters(plant: DynamicPlant, zeta: Array) -> Dynamics:
    """A plant's dynamics with other parameters (32,)."""
    return plant.dynamics()._replace(z=np.concatenate([[plant.gravity], zeta]))


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
        for i in range(x.shape[1]):  # of whole rows, it would take three times as long to compile
            rise = slope * (x[k, i] - x[k - 1, i])
            out[k, i] = out[k - 1, i] + gone * (x[k - 1, i] - out[k - 1, i]) + rise
    return out


def backward_differences(t: Array, x: Array) -> Array:
    """Rates of change (K, n) of signals (K, n) from the sample before to each; zero in the first one."""
    out = np.zeros(x.shape)
    out[1:] = np.diff(x, axis=0) / np.diff(t)[:, None]
    return out
