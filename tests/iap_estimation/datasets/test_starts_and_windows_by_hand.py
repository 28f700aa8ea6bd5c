# SPDX-License-Identifier: BSD-3-Clause
"""Starts of aircraft, windows of motion, and the parts of their regressions, worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets import range_motion, stereo_scale
from iap_estimation.datasets.euroc_calibration import on_imu
from iap_estimation.datasets.euroc_source import _of_poses
from iap_estimation.datasets.image_rotation import RayPairs
from iap_estimation.datasets.inertial_checks import _left, _mean_accelerations
from iap_estimation.datasets.initial_states import first_of, level_state
from iap_estimation.datasets.range_start import _Beginning, _beginning, _turned, meeting_point
from iap_estimation.evaluation.truth import Truth
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.virpo.messages import ImuSample, Ranges, Tracks

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # about z


def test_a_level_start_has_the_tilt_that_gravity_says():
    tilt = so3.matrix_from_euler(np.array([0.3, -0.2, 0.0]))
    f = np.tile(tilt.T @ [0.0, 0.0, 9.81], (3, 1)) + [[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0], [0.0] * 3]
    x = level_state(f, 9.81, source="walk")
    assert x.shape == (16,) and not x[:3].any() and not x[7:].any()
    np.testing.assert_allclose(so3.matrix_from_quaternion(x[3:7]), tilt, atol=1e-12)


@pytest.mark.parametrize(
    ("force", "is_fall"), [(3.0, False), (3.1, False), (2.9, True), (0.0, True)]
)
def test_a_force_below_three_tenths_of_gravity_is_a_fall(force, is_fall):
    f = np.array([[0.0, 0.0, force]])
    if is_fall or force == 3.0:
        with pytest.raises(
            BadInput, match=f"walk: a specific force of {force:.2f} m/s\\^2 does not say"
        ):
            level_state(f, 10.0, source="walk")
    else:
        assert level_state(f, 10.0, source="walk")[6] == 1.0
    with pytest.raises(BadInput, match="^walk: no inertial samples to begin with$"):
        level_state(np.zeros((0, 3)), 10.0, source="walk")


def _data(*truths, events=()):
    aircraft = [SimpleNamespace(truth=truth) for truth in truths]
    return SimpleNamespace(
        aircraft=aircraft, source="data", gravity=9.81, events=lambda: iter(events)
    )


def test_a_true_start_is_the_pose_at_its_time_with_the_velocity_of_its_places():
    t = np.array([1.0, 2.0, 4.0])
    poses = np.hstack([np.outer([0.0, 2.0, 6.0], [1.0, 0.0, -1.0]), np.tile(QUARTER, (3, 1))])
    known = Truth(t, poses, np.outer([5.0, 7.0, 9.0], [0.0, 1.0, 2.0]))
    first, is_true = first_of(_data(Truth(t, poses), known))
    assert is_true
    x = first(0, 1.5)
    np.testing.assert_allclose(x, [1.0, 0.0, -1.0, *QUARTER, 2.0, 0.0, -2.0, *[0.0] * 6])
    np.testing.assert_allclose(first(1, 3.0)[7:10], [0.0, 8.0, 16.0])
    assert [first(0, at) is None for at in (0.99, 1.0, 4.0, 4.01)] == [True, False, False, True]


def test_without_a_truth_the_first_tenth_of_a_second_says_how_it_is_tilted():
    forces = [(2.0, [0.0, 9.81, 0.0]), (2.09, [0.0, 9.81, 0.0]), (2.105, [9.81, 0.0, 0.0])]
    events = [(0, ImuSample(t, np.zeros(3), np.array(f))) for t, f in forces]
    first, is_true = first_of(_data(None, events=events))
    assert not is_true
    np.testing.assert_allclose(so3.quaternion_log(first(0, 9.0)[3:7]), [0.5 * np.pi, 0.0, 0.0])
    first(0, 9.0)[:] = 7.0
    assert first(0, 9.0)[0] == 0.0
    with pytest.raises(BadInput, match="^data: nothing says how the aircraft begin towards each"):
        first_of(_data(None, None))
    nowhere = Truth(np.zeros(1), np.full((1, 7), np.nan))
    assert not first_of(_data(nowhere, events=events))[1]


def _round(t, anchors, p, sigma=0.1):
    anchors = np.array(anchors, dtype=float)
    d = np.linalg.norm(anchors - p, axis=1)
    return Ranges(t, np.arange(len(d)), anchors, d, np.full(len(d), sigma))


ANCHORS = [[0.0, 0.0, 0.0], [8.0, 0.0, 3.0], [8.0, 6.0, 0.5], [0.0, 6.0, 2.5], [4.0, 3.0, 4.0]]


def test_ranges_to_four_anchors_meet_in_a_point():
    p = np.array([2.0, 3.5, 1.0])
    np.testing.assert_allclose(meeting_point([_round(0.0, ANCHORS[:4], p)], "x"), p, atol=1e-6)
    halves = [_round(0.0, ANCHORS[:2], p), _round(0.1, ANCHORS[2:], p)]
    np.testing.assert_allclose(meeting_point(halves, "x"), p, atol=1e-6)
    for few in ([_round(0.0, ANCHORS[:3], p)], [_round(0.0, [*ANCHORS[:3], ANCHORS[0]], p)], []):
        with pytest.raises(
            BadInput, match="^x: the first ranges are to fewer than 4 of the anchors"
        ):
            meeting_point(few, "x")


def test_one_range_that_took_a_detour_hardly_moves_the_point():
    p = np.array([2.0, 3.5, 1.0])
    rounds = [_round(0.1 * k, ANCHORS, p) for k in range(3)]
    rounds[1].ranges[4] += 5.0
    assert np.linalg.norm(meeting_point(rounds, "x") - p) < 0.06


def test_the_beginning_is_of_ten_seconds_of_ranges_and_samples():
    samples = [ImuSample(2.0 + t, np.zeros(3), np.full(3, t)) for t in (0.0, 0.05, 0.1, 0.15)]
    late = [_round(12.0, ANCHORS, np.zeros(3)), _round(12.01, ANCHORS, np.zeros(3))]
    blind = Tracks(2.0, np.zeros(0, int), np.zeros((0, 4)), np.zeros(0, bool))
    found = _beginning(_data(events=[(0, each) for each in (*samples, blind, *late)]))
    assert found == _Beginning([*samples, late[0]])
    assert found.rounds == [late[0]]
    np.testing.assert_allclose(found.forces[:, 0], [0.0, 0.05, 0.1])


def test_a_turned_start_stays_where_it_is():
    x = np.arange(16.0)
    x[3:7] = LEVEL
    turned = _turned(x, 0.5 * np.pi)
    np.testing.assert_allclose(turned[3:7], QUARTER)
    assert np.delete(turned, slice(3, 7)).tolist() == np.delete(x, slice(3, 7)).tolist()
    assert x[6] == 1.0


def test_cameras_on_the_body_are_placed_on_its_inertial_unit():
    T_BI = np.eye(4)
    T_BI[:3, :3], T_BI[:3, 3] = so3.matrix_from_quaternion(QUARTER), [1.0, 2.0, 3.0]
    places = np.array([[2.0, 2.0, 3.0], [1.0, 5.0, 4.0]])
    pair = StereoCalibration(None, None, places, np.stack([LEVEL, QUARTER]))
    found = on_imu(pair, T_BI)
    np.testing.assert_allclose(found.p_BC_B, [[0.0, -1.0, 0.0], [3.0, 0.0, 1.0]], atol=1e-12)
    turns = so3.quaternion_log(found.q_BC)
    np.testing.assert_allclose(turns, [[0.0, 0.0, -0.5 * np.pi], [0.0] * 3], atol=1e-12)


@pytest.mark.parametrize(("columns", "lever"), [(7, 0.0), (16, 0.0), (16, 0.2)])
def test_a_recorded_state_is_moved_to_the_inertial_unit(columns, lever):
    T_IS = np.eye(4)
    T_IS[:3, 3] = [lever, 0.0, 0.0]
    rows = np.array([[1.0, 2.0, 3.0, 2.0, 0.0, 0.0, 2.0, *range(20, 29)]])[:, :columns]  # w first
    found = _of_poses(np.zeros(1), rows, T_IS)
    np.testing.assert_allclose(found.poses[0], [1.0, 2.0 - lever, 3.0, *QUARTER])
    has_state = columns == 16 and not lever
    assert (found.v_W is not None, found.biases is not None) == (has_state, has_state)
    if has_state:
        assert found.v_W[0].tolist() == [20, 21, 22]
        assert found.biases[0].tolist() == [23, 24, 25, 26, 27, 28]
        rows[:, 10:] = 0.0
        assert _of_poses(np.zeros(1), rows, T_IS).biases is None


def test_accelerations_over_bumps_are_those_of_the_places():
    t = 0.01 * np.arange(300)
    p = np.outer(t**3, [1.0, -2.0, 0.0])  # accelerations 6 t
    force = np.outer(t, [6.0, -12.0, 0.0]) + [0.0, 0.0, 9.81]
    a, measured = _mean_accelerations(p, force)
    np.testing.assert_allclose(a, measured, rtol=4e-3, atol=1e-2)
    np.testing.assert_allclose(measured.mean(axis=0), 0.0, atol=1e-12)
    assert np.ptp(a[:, 0]) == pytest.approx(6.0 * 0.1 * (len(a) - 1), rel=1e-2)
    assert _left(np.array([[3.0, 4.0]]), np.array([[3.0, 2.0]])) == pytest.approx(4.0 / 25.0)
    assert _left(np.zeros((1, 2)), np.zeros((1, 2))) == 0.0


def test_integrals_powers_and_numbers_between_are_those_by_hand():
    x, dt = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0.0, 0.5, 2.0])
    assert range_motion.integral(x, dt).tolist() == [[0.0, 0.0], [1.5, 2.0], [11.5, 14.0]]
    assert range_motion.integral(x[:, :, None], dt).shape == (3, 2, 1)
    one, linear, square = range_motion.powers_of_time(np.array([2.0, 3.0]), 3)
    assert (one[1] == np.eye(3)).all() and (linear[1] == 3.0 * np.eye(3)).all()
    assert (square[1] == 9.0 * np.eye(3)).all()
    between = range_motion.at_times(np.array([0.25]), np.array([0.0, 1.0, 2.0]), x)
    assert between.tolist() == [[1.5, 2.5]]
    box = range_motion.at_times(np.array([0.5, 1.0]), np.arange(3.0), x[:, :, None] * np.ones(3))
    assert box.shape == (2, 2, 3) and box[0, 1, 2] == 3.0


def test_a_bias_of_rates_turns_the_force_and_one_of_forces_adds_to_it():
    R = np.tile(so3.matrix_from_quaternion(QUARTER), (2, 1, 1))
    f = np.array([[1.0, 0.0, 9.0], [2.0, 0.0, 9.0]])
    force, of_force, of_rates = range_motion.felt_accelerations(R, f, np.array([0.0, 0.5]))
    np.testing.assert_allclose(force, [[0.0, 1.0, 9.0], [0.0, 2.0, 9.0]], atol=1e-12)
    np.testing.assert_allclose(of_force, 0.2 * R)
    # Half a second of a bias about the body's x axis turns about y: (0, 0.5, 0) x (0, 2, 9).
    np.testing.assert_allclose(of_rates[1, :, 0], 0.01 * np.array([4.5, 0.0, 0.0]), atol=1e-12)
    np.testing.assert_allclose(
        of_rates[1, :, 1], 0.01 * np.cross([-0.5, 0, 0], [0, 2, 9]), atol=1e-12
    )


def test_the_plane_of_anchors_and_the_turn_onto_the_vertical():
    square = np.array([[1.0, 1.0, 0.3], [-1.0, 1.0, -0.3], [-1.0, -1.0, 0.3], [1.0, -1.0, -0.3]])
    rounds = [_round(0.0, square[:3], np.zeros(3)), _round(0.0, square, np.zeros(3))]
    assert range_motion._thickness(rounds) == pytest.approx(0.3)
    for up in ([0.0, 0.0, 2.0], [3.0, 4.0, 5.0], [0.0, 1.0, -1.0]):
        turn = range_motion._onto_vertical(np.array(up))
        np.testing.assert_allclose(turn @ up, [0.0, 0.0, np.linalg.norm(up)], atol=1e-12)


def test_variances_of_a_place_are_those_of_orthogonal_ranges():
    along = Ranges(
        0.0, np.arange(4), np.diag([2.0, 3.0, 4.0, 0.0])[:, :3] * 1.0, np.ones(4), np.ones(4)
    )
    along.p_W[3] = [-5.0, 0.0, 0.0]
    here = np.array([1.0, 20.0, 300.0])
    along.p_W[:] += here
    np.testing.assert_allclose(range_motion._spread(here, along), [0.005, 0.01, 0.01])


def test_maps_that_may_be_meant_are_one_of_each_four_that_a_heading_tells_apart():
    assert len(range_motion.MAPS) == 12
    words = [name for name in range_motion.MAPS if name not in range_motion.LEVEL]
    assert sum(name.startswith("mirrored and on its side: its ") for name in words) == 4
    upright = [name.partition(": write")[0] for name in words if name.startswith("on its side")]
    assert sorted(upright) == [
        f"on its side: its {axis} axis is vertical" for axis in ("-x", "-y", "x", "y")
    ]
    assert range_motion._in_words(np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])).startswith(
        "on its side: its -y axis"
    )


def test_a_way_is_that_of_the_corners_that_agree():
    rng = np.random.default_rng(2)
    points = rng.uniform([-2.0, -2.0, 3.0], [2.0, 2.0, 9.0], (40, 3))
    way, turn = np.array([0.2, -0.1, 0.05]), so3.exp(np.array([0.02, -0.03, 0.05]))
    later = (points - way) @ turn  # in the axes of the second time
    rays = np.stack([x / np.linalg.norm(x, axis=1, keepdims=True) for x in (points, later)])
    nearness = 1.0 / np.linalg.norm(points, axis=1)
    nearness[:4] = np.nan
    rays[1, 5:9] = rays[1, 6:10]
    np.testing.assert_allclose(
        stereo_scale._way(RayPairs((0.0, 0.1), rays, nearness), turn), way, atol=1e-9
    )
    assert stereo_scale.KEPT == 0.8


@pytest.mark.parametrize(
    ("span", "count", "sizes"),
    [(11.9, 60, [60]), (12.1, 60, [30, 30]), (24.0, 74, [25, 25]), (4.0, 24, []), (4.0, 0, [])],
)
def test_windows_of_ways_are_of_eight_seconds_and_25_at_least(span, count, sizes):
    t = np.linspace(0.0, span, count)
    ways = stereo_scale._Ways(np.stack([t, t], axis=1), np.outer(t, [1.0, 2.0, 3.0]))
    found = list(stereo_scale._windows(ways))
    assert [len(each.t) for each in found] == sizes
    for each in found:
        np.testing.assert_allclose(each.v_B[:, 1], 2.0 * each.t[:, 0])


def test_a_factor_is_regressed_with_its_deviation():
    rng = np.random.default_rng(4)
    felt, unknown = rng.normal(size=300), rng.normal(size=(300, 12))
    v = 1.3 * felt + unknown[:, :6] @ np.arange(6.0) + 0.02 * rng.normal(size=300)
    found = stereo_scale._regressed(v, felt, unknown)
    assert found.k == pytest.approx(1.3, abs=0.005)
    # Three times the noise over the root of the number and of the variance of what is felt.
    assert found.deviation == pytest.approx(3.0 * 0.02 / np.sqrt(300.0), rel=0.15)
