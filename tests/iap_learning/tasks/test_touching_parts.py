# SPDX-License-Identifier: BSD-3-Clause
"""Parts of tasks that touch: how a step is flown, its gains and forces, and rewards of its end."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import state

from iap_learning.tasks.contact_counts import ContactCounts, begin_anew, feel, stay, window_of
from iap_learning.tasks.tip_episodes import TipEpisodes
from iap_learning.tasks.touch_episodes import TouchEpisodes
from iap_simulation.tasks.outcomes import ARRIVED, CRASHED, RUNNING

X = np.array(
    [[state((1.0, 2.0, 3.0), np.pi / 2), state((9.0, 9.0, 9.0))], [state((4.0, 5.0, 6.0))] * 2]
)


def test_a_step_flies_references_that_are_made_anew_in_each_period_which_is_looked_at():
    told, values = [], object()
    made = SimpleNamespace(task=SimpleNamespace(repeat=2))
    made.worlds = SimpleNamespace(advance=lambda *flown: told.append(("advance", *flown)))
    made._choose = lambda by_law: told.append(("choose", by_law))
    made._look = lambda: told.append("look")

    def references(worlds, asked):
        told.append((worlds is made.worlds, asked is values))
        return len(told)

    made.interface = SimpleNamespace(references=references, closes=None)
    TouchEpisodes._fly(made, values)
    both = (True, True)
    assert told == [
        ("choose", False), both, ("advance", 2), "look", both, ("advance", 5), "look",
    ]  # fmt: skip
    told.clear()
    TouchEpisodes._fly_scripted(made)
    assert told == [("choose", True), *[("advance",), "look"] * 2]


def test_inputs_of_observations_are_those_of_the_interface_at_the_central_bodies():
    made = SimpleNamespace(worlds=SimpleNamespace(state=X), _action=object())
    made.interface = SimpleNamespace(inputs=lambda *each: each)
    x, action = TouchEpisodes.inputs.fget(made)
    np.testing.assert_array_equal(x, X[:, 0])
    assert action is made._action


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
        scenario=SimpleNamespace(dt=0.01), state=X, contact_wrenches=wrenches
    )
    tips.interface = SimpleNamespace(measure=lambda *each: measured.append(each))
    forces = TipEpisodes._forces.fget(tips)
    assert forces.tolist() == [5.0, 20.0]
    force_P = TipEpisodes._force_P.fget(tips)
    np.testing.assert_allclose(force_P, [[4.0, -3.0, 0.0], [0.0, 0.0, 20.0]], atol=1e-12)
    TipEpisodes._feel(tips, forces, 12.0)
    np.testing.assert_allclose(tips._force_sum, [0.05, 0.12])
    ((x, measured_W),) = measured
    np.testing.assert_array_equal(x, X[:, 0])
    assert measured_W is wrenches


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
