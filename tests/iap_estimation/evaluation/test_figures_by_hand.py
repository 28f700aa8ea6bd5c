# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a trajectory beside the truth, of few poses whose errors are worked out by hand."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.evaluation.alignment import se3_aligned, yaw_aligned
from iap_estimation.evaluation.comparison import compare, figures, nees, still_rmse
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.evaluation.truth import Truth
from iap_estimation.virpo.messages import Estimate

QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # about z
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def _poses(places, q=LEVEL):
    places = np.array(places, dtype=float)
    return np.hstack([places, np.tile(q, (len(places), 1))])


def _trajectory(t, poses, deviations=(1.0,) * 15, biases=(0.0,) * 6):
    K = len(t)
    covariance = np.tile(np.diag(np.square(deviations)), (K, 1, 1))
    return EstimatedTrajectory(
        np.array(t), poses, np.zeros((K, 3)), np.tile(biases, (K, 1)), covariance
    )


def _figures(t, estimate, truth, *, begins_true=True, **known):
    one = compare(_trajectory(t, estimate), Truth(np.array(t), truth, **known))
    return figures(one, begins_true=begins_true)


def test_three_poses_are_enough_to_align():
    truth = _poses([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    turned = _poses([[0.0, 1.0, 5.0], [-2.0, 0.0, 5.0], [0.0, 0.0, 8.0]], QUARTER)
    for align in (yaw_aligned, se3_aligned):
        aligned = align(turned, truth)
        np.testing.assert_allclose(aligned[:, :3], truth[:, :3], atol=1e-12)
        np.testing.assert_allclose(np.abs(aligned[:, 6]), 1.0)


def test_estimates_are_judged_where_the_true_poses_around_them_are_near():
    t_truth = np.array([0.0, 0.25, 0.5, 0.77, 1.0])  # 0.27 s are too long
    biases = np.arange(5.0)[:, None] * np.ones(6)
    t = [-0.1, 0.0, 0.1, 0.25, 0.5, 0.6, 0.77, 0.9, 1.0, 1.1]
    truth = Truth(t_truth, _poses(np.outer(t_truth, [1.0, 0.0, 0.0])), biases=biases)
    one = compare(_trajectory(t, _poses(np.zeros((10, 3)))), truth)
    np.testing.assert_allclose(one.t, [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
    np.testing.assert_allclose(one.truth[:, 0], one.t)
    np.testing.assert_allclose(one.errors[:, 0], -one.t)
    assert one.biases[:, 0].tolist() == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    assert len(one.trajectory.covariance) == 6


def test_the_truths_point_hangs_on_the_body():
    truth = Truth(np.zeros(1), _poses([[0.0, 0.0, 0.0]]), p_BM_B=np.array([1.0, 2.0, 3.0]))
    point = truth.point(_poses([[10.0, 0.0, 0.0], [0.0, 20.0, 0.0]], QUARTER))
    np.testing.assert_allclose(point, [[8.0, 1.0, 3.0], [-2.0, 21.0, 3.0]])
    assert truth.has_attitude
    assert not Truth(np.zeros(1), _poses([[0.0, 0.0, 0.0]], np.full(4, np.nan))).has_attitude


def test_sizes_of_errors_of_four_places():
    truth = _poses([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 4.0, 0.0], [3.0, 4.0, 2.0]])
    off = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 3.0, 4.0], [0.0, 0.0, -9.0]])
    found = _figures([0.0, 0.2, 0.4, 0.6], truth + np.hstack([off, np.zeros((4, 4))]), truth)
    assert found["ate_rmse_m"] == pytest.approx(np.sqrt((1.0 + 4.0 + 25.0 + 81.0) / 4.0))
    assert found["ate_max_m"] == pytest.approx(9.0)
    assert found["ate_median_m"] == pytest.approx(3.5)
    assert found["ate_horizontal_rmse_m"] == pytest.approx(np.sqrt(14.0 / 4.0))
    assert found["ate_vertical_rmse_m"] == pytest.approx(np.sqrt(97.0 / 4.0))
    assert found["path_m"] == pytest.approx(9.0)
    assert found["drift_percent"] == pytest.approx(100.0)
    assert found["still_rmse_m"] == pytest.approx(np.sqrt((9.0 + 25.0 + 29.0) / 4.0))
    assert found["rpe_m_per_s"] is None and found["rpe_deg_per_s"] is None
    assert found["attitude_rmse_deg"] == 0.0
    assert found["nees_position"] == pytest.approx((1.0 + 4.0 + 25.0 + 81.0) / 12.0)


def test_what_stands_still_is_off_from_its_first_or_its_mean_place():
    p = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [4.0, 0.0, 0.0]])
    assert still_rmse(p, begins_true=True) == pytest.approx(np.sqrt(20.0 / 3.0))
    assert still_rmse(p, begins_true=False) == pytest.approx(np.sqrt(8.0 / 3.0))


@pytest.mark.parametrize(("length", "drift"), [(0.99, None), (1.0, 50.0), (1.05, 50.0 / 1.05)])
def test_drift_is_a_share_of_a_path_of_one_metre_at_least(length, drift):
    truth = _poses([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
    estimate = truth + [0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    found = _figures([0.0, 0.1], estimate, truth)["drift_percent"]
    assert found == (drift if drift is None else pytest.approx(drift))


@pytest.mark.parametrize("begins_true", [False, True])
def test_a_turned_world_has_errors_of_the_whole_alignment_alone(begins_true):
    places = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 1.0]]
    found = _figures(
        [0.0, 0.1, 0.2, 0.3],
        _poses(places),
        _poses(places, np.full(4, np.nan)),
        begins_true=begins_true,
        is_turned=True,
    )
    assert found["ate_yaw_rmse_m"] is None and found["ate_yaw_vertical_rmse_m"] is None
    assert found["ate_se3_rmse_m"] == pytest.approx(0.0, abs=1e-12)
    assert (found["ate_rmse_m"] is None) is not begins_true
    assert (found["ate_median_m"] is None) is not begins_true
    assert (found["drift_percent"] is None) is not begins_true
    assert (found["nees_position"] is None) is not begins_true
    assert found["attitude_rmse_deg"] is None and found["rpe_deg_per_m"] is None


def test_pairs_of_a_second_may_be_a_fifth_of_it_longer_or_shorter():
    t = [0.0, 1.19, 2.0, 3.21, 4.0, 5.05, 5.1]
    # Pairs that count are 0 to 1.19, 1.19 to 2.0 and 4.0 to 5.05; each has an error of its own.
    x = np.array([0.0, 1.0, 3.0, 103.0, 203.0, 206.0, 206.0])
    estimate = _poses(np.outer(x, [0.0, 1.0, 0.0]))
    one = compare(
        _trajectory(t, estimate),
        Truth(np.linspace(0.0, 5.1, 52), _poses(np.zeros((52, 3)))),
    )
    found = figures(one, begins_true=True)
    assert found["rpe_m_per_s"] == pytest.approx(np.sqrt((1.0 + 4.0 + 9.0) / 3.0))
    assert found["rpe_deg_per_s"] == pytest.approx(0.0)


def test_errors_over_covariances_are_worked_out_by_hand():
    errors = np.array([[1.0, 4.0, 9.0], [2.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [5.0, 5.0, 5.0]])
    C = np.tile(np.diag([1.0, 4.0, 9.0]), (4, 1, 1))
    C[3] = np.nan
    assert nees(errors, C) == pytest.approx((14.0 / 3.0 + 4.0 / 3.0) / 2.0)
    assert nees(errors[2:], C[2:]) is None


def test_each_bias_and_angle_is_held_against_its_own_deviation():
    deviations = np.array(
        [1.0, 2.0, 4.0, 0.1, 0.2, 0.4, 9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    )
    biases = np.array([2.9, -5.9, 9.1, -12.1, 14.9, 17.9])
    truth = _poses([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    turned = _poses(truth[:, :3] + [1.0, 2.0, 4.0], so3.quaternion_exp(np.array([0.1, 0.0, 0.0])))
    t = np.array([0.0, 0.1])
    one = compare(
        _trajectory(t, turned, deviations, biases), Truth(t, truth, biases=np.zeros((2, 6)))
    )
    np.testing.assert_allclose(one.sigma, [[1.0, 2.0, 4.0]] * 2)
    found = figures(one, begins_true=True)
    assert found["nees_position"] == pytest.approx(1.0)
    assert found["nees_orientation"] == pytest.approx(1.0 / 3.0)
    assert found["gyro_bias_inside"] == pytest.approx(2.0 / 3.0)
    assert found["accel_bias_inside"] == pytest.approx(2.0 / 3.0)
    assert found["attitude_rmse_deg"] == pytest.approx(np.rad2deg(0.1))


def test_one_bias_without_a_deviation_leaves_the_other_judged():
    deviations = [1.0] * 15
    deviations[10] = np.nan
    truth = _poses([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    t = np.array([0.0, 0.1])
    one = compare(_trajectory(t, truth, deviations), Truth(t, truth, biases=np.zeros((2, 6))))
    found = figures(one, begins_true=True)
    assert found["gyro_bias_inside"] is None and found["accel_bias_inside"] == 1.0


def test_estimates_become_rows():
    one = Estimate(
        0.5, np.arange(3.0), LEVEL, np.arange(3.0) + 10, np.arange(3.0) + 20, np.arange(3.0) + 30, np.eye(15)
    )  # fmt: skip
    rows = EstimatedTrajectory.of([one, one])
    assert rows.t.tolist() == [0.5, 0.5]
    assert rows.poses[1].tolist() == [0, 1, 2, 0, 0, 0, 1]
    assert rows.v_W[1].tolist() == [10, 11, 12]
    assert rows.biases[1].tolist() == [20, 21, 22, 30, 31, 32]
    none = EstimatedTrajectory.of([])
    shapes = [x.shape for x in (none.t, none.poses, none.v_W, none.biases, none.covariance)]
    assert shapes == [(0,), (0, 7), (0, 3), (0, 6), (0, 15, 15)]


def test_what_is_aligned_is_split_into_the_horizontal_and_the_vertical():
    square = _poses([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]])
    bent = square.copy()
    bent[:, :3] = 1.5 * bent[:, :3] + [7.0, 8.0, 9.0]
    bent[:, 2] += [1.0, -1.0, 1.0, -1.0]
    found = _figures([0.0, 0.1, 0.2, 0.3], bent, square, begins_true=False)
    assert found["ate_yaw_horizontal_rmse_m"] == pytest.approx(np.sqrt(0.5))
    assert found["ate_yaw_vertical_rmse_m"] == pytest.approx(1.0)
    assert found["ate_yaw_rmse_m"] == pytest.approx(np.sqrt(1.5))
    assert found["ate_horizontal_rmse_m"] is None and found["ate_vertical_rmse_m"] is None
    assert found["still_rmse_m"] == pytest.approx(np.sqrt(2.0))
