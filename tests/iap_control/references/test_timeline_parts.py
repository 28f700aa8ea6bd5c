# SPDX-License-Identifier: BSD-3-Clause
"""Parts of timelines, on the control grid, and wrenches that hold between their stamps."""

import numpy as np
import pytest

from iap_control.references import timeline_parts as parts
from iap_control.references.timeline import Leads, build
from iap_control.references.wrench_replay import WrenchCommand, to_body
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W

DT = 0.01


def moving():
    row = np.zeros(19)
    row[REF_P], row[REF_V], row[REF_A] = [1.0, 2.0, 3.0], [0.5, 0.0, -0.2], [0.1, 0.2, 0.0]
    row[REF_Q] = so3.quaternion_exp(np.array([0.1, -0.2, 0.7]))
    row[REF_W], row[REF_ALPHA] = [0.2, 0.1, -0.3], [0.0, 0.3, 0.1]
    return row


def resting():
    row = np.zeros(19)
    row[REF_P], row[REF_Q] = [-1.0, 0.5, 2.0], [0.0, 0.0, 0.0, 1.0]
    return row


def test_a_row_is_the_same_alone_and_among_others():
    part = parts.approach_part("k", resting(), moving(), 0.5, DT)
    assert part.count == 50
    together = part.rows(0, 50)
    for k in (0, 1, 30, 49):
        np.testing.assert_array_equal(part.row(k), together[k])
        np.testing.assert_array_equal(part.rows(k, k + 1)[0], together[k])
    assert part.rows(3, 3).shape == (0, 19)


def test_an_approach_begins_at_rest_and_its_end_is_what_follows():
    part = parts.approach_part("k", resting(), moving(), 0.5, DT)
    np.testing.assert_allclose(part.row(0), resting(), atol=1e-12)
    np.testing.assert_allclose(part.made(np.array([50.0]))[0], moving(), atol=1e-7)
    assert parts.approach_part("k", resting(), moving(), 0.001, DT).count == 1


def test_an_approach_back_runs_from_the_motion_to_rest():
    """Its first row is one period after the moving one; its last is at rest."""
    part = parts.reversed_approach(resting(), moving(), 0.5, DT)
    np.testing.assert_allclose(part.made(np.array([-1.0]))[0], moving(), atol=1e-7)
    np.testing.assert_allclose(part.row(part.count - 1), resting(), atol=1e-12)
    k, h = np.array([20.0]), 1e-3
    before, now, after = (part.made(k + s)[0] for s in (-h, 0.0, h))
    np.testing.assert_allclose(now[REF_V], (after - before)[REF_P] / (2 * h * DT), atol=1e-4)
    np.testing.assert_allclose(now[REF_A], (after - before)[REF_V] / (2 * h * DT), atol=1e-3)


@pytest.mark.parametrize(("duration", "count"), [(0.0, 0), (0.014, 1), (0.016, 2), (10.0, 1000)])
def test_periods_are_rounded(duration, count):
    assert parts.period_count("k", duration, DT) == count


@pytest.mark.parametrize("duration", [2.0**31, float("nan"), float("inf")])
def test_a_duration_beyond_stamps_of_32_bits_is_refused_with_its_key(duration):
    with pytest.raises(BadInput, match=r"key 'hover': lasts .* s, must be below 2147483648 s"):
        parts.period_count("hover", duration, DT)


def test_a_level_pose_keeps_place_and_yaw_at_another_height():
    level = parts.level_at(moving(), 0.4)
    assert level[REF_P].tolist() == [1.0, 2.0, 0.4] and not level[REF_V.start :].any()
    angles = [
        so3.euler_from_matrix(so3.matrix_from_quaternion(r[REF_Q])) for r in (level, moving())
    ]
    np.testing.assert_allclose(angles[0], [0.0, 0.0, angles[1][2]], atol=1e-12)


@pytest.mark.parametrize(
    ("t", "held"),
    [(0.99, None), (1.0, 0), (1.0 - 5e-7, 0), (1.05, 0), (1.1 - 5e-7, 1), (1.1, 1), (1.29, 2),
     (1.3, 3), (1.39, 3), (1.4, None), (2.0, None)],
)  # fmt: skip
def test_a_wrench_holds_until_the_next_and_the_last_as_long_as_the_others(t, held):
    command = WrenchCommand(
        np.array([1.0, 1.1, 1.2, 1.3]), np.arange(24.0).reshape(4, 6), "body", "open_loop", "x"
    )
    found = command.at(t)
    assert (found is None) == (held is None)
    if found is not None:
        np.testing.assert_array_equal(found, command.wrenches[held])


def test_wrenches_of_the_world_are_turned_into_the_body():
    q = so3.quaternion_exp(np.array([[0.0, 0.0, np.pi / 2], [np.pi / 2, 0.0, 0.0]]))
    wrenches = np.array([[1.0, 0, 0, 0, 2.0, 0], [0, 0, 3.0, 0, 4.0, 0]])
    expected = [[0, -1.0, 0, 2.0, 0, 0], [0, 3.0, 0, 0, 0, -4.0]]
    np.testing.assert_allclose(to_body(q, wrenches), expected, atol=1e-12)


def line(*, score_leads):
    """A second from rest, then two along x by 0.5 m/s."""

    def motion(t):
        rows = np.tile(resting(), (len(t), 1))
        rows[:, 0], rows[:, 7] = 0.5 * t, 0.5
        return rows

    return build(motion, 2.0, Leads(1.0, None, 5.9), DT, score_leads=score_leads)


def test_errors_count_in_the_motion_and_where_asked_in_what_leads_to_it():
    alone, whole = line(score_leads=False), line(score_leads=True)
    assert alone.window == pytest.approx((1.0, 3.0)) and whole.window == pytest.approx((0.0, 3.0))
    assert alone.lead == pytest.approx(1.0) and alone.duration == pytest.approx(3.0)
    assert alone.count == 301 and alone.last == 300 and alone.width == 19


@pytest.mark.parametrize(
    ("duration", "window"), [(0.5, (0.5, 0.5)), (2.0, (1.0, 2.0)), (4.0, (1.0, 3.0))]
)
def test_a_flight_that_is_cut_counts_errors_until_its_end_and_keeps_its_goal(duration, window):
    whole = line(score_leads=False)
    cut = whole.cut(duration)
    assert cut.window == pytest.approx(window)
    assert cut.duration == pytest.approx(duration)
    np.testing.assert_array_equal(cut.goal[:3], whole.row(300)[:3])
    assert cut.goal[0] == pytest.approx(0.5 * 2.0)


def test_a_flight_that_lasts_longer_than_its_motion_holds_the_last_pose():
    cut = line(score_leads=False).cut(4.0)
    np.testing.assert_allclose(cut.row(400)[:7], cut.row(300)[:7])
    assert cut.row(300)[7] == 0.5 and not cut.row(301)[7:].any()
