# SPDX-License-Identifier: BSD-3-Clause
"""Pose errors and TUM files."""

from pathlib import Path

import numpy as np
import pytest
from tum_files import read_tum

from iap_description.math import so3
from iap_estimation.evaluation import trajectory_errors
from iap_io.trajectories.tum import tum_text


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
