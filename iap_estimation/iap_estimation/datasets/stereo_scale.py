# SPDX-License-Identifier: BSD-3-Clause
r"""Distance of a pair's cameras, by how far their images move and how far the inertial unit feels that they do.

A corner at direction b with inverse distance :math:`\rho` by the pair, seen along b' after a turn R and a way d of the
camera, has :math:`R b' \times (b - \rho d) = 0`, which is linear in d. With v the velocity of such ways and f the
specific force, both in the axes that the gyroscope keeps,

.. math:: v = k \Big( \int R f + c_0 + c_1 t + \int R \, b_a + \int \Big(\int R \, b_g\Big) \times R f \Big) .

:math:`c_1` is gravity, and k is 1 with the right distance, or what it is too long by.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.datasets.image_rotation import GyroTurns, RayPairs
from iap_estimation.datasets.range_motion import (
    at_times,
    felt_accelerations,
    integral,
    powers_of_time,
)

FEWEST_CORNERS = 12  # that say a way
KEPT = 0.8  # share of them; the others are followed or matched wrongly
FEWEST = 25  # ways that say a distance
WINDOW = 8.0  # over which biases are one number [s]
TOLD = 0.15  # deviation of k over k, beyond which nothing is said
LIKE = 1.0 / 1.5, 1.5  # sizes of k of a right distance
SURE = 4.0  # deviations by which another one is off at least
CORRELATED = 3.0  # factor on deviations, as errors of images in a row are alike


class _Ways(NamedTuple):
    """Velocities (K, 3) of the body by its images [m/s], in its axes at the begins of times (K, 2) [s]."""

    t: Array
    v_B: Array


class _ScaleFit(NamedTuple):
    """The factor k of a window, and its deviation."""

    k: float
    deviation: float


def distance_of_pair(sample: DataSample) -> str | None:
    """Distance of the cameras beside the motion that the inertial unit feels.

    Raises:
        BadInput: it is another one.
    """
    pair = sample.dataset.aircraft[0].calibration
    if pair is None or pair.right is None or not sample.turns_can_be_seen:
        return None
    apart = float(np.linalg.norm(pair.p_RL_R))
    fits = [fit for each in _windows(_ways(sample)) if (fit := _fit(sample, each)) is not None]
    weights = np.array([1.0 / fit.deviation**2 for fit in fits])
    k = float(weights @ [fit.k for fit in fits] / weights.sum()) if fits else 0.0
    deviation = float(weights.sum() ** -0.5) if fits else 1.0
    if deviation > TOLD * abs(k):
        return "they move too little to say whether that distance is right"
    if not LIKE[0] < k < LIKE[1] and abs(k - 1.0) > SURE * deviation:
        raise BadInput(
            f"{sample.dataset.source}: images move {k:.2g} times as far as the inertial unit feels: with the pair"
            f" {apart / k:.2g} m apart, not {apart:.3g} m, they would move alike: T_BS and /tf_static have metres, P[3]"
            " of a right camera is -fx times the distance; --calibration FILES says it anew"
        )
    return (
        f"its distance fits the accelerations, within {100.0 * max(abs(k - 1.0), deviation):.0f} %"
    )


def _ways(sample: DataSample) -> _Ways:
    """Velocities by all pairs of images that show enough corners at a distance."""
    turns = GyroTurns(sample.t, sample.w_B)
    lever = sample.dataset.aircraft[0].cameras.p_BC_B[0]
    t, v = [], []
    for each in sample.pairs:
        if np.isfinite(each.nearness).sum() < FEWEST_CORNERS:
            continue
        q = turns.between(*(np.array([x]) for x in each.t))[0]
        R = so3.matrix_from_quaternion(q)
        d = _way(each, R)
        t.append(each.t)
        v.append((d - (R - np.eye(3)) @ lever) / (each.t[1] - each.t[0]))
    return _Ways(np.array(t).reshape(-1, 2), np.array(v).reshape(-1, 3))


def _way(pair: RayPairs, R: Array) -> Array:
    """The camera's way (3,) between two images [m], by the corners that agree best on it."""
    known = np.isfinite(pair.nearness)
    b, rho = pair.rays[0][known], pair.nearness[known]
    turned = pair.rays[1][known] @ R.T
    A = rho[:, None, None] * so3.hat(turned)
    y = np.cross(turned, b)
    d: Array = np.zeros(3)
    kept = np.ones(len(b), np.bool_)
    for _ in range(3):
        d = np.asarray(np.linalg.lstsq(A[kept].reshape(-1, 3), y[kept].ravel(), rcond=None)[0])
        off = np.linalg.norm(A @ d - y, axis=1)
        kept = off <= np.quantile(off, KEPT)
    return d


def _windows(ways: _Ways) -> Iterator[_Ways]:
    """Yield windows, one after the other, that have enough ways in them."""
    if not len(ways.t):
        return
    count = max(1, round(float(ways.t[-1, 1] - ways.t[0, 0]) / WINDOW))
    for part in np.array_split(np.arange(len(ways.t)), count):
        if len(part) >= FEWEST:
            yield _Ways(ways.t[part], ways.v_B[part])


def _fit(sample: DataSample, ways: _Ways) -> _ScaleFit | None:
    """The factor of a window; None where nothing is left to be compared."""
    times = sample.t
    first, last = np.searchsorted(times, [ways.t[0, 0], ways.t[-1, 1]]) + [-1, 1]
    inside = slice(max(0, int(first)), int(last))
    times, f, w = times[inside], sample.f_B[inside], sample.w_B[inside]
    if len(times) < FEWEST:
        return None
    turns = GyroTurns(times, w)
    R = so3.matrix_from_quaternion(turns.between(np.full(len(times), times[0]), times))
    dt = np.diff(times, prepend=times[0])
    parts = [integral(x, dt) for x in felt_accelerations(R, f, dt)]
    middle = ways.t.mean(axis=1)
    q = turns.between(np.full(len(middle), times[0]), ways.t[:, 0])
    v = so3.rotate(q, ways.v_B)
    felt, of_force, of_rates = (at_times(middle, times, x) for x in parts)
    powers = powers_of_time((middle - middle.mean()) / WINDOW, 2)
    unknown = np.concatenate([*powers, of_force, of_rates], axis=2).reshape(-1, 12)
    return _regressed(v.ravel(), felt.ravel(), unknown)


def _regressed(v: Array, felt: Array, unknown: Array) -> _ScaleFit | None:
    """The factor between velocities (K,) and those that are felt, with 12 unknown numbers (K, 12), six by a prior."""
    noise = 0.05
    k = 1.0
    for _ in range(4):  # the prior is on biases, which k multiplies
        prior = np.diag(np.r_[np.zeros(6), np.full(6, noise / max(abs(k), 1e-3))])
        system = np.vstack(
            [np.column_stack([felt, unknown]), np.column_stack([np.zeros(12), prior])]
        )
        numbers = np.concatenate([v, np.zeros(12)])
        found = np.linalg.lstsq(system, numbers, rcond=None)[0]
        rest = (numbers - system @ found)[: len(v)]
        k, noise = float(found[0]), max(float(np.sqrt(np.mean(rest**2))), 1e-4)
    variance = np.linalg.pinv(system.T @ system)[0, 0] * noise**2
    return _ScaleFit(k, CORRELATED * float(np.sqrt(max(variance, 1e-12))))
