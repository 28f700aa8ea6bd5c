# SPDX-License-Identifier: BSD-3-Clause
"""What a keyframe takes along that leaves a window, and what the others keep: rows, tilts, and aircraft at rest."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_estimation.virpo.algebra.states import AIRCRAFT
from iap_estimation.virpo.factors.gyro_preintegration import FRAME as OF_TILT
from iap_estimation.virpo.factors.gyro_preintegration import TILT_WIDTH, Turn
from iap_estimation.virpo.factors.preintegration import stack
from iap_estimation.virpo.factors.ranging import FRAME
from iap_estimation.virpo.window.rigid_terms import RigidTerms
from iap_estimation.virpo.window.terms import ALL, RestTerms, RowTerms

MARK = 3  # a column that tells rows apart


def marked(frames, width, column):
    rows = np.zeros((len(frames), width))
    rows[:, column], rows[:, MARK] = frames, np.arange(len(frames))
    return rows


def test_rows_of_both_intervals_of_the_second_newest_keyframe_go_for_they_enter_anew():
    terms = RowTerms(5)
    terms._rows = marked([0, 0, 1, 2, 3], 5, FRAME)
    terms.leave(3)
    assert terms._rows[:, MARK].tolist() == [0, 1, 2] and terms.count() == 3
    terms.leave_first()
    assert terms._rows[:, [FRAME, MARK]].tolist() == [[0.0, 2.0]] and terms.count() == 1


@pytest.fixture
def rigid():
    """Terms of four keyframes with a tilt at each, two at the last."""
    terms = RigidTerms.__new__(RigidTerms)
    terms._tilts, terms._count = marked([0, 1, 2, 3, 3], TILT_WIDTH, OF_TILT), 4
    terms._turns = stack(Turn.empty(), 4)
    terms._turns[0][:] = np.arange(4.0).reshape(4, *[1] * (terms._turns[0].ndim - 1))
    return terms


def test_tilts_of_the_newest_keyframe_are_of_the_second_newest_place_once_that_has_left(rigid):
    rigid.leave(2)
    assert rigid._tilts[:, [OF_TILT, MARK]].tolist() == [[0, 0], [1, 1], [2, 3], [2, 4]]
    assert rigid._count == 3 and rigid.count() == 8


def test_tilts_and_turns_move_up_where_the_oldest_keyframe_leaves(rigid):
    rigid.leave_first()
    assert rigid._tilts[:, [OF_TILT, MARK]].tolist() == [[0, 1], [1, 2], [2, 3], [2, 4]]
    assert rigid._count == 3
    assert rigid._turns[0].reshape(4, -1)[:3, 0].tolist() == [1.0, 2.0, 3.0]


def test_an_aircraft_that_stands_still_is_held_at_its_keyframe_alone():
    x = np.random.default_rng(1).normal(size=(3, 2, 16))
    states, stride = SimpleNamespace(x=x[:1], stride=2 * AIRCRAFT), 2 * AIRCRAFT
    terms = RestTerms(SimpleNamespace(aircraft=[None, None]), 0.1)
    terms.begin(states, None, None)
    terms.hold(1)
    assert terms.is_held(1) and not terms.is_held(0)
    for n in (2, 3, 3):  # the last interval comes again
        states.x = x[:n]
        terms.enter(n - 2, None, states)
    assert terms._still.tolist() == [[False, True], [False, False], [False, False]]
    assert not terms.is_held(1) and terms.count() == 3
    terms.hold(0)
    H, g = np.zeros((3 * stride, 3 * stride)), np.zeros(3 * stride)
    v = [x[0, 1, 7:10], x[2, 0, 7:10]]
    half = [0.5 * 100.0 * float(each @ each) for each in v]
    assert terms.add(states, ALL, H, g) == pytest.approx(sum(half)) == terms.cost(states)
    for at, each in ((AIRCRAFT + 6, v[0]), (2 * stride + 6, v[1])):
        np.testing.assert_allclose(g[at : at + 3], 100.0 * each)
        np.testing.assert_allclose(H[at : at + 3, at : at + 3], 100.0 * np.eye(3))
    assert np.count_nonzero(H) == np.count_nonzero(g) == 6
    assert terms.add(states, 0, H, g) == pytest.approx(half[0])
    assert terms.add(states, 1, H, g) == 0.0
    terms.leave(1)
    assert terms._still.tolist() == [[False, True], [True, False]]
    terms.leave_first()
    assert terms._still.tolist() == [[True, False]]
