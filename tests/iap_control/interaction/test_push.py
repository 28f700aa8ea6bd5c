# SPDX-License-Identifier: BSD-3-Clause
"""Begin and end of wrench control, and the wrench that it is asked for meanwhile."""

import numpy as np
import pytest

from iap_control.interaction.push import Push, PushPlan, is_touching
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.signals import ForceMode

DT = 0.005
TOUCH, NOTHING = np.array([1.0, 0, 0, 0, 0, 0]), np.zeros(6)
KEYS = {
    "force": [5.0, 0.0, 0.0],
    "torque": [0.0, 0.0, 0.0],
    "axes": ["x"],
    "begin": "time",
    "at": 1.0,
    "ramp": 0.5,
    "hold": None,
    "lost_after": None,
}


def plan_of(mode=ForceMode.SELECTIVE, **changes):
    return PushPlan(validate(Push, {**KEYS, **changes}, source="test"), mode, dt=DT)


def test_nothing_is_pushed_before_its_time():
    plan = plan_of()
    for t in np.arange(0.0, 0.99, DT):
        assert plan(t, TOUCH).mode == ForceMode.NONE
    assert plan(1.0, NOTHING).mode == ForceMode.SELECTIVE


def test_by_contact_it_comes_on_with_the_first_touch_after_its_time():
    plan = plan_of(begin="contact")
    assert plan(0.5, TOUCH).mode == ForceMode.NONE
    assert plan(1.5, NOTHING).mode == ForceMode.NONE
    assert plan(1.6, TOUCH).mode == ForceMode.SELECTIVE
    assert plan(1.7, NOTHING).mode == ForceMode.SELECTIVE  # and stays on when contact is lost


def test_the_desired_wrench_grows_evenly_to_what_is_asked_for():
    plan = plan_of()
    forces = [plan(1.0 + DT * k, TOUCH).desired_P[0] for k in range(200)]
    assert forces[0] == pytest.approx(5.0 * DT / 0.5)
    np.testing.assert_allclose(np.diff(forces[:100]), 5.0 * DT / 0.5, atol=1e-12)
    np.testing.assert_array_equal(forces[100:], 5.0)


def test_it_is_over_after_so_long_in_contact_and_stays_over():
    plan = plan_of(hold=2.0)
    for k in range(400):  # approaching does not count
        assert plan(1.0 + DT * k, NOTHING).mode == ForceMode.SELECTIVE
    held = 0
    while plan(3.0 + DT * held, TOUCH).mode == ForceMode.SELECTIVE:
        held += 1
    assert held * DT == pytest.approx(2.5, abs=2 * DT)  # the ramp's time besides
    assert plan.is_over
    assert not plan(9.0, TOUCH).desired_P.any()


def test_the_paper_s_mode_acts_on_every_axis_and_the_selective_one_on_the_chosen():
    np.testing.assert_array_equal(plan_of().task.axes, [1, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(plan_of(ForceMode.PAPER).task.axes, np.ones(6))


def test_a_reset_plan_begins_anew():
    plan = plan_of(hold=0.1)
    for k in range(400):
        plan(1.0 + DT * k, TOUCH)
    assert plan.is_over
    plan.reset()
    assert plan(1.0, NOTHING).mode == ForceMode.SELECTIVE


def test_an_axis_that_does_not_exist_is_named():
    with pytest.raises(BadInput, match="axes"):
        plan_of(axes=["forwards"])


def test_contact_is_a_force_of_more_than_three_tenths_of_a_newton_whatever_its_direction():
    for size, touches in ((0.29, False), (0.31, True)):
        for direction in (np.array([0.6, 0.0, -0.8]), np.array([0.0, 1.0, 0.0])):
            assert is_touching(np.array([*size * direction, 9.0, 9.0, 9.0])) == touches
