# SPDX-License-Identifier: BSD-3-Clause
"""The reference that answers a state, what comes again, and what begins anew."""

from types import SimpleNamespace

import numpy as np
import pytest
from flying import DT, controller_of

from iap_control.controllers.land_detector import LandDetector
from iap_control.responders.control_responder import ControlResponder
from iap_control.responders.pose_stream import InputLimits
from iap_control.responders.reference_input import ReferenceInput
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, Level

PERIOD = round(DT * 1e9)
NO_WRENCH = np.zeros(6)


def loop_of(source="stamped", **settings):
    references = ReferenceInput(
        3, InputLimits(), source, needs_headings=settings.get("yaw_mode") == "reference"
    )
    return ControlResponder(controller_of("three_star", **settings), references)


def state(height=1.0):
    x = np.zeros(13)
    x[2], x[6] = height, 1.0
    return x


def row(height=1.0):
    out = np.zeros(REF_FIXED + 3)
    out[2], out[6] = height, 1.0
    return out


def answer(loop, k, x, r):
    assert loop.take_state(k * PERIOD, k, x) is None
    return loop.take_reference(k * PERIOD, Level.POSE, r, NO_WRENCH)


def test_a_state_waits_for_the_reference_of_its_stamp():
    loop = loop_of()
    assert loop.take_reference(0, Level.POSE, row(), NO_WRENCH) is None
    assert loop.take_state(PERIOD, 1, state()) is None
    assert loop.is_waiting
    assert loop.take_reference(2 * PERIOD, Level.POSE, row(), NO_WRENCH) is None
    assert loop.take_reference(PERIOD, Level.POSE, row(), NO_WRENCH) is not None
    assert not loop.is_waiting


def test_it_does_not_matter_which_comes_first():
    a, b = loop_of(), loop_of()
    late = answer(a, 0, state(), row(1.2))
    assert b.take_reference(0, Level.POSE, row(1.2), NO_WRENCH) is None
    early = b.take_state(0, 0, state())
    np.testing.assert_array_equal(early.thrust, late.thrust)


def test_a_state_that_comes_again_gets_the_same_command_and_moves_nothing():
    once, twice = loop_of(), loop_of()
    for loop, repeats in ((once, 1), (twice, 5)):
        first = answer(loop, 0, state(), row(1.5)).thrust.copy()
        for _ in range(repeats - 1):
            np.testing.assert_array_equal(loop.take_state(0, 0, state()).thrust, first)
    a, b = (answer(loop, 1, state(), row(1.5)) for loop in (once, twice))
    np.testing.assert_array_equal(a.q_WB, b.q_WB)
    np.testing.assert_array_equal(a.thrust, b.thrust)
    assert twice.counts.answered == 2


def test_an_older_state_is_a_reset_and_the_integrals_are_gone():
    fresh, used = loop_of(), loop_of()
    for k in range(200):
        answer(used, k, state(), row(1.3))
    a, b = (answer(loop, 0, state(), row(1.3)) for loop in (fresh, used))
    np.testing.assert_array_equal(a.thrust, b.thrust)


def test_overtaken_states_are_counted():
    loop = loop_of()
    loop.take_state(0, 0, state())
    loop.take_state(PERIOD, 1, state())
    assert loop.counts.skipped == 1


def test_the_latest_reference_answers_every_state_and_stops_when_it_falls_silent():
    loop = loop_of("latest")
    assert loop.take_state(0, 0, state()) is None
    moving = row()
    moving[7] = 1.0
    assert loop.take_reference(123, Level.POSE, moving, NO_WRENCH) is not None
    fresh = loop.take_state(PERIOD, 1, state()).wrench_P.copy()
    silent = loop.take_state(200 * PERIOD, 200, state()).wrench_P.copy()
    assert fresh[0] > 1.0  # asks for 1 m/s
    assert abs(silent[0]) < abs(fresh[0]) / 10.0


@pytest.mark.parametrize(("level", "height"), [(Level.POSE, 1.7), (Level.WRENCH, 1.2)])
def test_a_pose_that_has_gone_silent_is_held_and_else_the_place_where_the_platform_is(
    level, height
):
    loop, moving = loop_of("latest"), row(1.7)
    loop.take_state(0, 0, state())
    moving[7:13] = 0.3
    loop.take_reference(123, level, moving, NO_WRENCH)
    loop.take_state(200 * PERIOD, 200, state(1.2))
    rest = loop.references.at(loop.t, loop.stamp, state(1.2))
    assert rest.row[2] == height and not rest.row[7:REF_FIXED].any()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_never_reaches_the_integrals(value):
    loop, spoilt = loop_of(), row()
    spoilt[0] = value
    with pytest.raises(BadInput, match="reference: not finite"):
        loop.take_reference(0, Level.POSE, spoilt, NO_WRENCH)
    x = state()
    x[8] = value
    with pytest.raises(BadInput, match="state: not finite"):
        loop.take_state(0, 0, x)
    assert np.isfinite(answer(loop, 0, state(), row()).thrust).all()


@pytest.mark.parametrize(
    ("part", "value"), [(8, 1e308), (8, -2e6), (11, 1e200), (6, 0.0), (6, 1e3)]
)
def test_an_absurd_state_is_refused_and_the_next_command_is_as_ever(part, value):
    calm, disturbed = loop_of(), loop_of()
    for loop in (calm, disturbed):
        answer(loop, 0, state(), row())
    x = state()
    x[part] = value
    with pytest.raises(BadInput, match="state"):
        disturbed.take_state(PERIOD, 1, x)
    a, b = (answer(loop, 1, state(), row(1.1)) for loop in (calm, disturbed))
    np.testing.assert_array_equal(a.thrust, b.thrust)
    np.testing.assert_array_equal(a.w_WB_B, b.w_WB_B)


def test_accelerations_of_no_end_leave_a_reference_that_is_one():
    loop = loop_of()
    with pytest.raises(BadInput, match="reference/accel"):
        loop.take_rates("accel", np.full(6, 1e300), in_body=False)
    for k in range(200_000 // 1000):
        loop.take_state(k * PERIOD, k, state())
        loop.take_rates("accel", np.full(6, 1e6), in_body=False)
    assert np.isfinite(loop.answer.thrust).all()
    assert np.abs(loop.references.at(loop.t, loop.stamp, state()).row).max() <= 1e6


def test_a_reference_must_be_one():
    loop, tilted = loop_of(), row()
    with pytest.raises(BadInput, match="level 7"):
        loop.take_reference(0, 7, row(), NO_WRENCH)
    tilted[6] = 0.5
    with pytest.raises(BadInput, match="unit quaternion"):
        loop.take_reference(0, Level.POSE, tilted, NO_WRENCH)


def test_headings_may_be_missing_unless_the_aircraft_follow_them():
    bare = row()
    bare[REF_FIXED:] = np.nan
    assert answer(loop_of(), 0, state(), bare) is not None
    with pytest.raises(BadInput, match="not finite"):
        loop_of(yaw_mode="reference").take_reference(0, Level.POSE, bare, NO_WRENCH)


def test_simple_inputs_answer_at_once_until_a_reference_comes():
    loop = loop_of()
    loop.take_state(0, 0, state())
    loop.take_pose(0.0, state()[:7])
    assert loop.take_state(PERIOD, 1, state()) is not None
    assert loop.take_reference(PERIOD, Level.POSE, row(), NO_WRENCH) is None
    assert loop.take_state(2 * PERIOD, 2, state()) is None
    with pytest.raises(BadInput, match="reference/pose"):
        loop.take_pose(0.0, np.zeros(7))


def test_a_vehicle_that_stands_gets_idle_rotors_until_the_next_flight():
    loop = loop_of()
    loop.land_detector = LandDetector(0.25, 6.0)
    flying = answer(loop, 0, state(0.4), row(0.4)).thrust.copy()
    for k in range(1, 900):
        down = answer(loop, k, state(0.25), row(0.4 - min(0.001 * k, 0.3)))
    assert down.thrust.max() < 0.1 * flying.max()
    again = answer(loop, 0, state(0.4), row(0.4))
    np.testing.assert_allclose(again.thrust, flying, rtol=1e-6)


def test_an_arm_counts_once_its_joints_are_told_and_joints_without_an_arm_do_not():
    expected = answer(loop_of(), 0, state(), row(1.2)).thrust.copy()
    bare, waiting = loop_of(), loop_of()
    bare.take_joints(np.zeros(2), np.zeros(2), None)
    waiting.arm = SimpleNamespace(reset=list)  # can do nothing else
    for loop in (bare, waiting):
        np.testing.assert_array_equal(answer(loop, 0, state(), row(1.2)).thrust, expected)


def test_axes_of_an_asked_wrench_go_to_the_demand_where_a_wrench_is_measured():
    loop, asked = loop_of(), []
    loop.set_axes(("x",))  # where none is measured, there is nothing to ask for
    loop._interaction = SimpleNamespace(demand=SimpleNamespace(set_axes=asked.append))
    loop.set_axes(("x", "yaw"))
    assert asked == [("x", "yaw")]
