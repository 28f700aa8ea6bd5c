# SPDX-License-Identifier: BSD-3-Clause
"""The wrench that belongs to a state, the flight without one, and the wrench that messages ask for."""

import numpy as np
import pytest
from flying import DT, controller_of, gains_of, model_of

from iap_control.interaction.admittance import Admittance
from iap_control.interaction.push import Push, PushPlan
from iap_control.responders.control_responder import (
    AdmittanceResponder,
    ControlResponder,
    WrenchInteraction,
)
from iap_control.responders.pose_stream import InputLimits
from iap_control.responders.reference_input import ReferenceInput
from iap_control.responders.wrench_input import WrenchDemand, WrenchInput
from iap_description.errors import BadInput
from iap_description.signals import ForceMode
from iap_description.states import REF_FIXED, Level

PERIOD = round(DT * 1e9)
TIMEOUT = 0.1
NO_WRENCH = np.zeros(6)
PUSH = Push(
    force=(5.0, 0.0, 0.0),
    torque=(0.0, 0.0, 0.0),
    axes=("x",),
    begin="time",
    at=0.0,
    ramp=0.0,
    hold=None,
    lost_after=None,
)


def state():
    x = np.zeros(13)
    x[2] = x[6] = 1.0
    return x


def row():
    out = np.zeros(REF_FIXED + 3)
    out[2] = out[6] = 1.0
    return out


def touch(force):
    return np.array([force, 0.0, 0.0, 0.0, 0.0, 0.0])


def demand_of(mode, axes=("x",), platform="three_star"):
    return WrenchDemand(model_of(platform), mode, axes, timeout=0.5, name="iap")


def loop_of(source="stamped", mode=ForceMode.SELECTIVE, push=PUSH, **gains):
    controller = controller_of("three_star", gains_of(**gains))
    plan = PushPlan(push, mode, dt=DT) if push and mode else None
    interaction = WrenchInteraction(WrenchInput(TIMEOUT, source), mode, plan, demand_of(mode))
    return ControlResponder(controller, references_of(source), interaction)


def references_of(source="stamped"):
    return ReferenceInput(3, InputLimits(), source, needs_headings=False)


def revising(source="stamped"):
    admittance = Admittance(gains_of().admittance, DT)
    return AdmittanceResponder(admittance, references_of(source), WrenchInput(TIMEOUT, source))


def ask(loop, k):
    """A state and its reference come, the wrench does not."""
    loop.take_state(k * PERIOD, k, state())
    loop.take_reference(k * PERIOD, Level.POSE, row(), NO_WRENCH)


def test_a_state_waits_for_the_wrench_of_its_stamp():
    loop = loop_of()
    ask(loop, 0)
    assert loop.waits_for_wrench
    loop.take_wrench(0, touch(1.0))
    assert not loop.is_waiting
    assert loop.task.measured_P[0] == 1.0


def test_a_wrench_that_comes_before_its_state_is_kept_for_it_even_when_the_next_follows():
    loop = loop_of()
    loop.take_wrench(0, touch(1.0))
    loop.take_state(0, 0, state())
    loop.take_wrench(PERIOD, touch(2.0))
    loop.take_reference(0, Level.POSE, row(), NO_WRENCH)
    assert loop.task.measured_P[0] == 1.0
    ask(loop, 1)
    assert loop.task.measured_P[0] == 2.0


def test_without_a_wrench_topic_nothing_is_waited_for():
    loop = ControlResponder(controller_of("three_star"), references_of())
    ask(loop, 0)
    assert loop.answer is not None


def test_one_lost_wrench_costs_one_command_and_then_the_newest_counts_until_one_is_in_time():
    loop = loop_of()
    loop.take_wrench(0, touch(1.0))
    ask(loop, 0)
    ask(loop, 1)
    assert loop.is_waiting
    ask(loop, 2)  # time does not wait
    assert not loop.is_waiting and loop.counts.skipped == 1
    assert loop.task.measured_P[0] == 1.0
    loop.take_wrench(2 * PERIOD, touch(3.0))  # late, but before the next state
    ask(loop, 3)
    assert loop.waits_for_wrench


def test_a_wrench_that_is_always_late_never_stops_the_loop():
    loop = loop_of()
    for k in range(100):
        ask(loop, k)
        if k:
            loop.take_wrench((k - 1) * PERIOD, touch(1.0))
    assert loop.counts.skipped <= 1
    assert loop.task.mode == ForceMode.SELECTIVE


def test_wrench_control_is_off_while_the_wrench_stays_away_and_on_again_with_it():
    loop = loop_of("latest")
    loop.take_wrench(0, touch(1.0))
    for k in range(40):
        ask(loop, k)
        is_stale = k * DT > TIMEOUT + 1e-9
        assert loop.has_lost_wrench == is_stale
        assert loop.task.mode == (ForceMode.NONE if is_stale else ForceMode.SELECTIVE)
    assert all(np.isfinite(array).all() for array in loop.answer.arrays)
    loop.take_wrench(40 * PERIOD, touch(1.0))
    ask(loop, 40)
    assert not loop.has_lost_wrench and loop.task.mode == ForceMode.SELECTIVE


def test_a_reset_forgets_wrenches_of_later_times_but_not_the_one_that_came_before_its_state():
    used, fresh = loop_of(), loop_of()
    for k in range(20):
        used.take_wrench(k * PERIOD, touch(2.0))
        ask(used, k)
    for loop in (used, fresh):
        loop.take_wrench(0, touch(1.0))
        ask(loop, 0)
        assert loop.task.measured_P[0] == 1.0
    np.testing.assert_array_equal(used.answer.thrust, fresh.answer.thrust)
    np.testing.assert_array_equal(used.answer.q_WB, fresh.answer.q_WB)
    ask(used, 1)
    assert used.is_waiting


def test_what_is_no_number_is_refused():
    loop = loop_of()
    with pytest.raises(BadInput, match="wrench: not finite"):
        loop.take_wrench(0, touch(np.nan))
    with pytest.raises(BadInput, match="wrench/reference: not finite"):
        loop.take_demand(touch(np.inf))


def test_a_share_of_the_wrench_is_fed_forward_where_the_gains_say_so():
    wrenches = []
    for share in (0.0, 1.0):
        loop = loop_of(mode=ForceMode.NONE, compensation=share)
        loop.take_wrench(0, touch(4.0))
        ask(loop, 0)
        assert loop.task is None
        wrenches.append(loop.answer.wrench_P[0])
    assert wrenches[0] - wrenches[1] == pytest.approx(4.0, rel=0.05)


def test_a_demand_switches_wrench_control_on_comes_before_the_plan_and_ends_in_silence():
    loop = loop_of(push=PUSH)
    for k in range(160):
        loop.take_wrench(k * PERIOD, touch(1.0))
        if k == 20:
            loop.take_demand(touch(3.0))
        ask(loop, k)
        wanted = 3.0 if 20 <= k <= 119 else 5.0
        assert loop.task.desired_P[0] == wanted, k
    alone = loop_of(push=None)
    alone.take_wrench(0, touch(1.0))
    ask(alone, 0)
    assert alone.task.mode == ForceMode.NONE


@pytest.mark.parametrize(
    ("demand", "wrench", "reason"),
    [
        ((ForceMode.NONE,), touch(1.0), "wrench_mode is none"),
        ((ForceMode.PAPER, ("x",), "three_line"), np.eye(6)[3], "axis 'roll'"),
    ],
)
def test_a_demand_that_cannot_be_met_is_refused(demand, wrench, reason):
    with pytest.raises(BadInput, match=reason):
        demand_of(*demand).take(0.0, wrench)


@pytest.mark.parametrize(
    ("axes", "platform", "reason"),
    [
        (("x", "forward"), "three_star", "'forward' is none of x, y, z"),
        (("roll",), "three_line", "'iap': axis 'roll'"),
        (("x",), "three_star_fixed", "'iap': axis 'x'"),
    ],
)
def test_axes_that_there_are_not_are_refused(axes, platform, reason):
    with pytest.raises(BadInput, match=reason):
        demand_of(ForceMode.SELECTIVE, axes, platform)


def test_an_admittance_answers_once_and_repeats_its_answer():
    loop = revising()
    for _ in range(3):
        ask(loop, 0)
        loop.take_wrench(0, touch(5.0))
        first = loop.answer.row.copy()
    np.testing.assert_array_equal(loop.answer.row, first)
    assert loop.counts.answered == 1
    assert first[0] > 0.0


def test_a_command_yields_along_the_force_and_comes_back_once_there_is_no_wrench():
    loop, turned = revising("latest"), state()
    turned[3:7] = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]  # the platform's x axis is the world's y
    for k in range(1500):
        if k < 700:
            loop.take_wrench(k * PERIOD, touch(5.0))
        loop.take_state(k * PERIOD, k, turned)
        loop.take_reference(k * PERIOD, Level.POSE, row(), NO_WRENCH)
        if k == 699:
            np.testing.assert_allclose(loop.answer.row[:3], [0.0, 0.05, 1.0], atol=1e-3)
    assert loop.has_lost_wrench
    np.testing.assert_allclose(loop.answer.row, row(), atol=1e-4)


def test_an_admittance_that_is_switched_off_gives_back_what_it_has_yielded():
    loop = revising()
    for k in range(1500):
        loop.is_active = k < 700
        loop.take_wrench(k * PERIOD, touch(5.0))
        ask(loop, k)
        jump = np.abs(loop.answer.row[:3] - row()[:3]).max()
        assert jump < 0.051
    np.testing.assert_allclose(loop.answer.row, row(), atol=1e-6)
