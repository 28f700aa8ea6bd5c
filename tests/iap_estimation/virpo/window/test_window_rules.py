# SPDX-License-Identifier: BSD-3-Clause
"""Rules of the window: anchors that are left out, keyframes that are new, and first information, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from synthetic_fleet import fleet_of

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States
from iap_estimation.virpo.factors import landmarks
from iap_estimation.virpo.factors.landmarks import LEFT, RIGHT, Landmarks
from iap_estimation.virpo.factors.ranging import AIRCRAFT as OF
from iap_estimation.virpo.factors.ranging import ANCHOR, FRAME, NAME, RANGE, SIGMA, WIDTH
from iap_estimation.virpo.messages import Tracks
from iap_estimation.virpo.spec import load_spec
from iap_estimation.virpo.window.failure_checks import doubts_after
from iap_estimation.virpo.window.range_gate import (
    DetourGate,
    RangeErrorMean,
    RangeGate,
    apart,
    place_after,
)
from iap_estimation.virpo.window.terms import ALL, RangeTerms, RestTerms, _drift_of
from iap_estimation.virpo.window.visual_terms import VisualTerms
from iap_estimation.virpo.window.window import first_information

SPEC = load_spec()
FLEET = fleet_of(2, antenna=(0.0, 0.0, 0.0))
X_AXIS = np.array([1.0, 0.0, 0.0])


def test_a_mean_fades_with_its_memory_and_takes_in_by_weights():
    mean = RangeErrorMean(6.0, 3.0, 2.0, X_AXIS)
    mean.fade(2.0, 4.0)
    share = np.exp(-0.5)
    assert (mean.total, mean.weight, mean.age) == pytest.approx((6.0 * share, 3.0 * share, 2.0))
    assert mean.noise == pytest.approx(2.0 * share**2)
    mean.take(0.5, 10.0, 2.0 * X_AXIS)
    assert (mean.total, mean.weight) == pytest.approx((6.0 * share + 5.0, 3.0 * share + 10.0))
    assert mean.noise == pytest.approx(2.0 * share**2 + 10.0)
    assert mean.age == 0.0 and mean.way[0] == 2.0


def test_a_mean_is_judged_by_all_others():
    S = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 4.0]])
    m = np.array([3.0, 0.0, 8.0])
    # Given the second, the first is expected at 0 with a variance of 3/2, and the second at 3/2.
    np.testing.assert_allclose(apart(m, S, [0, 1, 2]), [3.0 / 1.5**0.5, -1.5 / 1.5**0.5, 4.0])
    np.testing.assert_allclose(apart(m, S, [2, 0]), [4.0, 3.0 / 2.0**0.5])


def measured(off, sigma=0.5, anchors=None, ways=None):
    n = len(off)
    names = np.arange(n) if anchors is None else anchors
    return np.column_stack(
        [names, off, np.full(n, sigma), np.tile(X_AXIS, (n, 1)) if ways is None else ways]
    )


def test_a_detour_is_beyond_the_gate_unless_most_are():
    gate, P = DetourGate(1, 3.0), np.diag([1.0, 0.0, 0.0])  # a deviation of sqrt(1.25)
    assert gate.direct(0, measured([3.35, 3.36, -3.36]), P).tolist() == [True, False, False]
    across = measured([1.49, 1.51], ways=np.tile([0.0, 1.0, 0.0], (2, 1)))
    assert gate.direct(0, across, P).tolist() == [True, False]
    gate.begin()
    assert (
        gate.direct(0, measured([9.0] * 36 + [0.0] * 24), P).tolist() == [False] * 36 + [True] * 24
    )
    assert gate.direct(0, measured([9.0]), P).tolist() == [False], (
        "24 of 60 still fit: the first went"
    )
    gate.begin()
    assert not gate.direct(0, measured([9.0] * 59), P).any(), "too few to say"
    assert gate.direct(0, measured([9.0]), P).all(), "of sixty none fits: the states are off"
    gate.begin()
    gate.direct(0, measured([0.0] * 23 + [9.0] * 36), P)
    assert gate.direct(0, measured([9.0]), P).all(), "23 of 60 are too few"


def checked(spec_changes, rounds, P=np.zeros((3, 3))):  # noqa: B008 - it stays as it is
    """The gate after some rounds of ranges, each a tenth of a second after the one before."""
    gate = RangeGate(1, SPEC.range_gate.model_copy(update=spec_changes), 3.0)
    for rows in rounds:
        gate.check(0, rows, 0.1, P)
    return gate


@pytest.mark.parametrize(("off", "refused"), [(0.44, set()), (0.46, {1})])
def test_an_anchor_is_left_out_from_its_limit_of_deviations_on(off, refused):
    # A deviation of 0.1 m of the mean, and none of the place: 4.5 deviations are 0.45 m.
    wide = RangeGate(1, SPEC.range_gate.model_copy(update={"floor": 1e-9}), 9.0)
    wide.check(0, measured([0.0, off, 0.0], 0.1), 0.1, np.zeros((3, 3)))
    assert wide.refused == [refused] and wide.knows_any
    wide.begin()
    assert not wide.knows_any


def test_a_range_counts_in_a_mean_to_its_width_alone():
    gate = checked({"floor": 1e-9}, [measured([0.0, 50.0, 0.0], 0.1)])
    assert gate.refused == [set()], "at three deviations it is chance"
    mean = gate._means[0][1]
    assert mean.total / mean.weight == pytest.approx(0.3) and mean.weight == pytest.approx(100.0)


def test_ranges_of_one_anchor_count_by_their_deviations():
    rows = measured([0.1, -0.2], anchors=[4, 4])
    rows[:, 2] = [0.1, 0.2]
    mean = checked({}, [rows])._means[0][4]
    assert mean.total / mean.weight == pytest.approx((0.1 * 100.0 - 0.2 * 25.0) / 125.0)


@pytest.mark.parametrize(("silent", "is_known"), [(74, True), (76, False)])
def test_an_anchor_is_forgotten_after_five_times_the_memory(silent, is_known):
    gate = checked({}, [measured([0.0, 0.0])] + [measured([0.0], anchors=[0])] * silent)
    assert (1 in gate._means[0]) is is_known


def test_a_floor_is_added_to_the_noise_of_a_mean():
    rows = measured([0.0, 0.2, 0.0], 0.01)
    wide = RangeGate(1, SPEC.range_gate.model_copy(update={"floor": 0.04}), 99.0)
    wide.check(0, rows, 0.1, np.zeros((3, 3)))
    assert wide.refused == [{1}]
    wide = RangeGate(1, SPEC.range_gate.model_copy(update={"floor": 0.05}), 99.0)
    wide.check(0, rows, 0.1, np.zeros((3, 3)))
    assert wide.refused == [set()]


def test_places_are_doubted_with_the_velocities_that_act_until_then():
    C = np.zeros((15, 15))
    C[0, 0], C[6, 6], C[0, 6], C[6, 0] = 0.04, 0.09, 0.01, 0.01
    assert place_after(C, 2.0)[0, 0] == pytest.approx(0.04 + 2.0 * 2.0 * 0.01 + 4.0 * 0.09)
    states = States.empty(1, 1)
    whole = np.zeros((19, 19))
    whole[:15, :15] = C
    window = SimpleNamespace(covariance=lambda: whole, states=states)
    np.testing.assert_allclose(doubts_after(2.0, window), [np.sqrt(0.44)])


def test_first_information_is_about_the_worlds_axes():
    states = States.empty(1, 2)
    states.x[0, 1, 3:7] = so3.quaternion_exp(np.array([0.5, -0.3, 0.2]))
    start = SPEC.restart
    H = first_information(states, start)
    at = 15
    np.testing.assert_allclose(np.diag(H)[at : at + 3], start.position**-2)
    np.testing.assert_allclose(np.diag(H)[at + 6 : at + 9], start.velocity**-2)
    np.testing.assert_allclose(np.diag(H)[at + 9 : at + 12], start.gyro_bias**-2)
    np.testing.assert_allclose(np.diag(H)[at + 12 : at + 15], start.accel_bias**-2)
    wide = first_information(states, start.model_copy(update={"yaw_deg": 5.0}))
    up = so3.rotate(so3.conjugate(states.x[0, 1, 3:7]), np.array([0.0, 0.0, 1.0]))
    block = wide[at + 3 : at + 6, at + 3 : at + 6]
    assert up @ block @ up == pytest.approx(np.deg2rad(5.0) ** -2)
    side = np.cross(up, X_AXIS) / np.linalg.norm(np.cross(up, X_AXIS))
    assert side @ block @ side == pytest.approx(np.deg2rad(start.tilt_deg) ** -2)
    ends = np.diag(H)[30:]
    np.testing.assert_allclose(ends[[0, 1, 2, 4, 5, 6]], start.alignment_position**-2)
    np.testing.assert_allclose(ends[[3, 7]], np.deg2rad(start.alignment_yaw_deg) ** -2)
    assert len(H) == 38 and H[at, at + 3] == 0.0


def ranged():
    """Terms of three keyframes: ranges to two anchors of two aircraft that stand at the origin."""
    terms = RangeTerms(FLEET, 3.0)
    rows = np.zeros((5, WIDTH))
    rows[:, FRAME], rows[:, OF], rows[:, NAME] = [0, 1, 1, 1, 1], [0, 0, 1, 0, 1], [7, 7, 8, 8, 7]
    rows[:, ANCHOR], rows[:, RANGE], rows[:, SIGMA] = (
        -10.0,
        [9.0, 10.5, 11.0, 9.5, 10.0],
        [0.1, 0.2, 0.3, 0.4, 0.5],
    )
    terms._rows = rows
    return terms, States.empty(3, 2)


def test_ranges_after_the_second_newest_keyframe_are_told_by_aircraft():
    terms, states = ranged()
    first, second = terms.newest(states)
    np.testing.assert_allclose(first, [[7, 0.5, 0.2, 1, 0, 0], [8, -0.5, 0.4, 1, 0, 0]])
    np.testing.assert_allclose(second, [[8, 1.0, 0.3, 1, 0, 0], [7, 0.0, 0.5, 1, 0, 0]])
    terms.keep_newest(states, 0, np.array([False, True]))
    assert terms._rows[:, RANGE].tolist() == [9.0, 11.0, 9.5, 10.0]
    terms.leave_out([{7}, {8}])
    assert terms._rows[:, RANGE].tolist() == [9.5, 10.0] and terms.count() == 2


def test_an_aircraft_at_rest_has_a_velocity_of_zero_within_its_deviation():
    terms, states = RestTerms(FLEET, 0.1), States.empty(2, 2)
    states.x[:, :, 7:10] = [[[9.0] * 3, [9.0] * 3], [[9.0] * 3, [1.0, 2.0, -2.0]]]
    terms.enter(0, None, states)
    terms.hold(1)
    assert terms.is_held(1) and not terms.is_held(0) and terms.count() == 3
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    assert terms.add(states, ALL, H, g) == pytest.approx(0.5 * 100.0 * 9.0) == terms.cost(states)
    at = states.stride + 15 + 6
    assert g[at : at + 3].tolist() == pytest.approx([100.0, 200.0, -200.0])
    assert np.flatnonzero(g).tolist() == [at, at + 1, at + 2]
    np.testing.assert_allclose(np.diag(H)[at : at + 3], 100.0)
    assert np.count_nonzero(H) == 3
    assert terms.add(states, 0, H, g) == 0.0 and terms.add(states, 1, H, g) > 0.0


def test_drifts_are_those_of_the_settings_or_none():
    physical = SPEC.physical.model_copy(
        update={"drift": True, "drift_memory": None, "drift_yaw": 0.7}
    )
    walk, prior = _drift_of(physical)
    assert walk.tolist() == [physical.drift_position, 0.7, np.inf]
    assert prior.tolist() == [physical.prior_position, physical.prior_yaw]
    assert _drift_of(physical.model_copy(update={"drift_memory": 3.0}))[0][2] == 3.0
    walk, prior = _drift_of(physical.model_copy(update={"drift": False}))
    assert walk.tolist() == [1e-4, 1e-4, np.inf] and prior.tolist() == [1e-4, 1e-4]


def seen(t, ids, u, right=()):
    views = np.zeros((len(ids), 4))
    views[:, 0] = u
    views[:, 2:] = np.nan
    return Tracks(t, np.array(ids), views, np.isin(ids, right))


def test_a_keyframe_is_new_where_tracks_moved_or_few_are_left():
    spec = SPEC.model_copy(update={"fewest_tracks": 3, "parallax": 10.0})
    terms = VisualTerms(FLEET, spec)
    ids = [1, 2, 3, 4]
    terms.see(0, [seen(0.0, ids, 0.0, right=[2]), None])
    terms.see(1, [seen(1.0, ids, np.array([1.0, 2.0, 3.0, 6.0]) / 320.0), seen(1.0, [1], 0.0)])
    np.testing.assert_allclose(terms.shift(0, 1), [3.0, np.nan])
    assert terms.count() == 2 * (4 + 1 + 4 + 1)
    assert terms.is_new(0, 1), "of the second aircraft nothing is known"
    terms.see(0, [None, seen(0.0, ids, 0.0)])
    terms.see(1, [None, seen(1.0, ids, 9.9 / 320.0)])
    assert not terms.is_new(0, 1) and not terms.is_last_view(0)
    terms.see(1, [None, seen(1.0, ids, 10.1 / 320.0)])
    assert terms.is_new(0, 1)
    terms.see(2, [seen(2.0, [1, 2, 9], 0.0), seen(2.0, ids, 0.0)])
    assert terms.is_last_view(1), "two of four are left of the first"
    places = terms.positions()
    terms._pairs[0].table.place[:] = 7.0
    terms.put_back(places)
    assert not terms._pairs[0].table.place[:, 2].any()
    terms.begin()
    assert terms.count() == 0


# landmarks, in Python as they are compiled


def table_of(*sides):
    made = Landmarks.empty(2, len(sides))
    made.host[0], made.track[0], made.known[0] = 0, 5, 1
    made.sides[0] = sides
    made.views[0, :, 0] = 0.1 * np.arange(len(sides))
    return made


def test_views_move_up_where_a_keyframe_goes():
    made = table_of(LEFT, LEFT | RIGHT, 0, RIGHT)
    landmarks._drop_view.py_func(made, 0, 1)
    assert made.sides[0].tolist() == [LEFT, 0, RIGHT, 0]
    np.testing.assert_allclose(made.views[0, :3, 0], [0.0, 0.2, 0.3])
    landmarks._free.py_func(made, 0)
    assert (made.host[0], made.track[0]) == (-1, -1)


def test_a_shift_is_the_mean_over_tracks_that_both_left_images_show():
    made = Landmarks.empty(4, 2)
    made.host[:3] = 0
    made.sides[:] = [[LEFT, LEFT], [LEFT, LEFT | RIGHT], [LEFT, RIGHT], [LEFT, LEFT]]
    made.views[:, 1, :2] = [[3.0, 4.0], [0.0, 1.0], [50.0, 0.0], [50.0, 0.0]]
    assert landmarks.mean_shift.py_func(made, 0, 1) == (3.0, 2)
    made.host[:] = -1
    assert landmarks.mean_shift.py_func(made, 0, 1) == (0.0, 0)


def test_tracks_beyond_the_rows_are_left_out_and_known_ones_go_on():
    made = Landmarks.empty(2, 3)
    add = landmarks.add_tracks.py_func
    views = np.arange(12.0).reshape(3, 4)
    assert add(made, 1, 0, np.array([8, 9, 7]), views, np.array([1, 0, 1])) == 0
    assert made.track.tolist() == [8, 9] and made.sides[:, 0].tolist() == [LEFT | RIGHT, LEFT]
    np.testing.assert_allclose(made.place, [[0.0, 1.0, 0.0], [4.0, 5.0, 0.0]])
    assert add(made, 1, 2, np.array([9, 8]), views[:2], np.array([1, 0])) == 2
    assert made.sides[:, 2].tolist() == [LEFT, LEFT | RIGHT] and made.aircraft.tolist() == [1, 1]
    np.testing.assert_allclose(made.views[1, 2], [0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(("off", "refused"), [(0.19, set()), (0.21, {1})])
def test_an_anchor_counts_again_below_two_deviations(off, refused):
    gate = RangeGate(1, SPEC.range_gate.model_copy(update={"floor": 1e-9}), 99.0)
    gate.refused = [{1}]
    gate.check(0, measured([0.0, off, 0.0], 0.1), 0.1, np.zeros((3, 3)))
    assert gate.refused == [refused]
