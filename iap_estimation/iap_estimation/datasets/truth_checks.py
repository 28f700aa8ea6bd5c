# SPDX-License-Identifier: BSD-3-Clause
r"""Whether a truth's places move as the inertial unit feels it.

Accelerations of places are means over bumps :math:`\varphi(\tau) = (1 - \tau^2)^3`, :math:`\int a \varphi = \int p
\ddot\varphi`; those of the inertial unit are R f - g, averaged alike, less their mean. One map M between them is the
identity where places are in metres and in the axes of the attitudes.
"""

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.evaluation.trajectory_errors import poses_at

STEP, BUMP_HALF, BUMP_PERIOD = 0.01, 0.3, 0.1  # of even times, half of a bump, between bumps [s]
FEWEST = 20  # bumps
MIN_ACCELERATION = 0.1  # RMS acceleration below which nothing is said [m/s^2]
MATCHES = 0.2  # share of the accelerations that one map leaves, where it says anything
DIFFERS = 0.5  # least share that remains without a map, where they do not move alike


def motion_of_truth(sample: DataSample) -> str | None:
    """Places of the truth beside specific forces.

    Raises:
        BadInput: they move otherwise, by one map: in another unit or other axes.
    """
    truth = sample.dataset.aircraft[0].truth
    if truth is None or not truth.has_attitude or truth.is_turned or len(sample.samples) < 2:
        return None
    begin, end = max(sample.t[0], truth.t[0]), min(sample.t[-1], truth.t[-1])
    at = np.arange(begin, end, STEP)
    if end - begin < FEWEST * BUMP_PERIOD + 2.0 * BUMP_HALF:
        return None
    poses = poses_at(at, truth.t, truth.poses)
    f = np.stack([np.interp(at, sample.t, sample.f_B[:, k]) for k in range(3)], axis=1)
    places, felt = _means(poses[:, :3], so3.rotate(poses[:, 3:], f))
    if float(np.sqrt(np.mean(np.sum(felt**2, axis=1)))) < MIN_ACCELERATION:
        return None
    size = float(np.sum(places * felt) / np.sum(felt**2))
    M = np.linalg.lstsq(felt, places, rcond=None)[0]
    as_is, by_size, by_map = (_left(places, x) for x in (felt, size * felt, felt @ M))
    if as_is < DIFFERS or by_map > MATCHES:
        return None
    why = f"{size:.3g} times as much: are they in another unit than metres"
    if by_size > MATCHES:
        why = "in other directions: are they in other axes than its attitudes"
    raise BadInput(
        f"{sample.dataset.source}: the truth's places move as the inertial unit feels it, but {why}? Convert them, or"
        " leave --truth out"
    )


def _left(places: Array, felt: Array) -> float:
    """Share of accelerations that others leave."""
    return float(np.sum((places - felt) ** 2) / max(float(np.sum(places**2)), 1e-12))


def _means(p: Array, force: Array) -> tuple[Array, Array]:
    """Accelerations (B, 3) of places (K, 3), and those of forces (K, 3), over bumps; both less their means."""
    half, apart = round(BUMP_HALF / STEP), round(BUMP_PERIOD / STEP)
    tau = np.arange(-half, half + 1) / half
    bump = (1.0 - tau**2) ** 3
    second = (-6.0 * (1.0 - tau**2) ** 2 + 24.0 * tau**2 * (1.0 - tau**2)) / BUMP_HALF**2
    second -= second.mean()
    windows = np.arange(0, len(p) - len(tau) + 1, apart)[:, None] + np.arange(len(tau))
    a = np.einsum("k,bki->bi", second, p[windows]) / bump.sum()
    felt = np.einsum("k,bki->bi", bump, force[windows]) / bump.sum()
    return a - a.mean(axis=0), felt - felt.mean(axis=0)
