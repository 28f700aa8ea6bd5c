# SPDX-License-Identifier: BSD-3-Clause
"""Errors of trajectories that are known by construction."""

import numpy as np
import pytest
from moved_poses import MOVE, TURN, curve, moved

from iap_description.math import so3
from iap_estimation.evaluation.comparison import compare, figures
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.evaluation.truth import Truth


def _truth(**known: object) -> Truth:
    t = np.arange(0.0, 40.0, 0.005)
    return Truth(t, curve(t), **known)


def _estimate(
    poses: np.ndarray | None = None, sigma: float = 0.1, **known: np.ndarray
) -> EstimatedTrajectory:
    t = 1.0 + 0.1 * np.arange(300)
    poses = curve(t) if poses is None else poses
    n = len(t)
    values = {"v_W": np.zeros((n, 3)), "biases": np.zeros((n, 6)), **known}
    return EstimatedTrajectory(
        t, poses, covariance=np.tile(sigma**2 * np.eye(15), (n, 1, 1)), **values
    )


def _figures(trajectory: EstimatedTrajectory, truth: Truth, *, begins_true: bool = True) -> dict:
    one = compare(trajectory, truth)
    assert one is not None
    return figures(one, begins_true=begins_true)


def test_an_estimate_that_stays_where_it_began_scores_as_still() -> None:
    stays = _estimate(np.tile(curve(np.array([1.0])), (300, 1)))
    found = _figures(stays, _truth())
    assert found["still_rmse_m"] == pytest.approx(found["ate_rmse_m"])
    aligned = _figures(stays, _truth(), begins_true=False)
    assert aligned["still_rmse_m"] == pytest.approx(aligned["ate_yaw_rmse_m"])
    assert aligned["still_rmse_m"] < found["still_rmse_m"]


def test_the_truth_itself_has_no_errors() -> None:
    found = _figures(_estimate(), _truth())
    for name in (
        "ate_rmse_m",
        "ate_max_m",
        "ate_yaw_rmse_m",
        "ate_se3_rmse_m",
        "rpe_m_per_m",
        "attitude_rmse_deg",
    ):
        assert found[name] == pytest.approx(0.0, abs=1e-3)
    assert found["drift_percent"] == pytest.approx(0.0, abs=1e-3)


def test_a_constant_offset_is_the_error_until_it_is_aligned() -> None:
    poses = _estimate().poses + np.array([0.3, 0.4, 1.2, 0, 0, 0, 0])
    found = _figures(_estimate(poses), _truth())
    assert found["ate_rmse_m"] == pytest.approx(1.3, abs=1e-4)
    assert found["ate_max_m"] == pytest.approx(1.3, abs=1e-3)
    assert found["ate_horizontal_rmse_m"] == pytest.approx(0.5, abs=1e-4)
    assert found["ate_vertical_rmse_m"] == pytest.approx(1.2, abs=1e-4)
    assert found["ate_yaw_rmse_m"] == pytest.approx(0.0, abs=1e-4)
    assert found["rpe_m_per_m"] == pytest.approx(0.0, abs=1e-4)


def test_a_scale_of_one_percent_is_a_relative_error_of_one_percent() -> None:
    t = np.arange(0.0, 60.0, 0.1)
    straight = np.zeros((len(t), 7))
    straight[:, 0], straight[:, 6] = 0.5 * t, 1.0
    longer = straight * [1.01, 1, 1, 1, 1, 1, 1]
    trajectory = EstimatedTrajectory(
        t,
        longer,
        np.zeros((len(t), 3)),
        np.zeros((len(t), 6)),
        np.zeros((len(t), 15, 15)) + np.eye(15),
    )
    found = _figures(trajectory, Truth(t, straight))
    assert found["rpe_m_per_m"] == pytest.approx(0.01, rel=0.05)
    assert found["rpe_m_per_s"] == pytest.approx(0.005, rel=1e-6)
    assert found["drift_percent"] == pytest.approx(1.0, rel=1e-6)
    short = straight * [0.03, 1, 1, 1, 1, 1, 1]
    assert _figures(trajectory, Truth(t, short))["drift_percent"] is None, "of less than 1 m"
    assert found["ate_se3_rmse_m"] is None, "a line leaves open how it is turned about itself"


def test_a_turn_about_the_vertical_is_an_attitude_error() -> None:
    poses = moved(_estimate().poses, TURN, np.zeros(3))
    assert _figures(_estimate(poses), _truth())["attitude_rmse_deg"] == pytest.approx(
        np.rad2deg(0.4), rel=1e-6
    )


def test_nees_is_one_where_noise_is_what_it_is_said_to_be() -> None:
    rng = np.random.default_rng(1)
    truth = _estimate().poses
    poses = truth.copy()
    poses[:, :3] += 0.1 * rng.normal(size=(len(truth), 3))
    poses[:, 3:] = so3.multiply(
        truth[:, 3:], so3.quaternion_exp(0.1 * rng.normal(size=(len(truth), 3)))
    )
    found = _figures(_estimate(poses), _truth())
    assert found["nees_position"] == pytest.approx(1.0, abs=0.15)
    assert found["nees_orientation"] == pytest.approx(1.0, abs=0.15)
    proud = _figures(_estimate(poses, sigma=0.05), _truth())
    assert proud["nees_position"] == pytest.approx(4.0 * found["nees_position"], rel=1e-6)


def test_biases_inside_three_sigma() -> None:
    truth = _truth(biases=np.tile([0.01] * 3 + [0.2] * 3, (8000, 1)))
    biases = np.tile([0.01] * 3 + [0.2, 0.2, 0.8], (300, 1))
    found = _figures(_estimate(biases=biases), truth)
    assert found["gyro_bias_inside"] == 1.0
    assert found["accel_bias_inside"] == pytest.approx(2.0 / 3.0)
    assert _figures(_estimate(), _truth())["gyro_bias_inside"] is None


def test_a_prism_is_judged_where_it_is() -> None:
    whole = _truth()
    lever = np.array([0.0, 0.1, 0.3])
    p = Truth(whole.t, whole.poses, p_BM_B=lever).point(whole.poses)
    poses = np.hstack([p, np.full((len(p), 4), np.nan)])
    found = _figures(_estimate(), Truth(whole.t, poses, p_BM_B=lever))
    assert found["ate_rmse_m"] == pytest.approx(0.0, abs=1e-4)
    assert found["attitude_rmse_deg"] is None
    assert found["nees_orientation"] is None


def test_only_aligned_errors_without_a_start_at_the_truth() -> None:
    found = _figures(_estimate(moved(_estimate().poses, TURN, MOVE)), _truth(), begins_true=False)
    assert found["ate_rmse_m"] is None
    assert found["drift_percent"] is None
    assert found["ate_yaw_rmse_m"] == pytest.approx(0.0, abs=1e-4)


def test_nothing_is_judged_where_the_truth_has_a_hole() -> None:
    whole = _truth()
    known = (whole.t < 10.0) | (whole.t > 20.0)
    poses = _estimate().poses
    during = (_estimate().t > 10.0) & (_estimate().t < 20.0)
    poses[during, :3] += 100.0
    found = _figures(_estimate(poses), Truth(whole.t[known], whole.poses[known]))
    assert found["ate_max_m"] == pytest.approx(0.0, abs=1e-3)
    assert compare(_estimate(), Truth(whole.t + 1000.0, whole.poses)) is None
