# SPDX-License-Identifier: BSD-3-Clause
r"""Errors of trajectories: ATE, RPE, and consistency (NEES) from the covariances.

The truth is interpolated to the times of the estimates. Unaligned errors are those of an estimator that
began at the truth, as iap_simulator VI-G has it. NEES is per degree of freedom,
:math:`e^T C^{-1} e / 3`; a consistent estimator has 1 in the mean.
"""

from dataclasses import dataclass, fields

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math import so3
from iap_estimation.evaluation.alignment import se3_aligned, yaw_aligned
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.evaluation.trajectory_errors import (
    pairs_by_distance,
    poses_at,
    relative_errors,
    rmse_of_vectors,
)
from iap_estimation.evaluation.truth import Truth

MAX_TRUTH_GAP = 0.25  # between true poses, beyond which nothing is judged [s]
SHORTEST_PATH = 1.0  # whose share an error at the end is [m]
SIGMAS = 3.0
PERIOD = 0.2  # of a second, that a pair one second apart may be longer or shorter [s]


@dataclass(frozen=True, eq=False)
class TrajectoryComparison:
    """A trajectory beside the truth at the same times, over which that is known.

    Attributes:
        t: (K,) [s].
        estimate: (K, 7) places of the truth's point M [m] and attitudes.
        truth: (K, 7) the same, as it is.
        trajectory: the rows that count.
        biases: (K, 6) true ones; None where they are not known.
        is_turned: see `Truth`.
    """

    t: Array
    estimate: Array
    truth: Array
    trajectory: EstimatedTrajectory
    biases: Array | None
    is_turned: bool = False

    @property
    def errors(self) -> Array:
        """(K, 3) of the places, without alignment [m]."""
        return self.estimate[:, :3] - self.truth[:, :3]

    @property
    def sigma(self) -> Array:
        """(K, 3) standard deviations of the places [m]."""
        return np.sqrt(np.einsum("kii->ki", self.trajectory.covariance[:, :3, :3]))


def compare(trajectory: EstimatedTrajectory, truth: Truth) -> TrajectoryComparison | None:
    """A trajectory beside the truth; None where they have no time in common."""
    after = np.searchsorted(truth.t, trajectory.t, side="left")
    inside = (trajectory.t >= truth.t[0]) & (trajectory.t <= truth.t[-1])
    j = np.clip(after, 1, len(truth.t) - 1)
    known = inside & (truth.t[j] - truth.t[j - 1] <= MAX_TRUTH_GAP)
    if not known.any():
        return None
    rows = _rows(trajectory, known)
    beside = poses_at(rows.t, truth.t, truth.poses)
    biases = None
    if truth.biases is not None:
        last = np.searchsorted(truth.t, rows.t, side="right") - 1
        biases = truth.biases[last]
    estimate = np.hstack([truth.point(rows.poses), rows.poses[:, 3:]])
    return TrajectoryComparison(rows.t, estimate, beside, rows, biases, truth.is_turned)


def figures(one: TrajectoryComparison, *, begins_true: bool) -> dict[str, float | None]:
    """All figures of a trajectory, as metrics.json has them; None for what is not known.

    Args:
        one: the trajectory.
        begins_true: whether the estimator began at the truth; else only aligned errors mean anything.
    """
    scores: dict[str, float | None] = {}
    errors = one.errors if begins_true else None
    scores |= _sizes("ate", errors) | _split("ate", errors)
    scores["ate_median_m"] = (
        None if errors is None else float(np.median(np.linalg.norm(errors, axis=1)))
    )
    for name, align in (("ate_yaw", yaw_aligned), ("ate_se3", se3_aligned)):
        is_apt = align is se3_aligned or not one.is_turned
        aligned = align(one.estimate, one.truth) if is_apt else None
        errors = None if aligned is None else aligned[:, :3] - one.truth[:, :3]
        scores |= _sizes(name, errors)
        if align is yaw_aligned:
            scores |= _split(name, errors)
    scores["still_rmse_m"] = still_rmse(one.truth[:, :3], begins_true=begins_true)
    length = float(np.linalg.norm(np.diff(one.truth[:, :3], axis=0), axis=1).sum())
    scores["path_m"] = length
    end = float(np.linalg.norm(one.errors[-1]))
    has_drift = begins_true and length >= SHORTEST_PATH
    scores["drift_percent"] = 100.0 * end / length if has_drift else None
    angles = attitude_errors(one)
    turned = None if angles is None else np.rad2deg(rmse_of_vectors(angles))
    scores |= _relative(one) | {"attitude_rmse_deg": None if turned is None else float(turned)}
    return scores | _consistency(one, begins_true=begins_true)


def still_rmse(p_W: Array, *, begins_true: bool) -> float:
    """RMSE [m] of the estimate that nothing moves, for true places (K, 3): what any other has to be better than.

    It stays at the first place; where errors are those of aligned trajectories, at the mean.
    """
    return rmse_of_vectors(p_W - (p_W[0] if begins_true else p_W.mean(axis=0)))


def _sizes(name: str, errors: Array | None) -> dict[str, float | None]:
    if errors is None:
        return {f"{name}_rmse_m": None, f"{name}_max_m": None}
    return {
        f"{name}_rmse_m": rmse_of_vectors(errors),
        f"{name}_max_m": float(np.linalg.norm(errors, axis=1).max()),
    }


def _split(name: str, errors: Array | None) -> dict[str, float | None]:
    if errors is None:
        return {f"{name}_horizontal_rmse_m": None, f"{name}_vertical_rmse_m": None}
    return {
        f"{name}_horizontal_rmse_m": rmse_of_vectors(errors[:, :2]),
        f"{name}_vertical_rmse_m": _rms(errors[:, 2]),
    }


def _relative(one: TrajectoryComparison) -> dict[str, float | None]:
    """RPE over one metre and over one second."""
    metre = _relative_rmse(one, pairs_by_distance(one.truth[:, :3], 1.0))
    second = _relative_rmse(one, _pairs_by_second(one.t))
    names = ("rpe_m_per_m", "rpe_deg_per_m", "rpe_m_per_s", "rpe_deg_per_s")
    return dict(zip(names, [*metre, *second], strict=True))


def _pairs_by_second(t: Array) -> Integers:
    """Consecutive pairs (M, 2) of rows one second apart."""
    marks = np.unique(np.searchsorted(t, np.arange(t[0], t[-1], 1.0)))
    apart = np.abs(np.diff(t[marks]) - 1.0) < PERIOD
    return np.stack([marks[:-1], marks[1:]], axis=1)[apart]


def _relative_rmse(
    one: TrajectoryComparison, pairs: Integers
) -> tuple[float | None, float | None]:
    """Root mean squares [m], [deg]; None for too short a path and where true attitudes are not known."""
    if not len(pairs) or not np.isfinite(one.truth[:, 3:]).all():
        return None, None
    lengths, angles = relative_errors(one.truth, one.estimate, pairs)
    return _rms(lengths), float(np.rad2deg(_rms(angles)))


def attitude_errors(one: TrajectoryComparison) -> Array | None:
    """Rotation vectors (K, 3) from the true attitudes, in the body [rad]; None where these are not known."""
    if not np.isfinite(one.truth[:, 3:]).all():
        return None
    turns = so3.multiply(so3.conjugate(one.truth[:, 3:]), one.estimate[:, 3:])
    return so3.quaternion_log(turns)


def _consistency(one: TrajectoryComparison, *, begins_true: bool) -> dict[str, float | None]:
    C = one.trajectory.covariance
    angles = attitude_errors(one)
    scores: dict[str, float | None] = {
        "nees_position": nees(one.errors, C[:, :3, :3]) if begins_true else None,
        "nees_orientation": None if angles is None else nees(angles, C[:, 3:6, 3:6]),
    }
    for at, name in ((0, "gyro_bias"), (3, "accel_bias")):
        off = None if one.biases is None else one.trajectory.biases - one.biases
        sigma = np.sqrt(np.einsum("kii->ki", C[:, 9 + at : 12 + at, 9 + at : 12 + at]))
        known = off is not None and bool(np.isfinite(sigma).all() and np.isfinite(off).all())
        inside = None
        if off is not None and known:
            inside = float(np.mean(np.abs(off[:, at : at + 3]) <= SIGMAS * sigma))
        scores[f"{name}_inside"] = inside
    return scores


def nees(errors: Array, C: Array) -> float | None:
    """Mean normalised squared error (K, 3) per degree of freedom; None where no covariance is given."""
    known = np.isfinite(C).all(axis=(1, 2)) & np.isfinite(errors).all(axis=1)
    if not known.any():
        return None
    e = errors[known]
    return float(
        np.mean(np.sum(e * np.linalg.solve(C[known], e[..., None])[..., 0], axis=1)) / 3.0
    )


def _rows(trajectory: EstimatedTrajectory, mask: Booleans) -> EstimatedTrajectory:
    arrays = {each.name: getattr(trajectory, each.name)[mask] for each in fields(trajectory)}
    return EstimatedTrajectory(**arrays)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
