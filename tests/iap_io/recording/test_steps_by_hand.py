# SPDX-License-Identifier: BSD-3-Clause
"""Steps put together from states and the newest messages, one piece at a time."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Command
from iap_io.recording.step_synchronizer import (
    MOST_AHEAD,
    NO_LOAD,
    NO_WRENCH,
    PATIENCE,
    StateSample,
    StepSynchronizer,
    _VehicleInstant,
    step_of,
)
from iap_io.runs.topics import (
    COMMAND,
    ESTIMATED,
    JOINT_COMMAND,
    JOINT_STATES,
    REFERENCE,
    REVISED,
    TASK,
    WRENCHES,
)

X, RPM = np.arange(26.0).reshape(2, 13), np.arange(8.0).reshape(2, 4)
TOLD = {REFERENCE: Reference(np.arange(21.0)), COMMAND: Command.zeros(2)}


def sample(stamp=0, k=0, tilt=None, load=NO_LOAD):
    return StateSample(stamp, k, X, RPM, tilt, load)


def test_a_step_has_the_state_and_the_newest_of_everything():
    tilt, load = RPM + 1.0, np.arange(10.0)
    wrenches = {name: np.full(6, float(i)) for i, name in enumerate(WRENCHES[:3])}
    q, v, efforts, target = np.ones(2), np.full(2, 2.0), np.full(2, 3.0), np.full((3, 2), 4.0)
    more = {
        ESTIMATED: X + 1.0,
        TASK: "task",
        REVISED: "revised",
        JOINT_STATES: (q, v, efforts),
        JOINT_COMMAND: target,
    }
    step = step_of(
        sample(2_500_000_000, 9, tilt, load), {**TOLD, **wrenches, **more}, has_wrenches=True
    )
    assert (step.k, step.t) == (9, 2.5)
    assert step.x is X and step.rpm is RPM and step.tilt is tilt
    assert step.reference is TOLD[REFERENCE] and step.command is TOLD[COMMAND]
    assert step.estimated is more[ESTIMATED]
    felt, arm = step.wrench_record, step.arm
    assert [felt.raw_P[0], felt.filtered_P[0], felt.estimated_P[0]] == [0.0, 1.0, 2.0]
    assert (felt.tracked, felt.task) == ("revised", "task")
    assert (
        arm.q is q
        and arm.v is v
        and arm.efforts is efforts
        and arm.target is target
        and arm.load is load
    )


def test_an_arm_that_was_told_nothing_shall_stay_and_rest():
    q, v, efforts = np.array([1.0, 2.0]), np.array([0.0, 4.0]), np.zeros(2)
    arm = step_of(sample(), {**TOLD, JOINT_STATES: (q, v, efforts)}, has_wrenches=False).arm
    assert arm.target.tolist() == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    step = step_of(sample(), {**TOLD, JOINT_COMMAND: arm.target, REVISED: "r"}, has_wrenches=False)
    assert (
        step.arm is None
        and step.wrench_record is None
        and step.estimated is None
        and step.tilt is None
    )


def test_without_wrenches_so_far_they_are_nought_and_cannot_be_changed():
    felt = step_of(sample(), TOLD, has_wrenches=True).wrench_record
    assert felt.raw_P is felt.filtered_P is felt.estimated_P is NO_WRENCH
    assert felt.tracked is TOLD[REFERENCE] and felt.task is None
    for each in (NO_WRENCH, NO_LOAD):
        assert not each.flags.writeable


def test_copies_do_not_change_afterwards():
    x, rpm, tilt, load = X.copy(), RPM.copy(), RPM.copy(), np.ones(10)
    made = StateSample.copied(1, 2, x, rpm, tilt, load)
    for each in (x, rpm, tilt, load):
        each[...] = -1.0
    assert made[:2] == (1, 2)
    np.testing.assert_array_equal(made.x, X)
    for each in (made.rpm, made.tilt):
        np.testing.assert_array_equal(each, RPM)
    assert (made.load == 1.0).all()
    assert StateSample.copied(1, 2, x, rpm, None, load).tilt is None


def instant(*stamps, expected=("a", "b")):
    made = _VehicleInstant(expected)
    for stamp in stamps:
        made.states.append(sample(stamp))
        made.arrivals.append(stamp / 10.0)
    return made


def test_what_is_missing_is_awaited_until_its_topic_has_gone_on_or_patience_ends():
    made = instant(10, 20)
    assert list(made.missing()) == ["a", "b"]
    made.put("a", {10: 1.0})
    assert list(made.missing()) == ["b"] and made.awaits(1.0)
    made.put("b", {9: 1.0})
    assert made.awaits(1.0)
    assert made.awaits(1.0 + 0.999 * PATIENCE) and not made.awaits(1.0 + PATIENCE)
    made.put("b", {20: 1.0})
    assert list(made.missing()) == ["b"] and not made.awaits(1.0)
    made.put("b", {})
    made.put("b", {11: 0.0})
    assert made.latest == {"a": 10, "b": 20}
    made.put("b", {10: 2.0})
    assert not list(made.missing()) and not made.awaits(1.0)


def test_the_oldest_takes_what_is_its_own_and_forgets_what_is_older():
    made = instant(10, 20, expected=(REFERENCE, COMMAND))
    made.put(REFERENCE, {5: "old", 10: "mine", 20: "next"})
    assert made.take_oldest() is None
    assert made.last == {REFERENCE: "mine"} and made.waiting == {REFERENCE: {20: "next"}}
    assert made.last_stamp == 10 and list(made.arrivals) == [2.0]
    made.put(COMMAND, {15: "between"})
    assert made.take_oldest() is None and made.last[REFERENCE] == "next"
    assert made.waiting == {REFERENCE: {}, COMMAND: {}} and not made.states


def test_messages_may_be_half_a_second_ahead_of_the_newest_state():
    book = StepSynchronizer([(REFERENCE, COMMAND)], list)
    book.take_state(0, 100, 0, X, RPM)
    assert MOST_AHEAD == 500_000_000
    book.take(0, REFERENCE, 100 + MOST_AHEAD, TOLD[REFERENCE])
    with pytest.raises(BadInput, match="far later than the newest state's"):
        book.take(0, REFERENCE, 101 + MOST_AHEAD, TOLD[REFERENCE])
    assert not book.is_reset(0, 100) and book.is_reset(0, 99)


def test_the_last_of_a_topic_is_that_of_the_newest_step():
    steps = []
    book = StepSynchronizer([(REFERENCE, COMMAND)], steps.extend)
    assert book.last(0, ESTIMATED) is None
    for k, value in enumerate(("first", "second")):
        book.take(0, ESTIMATED, k, value)
        book.take(0, REFERENCE, k, TOLD[REFERENCE])
        book.take_state(0, k, k, X, RPM, RPM, np.full(10, 7.0))
        assert book.last(0, ESTIMATED) == (None, "first")[k]
        book.take(0, COMMAND, k, TOLD[COMMAND])
        assert book.last(0, ESTIMATED) == value and steps[k].estimated == value
    assert steps[1].arm is None and (steps[1].tilt == RPM).all()


def test_a_new_run_takes_over_what_had_passed_and_not_what_lay_ahead():
    before, after = (StepSynchronizer([(REFERENCE, COMMAND)], list) for _ in range(2))
    before.take_state(0, 0, 0, X, RPM)
    before.take_state(0, 50, 1, X, RPM)
    for stamp in (0, 50):
        before.take(0, REFERENCE, stamp, TOLD[REFERENCE])
        before.take(0, COMMAND, stamp, TOLD[COMMAND])
    for stamp in (10, 50, 51):
        before.take(0, REFERENCE, stamp, stamp)
    after.take_over(before)
    (mine,) = after._vehicles
    assert mine.waiting == {REFERENCE: {10: 10, 50: 50}, COMMAND: {}}
    assert mine.latest == {REFERENCE: 50, COMMAND: -1}


def test_a_vehicle_whose_state_was_lost_holds_back_nobody():
    steps = []
    book = StepSynchronizer(
        [(REFERENCE, COMMAND)] * 2, lambda each: steps.append([step.k for step in each])
    )
    for vehicle in (0, 1):
        for stamp in (1, 2, 3):
            book.take(vehicle, REFERENCE, stamp, TOLD[REFERENCE])
            book.take(vehicle, COMMAND, stamp, TOLD[COMMAND])
    for vehicle, stamp in ((0, 1), (0, 2), (1, 2), (1, 3)):
        book.take_state(vehicle, stamp, stamp, X, RPM)
    assert steps == [[2, 2]]
    book.take_state(0, 3, 3, X, RPM)
    assert steps == [[2, 2], [3, 3]] and not book.missing
