# SPDX-License-Identifier: BSD-3-Clause
"""ATE, RPE and alignment beside those of evo, to 1e-9."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.evaluation.alignment import se3_aligned
from iap_estimation.evaluation.comparison import compare, figures
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.evaluation.trajectory_errors import pairs_by_distance, relative_errors
from iap_estimation.evaluation.truth import Truth

filters = pytest.importorskip("evo.core.filters")
geometry = pytest.importorskip("evo.core.geometry")
metrics = pytest.importorskip("evo.core.metrics")
trajectory = pytest.importorskip("evo.core.trajectory")

RATE = 10.0  # [Hz]
TIGHT = {"rel": 1e-9, "abs": 1e-9}
LENGTH = metrics.PoseRelation.translation_part
ANGLE = metrics.PoseRelation.rotation_angle_deg


def _path(seed: int, size: float, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """A random walk with random attitudes, and an estimate of it: turned, moved, drifting, noisy."""
    rng = np.random.default_rng(seed)
    p = np.cumsum(size * rng.normal(size=(count, 3)), axis=0)
    q = so3.quaternion_exp(np.cumsum(0.1 * rng.normal(size=(count, 3)), axis=0))
    turns = np.tile(so3.quaternion_exp(rng.normal(size=3)), (count, 1))
    drift = np.cumsum(0.02 * size * rng.normal(size=(count, 3)), axis=0)
    noise = so3.quaternion_exp(0.05 * rng.normal(size=(count, 3)))
    estimate = [so3.rotate(turns, p + drift) + rng.normal(size=3), so3.multiply(turns, q)]
    estimate[1] = so3.multiply(estimate[1], noise)
    return np.hstack([p, q]), np.hstack(estimate)


def _of_evo(poses: np.ndarray):
    t = np.arange(len(poses)) / RATE
    return trajectory.PoseTrajectory3D(poses[:, :3], np.roll(poses[:, 3:], 1, axis=1), t)


def _rmse(metric, truth, estimate) -> float:
    metric.process_data((truth, estimate))
    return metric.get_statistic(metrics.StatisticsType.rmse)


def _relative(relation, truth, estimate, delta, unit) -> float:
    metric = metrics.RPE(relation, delta, unit, all_pairs=False, pairs_from_reference=True)
    return _rmse(metric, _of_evo(truth), _of_evo(estimate))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("size", [0.02, 0.5])
def test_alignment_is_that_of_evo(seed, size):
    truth, estimate = _path(seed, size)
    path = _of_evo(estimate)
    path.align(_of_evo(truth))
    aligned = se3_aligned(estimate, truth)
    np.testing.assert_allclose(aligned[:, :3], path.positions_xyz, rtol=1e-9, atol=1e-9)
    q = np.roll(path.orientations_quat_wxyz, -1, axis=1)
    off = so3.quaternion_log(so3.multiply(so3.conjugate(q), aligned[:, 3:]))
    np.testing.assert_allclose(off, 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_pairs_and_relative_errors_are_those_of_evo(seed):
    truth, estimate = _path(seed, 0.05)
    poses = _of_evo(truth).poses_se3
    pairs = pairs_by_distance(truth[:, :3], 1.0)
    assert pairs.tolist() == [list(pair) for pair in filters.filter_pairs_by_path(poses, 1.0)]
    found = relative_errors(truth, estimate, pairs)
    for relation, errors in zip((LENGTH, ANGLE), (found[0], np.rad2deg(found[1])), strict=True):
        metric = metrics.RPE(relation, 1.0, metrics.Unit.meters, pairs_from_reference=True)
        metric.process_data((_of_evo(truth), _of_evo(estimate)))
        np.testing.assert_allclose(errors, metric.error, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_figures_are_those_of_evo(seed):
    truth, estimate = _path(seed, 0.05)
    count = len(truth)
    t = np.arange(count) / RATE
    zeros = np.zeros((count, 3)), np.zeros((count, 6)), np.tile(np.eye(15), (count, 1, 1))
    one = compare(EstimatedTrajectory(t, estimate, *zeros), Truth(t, truth))
    found = figures(one, begins_true=True)
    absolute = metrics.APE(LENGTH)
    assert found["ate_rmse_m"] == pytest.approx(
        _rmse(absolute, _of_evo(truth), _of_evo(estimate)), **TIGHT
    )
    assert found["ate_max_m"] == pytest.approx(absolute.error.max(), **TIGHT)
    assert found["ate_median_m"] == pytest.approx(np.median(absolute.error), **TIGHT)
    path = _of_evo(estimate)
    path.align(_of_evo(truth))
    assert found["ate_se3_rmse_m"] == pytest.approx(_rmse(absolute, _of_evo(truth), path), **TIGHT)
    for relation, unit in ((LENGTH, "m"), (ANGLE, "deg")):
        metre = _relative(relation, truth, estimate, 1.0, metrics.Unit.meters)
        second = _relative(relation, truth, estimate, int(RATE), metrics.Unit.frames)
        assert found[f"rpe_{unit}_per_m"] == pytest.approx(metre, **TIGHT)
        assert found[f"rpe_{unit}_per_s"] == pytest.approx(second, **TIGHT)


def test_a_path_too_short_for_a_pair_has_no_relative_error():
    truth, _ = _path(0, 0.001, count=20)
    assert not len(pairs_by_distance(truth[:, :3], 1.0))
    assert not filters.filter_pairs_by_path(_of_evo(truth).poses_se3, 1.0)


def test_a_line_is_as_open_for_evo():
    line = np.zeros((50, 7))
    line[:, 0], line[:, 6] = np.arange(50.0), 1.0
    with pytest.raises(geometry.GeometryException):
        _of_evo(line).align(_of_evo(line))
