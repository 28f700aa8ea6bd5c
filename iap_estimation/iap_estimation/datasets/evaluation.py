# SPDX-License-Identifier: BSD-3-Clause
r"""Errors of trajectories: ATE and RPE through `evo`, consistency (NEES) from the covariances.

The truth is interpolated to the times of the estimates. Unaligned errors are those of an estimator that
began at the truth, as iap_simulator VI-G has it. NEES is per degree of freedom,
:math:`e^T C^{-1} e / 3`; a consistent estimator has 1 in the mean.
"""

from dataclasses import dataclass, fields

import numpy as np
from evo.core import metrics
from evo.core.filters import FilterException
from evo.core.geometry import GeometryException
from evo.core.trajectory import PosePath3D, PoseTrajectory3D

from iap_description import so3
from iap_description.arrays import Array, Booleans
from iap_estimation.evaluation.trajectory_errors import poses_at
from iap_estimation.navigation.data import Truth
from iap_estimation.navigation.pipeline import Trajectory

MAX_TRUTH_GAP = 0.25  # between true poses, beyond which nothing is judged [s]
SIGMAS = 3.0
RELATIONS = metrics.PoseRelation.translation_part, metrics.PoseRelation.rotation_angle_deg
MIN_POSES = 3  # poses for an alignment
PERIOD = 0.2  # of a second, that a pair one second apart may be longer or shorter [s]


@dataclass(frozen=True, eq=False)
class Judged:
    """A trajectory beside the truth at the same times, over which that is known.

    Attributes:
        t: (K,) [s].
        estimate: (K, 7) places of the truth's point M [m] and attitudes.
        truth: (K, 7) the same, as it is.
        trajectory: the rows that count.
        biases: (K, 6) true ones; None where they are not known.
    """

    t: Array
    estimate: Array
    truth: Array
    trajectory: Trajectory
    biases: Array | None

    @property
    def errors(self) -> Array:
        """(K, 3) of the places, without alignment [m]."""
        return self.estimate[:, :3] - self.truth[:, :3]

    @property
    def sigma(self) -> Array:
        """(K, 3) standard deviations of the places [m]."""
        return np.sqrt(np.einsum("kii->ki", self.trajectory.covariance[:, :3, :3]))


def judged(trajectory: Trajectory, truth: Truth) -> Judged | None:
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
    return Judged(rows.t, estimate, beside, rows, biases)


def figures(one: Judged, *, begins_true: bool) -> dict[str, float | None]:
    """All figures of a trajectory, as metrics.json has them; None for what is not known.

    Args:
        one: the trajectory.
        begins_true: whether the estimator began at the truth; else only aligned errors mean anything.
    """
    found: dict[str, float | None] = {}
    sizes = _ate(one.estimate, one.truth) if begins_true else None
    found["ate_rmse_m"] = None if sizes is None else _rms(sizes)
    found["ate_max_m"] = None if sizes is None else float(sizes.max())
    found["ate_median_m"] = None if sizes is None else float(np.median(sizes))
    found |= _split("ate", one.errors if begins_true else None)
    for name, align in (("yaw", yaw_aligned), ("se3", se3_aligned)):
        aligned = align(one.estimate, one.truth)
        sizes = None if aligned is None else _ate(aligned, one.truth)
        found[f"ate_{name}_rmse_m"] = None if sizes is None else _rms(sizes)
        found[f"ate_{name}_max_m"] = None if sizes is None else float(sizes.max())
        if name == "yaw":
            off = None if aligned is None else aligned[:, :3] - one.truth[:, :3]
            found |= _split("ate_yaw", off)
    length = float(np.linalg.norm(np.diff(one.truth[:, :3], axis=0), axis=1).sum())
    found["path_m"] = length
    end = float(np.linalg.norm(one.errors[-1]))
    found["drift_percent"] = 100.0 * end / length if begins_true and length > 0.0 else None
    angles = attitude_errors(one)
    turned = None if angles is None else np.rad2deg(_rms(np.linalg.norm(angles, axis=1)))
    found |= _relative(one) | {"attitude_rmse_deg": None if turned is None else float(turned)}
    return found | _consistency(one, begins_true=begins_true)


def yaw_aligned(estimate: Array, truth: Array) -> Array | None:
    """The estimate (K, 7) turned about the vertical and moved (4 degrees of freedom) onto the truth; least squares."""
    if len(estimate) < MIN_POSES:
        return None
    p, q = estimate[:, :3], truth[:, :3]
    a, b = p - p.mean(axis=0), q - q.mean(axis=0)
    sine = float(np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))
    cosine = float(np.sum(a[:, :2] * b[:, :2]))
    turn = so3.quaternion_exp(np.array([0.0, 0.0, np.arctan2(sine, cosine)]))
    turns = np.broadcast_to(turn, (len(p), 4))
    return np.hstack([so3.rotate(turns, a) + q.mean(axis=0), so3.multiply(turns, estimate[:, 3:])])


def se3_aligned(estimate: Array, truth: Array) -> Array | None:
    """The estimate (K, 7) turned and moved onto the truth (Umeyama); None for a path that leaves that open."""
    if len(estimate) < MIN_POSES:
        return None
    path = _path(estimate)
    try:
        path.align(_path(truth))
    except GeometryException:  # all on one line, or at one place
        return None
    return np.hstack([path.positions_xyz, np.roll(path.orientations_quat_wxyz, -1, axis=1)])


def _ate(estimate: Array, truth: Array) -> Array:
    """Position errors (K,) [m]."""
    metric = metrics.APE(metrics.PoseRelation.translation_part)
    metric.process_data((_path(truth), _path(estimate)))
    return np.asarray(metric.error)


def _split(name: str, errors: Array | None) -> dict[str, float | None]:
    if errors is None:
        return {f"{name}_horizontal_rmse_m": None, f"{name}_vertical_rmse_m": None}
    return {
        f"{name}_horizontal_rmse_m": _rms(np.linalg.norm(errors[:, :2], axis=1)),
        f"{name}_vertical_rmse_m": _rms(errors[:, 2]),
    }


def _relative(one: Judged) -> dict[str, float | None]:
    """RPE over one metre and over one second."""
    names = ("rpe_m_per_m", "rpe_deg_per_m", "rpe_m_per_s", "rpe_deg_per_s")
    if not np.isfinite(one.truth[:, 3:]).all():
        return dict.fromkeys(names)
    seconds = np.unique(np.searchsorted(one.t, np.arange(one.t[0], one.t[-1], 1.0)))
    apart = np.abs(np.diff(one.t[seconds]) - 1.0) < PERIOD
    whole = _timed(one.t, one.truth), _timed(one.t, one.estimate)
    parts = _timed(one.t, one.truth), _timed(one.t, one.estimate)
    for path in parts:
        path.reduce_to_ids(seconds.tolist())
    found = [_rpe(each, metrics.Unit.meters, *whole, None) for each in RELATIONS]
    found += [_rpe(each, metrics.Unit.frames, *parts, apart) for each in RELATIONS]
    return dict(zip(names, found, strict=True))


def _rpe(
    relation: metrics.PoseRelation,
    unit: metrics.Unit,
    truth: PosePath3D,
    estimate: PosePath3D,
    counts: Booleans | None,
) -> float | None:
    metric = metrics.RPE(relation, 1, unit, all_pairs=False, pairs_from_reference=True)
    try:
        metric.process_data((truth, estimate))
    except FilterException:  # the path is too short
        return None
    errors = np.asarray(metric.error)
    errors = errors if counts is None else errors[counts]
    return _rms(errors) if errors.size else None


def attitude_errors(one: Judged) -> Array | None:
    """Rotation vectors (K, 3) from the true attitudes, in the body [rad]; None where these are not known."""
    if not np.isfinite(one.truth[:, 3:]).all():
        return None
    turns = so3.multiply(so3.conjugate(one.truth[:, 3:]), one.estimate[:, 3:])
    return so3.quaternion_log(turns)


def _consistency(one: Judged, *, begins_true: bool) -> dict[str, float | None]:
    C = one.trajectory.covariance
    angles = attitude_errors(one)
    found: dict[str, float | None] = {
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
        found[f"{name}_inside"] = inside
    return found


def nees(errors: Array, C: Array) -> float | None:
    """Mean normalised squared error (K, 3) per degree of freedom; None where no covariance is given."""
    known = np.isfinite(C).all(axis=(1, 2)) & np.isfinite(errors).all(axis=1)
    if not known.any():
        return None
    e = errors[known]
    return float(
        np.mean(np.sum(e * np.linalg.solve(C[known], e[..., None])[..., 0], axis=1)) / 3.0
    )


def _rows(trajectory: Trajectory, chosen: Booleans) -> Trajectory:
    arrays = {each.name: getattr(trajectory, each.name)[chosen] for each in fields(trajectory)}
    return Trajectory(**arrays)


def _path(poses: Array) -> PosePath3D:
    return PosePath3D(poses[:, :3], np.roll(_turns(poses), 1, axis=1))


def _timed(t: Array, poses: Array) -> PoseTrajectory3D:
    return PoseTrajectory3D(poses[:, :3], np.roll(_turns(poses), 1, axis=1), t)


def _turns(poses: Array) -> Array:
    """Attitudes (K, 4); level ones where they are not known, for errors of places alone."""
    q = poses[:, 3:]
    return q if np.isfinite(q).all() else np.tile([0.0, 0.0, 0.0, 1.0], (len(q), 1))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
