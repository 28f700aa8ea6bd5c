# SPDX-License-Identifier: BSD-3-Clause
"""The drift filter's paths and updates, on few numbers worked out by hand."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.virpo.drift import updates
from iap_estimation.virpo.drift.filter import _rows
from iap_estimation.virpo.drift.path import OdometryPath
from iap_estimation.virpo.factors.gyro_preintegration import Turn
from iap_estimation.virpo.messages import Estimate, Ranges

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # about z


def estimate(t, p=(0.0, 0.0, 0.0), q=LEVEL, v=(0.0, 0.0, 0.0), w=None, C=None):
    w = np.full(3, np.nan) if w is None else np.array(w)
    C = np.full((15, 15), np.nan) if C is None else C
    return Estimate(t, np.array(p), q, np.array(v), np.full(3, 0.1), np.full(3, 0.2), C, w)


# paths


def path(*told, gap=0.5):
    made = OdometryPath(gap)
    for each in told:
        made.add(each)
    return made


def test_between_two_odometries_a_cubic_has_both_places_and_velocities():
    made = path(
        estimate(1.0, (1.0, 0.0, 0.0), v=(2.0, 0.0, 0.0)),
        estimate(1.4, (2.0, 0.0, 0.0), QUARTER, v=(4.0, 0.0, 0.0)),
    )
    row = made.at(1.1)
    # With s = 1/4: a way of a quarter, and s (1 - s) times 3/4 (0.8 - 1) + 1/4 (1 - 1.6).
    assert row[1] == pytest.approx(1.0 + 0.25 + 0.1875 * (0.75 * -0.2 + 0.25 * -0.6))
    np.testing.assert_allclose(so3.quaternion_log(row[4:8]), [0.0, 0.0, np.pi / 8.0])
    np.testing.assert_allclose(row[8:11], [2.5, 0.0, 0.0])
    np.testing.assert_allclose(row[11:], [0.0, 0.0, np.pi / 0.8])
    assert row[0] == 1.1
    tips = made.points(np.array([1.4, 2.0]), np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0]))
    np.testing.assert_allclose(tips[0], [2.0 - 1.0 - 1.0, -1.0, -1.0], atol=1e-12)
    assert np.isnan(tips[1]).all()


@pytest.mark.parametrize(
    ("t", "is_known"),
    [(0.9985, False), (0.9995, True), (1.0005, True), (1.3, False), (1.5995, True), (1.601, True), (2.0, True),
     (2.0015, False)],
)  # fmt: skip
def test_a_place_is_known_at_stamps_and_between_near_ones(t, is_known):
    made = path(estimate(1.0), estimate(1.6), estimate(2.0))
    assert (made.at(t) is not None) is is_known
    assert (path(estimate(1.0)).at(t) is not None) is (abs(t - 1.0) < 1e-3)


def test_odometries_that_came_before_are_refused_and_the_last_is_found():
    made = path(
        estimate(1.0),
        estimate(1.0009),
        estimate(2.0),
        estimate(1.5),
        estimate(3.0, (np.nan, 0.0, 0.0)),
    )
    assert made.refused == 2 and made.newest == 2.0
    assert [made.after(t) for t in (0.0, 1.0, 1.7, 2.0)] == [1.0, 1.5, 2.0, None]
    assert [made.measured(t).t for t in (0.5, 1.4985, 1.4995, 9.0)] == [1.0, 1.0, 1.5, 2.0]
    made.forget(1.6)
    assert made.at(1.55) is not None and made.at(1.2) is None
    made.add(estimate(1.55))
    assert made.refused == 3
    assert path().newest == -np.inf and path().after(0.0) is None


# updates


def test_a_row_is_a_kalman_update():
    P, error, gain = np.array([[4.0, 1.0], [1.0, 9.0]]), np.array([0.5, 0.0]), np.empty(2)
    h, before = np.array([1.0, 2.0]), P.copy()
    assert updates.variance_of.py_func(h, P) == pytest.approx(4.0 + 4.0 + 36.0)
    chi_square = updates.apply_row.py_func(h, 10.0, 6.0, error, P, gain)
    assert chi_square == pytest.approx(9.5**2 / 50.0)
    K = before @ h / 50.0
    np.testing.assert_allclose(error, [0.5, 0.0] + K * 9.5)
    np.testing.assert_allclose(P, before - np.outer(K, h @ before))


@pytest.mark.parametrize(("rest", "is_taken"), [(3.9, True), (4.3, False)])
def test_rows_beyond_the_gate_leave_all_as_it_was(rest, is_taken):
    P, error = np.eye(3), np.zeros(3)
    rests, h = np.array([rest, rest]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    # Of both together the square is rest^2, with a variance of 1 and 1: the gate is at 4.
    assert updates.apply_rows.py_func(rests, h, 4.0, error, P) is is_taken
    np.testing.assert_allclose(error, [rest / 2.0 * is_taken] * 2 + [0.0])
    np.testing.assert_allclose(np.diag(P), [0.5, 0.5, 1.0] if is_taken else [1.0, 1.0, 1.0])


def test_a_way_turns_with_the_yaw_and_errs_with_it():
    x, P = np.array([1.0, 2.0, 3.0, 0.5 * np.pi]), np.zeros((6, 6))
    P[4, 4] = 0.25  # of the yaw
    updates.carry.py_func(x, 1, (2.0, 1.0, 0.5), P)
    np.testing.assert_allclose(x, [0.0, 4.0, 3.5, 0.5 * np.pi], atol=1e-12)
    expected = 0.25 * np.outer([0.0, -2.0, -1.0, 0.0, 1.0, 0.0], [0.0, -2.0, -1.0, 0.0, 1.0, 0.0])
    np.testing.assert_allclose(P, expected, atol=1e-12)


def test_an_error_moves_into_all_states_once():
    x, centre, error = np.zeros((2, 4)), np.r_[QUARTER, np.zeros(3)], np.arange(14.0) * 0.1
    updates.move.py_func(x, centre, error)
    np.testing.assert_allclose(x, np.arange(8.0).reshape(2, 4) * 0.1)
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(QUARTER), centre[:4]))
    np.testing.assert_allclose(turn, [0.8, 0.9, 1.0])
    np.testing.assert_allclose(centre[4:], [1.1, 1.2, 1.3])
    assert not error.any()


def test_the_centre_turns_with_its_gyroscope_and_errs_by_its_bias():
    z = Turn.empty()
    z.delta[:], z.slope[:], z.covariance[:] = QUARTER, 2.0 * np.eye(3), 0.01 * np.eye(6)
    centre, P = np.r_[LEVEL, np.zeros(3)], np.zeros((7, 7))
    P[1:, 1:] = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    updates.turn_centre.py_func(centre, z, 1, P)
    np.testing.assert_allclose(so3.quaternion_log(centre[:4]), [0.0, 0.0, 0.5 * np.pi])
    F = np.eye(6)
    F[:3, :3], F[:3, 3:] = so3.matrix_from_quaternion(QUARTER).T, 2.0 * np.eye(3)
    expected = F @ np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) @ F.T + 0.01 * np.eye(6)
    np.testing.assert_allclose(P[1:, 1:], expected, atol=1e-12)


def ranged(
    d,
    sigma=0.5,
    x=(0.0, 0.0, 0.0, 0.0),
    point=(0.0, 0.0, 0.0),
    anchors=None,
    memory=None,
    limits=(3.0, 0.0, 1.0),
):
    """Update of a place of 1 m deviation by ranges to an anchor at (-10, 0, 0)."""
    n = len(d)
    rows = np.zeros((n, 7))
    rows[:, 1] = np.zeros(n) if anchors is None else anchors
    rows[:, 2], rows[:, 5], rows[:, 6] = -10.0, d, sigma
    error, P = np.zeros(6), np.eye(6)
    memory = np.zeros((3, 3)) if memory is None else memory
    used = updates.apply_ranges.py_func(
        np.array(x), 1, rows, np.tile(point, (n, 1)).astype(float), limits, memory, (error, P)
    )
    return used, error, P, memory


def test_the_mean_of_an_anchors_ranges_is_one_row():
    used, error, P, memory = ranged([10.4, 10.2])
    # Variance 0.25 / 2 of the mean beside 1 of the place: a gain of 8/9.
    assert used == 1
    np.testing.assert_allclose(error, [0.0, 0.3 * 8.0 / 9.0, 0.0, 0.0, 0.0, 0.0])
    assert P[1, 1] == pytest.approx(1.0 / 9.0)
    np.testing.assert_allclose(memory[0], [0.3, 1.125, 0.0])
    used, error, _, _ = ranged([10.3, 14.0])
    assert used == 1 and error[1] == pytest.approx(0.3 / 1.25), "one beyond the gate is left out"
    assert ranged([13.4])[0] == 0
    assert ranged([13.3])[0] == 1
    floor = ranged([10.3], limits=(3.0, 1.5, 1.0))
    assert floor[1][1] == pytest.approx(0.3 / (1.0 + 0.25 + 2.25))


def test_ranges_of_two_anchors_are_two_rows_and_a_point_beside_turns():
    used, error, P, memory = ranged([10.3, 10.3], anchors=[0.0, 2.0])
    assert used == 2 and memory[1].tolist() == [0.0] * 3
    assert P[1, 1] == pytest.approx(1.0 / 9.0)
    # A tag a metre to the left: its way is (10, 1) / sqrt(101), and a yaw moves it along -x.
    _, error, _, _ = ranged([np.sqrt(101.0) + 0.2], point=(0.0, 1.0, 0.0))
    h = np.array([10.0, 1.0, 0.0, -10.0]) / np.sqrt(101.0)
    np.testing.assert_allclose(error[1:5], h * 0.2 / (h @ h + 0.25), atol=1e-12)
    _, turned, _, _ = ranged(
        [np.sqrt(101.0) + 0.2], x=(0.0, 0.0, 0.0, 0.5 * np.pi), point=(1.0, 0.0, 0.0)
    )
    np.testing.assert_allclose(turned, error, atol=1e-12)


def test_an_anchor_that_is_wrong_for_long_does_not_count():
    used, error, _, memory = ranged(
        [10.5], memory=np.array([[7.0, 0.1, 0.0]]), limits=(3.0, 0.0, 0.1)
    )
    # The mean fades by a tenth; its variance becomes 0.81 0.1 + 0.01 (0.25 + 1).
    np.testing.assert_allclose(memory[0], [6.35, 0.0935, 1.0])
    assert used == 0 and not error.any()
    used, _, _, memory = ranged([10.5], memory=np.array([[3.0, 0.1, 1.0]]), limits=(3.0, 0.0, 0.1))
    assert used == 1 and memory[0, 2] == 0.0


def test_joints_agree_with_each_other_by_their_contrasts():
    x, centre = np.zeros((3, 4)), np.r_[LEVEL, np.zeros(3)]
    x[:, :3] = [[1.0, 0.0, 0.0], [-1.2, 0.0, 0.0], [50.0, 0.0, 0.0]]
    d = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    error, P, agreed = np.zeros(18), np.eye(18), np.zeros(3, bool)
    joints = (np.zeros((3, 3)), d, np.array([True, True, False]))
    updates.apply_joints.py_func(x, centre, joints, 0.1, 9.0, (error, P), agreed)
    assert agreed.tolist() == [True, True, False]
    # They are 0.2 m too far apart along x: both places take half of it but for the joints' own errors.
    np.testing.assert_allclose(error[[0, 4]], [-0.2 / 2.02, 0.2 / 2.02], rtol=1e-9)
    assert not error[8:12].any()
    error[:], P[:], agreed[:] = 0.0, np.eye(18), False
    joints = (np.zeros((3, 3)), d, np.array([True, True, True]))
    updates.apply_joints.py_func(x, centre, joints, 0.1, 9.0, (error, P), agreed)
    assert agreed.tolist() == [True, True, False], "the third is far off"


def test_rounds_become_rows_with_the_tags_or_the_settings_deviations():
    two = np.array([3, 5]), np.array([7.0, 8.0]), np.array([0.1, 0.2])
    rounds = [Ranges(1.0 + k, two[0], np.full((2, 3), float(k)), *two[1:]) for k in range(2)]
    rows = _rows(rounds, None)
    assert rows[3].tolist() == [2.0, 5.0, 1.0, 1.0, 1.0, 8.0, 0.2] and rows.shape == (4, 7)
    assert _rows(rounds, 0.7)[:, 6].tolist() == [0.7] * 4
    assert _rows([], None).shape == (0, 7)
