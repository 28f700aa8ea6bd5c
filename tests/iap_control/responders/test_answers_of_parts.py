# SPDX-License-Identifier: BSD-3-Clause
"""Parts of responders: blends of gaps, wrenches since the last coordination, and tasks under wrench control."""

from types import SimpleNamespace

import numpy as np
import pytest
from flying import DT, controller_of, model_of

from iap_control.interaction.push import PushPlan
from iap_control.responders.blend import Blend
from iap_control.responders.control_responder import (
    AdmittanceResponder,
    ControlResponder,
    WrenchInteraction,
)
from iap_control.responders.coordinator_responder import ExternalWrenches
from iap_control.responders.inputs import SimpleInputs, _slew, at_rest, world_rates
from iap_control.responders.pose_stream import InputLimits
from iap_control.responders.reference_input import ReferenceInput
from iap_control.responders.wrench_input import WrenchDemand, WrenchInput
from iap_description.math import so3
from iap_description.signals import ForceMode
from iap_description.states import REF_FIXED, REF_P, REF_Q, REF_V, REF_W, Level

PERIOD = 5_000_000  # [ns]


def pose(x=0.0, yaw=0.0):
    row = np.zeros(19)
    row[0], row[3:7] = x, so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
    return row


@pytest.mark.parametrize(
    ("x", "yaw", "duration"),
    [(0.0, 0.0, 3.0), (1.49, 0.1, 3.0), (1.7, 0.1, 3.4), (0.1, -2.0, 4.0)],
)
def test_a_blend_takes_its_way_at_half_a_unit_a_second_and_three_seconds_at_least(
    x, yaw, duration
):
    blend = Blend.between(5.0, pose(x, yaw), pose())
    assert blend.duration == pytest.approx(duration)
    assert not blend.is_over(5.0 + duration - 1e-6) and blend.is_over(5.0 + duration)


def test_half_of_a_gap_is_left_in_the_middle_of_a_blend_with_its_rates():
    """s = 1/2, s' = -15 / 8 T, s'' = 0; about z, a rate along z stays and one along x turns."""
    blend, row = Blend.between(1.0, pose(1.0, 1.2), pose()), pose()
    row[10:13], row[16:19] = [0.4, 0.0, 0.1], [0.2, 0.0, 0.3]
    blend.add_to(row, 2.5)
    ds = -1.875 / 3.0
    assert row[0] == pytest.approx(0.5) and row[7] == pytest.approx(ds)
    np.testing.assert_allclose(row[13:16], 0.0, atol=1e-12)
    np.testing.assert_allclose(so3.quaternion_log(row[3:7]), [0.0, 0.0, 0.6], atol=1e-12)
    w = np.array([0.4 * np.cos(0.6), -0.4 * np.sin(0.6), 0.1])
    np.testing.assert_allclose(row[10:13], w + [0.0, 0.0, 1.2 * ds], atol=1e-12)
    alpha = np.array([0.2 * np.cos(0.6), -0.2 * np.sin(0.6), 0.3])
    np.testing.assert_allclose(row[16:19], alpha - np.cross([0.0, 0.0, 1.2 * ds], w), atol=1e-12)
    before, after = pose(), pose()
    blend.add_to(before, 0.5)
    blend.add_to(after, 4.0)
    assert before[0] == pytest.approx(1.0) and after[0] == 0.0


def told(last, every=5):
    """Wrenches of one module at all instants up to one, each of its number [N]."""
    wrenches = ExternalWrenches(1, 200.0, every)
    for k in range(last + 1):
        wrenches.take(0, k * PERIOD, np.full(6, float(k)))
    return wrenches


def test_wrenches_since_the_last_coordination_are_meant_but_not_that_of_the_instant_itself():
    assert told(10).before(10 * PERIOD, ()).tolist() == [[7.0] * 6]  # 5 to 9
    assert told(9).before(10 * PERIOD, ()).tolist() == [[7.0] * 6]
    assert told(4).before(10 * PERIOD, ()).tolist() == [[4.0] * 6]  # none came since
    assert told(6).before(10 * PERIOD, ()).tolist() == [[5.5] * 6]
    assert told(5).before(0, ()).tolist() == [[0.0] * 6]


def test_a_wrench_counts_for_a_tenth_of_a_second_and_for_ever_of_a_lost_module():
    wrenches = told(0)
    assert wrenches.before(100_000_000, ()).tolist() == [[0.0] * 6]
    assert np.isnan(wrenches.before(100_000_001, ())).all()
    assert wrenches.before(10**10, {0}).tolist() == [[0.0] * 6]


def test_a_wrench_of_a_stamp_is_taken_once_and_an_instant_is_over_with_the_next():
    wrenches = ExternalWrenches(2, 200.0, 5)
    wrenches.take(0, 0, np.ones(6))
    wrenches.take(0, 0, np.full(6, 9.0))
    assert wrenches.before(PERIOD, ())[0].tolist() == [1.0] * 6
    assert wrenches.instant == -1
    wrenches.late(0, PERIOD)
    assert wrenches.instant == -1 and not wrenches.is_over(0)
    assert wrenches.late(1, PERIOD) == []
    assert wrenches.instant == PERIOD and wrenches.is_over(0) and not wrenches.is_over(PERIOD)
    wrenches.take(0, PERIOD, np.ones(6))
    wrenches.late(0, 2 * PERIOD)
    assert wrenches.late(1, 2 * PERIOD) == [1]  # it told nothing of the instant before
    wrenches.late(0, 0)
    wrenches.late(1, 0)
    assert wrenches.instant == 0  # time began anew


class Plan(PushPlan):
    """A plan that says of which time it was asked."""

    def __init__(self):
        self.asked, self.resets = [], 0

    def reset(self):
        self.resets += 1

    def __call__(self, t, measured_P):
        self.asked.append((t, measured_P[0]))
        return SimpleNamespace(mode=ForceMode.NONE, axes=np.zeros(6, bool), planned=True)


def controlled(mode, plan):
    demand = WrenchDemand(model_of("three_star"), mode, ("x",), timeout=0.5, name="iap")
    interaction = WrenchInteraction(WrenchInput(0.1, "latest"), mode, plan, demand)
    references = ReferenceInput(3, InputLimits(), "latest", needs_headings=False)
    responder, asked = ControlResponder(controller_of("three_star"), references, interaction), []

    def controller(x, reference, wrench_P, task):
        asked.append((wrench_P.copy(), task))
        return "command"

    controller.reset = lambda: None
    responder.controller = controller
    return responder, interaction, asked


def fly(responder, k, force=None):
    x, row = np.zeros(13), np.zeros(REF_FIXED + 3)
    x[6] = row[6] = 1.0
    if force is not None:
        responder.take_wrench(k * PERIOD, np.array([force, 0.0, 0.0, 0.0, 0.0, 0.0]))
    if k == 0:
        responder.take_reference(0, Level.POSE, row, np.zeros(6))
    return responder.take_state(k * PERIOD, k, x)


def test_without_a_measured_wrench_control_of_it_is_off():
    responder, _, asked = controlled(ForceMode.SELECTIVE, None)
    assert fly(responder, 0) == "command"
    wrench_P, task = asked[-1]
    assert not wrench_P.any() and task.mode == ForceMode.NONE and not task.axes.any()
    assert task is responder.task and responder.has_lost_wrench
    assert task.measured_P.shape == task.desired_P.shape == (6,)


def test_a_wrench_that_messages_ask_for_comes_before_the_plan():
    plan = Plan()
    responder, interaction, asked = controlled(ForceMode.SELECTIVE, plan)
    fly(responder, 0, 2.0)
    assert plan.asked == [(0.0, 2.0)] and asked[-1][1].planned and asked[-1][0][0] == 2.0
    responder.take_demand(np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    fly(responder, 1, 4.0)
    task = asked[-1][1]
    assert task.mode == ForceMode.SELECTIVE and task.desired_P[0] == 3.0 and len(plan.asked) == 1
    assert task.measured_P[0] == 4.0
    fly(responder, 200, 5.0)  # the demand has fallen silent
    assert len(plan.asked) == 2 and plan.resets == 0
    fly(responder, 0, 5.0)
    assert plan.resets == 1 and not interaction.demand.is_alive(0.0)


def test_where_no_wrench_is_controlled_there_is_no_task():
    responder, _, asked = controlled(ForceMode.NONE, None)
    fly(responder, 0, 2.0)
    assert asked[-1][1] is None and responder.task is None and asked[-1][0][0] == 2.0


def test_an_admittance_feels_wrenches_in_axes_of_the_world_while_it_is_active():
    felt = []

    def admittance(reference, wrench_W, active):
        felt.append((wrench_W.copy(), active))
        return reference

    admittance.reset = lambda: felt.clear()
    references = ReferenceInput(3, InputLimits(), "latest", needs_headings=False)
    responder = AdmittanceResponder(admittance, references, WrenchInput(0.1, "latest"))
    assert felt == []
    x, row = np.zeros(13), np.zeros(REF_FIXED + 3)
    row[6], x[3:7] = 1.0, pose(0.0, np.pi / 2)[3:7]
    responder.take_wrench(0, np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    responder.take_reference(0, Level.POSE, row, np.zeros(6))
    assert responder.take_state(0, 0, x) is not None
    np.testing.assert_allclose(felt[-1][0], [-2.0, 1.0, 3.0, -5.0, 4.0, 6.0], atol=1e-12)
    assert felt[-1][1]
    responder.is_active = False
    responder.take_state(PERIOD, 1, x)
    assert not felt[-1][1]
    responder.is_active = True
    responder.take_state(200 * PERIOD, 200, x)  # no wrench for a second
    assert not felt[-1][1]


HERE = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, *np.zeros(6)])


def test_inputs_begin_anew_where_the_platform_is_without_any_that_came():
    inputs = SimpleInputs(2, InputLimits())
    inputs.take_rates(0.0, "twist", np.ones(6))
    for k in range(40):
        inputs.row(k * DT, HERE)
    inputs.reset()
    assert inputs.kind is None
    row = inputs.row(0.0, HERE)
    np.testing.assert_allclose(row[:7], HERE[:7])
    assert row.shape == (REF_FIXED + 2,) and not row[7:].any()
    assert not inputs.row(DT, HERE)[7:].any()  # the last velocity is forgotten


def test_poses_that_begin_after_velocities_are_a_stream_of_their_own():
    inputs = SimpleInputs(2, InputLimits())
    inputs.row(0.0, HERE)
    for k in range(20):
        inputs.take_pose(k * DT, 1.0 + k * DT, np.array([0.01 * k, 0, 1.0, 0, 0, 0, 1.0]))
        inputs.row(k * DT, HERE)
    inputs.take_rates(0.1, "twist", np.zeros(6))
    inputs.row(0.1, HERE)
    inputs.take_pose(0.2, 1.2, np.array([5.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]))
    assert inputs.kind == "pose"
    assert abs(inputs.row(0.2, HERE)[REF_V.start]) < 0.5


def test_rates_slew_towards_what_is_asked_for_within_their_limit():
    np.testing.assert_allclose(
        _slew(np.zeros(3), np.array([0.0, 3.0, 4.0]), 2.0, 0.1), [0.0, 1.2, 1.6]
    )
    np.testing.assert_allclose(
        _slew(np.ones(3), np.array([1.1, 1.0, 1.0]), 2.0, 0.1), [1.0, 0.0, 0.0]
    )
    assert not _slew(np.zeros(3), np.ones(3), 2.0, 0.0).any()


def test_rest_is_level_at_the_place_and_yaw_of_a_row():
    row, x = np.full(REF_FIXED + 1, 9.0), HERE.copy()
    x[3:7] = so3.quaternion_from_matrix(so3.matrix_from_euler(np.array([0.3, -0.2, 0.7])))
    at_rest(x, row)
    np.testing.assert_allclose(row[REF_P], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(so3.quaternion_log(row[REF_Q]), [0.0, 0.0, 0.7], atol=1e-12)
    assert not row[REF_V.start : REF_FIXED].any() and row[REF_FIXED] == 9.0
    rates = world_rates(np.arange(6.0), pose(0.0, np.pi)[3:7], in_body=True)
    np.testing.assert_allclose(rates, [0.0, -1.0, 2.0, 3.0, 4.0, 5.0], atol=1e-12)
    assert REF_W.stop == REF_V.start + 6
