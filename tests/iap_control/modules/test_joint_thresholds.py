# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds of a joint's state machine: what is just within goes on, what is just beyond does not."""

import numpy as np
import pytest
from support.module_joints import SIZE, spec_of

from iap_control.modules.exchange import JointState
from iap_control.modules.joint_machine import JointMachine
from iap_control.modules.relative_pose import Misalignment, RelativePose, Setpoint, check_drogue
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.latching import Hold, LatchCommand

DT = 1.0 / 40.0
SPEC = spec_of({"j": {"leader": "m1", "face": "+x", "follower": "m2"}})


def pose(gap, offset=0.0, angle=0.0):
    """Of a follower before the leader's face +x, off along z and turned about y."""
    return RelativePose(np.array([SIZE + gap, 0.0, offset]), np.array([0.0, angle, 0.0]))


class Joint:
    """A machine at its times."""

    def __init__(self):
        self.machine, self.t, self.orders = JointMachine.of("j", SPEC), 0.0, []

    def hold(self, where, seconds):
        for _ in range(round(seconds / DT)):
            self.t += DT
            self.orders += [self.machine.update(self.t, DT, where)]
        return self.machine.state

    def join(self, where):
        self.machine.join(self.t, where)
        return self

    def approaching(self, gap=0.12):
        self.join(pose(gap))
        assert self.hold(pose(gap), 0.6) == JointState.APPROACH
        return self

    def assembling(self):
        self.approaching()
        while self.machine.state != JointState.ASSEMBLY:
            self.hold(pose(0.01), DT)
        return self


@pytest.mark.parametrize(
    ("where", "is_in_line"),
    [
        (pose(0.12, 0.0097), True), (pose(0.12, -0.0103), False), (pose(0.12, 0.0, -0.078), True),
        (pose(0.12, 0.0, 0.083), False), (pose(0.128), True), (pose(0.132), False),
    ],
)  # fmt: skip
def test_in_line_is_within_a_centimetre_and_eighty_milliradians(where, is_in_line):
    state = Joint().join(where).hold(where, 0.6)
    assert state == (JointState.APPROACH if is_in_line else JointState.ALIGNMENT)


def test_it_is_in_line_for_half_a_second():
    joint = Joint().join(pose(0.12))
    assert joint.hold(pose(0.12), 0.475) == JointState.ALIGNMENT
    assert joint.hold(pose(0.12), 2 * DT) == JointState.APPROACH


@pytest.mark.parametrize(
    ("where", "is_lost"),
    [
        (pose(0.12, -0.097), False), (pose(0.12, 0.104), True), (pose(0.12, 0.0, 0.345), False),
        (pose(0.12, 0.0, -0.36), True), (pose(0.139), False), (pose(0.1415), True),
    ],
)  # fmt: skip
def test_an_approach_is_lost_beyond_a_decimetre_a_third_of_a_radian_or_as_it_recedes(
    where, is_lost
):
    joint = Joint().approaching()
    state = joint.hold(where, 1.5)
    assert state == (JointState.ALIGNMENT if is_lost else JointState.APPROACH)
    assert joint.machine.returns == is_lost


def test_how_near_a_lost_approach_came_does_not_count_in_the_next():
    joint = Joint().approaching()
    joint.hold(pose(0.05), 1.0)
    joint.hold(pose(0.12), 1.5)
    assert joint.machine.returns == 1
    assert joint.hold(pose(0.12), 3.0) == JointState.APPROACH
    assert joint.machine.returns == 1


@pytest.mark.parametrize(
    ("where", "catches"),
    [
        (pose(0.0195), True), (pose(0.0207), False), (pose(0.01, 0.0195), True),
        (pose(0.01, 0.0205), False), (pose(0.01, 0.0, 0.078), True), (pose(0.01, 0.0, 0.083), False),
    ],
)  # fmt: skip
def test_faces_have_met_within_two_centimetres_and_eighty_milliradians(where, catches):
    joint = Joint().approaching()
    before = RelativePose(where.p_LF_L + [0.04, 0.0, 0.0], where.angles)
    joint.hold(before, 1.5)
    assert not joint.machine.holds
    joint.hold(where, 1.5)
    assert joint.machine.holds == catches


def test_the_hold_of_a_latch_is_soft_until_it_has_locked():
    joint = Joint()
    assert joint.machine.hold == Hold.OPEN and not joint.machine.guides
    joint.approaching()
    assert joint.machine.hold == Hold.OPEN and joint.machine.guides and joint.machine.is_docking
    joint.hold(pose(0.01), 0.5)
    assert joint.machine.state == JointState.ASSEMBLY
    assert joint.machine.hold == Hold.CAUGHT and not joint.machine.guides
    joint.hold(pose(0.0), 1.2)
    assert joint.machine.state == JointState.ASSEMBLY and joint.machine.hold == Hold.LOCKED
    joint.hold(pose(0.0), 1.0)
    assert joint.machine.state == JointState.JOINED and joint.machine.hold == Hold.LOCKED
    assert not joint.machine.is_busy and not joint.machine.is_docking
    joint.machine.part(joint.t)
    assert joint.machine.hold == Hold.LOCKED and joint.machine.is_busy
    joint.hold(pose(0.0), 0.6)
    assert joint.machine.hold == Hold.OPEN and joint.machine.guides


def test_a_latch_locks_a_second_after_the_catch_and_all_settle_for_another():
    joint = Joint().assembling()
    joint.orders.clear()
    joint.hold(pose(0.0), 2.5)
    assert joint.orders.index(LatchCommand.LOCK) * DT == pytest.approx(1.0, abs=1.1 * DT)
    assert joint.machine.state == JointState.JOINED
    joint = Joint().assembling()
    joint.hold(pose(0.0), 1.95)
    assert joint.machine.state == JointState.ASSEMBLY
    assert joint.hold(pose(0.0), 0.1) == JointState.JOINED


@pytest.mark.parametrize(
    ("where", "holds"),
    [(pose(0.068), True), (pose(0.072), False), (pose(0.0, 0.068), True), (pose(0.0, -0.072), False)],
)  # fmt: skip
def test_a_latch_holds_what_its_drogue_takes(where, holds):
    joint = Joint().assembling()
    joint.hold(where, 1.1)
    assert joint.machine.holds == holds
    assert joint.machine.failure == (None if holds else "joint 'j': the latch did not hold")


def test_patience_is_a_minute_from_the_order_in_an_approach_as_well():
    joint = Joint()
    joint.hold(pose(0.5), 5.0)
    joint.join(pose(0.2))
    assert joint.hold(pose(0.2), 57.5) == JointState.ALIGNMENT
    assert joint.hold(pose(0.12), 2.45) == JointState.APPROACH
    assert joint.hold(pose(0.12), 3 * DT) == JointState.EMERGENCY
    assert joint.machine.failure == "joint 'j': not joined within 60 s"


def test_an_emergency_flies_off_by_its_distance_from_where_it_found_the_follower():
    joint = Joint().approaching()
    assert joint.machine.abort(joint.t, "why") is None  # nothing is caught
    assert joint.hold(pose(0.3, 0.2), 5.0) == JointState.EMERGENCY
    moving = joint.machine.setpoint.v_LF_L
    assert np.linalg.norm(moving) == pytest.approx(0.2)
    assert joint.hold(pose(0.3, 0.2), 10.0) == JointState.APART
    np.testing.assert_allclose(
        joint.machine.setpoint.p_LF_L, [SIZE + 0.3 + 1.5, 0.0, 0.0], atol=2e-3
    )
    assert joint.machine.abort(joint.t, "again") is None
    assert joint.machine.failure == "why"


def test_a_joint_that_is_closed_holds_at_once_and_locks():
    joint = Joint()
    joint.machine.close(0.0)
    assert joint.machine.holds and joint.machine.state == JointState.ASSEMBLY
    assert joint.hold(pose(0.0), 2.1) == JointState.JOINED
    with pytest.raises(BadInput, match="^join 'j': it is joined, not apart$"):
        joint.machine.close(3.0)


def test_a_second_order_to_join_forgets_what_came_of_the_first():
    joint = Joint().approaching()
    joint.machine.abort(joint.t, "why")
    joint.hold(pose(0.3), 15.0)
    joint.join(pose(0.5))
    assert joint.machine.failure is None and joint.machine.returns == 0
    assert joint.machine.state == JointState.ALIGNMENT


def test_errors_of_a_docking_before_are_not_those_of_the_next():
    joint = Joint().join(pose(0.5, 0.3))
    joint.hold(pose(0.5, 0.3), 1.0)
    joint.machine.abort(joint.t, "why")
    assert joint.hold(pose(0.5, 0.3), 15.0) == JointState.APART
    joint.join(pose(0.12))
    assert joint.hold(pose(0.12), 0.5 + DT) == JointState.APPROACH


@pytest.mark.parametrize(
    ("gap", "offset", "angle", "text"),
    [
        (0.071, 0.0, 0.0, "a gap of 0.071 m is beyond the drogue's 0.07 m"),
        (-0.071, 0.0, 0.0, "a gap of 0.071 m is beyond the drogue's 0.07 m"),
        (0.07, -0.071, 0.0, "an offset of 0.071 m is beyond the drogue's 0.07 m"),
        (0.07, 0.07, -0.351, "an angle of 0.351 rad is beyond the drogue's 0.35 rad"),
    ],
)
def test_a_drogue_takes_up_to_its_limits(gap, offset, angle, text):
    drogue = SPEC.machine.drogue
    check_drogue(
        "j", Misalignment(0.07, np.array([0.0, 0.0, -0.07]), np.array([0.35, 0, 0])), drogue
    )
    misalignment = Misalignment(gap, np.array([0.0, 0.0, offset]), np.array([0.0, angle, 0.0]))
    with pytest.raises(BadInput, match=f"^joint 'j': {text}$"):
        check_drogue("j", misalignment, drogue)


def test_a_follower_is_seen_from_its_leader():
    leader, follower = np.zeros(13), np.zeros(13)
    leader[:3], leader[3:7] = [1.0, 2.0, 3.0], so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    follower[:3], follower[3:7] = [1.0, 4.0, 3.5], so3.quaternion_exp(np.array([0.0, 0.0, 2.0]))
    seen = RelativePose.of(leader, follower)
    np.testing.assert_allclose(seen.p_LF_L, [2.0, 0.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(seen.angles, [0.0, 0.0, 2.0 - np.pi / 2], atol=1e-12)
    off = Misalignment.of(
        RelativePose(np.array([0.3, -0.9, 0.4]), np.array([0.1, -0.2, 0.0])), np.array([0.0, -1.0, 0.0]), 0.5
    )  # fmt: skip
    assert off.gap == pytest.approx(0.4)
    np.testing.assert_allclose(off.offset, [0.3, 0.0, 0.4], atol=1e-12)
    assert off.largest_offset == pytest.approx(0.4) and off.largest_angle == pytest.approx(0.2)


def test_a_setpoint_speeds_up_cruises_and_brakes_to_its_goal():
    """Speeds: a dt more each period; at most the speed; sqrt(2 a d) before the end; d / dt at last."""
    goal = np.array([0.0, 2.0, 0.0])
    first = Setpoint.at(np.zeros(3)).towards(goal, 0.5, 0.2, 0.1)
    np.testing.assert_allclose(first.v_LF_L, [0.0, 0.02, 0.0])
    np.testing.assert_allclose(first.p_LF_L, [0.0, 0.002, 0.0])
    np.testing.assert_allclose(first.a_LF_L, [0.0, 0.2, 0.0])
    cruising = Setpoint(np.zeros(3), np.array([0.0, 0.5, 0.0]), np.zeros(3))
    assert cruising.towards(goal, 0.5, 0.2, 0.1).v_LF_L[1] == pytest.approx(0.5)
    near = Setpoint(goal - [0.0, 0.1, 0.0], np.array([0.0, 0.2, 0.0]), np.zeros(3))
    assert near.towards(goal, 0.5, 0.2, 0.1).v_LF_L[1] == pytest.approx(np.sqrt(2 * 0.2 * 0.1))
    last = Setpoint(goal - [0.0, 1e-4, 0.0], np.array([0.0, 0.01, 0.0]), np.zeros(3))
    arrived = last.towards(goal, 0.5, 0.2, 0.1)
    np.testing.assert_allclose(arrived.p_LF_L, goal, atol=1e-12)
    assert not arrived.towards(goal, 0.5, 0.2, 0.1).v_LF_L.any()
