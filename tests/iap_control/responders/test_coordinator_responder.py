# SPDX-License-Identifier: BSD-3-Clause
"""A coordinator between messages answers an instant once all modules have told their part of it."""

import numpy as np
import pytest
from support.module_joints import spec_of

from iap_control.modules.coordination import CoordinatedModule, CoordinationSpec
from iap_control.responders.coordinator_responder import (
    TIMEOUT,
    CoordinatorResponder,
    ExternalWrenches,
    ReportPart,
)
from iap_description.arrays import Array
from iap_description.states import REF_FIXED, STATE_SIZE, Level
from iap_description.vehicles.latching import Hold

PERIOD = 5_000_000  # [ns]
JOINED = {"j": {"leader": "m1", "face": "+x", "follower": "m2", "joined": True}}


def row(size: int, x: float) -> Array:
    """A reference or state at rest."""
    out = np.zeros(size)
    out[0], out[2], out[6] = x, 0.8, 1.0
    return out


def module(i: int) -> CoordinatedModule:
    return CoordinatedModule(
        name=f"m{i + 1}",
        state_topic="state",
        start=tuple(row(STATE_SIZE, 0.52 * i).tolist()),
        weight=45.0,
        rotors=((0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)),
        stiffness=(46.0, 46.0, 36.0),
        position_bias=(0.0, 0.0, 0.0),
    )


@pytest.fixture
def responder() -> CoordinatorResponder:
    """Of two modules that are joined, and part at once."""
    modules = spec_of(JOINED, mission=[{"part": "j"}])
    spec = CoordinationSpec(
        modules=modules, vehicles=(module(0), module(1)), control_hz=200.0, time_step=0.001
    )
    return CoordinatorResponder(CoordinationSpec.read(spec.yaml(), source="test"))


def tell(responder: CoordinatorResponder, k: int, force: float = 0.0) -> list[bool]:
    """Tell all parts of instant k; the second module feels a force [N]."""
    answers = []
    for i in range(2):
        parts: dict[ReportPart, object] = {
            ReportPart.REFERENCE: (row(REF_FIXED + 1, 0.52 * i), Level.VELOCITY),
            ReportPart.STATE: row(STATE_SIZE, 0.52 * i),
            ReportPart.WRENCH: np.array([force * i, 0.0, 0.0, 0.0, 0.0, 0.0]),
        }
        answers += [responder.take(i, part, k * PERIOD, each) for part, each in parts.items()]
    return answers


def fly(responder: CoordinatorResponder, first: int, last: int) -> None:
    for k in range(first, last):
        tell(responder, k, force=1.0)


def test_an_instant_is_answered_with_its_last_part(responder: CoordinatorResponder) -> None:
    assert tell(responder, 0) == [False] * 5 + [True]
    assert (responder.stamp, responder.sequence, responder.answered) == (0, 0, 1)
    assert responder.levels == [Level.VELOCITY] * 2  # as the modules' own
    assert responder.roles == [1, 2]  # the first of equals leads


def test_the_same_instant_again_has_the_same_answer(responder: CoordinatorResponder) -> None:
    fly(responder, 0, 11)
    rows, wrenches = responder.rows.copy(), responder.coordinator.feed_forward.wrenches_P.copy()
    assert any(tell(responder, 10, force=5.0))
    assert responder.answered == 11
    np.testing.assert_array_equal(responder.rows, rows)
    np.testing.assert_array_equal(responder.coordinator.feed_forward.wrenches_P, wrenches)


def test_a_report_counts_one_instant_later(responder: CoordinatorResponder) -> None:
    fly(responder, 0, 1)
    assert np.abs(responder.coordinator.feed_forward.wrenches_P).max() == 0.0
    fly(responder, 1, 6)  # coordinated at instant 5, on what was told at 4
    assert np.abs(responder.coordinator.feed_forward.wrenches_P).max() > 0.0


def test_noise_that_is_reported_five_times_a_period_has_a_fifth_of_its_variance_in_feed_forward() -> (
    None
):
    """Samples of white noise, all of which count, beside noise that stays for a whole period."""
    rng, variances = np.random.default_rng(3), []
    noise = rng.standard_normal(5 * 400)
    for forces in (noise, np.repeat(noise[:400], 5)):
        responder, added = pair(), [0.0]
        for k, force in enumerate(forces):
            tell(responder, k, force)
            if k % 5 == 0:
                added.append(float(responder.coordinator.feed_forward.wrenches_P[1, 0]))
        variances.append(np.diff(added).var())
    assert variances[1] / variances[0] == pytest.approx(5.0, rel=0.25)


def test_a_latch_opens_half_a_second_after_it_was_announced(
    responder: CoordinatorResponder,
) -> None:
    fly(responder, 0, 1)
    assert responder.joint_states.holds.tolist() == [Hold.LOCKED]
    fly(responder, 1, 120)
    assert responder.joint_states.holds.tolist() == [Hold.OPEN]
    assert responder.roles == [0, 0]


@pytest.mark.parametrize("first", [0, 1, 20])
def test_a_wrench_of_another_time_stops_nothing(
    responder: CoordinatorResponder, first: int
) -> None:
    """Stamped by a clock that is decades ahead, or years behind."""
    fly(responder, 0, first)
    for stamp in (2**31 * 1_000_000_000, 5 * PERIOD * 1000, -(10**15)):
        responder.take(1, ReportPart.WRENCH, stamp, np.full(6, 9.0))
    fly(responder, first, first + 30)
    assert responder.answered == first + 30
    assert responder.stamp == (first + 29) * PERIOD


def test_an_earlier_time_begins_a_new_flight(responder: CoordinatorResponder) -> None:
    fly(responder, 0, 120)
    tell(responder, 0)
    assert responder.joint_states.holds.tolist() == [Hold.LOCKED]
    assert (responder.stamp, responder.coordinator.events[-1:]) == (
        0,
        responder.coordinator.events,
    )


def pair(**keys: object) -> CoordinatorResponder:
    """Of two modules that stay joined."""
    vehicles, modules = (module(0), module(1)), spec_of(JOINED, **keys)
    rates = {"control_hz": 200.0, "time_step": 0.001}
    return CoordinatorResponder(CoordinationSpec(modules=modules, vehicles=vehicles, **rates))


def tell_poses(responder: CoordinatorResponder, k: int, modules: tuple[int, ...] = (0, 1)) -> bool:
    """Tell references and states of instant k; returns whether it is answered with the last of them."""
    answered = False
    for i in modules:
        x = 0.52 * i
        responder.take(
            i, ReportPart.REFERENCE, k * PERIOD, (row(REF_FIXED + 1, x), Level.VELOCITY)
        )
        answered = responder.take(i, ReportPart.STATE, k * PERIOD, row(STATE_SIZE, x))
    return answered


def test_a_module_that_is_commanded_no_more_is_lost_and_waited_for_no_more() -> None:
    responder = pair(lost_after=0.05)
    for k in range(21):  # the first one's last command answers instant 5
        responder.hear(0, min(k, 5) * PERIOD)
        responder.hear(1, k * PERIOD)
        tell(responder, k)
    assert responder.roles == [2, 1]
    assert [each.module for each in responder.coordinator.losses] == ["m1"]
    for k in range(21, 31):  # its observer has fallen silent
        tell_poses(responder, k)
        responder.take(1, ReportPart.WRENCH, k * PERIOD, np.zeros(6))
    assert responder.stamp == 30 * PERIOD


def test_an_instant_that_is_overtaken_ends_the_waiting_for_a_wrench() -> None:
    responder = pair()
    for k in (0, 1):
        tell(responder, k)
    for k in (2, 3):  # nobody tells a wrench any more
        assert tell_poses(responder, k) == (k == 3)
    assert responder.stamp == 3 * PERIOD
    for i in range(2):
        responder.take(i, ReportPart.WRENCH, 3 * PERIOD, np.zeros(6))
    assert not tell_poses(responder, 4)  # told in time: waited for again
    assert not responder.take(0, ReportPart.WRENCH, 4 * PERIOD, np.zeros(6))
    assert responder.take(1, ReportPart.WRENCH, 4 * PERIOD, np.zeros(6))


def test_a_flight_goes_on_after_all_observers_were_silent_for_a_while() -> None:
    responder = pair()
    tell(responder, 0)
    for k in range(1, 100):
        tell_poses(responder, k)
    assert responder.stamp == 99 * PERIOD
    assert not responder.coordinator.feed_forward.wrenches_P.any()
    for k in range(100, 120):
        tell(responder, k, force=1.0)
    assert responder.coordinator.feed_forward.wrenches_P.any()
    assert np.isfinite(responder.coordinator.feed_forward.wrenches_P).all()


def test_joints_that_measure_are_waited_for_and_count_at_once() -> None:
    responder = pair(wrench_source="joint")
    assert not any(tell(responder, 0))
    assert responder.take_borne(0, np.array([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]))
    found = responder.coordinator.feed_forward.wrenches_P[:, 0]
    assert found[0] == 0.0  # the first of equals leads
    assert found[1] != 0.0


CONTROL_PERIOD_NS = 5_000_000  # [ns]


def test_those_that_were_overtaken_are_late_until_they_tell_in_time() -> None:
    felt = ExternalWrenches(2, 200.0, 5)
    assert late(felt, 0) == []  # all are waited for at first
    felt.take(0, 0, np.ones(6))
    assert late(felt, CONTROL_PERIOD_NS) == [1]
    assert late(felt, CONTROL_PERIOD_NS) == []  # once an instant
    felt.take(1, CONTROL_PERIOD_NS, np.ones(6))
    assert late(felt, 2 * CONTROL_PERIOD_NS) == [0]


def late(felt: ExternalWrenches, stamp: int) -> list[int]:
    """Modules that an instant does not wait for, once the states of both have come."""
    return [each for module in range(2) for each in felt.late(module, stamp)]


def test_a_state_of_a_wrong_clock_ends_no_instant_of_the_others() -> None:
    felt = ExternalWrenches(2, 200.0, 5)
    late(felt, 0)
    assert felt.late(1, 1000 * CONTROL_PERIOD_NS) == []
    assert not felt.is_over(0)
    felt.take(1, 0, np.ones(6))
    assert late(felt, CONTROL_PERIOD_NS) == [0]
    assert felt.is_over(0)


def test_states_that_all_go_back_begin_anew() -> None:
    felt = ExternalWrenches(2, 200.0, 5)
    late(felt, 100 * CONTROL_PERIOD_NS)
    late(felt, 0)
    assert felt.instant == 0
    assert not felt.is_over(0)


def test_what_was_reported_before_an_instant_counts_there_for_a_while() -> None:
    felt = ExternalWrenches(2, 200.0, 5)
    np.testing.assert_array_equal(felt.before(0, ()), np.zeros((2, 6)))
    felt.take(0, CONTROL_PERIOD_NS, np.full(6, 1.0))
    felt.take(0, 2 * CONTROL_PERIOD_NS, np.full(6, 2.0))
    felt.take(0, 2 * CONTROL_PERIOD_NS, np.full(6, 9.0))  # the same again
    assert felt.before(2 * CONTROL_PERIOD_NS, ())[0, 0] == 1.0
    assert felt.before(2 * CONTROL_PERIOD_NS + TIMEOUT, ())[0, 0] == 2.0
    late = felt.before(3 * CONTROL_PERIOD_NS + TIMEOUT, {1})
    assert np.isnan(late[0]).all()
    np.testing.assert_array_equal(late[1], 0.0)  # lost: its last one stands


def test_a_new_flight_keeps_what_has_come_of_it() -> None:
    felt = ExternalWrenches(2, 200.0, 5)
    late(felt, 0)
    late(felt, 100 * CONTROL_PERIOD_NS)
    felt.take(0, 100 * CONTROL_PERIOD_NS, np.ones(6))
    felt.take(1, 0, np.full(6, 3.0))  # told before the reset was noticed
    felt.begin()
    assert late(felt, 0) == []
    felt.take(0, 0, np.full(6, 4.0))
    np.testing.assert_array_equal(felt.before(0, ()), 0.0)
    assert late(felt, CONTROL_PERIOD_NS) == []
    assert felt.before(CONTROL_PERIOD_NS, ())[:, 0].tolist() == [4.0, 3.0]


def test_a_wrench_counts_for_a_tenth_of_a_second_where_none_follows() -> None:
    wrenches = ExternalWrenches(2, 200.0, 4)
    wrenches.take(0, 0, np.ones(6))
    wrenches.take(1, PERIOD, 2.0 * np.ones(6))
    np.testing.assert_array_equal(wrenches.before(100_000_000, ()), [[1.0] * 6, [2.0] * 6])
    late = wrenches.before(100_000_001, ())
    assert np.isnan(late[0]).all() and (late[1] == 2.0).all()
    np.testing.assert_array_equal(wrenches.before(10**9, (0, 1)), [[1.0] * 6, [2.0] * 6])
