# SPDX-License-Identifier: BSD-3-Clause
"""Shares of low passes, errors of forces, best values and who pushes, in tasks that touch."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput, IapError
from iap_learning.tasks.kinds.peg_in_hole.episodes import PegEpisodes
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.kinds.slide_along_wall import observations as slides
from iap_learning.tasks.kinds.slide_along_wall.counts import SlideRules
from iap_learning.tasks.kinds.wall_push import observations as pushes
from iap_learning.tasks.kinds.wall_push.counts import FORCE_LAG, PushRules
from iap_learning.tasks.late_sensors import LateSensors
from iap_learning.tasks.touch_episodes import TouchEpisodes
from iap_learning.tasks.touch_interface import BY_VELOCITY
from iap_learning.tasks.touch_policy import TouchPolicy, check_yields

BOTH = np.arange(2)


@pytest.mark.parametrize(
    ("rules", "name"), [(PushRules, "wall_push"), (SlideRules, "slide_along_wall")]
)
def test_forces_are_smoothed_by_a_low_pass_of_their_lag(rules, name):
    for dt in (0.005, 0.02):
        share = rules.of(make_task(name), 5.0, dt).share
        assert share == pytest.approx(1.0 - np.exp(-dt / FORCE_LAG)) and 0.0 < share < 1.0


def test_the_error_of_a_force_is_what_is_desired_less_what_is_felt():
    push = SimpleNamespace(desired=5.0, force=np.array([3.0, 7.0]))
    slide = SimpleNamespace(desired=5.0, force=np.array([[3.0, 9.0, 9.0], [7.0, 9.0, 9.0]]))
    for terms, inputs in ((pushes.TERMS, push), (slides.TERMS, slide)):
        observer = terms.observer({"force_error": 1.0}, 1)
        np.testing.assert_allclose(observer(inputs, BOTH), [[2.0], [-2.0]])


def test_a_sensor_forgets_what_it_knew_of_the_worlds_that_begin():
    sensors = LateSensors("t", [0.0], [0.0], delay=0, samples=9, batch=2, window=2)
    for value in (2.0, 4.0):
        sensors(np.full((2, 1), value))
    np.testing.assert_allclose(sensors.mean, [[3.0], [3.0]])
    sensors.reset(np.array([1]), np.array([7]))
    np.testing.assert_allclose(sensors.mean, [[3.0], [0.0]])
    sensors(np.full((2, 1), 6.0))
    np.testing.assert_allclose(sensors.mean, [[5.0], [3.0]])


def test_only_values_beyond_the_best_gain_up_to_the_goal_and_forces_start_anew():
    made = object.__new__(PegEpisodes)
    made._best, made._force_sum = np.array([0.2, 0.2, 0.9]), np.array([1.0, 2.0, 3.0])
    gains, forces = made._gains(np.array([0.5, 0.1, 2.0]), 1.0)
    np.testing.assert_allclose(gains, [0.3, 0.0, 0.1])
    np.testing.assert_allclose(made._best, [0.5, 0.2, 1.0])
    assert forces.tolist() == [1.0, 2.0, 3.0] and not made._force_sum.any()


def test_worlds_are_flown_by_law_or_by_actions_from_their_start_on():
    def worlds(name):
        told = []
        return SimpleNamespace(
            name=name,
            count=2,
            seeds=np.array([5, 6]),
            told=told,
            reset=lambda seeds: told.append(seeds),
        )

    first, other, asked = worlds("first"), worlds("other"), []
    made = object.__new__(PegEpisodes)
    made.task, made.steps, made.worlds = SimpleNamespace(name="t"), np.zeros(2), first
    made.seeds = first.seeds
    made._by_law, made._worlds_of = False, {False: first}
    made._made = lambda keys, count: asked.append((keys, count)) or other
    TouchEpisodes._choose(made, by_law=False)
    assert made.worlds is first and not first.told
    TouchEpisodes._choose(made, by_law=True)
    TouchEpisodes._choose(made, by_law=False)
    TouchEpisodes._choose(made, by_law=True)
    assert made.worlds is other and asked == [({}, 2)]
    assert other.told == [[5, 6]] * 2 and first.told == [[5, 6]]
    made.steps[1] = 1
    with pytest.raises(IapError, match="'t': one of action and script flies all an episode"):
        TouchEpisodes._choose(made, by_law=False)


def test_a_policy_touches_alone_and_acts_once_a_step_however_late():
    keys = {path.removeprefix("control."): needed for path, needed in BY_VELOCITY.items()}
    yields = SimpleNamespace(vehicles=[SimpleNamespace(control=SimpleNamespace(**keys))])
    check_yields(yields, BY_VELOCITY, "p")
    for key in keys:
        control = SimpleNamespace(**{**keys, key: "other"})
        with pytest.raises(BadInput, match=f"key 'control.{key}': .*policy 'p' acts alone"):
            check_yields(
                SimpleNamespace(vehicles=[SimpleNamespace(control=control)]), BY_VELOCITY, "p"
            )
    at = SimpleNamespace(_repeat=4, _period=-1)
    assert TouchPolicy.acts_at(at, 0)
    at._period = 0
    assert [TouchPolicy.acts_at(at, k) for k in (3, 4, 6)] == [False, True, True]
