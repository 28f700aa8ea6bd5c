# SPDX-License-Identifier: BSD-3-Clause
"""Parts of tasks that touch: references of tips that move, gains and forces of a step, and rewards of its end."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.states import REF_P, REF_Q
from iap_learning.tasks.contact_counts import ContactCounts, begin_anew, feel, stay, window_of
from iap_learning.tasks.tip_episodes import TipEpisodes, TipReference
from iap_learning.tasks.touch_episodes import TouchEpisodes
from iap_simulation.tasks.outcomes import ARRIVED, CRASHED, RUNNING

TIP = np.array([-1.0, 0.2, 0.1])


def row_at():
    row = np.zeros(22)
    row[REF_P], row[REF_Q] = [1.0, 2.0, 3.0], so3.quaternion_exp(np.array([0.1, -0.2, 0.7]))
    return row


def test_a_tip_moves_in_the_world_while_the_platform_turns_about_it_in_its_own_axes():
    row, flown = row_at(), []
    reference = TipReference(row, TIP, 3)
    R = so3.matrix_from_quaternion(row[REF_Q])
    np.testing.assert_allclose(reference.tip, np.tile(row[REF_P] + R @ TIP, (3, 1)))
    v, turn = np.random.default_rng(1).normal(size=(2, 3, 3))
    reference.move(v, turn, 0.1)
    np.testing.assert_allclose(reference.tip, row[REF_P] + R @ TIP + 0.1 * v)
    expected = so3.multiply(row[REF_Q], so3.quaternion_exp(0.1 * turn))
    np.testing.assert_allclose(reference.q, expected, atol=1e-12)
    worlds = SimpleNamespace(
        references=lambda: SimpleNamespace(rows=np.tile(row, (3, 1))),
        advance=lambda x: flown.append(x),
    )
    reference.advance(worlds)
    rows = flown[0].rows
    np.testing.assert_allclose(
        rows[:, REF_P] + so3.rotate(rows[:, REF_Q], TIP), reference.tip, atol=1e-12
    )
    np.testing.assert_array_equal(rows[:, REF_Q], reference.q)
    reference.reset(np.array([1]))
    np.testing.assert_allclose(reference.tip[1], row[REF_P] + R @ TIP)
    np.testing.assert_array_equal(reference.q[1], row[REF_Q])
    assert np.abs(reference.tip[[0, 2]] - reference.tip[1]).max() > 1e-3


def test_gains_are_what_is_new_up_to_the_goal_and_forces_those_since_the_last_step():
    tips = SimpleNamespace()
    tips._best, tips._force_sum = np.array([0.0, 0.5, 0.9]), np.array([1.0, 2.0, 3.0])
    gains, forces = TipEpisodes._gains(tips, np.array([0.4, 0.3, 5.0]), 1.0)
    np.testing.assert_allclose(gains, [0.4, 0.0, 0.1])
    assert forces.tolist() == [1.0, 2.0, 3.0] and not tips._force_sum.any()
    gains, _ = TipEpisodes._gains(tips, np.array([0.4, 0.6, 5.0]), 1.0)
    np.testing.assert_allclose(gains, [0.0, 0.1, 0.0], atol=1e-12)


def test_forces_are_summed_up_over_time_each_up_to_a_most():
    tips, measured = SimpleNamespace(), []
    tips._force_sum = np.zeros(2)
    wrenches = np.array([[3.0, 4.0, 0.0, 9.0, 9.0, 9.0], [0.0, 0.0, 20.0, 0.0, 0.0, 0.0]])
    tips.worlds = SimpleNamespace(
        scenario=SimpleNamespace(dt=0.01), state=np.zeros((2, 4, 13)), contact_wrenches=wrenches
    )
    tips._sensors = SimpleNamespace(measure=lambda x, w: measured.append(w))
    forces = TipEpisodes._forces.fget(tips)
    assert forces.tolist() == [5.0, 20.0]
    TipEpisodes._feel(tips, forces, 12.0)
    np.testing.assert_allclose(tips._force_sum, [0.05, 0.12])
    assert measured[0] is wrenches


def test_a_step_is_rewarded_by_progress_changes_of_actions_and_its_end_once():
    """Of three worlds one goes on, one arrives and one fails."""
    reward = SimpleNamespace(change=-2.0, success=10.0, failure=-5.0)
    touching = SimpleNamespace(
        outcome=np.full(3, RUNNING), steps=np.zeros(3, np.int64), task=SimpleNamespace(reward=reward),
        _action=np.array([[1.0, 0.0]] * 3), _before=np.zeros((3, 2)), _progress=lambda: np.array([0.5, 0.25, 0.0]),
        _counts=SimpleNamespace(contact=SimpleNamespace(outcome=np.array([RUNNING, ARRIVED, CRASHED]))),
    )  # fmt: skip
    rewards = TouchEpisodes._assess(touching)
    np.testing.assert_allclose(rewards, [0.5 - 1.0, 0.25 - 1.0 + 10.0, 0.0 - 1.0 - 5.0])
    rewards = TouchEpisodes._assess(touching)
    np.testing.assert_allclose(rewards, [-0.5, 0.0, 0.0])  # the others are over
    assert touching.steps.tolist() == [2, 1, 1]


def test_touches_losses_and_the_largest_force_are_counted_until_the_world_ends():
    contact, worlds = ContactCounts.of(2), []
    for force, status in (
        (0.0, RUNNING),
        (3.0, RUNNING),
        (0.0, RUNNING),
        (5.0, RUNNING),
        (0.0, CRASHED),
        (9.0, RUNNING),
    ):
        worlds.append(feel(contact, 1, force, status))
    assert worlds == [True, True, True, True, False, False]
    found = [each[1] for each in contact]
    assert found == [
        4,
        2,
        1,
        1,
        5.0,
        CRASHED,
    ]  # periods, first touch, touches, losses, peak, outcome
    assert not any(each[0] for each in contact)


def test_a_stay_counts_from_its_first_period_and_anew_once_it_was_interrupted():
    since = np.zeros(2, np.int64)
    found = []
    for period, is_there in ((3, True), (4, True), (5, False), (6, True)):
        stay(since, 1, period, is_there)
        found.append(int(since[1]))
    assert found == [3, 3, 0, 6] and since[0] == 0


def test_counts_begin_anew_in_some_worlds_however_deep_they_are():
    inner = ContactCounts.of(3)
    for each in inner:
        each[:] = 7
    own = np.full((3, 2), 4.0)
    begin_anew([inner, own], np.array([0, 2]))
    for each in inner:
        assert each.tolist() == [0, 7, 0]
    assert own.tolist() == [[0.0, 0.0], [4.0, 4.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("lasting", "last", "periods"),
    [(0.0, 100, 1), (0.024, 100, 2), (0.026, 100, 3), (9.0, 100, 100)],
)
def test_a_time_has_one_control_period_at_least_and_those_of_an_episode_at_most(
    lasting, last, periods
):
    assert window_of(lasting, 0.01, last) == periods
