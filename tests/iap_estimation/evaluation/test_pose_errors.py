# SPDX-License-Identifier: BSD-3-Clause
"""Errors of poses: by definition, aligned, and against evo."""

from pathlib import Path

import numpy as np
import pytest
from moved_poses import MOVE, TURN, curve, moved
from tum_files import read_tum

from iap_description.math import so3
from iap_estimation.evaluation import trajectory_errors
from iap_estimation.evaluation.alignment import se3_aligned, yaw_aligned
from iap_estimation.evaluation.comparison import compare, figures
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.evaluation.trajectory_errors import pairs_by_distance, relative_errors
from iap_estimation.evaluation.truth import Truth
from iap_io.trajectories.tum import tum_text

T = 0.1 * np.arange(300)  # [s]
filters = pytest.importorskip("evo.core.filters")
geometry = pytest.importorskip("evo.core.geometry")
metrics = pytest.importorskip("evo.core.metrics")
trajectory = pytest.importorskip("evo.core.trajectory")
RATE = 10.0  # [Hz]
TIGHT = {"rel": 1e-9, "abs": 1e-9}
LENGTH = metrics.PoseRelation.translation_part
ANGLE = metrics.PoseRelation.rotation_angle_deg


def _rotations(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return so3.matrix_from_quaternion(so3.normalized(rng.normal(size=(count, 4))))


def test_attitude_error_is_the_log_of_the_relative_rotation() -> None:
    R_ref = _rotations(50)
    phi = np.random.default_rng(1).uniform(-1.0, 1.0, (50, 3))
    np.testing.assert_allclose(trajectory_errors.attitude_error(R_ref, R_ref @ so3.exp(phi)), phi)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_axis_error_takes_the_commanded_axis_to_the_real_one(axis: int) -> None:
    R_ref, R = _rotations(50), _rotations(50, 1)
    error = trajectory_errors.axis_error(R_ref, R, axis)
    turned = R_ref @ so3.exp(error)
    np.testing.assert_allclose(turned[..., axis], R[..., axis], atol=1e-12)
    np.testing.assert_allclose(error[:, axis], 0.0, atol=1e-15)
    angle = np.arccos(np.sum(R_ref[..., axis] * R[..., axis], axis=-1))
    np.testing.assert_allclose(np.linalg.norm(error, axis=-1), angle, rtol=1e-7)


def test_axis_error_ignores_a_turn_about_the_axis() -> None:
    R_ref = _rotations(20)
    roll = so3.exp(np.random.default_rng(2).uniform(-3.0, 3.0, (20, 1)) * np.eye(3)[0])
    np.testing.assert_allclose(trajectory_errors.axis_error(R_ref, R_ref @ roll), 0.0, atol=1e-12)


def test_axis_error_of_tiny_and_of_half_turns() -> None:
    tiny = so3.exp(np.array([0.0, 1e-9, -2e-9]))
    np.testing.assert_allclose(
        trajectory_errors.axis_error(np.eye(3), tiny), [0.0, 1e-9, -2e-9], rtol=1e-6
    )
    back = np.diag([-1.0, 1.0, -1.0])
    assert np.linalg.norm(trajectory_errors.axis_error(np.eye(3), back)) == pytest.approx(np.pi)
    np.testing.assert_array_equal(trajectory_errors.axis_error(np.eye(3), np.eye(3)), np.zeros(3))


def test_heading_error_wraps() -> None:
    a, b = (so3.matrix_from_euler(np.deg2rad([10.0, 20.0, yaw])) for yaw in (179.0, -178.0))
    assert trajectory_errors.heading_error(a, b) == pytest.approx(np.deg2rad(3.0))
    assert trajectory_errors.heading_error(b, a) == pytest.approx(np.deg2rad(-3.0))


def test_uncontrolled_angles_are_nan() -> None:
    R_ref, R = _rotations(4), _rotations(4, 1)
    for controlled in ((True, True, True), (False, True, True), (True, False, True)):
        error = trajectory_errors.controlled_error(R_ref, R, controlled)
        np.testing.assert_array_equal(np.isfinite(error), np.tile(controlled, (4, 1)))
    error = trajectory_errors.controlled_error(R_ref, R, trajectory_errors.HEADING)
    np.testing.assert_array_equal(error[:, 2], trajectory_errors.heading_error(R_ref, R))


def test_poses_between_samples_and_beyond() -> None:
    t = np.array([0.0, 1.0, 3.0])
    poses = np.zeros((3, 7))
    poses[:, 0] = [0.0, 1.0, 5.0]
    poses[:, 3:] = so3.quaternion_exp(np.outer([0.0, 0.4, 1.0], [0.0, 0.0, 1.0]))
    found = trajectory_errors.poses_at(np.array([-1.0, 0.5, 1.0, 2.0, 9.0]), t, poses)
    np.testing.assert_allclose(found[:, 0], [0.0, 0.5, 1.0, 3.0, 5.0])
    yaw = so3.quaternion_log(found[:, 3:])[:, 2]
    np.testing.assert_allclose(yaw, [0.0, 0.2, 0.4, 0.7, 1.0], atol=1e-12)


def test_one_pose_holds_for_ever() -> None:
    pose = np.array([[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]])
    found = trajectory_errors.poses_at(np.array([0.0, 5.0]), np.array([1.0]), pose)
    np.testing.assert_allclose(found, np.vstack([pose, pose]))


def test_tum_files_are_read_back_and_by_evo(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    t = np.arange(20) * 0.005
    poses = np.hstack([rng.normal(size=(20, 3)), so3.normalized(rng.normal(size=(20, 4)))])
    (tmp_path / "a.tum").write_text(tum_text(t, poses))
    t_read, poses_read = read_tum(tmp_path / "a.tum")
    np.testing.assert_allclose(t_read, t, atol=1e-9)
    np.testing.assert_allclose(poses_read, poses, atol=1e-9)
    file_interface = pytest.importorskip("evo.tools.file_interface")
    trajectory = file_interface.read_tum_trajectory_file(str(tmp_path / "a.tum"))
    np.testing.assert_allclose(trajectory.positions_xyz, poses[:, :3], atol=1e-9)
    np.testing.assert_allclose(trajectory.orientations_quat_wxyz[:, 1:], poses[:, 3:6], atol=1e-9)


def test_alignment_takes_out_what_it_may_turn() -> None:
    truth = curve(T)
    level, tilted = moved(truth, TURN, MOVE), moved(truth, np.array([0.3, 0.0, 0.0]), MOVE)
    for aligned in (yaw_aligned(level, truth), se3_aligned(tilted, truth)):
        np.testing.assert_allclose(aligned[:, :3], truth[:, :3], atol=1e-9)
        turned = so3.multiply(so3.conjugate(truth[:, 3:]), aligned[:, 3:])
        np.testing.assert_allclose(so3.quaternion_log(turned), 0.0, atol=1e-9)
    assert np.abs(yaw_aligned(tilted, truth)[:, :3] - truth[:, :3]).max() > 0.05


def test_no_turn_about_the_vertical_fits_better_than_the_alignment() -> None:
    rng = np.random.default_rng(3)
    truth = curve(T)
    noisy = moved(truth, TURN, MOVE)
    noisy[:, :3] += 0.2 * rng.normal(size=(len(truth), 3))
    best = yaw_aligned(noisy, truth)

    def cost(poses: np.ndarray) -> float:
        return float(np.sum((poses[:, :3] - truth[:, :3]) ** 2))

    middle = truth[:, :3].mean(axis=0)
    for angle in (-0.02, 0.02):
        phi = np.array([0.0, 0.0, angle])
        about = middle - so3.rotate(so3.quaternion_exp(phi), middle)
        assert cost(moved(best, phi, about)) > cost(best)


def test_a_mirror_image_is_turned_and_never_mirrored() -> None:
    truth = curve(T)
    mirrored = truth * [1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0]
    aligned = se3_aligned(mirrored, truth)
    edges = [path[[60, 130, 200], :3] - path[0, :3] for path in (mirrored, aligned)]
    np.testing.assert_allclose(*(np.linalg.det(each) for each in edges))
    assert np.abs(aligned[:, :3] - truth[:, :3]).max() > 0.1


@pytest.mark.parametrize("direction", [[0.0, 0.0, 0.0], [3.0, 1.0, 2.0]], ids=["place", "line"])
def test_a_place_and_a_line_leave_open_how_they_are_turned(direction) -> None:
    poses = np.zeros((200, 7))
    poses[:, :3] = 5.0 + np.linspace(0.0, 20.0, 200)[:, None] * direction
    poses[:, 6] = 1.0
    assert se3_aligned(poses, poses) is None
    assert yaw_aligned(poses, poses) is not None


def test_two_poses_are_not_aligned() -> None:
    assert se3_aligned(curve(T)[:2], curve(T)[:2]) is None
    assert yaw_aligned(curve(T)[:2], curve(T)[:2]) is None


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
