# SPDX-License-Identifier: BSD-3-Clause
"""Every transition of a joint's state machine, by scripted relative poses."""

import numpy as np
import pytest
from support.module_joints import SIZE, spec_of

from iap_control.modules.exchange import JointState
from iap_control.modules.joint_machine import JointMachine
from iap_control.modules.relative_pose import RelativePose
from iap_control.modules.settings import MachineSettings
from iap_description.errors import BadInput
from iap_description.vehicles.latching import LatchCommand

DT = 1.0 / 40.0
SETTINGS: MachineSettings = spec_of({}).machine


def pose(gap: float, offset: float = 0.0, angle: float = 0.0) -> RelativePose:
    """Of a follower before the leader's face +x."""
    return RelativePose(np.array([SIZE + gap, offset, 0.0]), np.array([0.0, 0.0, angle]))


class Script:
    """A machine that is told poses, and what it has told its latch."""

    def __init__(self, *, joined: bool = False) -> None:
        normal = np.array([1.0, 0.0, 0.0])
        self.machine = JointMachine("j", normal, SIZE, SETTINGS, joined=joined)
        self.t, self.told = 0.0, list[LatchCommand]()

    def hold(self, where: RelativePose, seconds: float) -> JointState:
        """Tell a pose for a while."""
        for _ in range(round(seconds / DT)):
            self.t += DT
            latching = self.machine.update(self.t, DT, where)
            self.told += [] if latching is None else [latching]
        return self.machine.state

    def approaching(self) -> "Script":
        """In the approach, before the face."""
        self.machine.join(self.t, pose(0.12))
        assert self.hold(pose(0.12), 0.7) == JointState.APPROACH
        return self


def test_it_aligns_approaches_assembles_and_is_joined() -> None:
    script = Script()
    script.machine.join(0.0, pose(0.5, 0.2))
    assert script.hold(pose(0.5, 0.2), 2.0) == JointState.ALIGNMENT
    assert script.hold(pose(0.12), 1.5) == JointState.APPROACH
    assert script.hold(pose(0.01), 1.0) == JointState.ASSEMBLY
    assert script.told == [LatchCommand.CATCH]
    assert script.machine.holds
    assert script.hold(pose(0.0), 2.2) == JointState.JOINED
    assert script.told == [LatchCommand.CATCH, LatchCommand.LOCK]


@pytest.mark.parametrize(
    "where", [pose(0.12, 0.02), pose(0.12, 0.0, 0.1), pose(0.14)], ids=["across", "angle", "far"]
)
def test_it_waits_until_all_is_in_line(where: RelativePose) -> None:
    script = Script()
    script.machine.join(0.0, where)
    assert script.hold(where, 5.0) == JointState.ALIGNMENT


def test_it_must_be_in_line_for_half_a_second_together() -> None:
    script = Script()
    script.machine.join(0.0, pose(0.12))
    for _ in range(5):
        script.hold(pose(0.12), 0.3)
        assert script.hold(pose(0.12, 0.05), 0.3) == JointState.ALIGNMENT


def test_along_the_axis_it_may_be_nearer() -> None:
    script = Script()
    script.machine.join(0.0, pose(0.05))
    assert script.hold(pose(0.05), 0.7) == JointState.APPROACH


@pytest.mark.parametrize(
    "where",
    [pose(0.06, 0.15), pose(0.06, 0.0, 0.5), pose(0.2)],
    ids=["across", "angle", "recedes"],
)
def test_an_approach_that_is_lost_on_any_axis_is_tried_again(where: RelativePose) -> None:
    script = Script().approaching()
    script.hold(pose(0.06), 0.5)
    while script.machine.state == JointState.APPROACH:
        assert script.t < 5.0
        script.hold(where, DT)
    assert script.machine.state == JointState.ALIGNMENT
    assert script.machine.returns == 1
    script.hold(pose(0.12), 1.5)
    assert script.hold(pose(0.0), 3.5) == JointState.JOINED


def test_approaches_lost_too_often_end_in_an_emergency() -> None:
    script = Script().approaching()
    for _ in range(SETTINGS.retries + 1):
        script.hold(pose(0.12), 1.5)
        script.hold(pose(0.12, 0.5), 0.5)
    assert script.machine.state == JointState.EMERGENCY
    assert script.machine.failure == "joint 'j': 4 approaches were lost"
    assert not script.told
    assert script.hold(pose(0.12), 10.0) == JointState.APART
    np.testing.assert_allclose(script.machine.setpoint.p_LF_L[0], SIZE + 0.12 + 1.5, atol=0.006)


def test_patience_ends() -> None:
    script = Script()
    script.machine.join(0.0, pose(0.5))
    assert script.hold(pose(0.5), SETTINGS.patience + 0.1) == JointState.EMERGENCY
    assert script.machine.failure == "joint 'j': not joined within 60 s"


def test_a_latch_that_does_not_hold_lets_go() -> None:
    script = Script().approaching()
    assert script.hold(pose(0.01), 1.0) == JointState.ASSEMBLY
    script.hold(pose(0.2), 1.1)
    assert script.machine.state == JointState.EMERGENCY
    assert script.told == [LatchCommand.CATCH, LatchCommand.RELEASE]
    assert not script.machine.holds


def test_it_announces_the_separation_before_it_lets_go_and_moves_off() -> None:
    script = Script(joined=True)
    script.machine.part(0.0)
    assert script.hold(pose(0.0), 0.4) == JointState.SEPARATION
    assert script.machine.holds
    script.hold(pose(0.0), 0.2)
    assert script.told == [LatchCommand.RELEASE]
    speeds = []
    while script.machine.state == JointState.SEPARATION:
        setpoint = script.machine.setpoint
        speeds.append(setpoint.v_LF_L[0])
        script.hold(RelativePose(setpoint.p_LF_L, np.zeros(3)), DT)
    assert max(speeds) == pytest.approx(SETTINGS.separation.speed)
    np.testing.assert_allclose(script.machine.setpoint.p_LF_L[0], 1.25, atol=0.01)
    assert script.machine.state == JointState.APART


def test_an_emergency_of_a_joined_follower_opens_the_latch_first() -> None:
    script = Script(joined=True)
    assert script.machine.abort(0.0, "a rotor stands still") == LatchCommand.RELEASE
    assert script.machine.abort(0.0, "twice") is None
    assert script.hold(pose(0.0), 10.0) == JointState.APART


def test_the_setpoint_keeps_its_speed_and_presses() -> None:
    script = Script()
    script.machine.join(0.0, pose(1.0, 1.0))
    last = script.machine.setpoint.p_LF_L
    for _ in range(200):
        script.hold(pose(0.12), DT)
        moved = float(np.linalg.norm(script.machine.setpoint.p_LF_L - last)) / DT
        assert moved <= SETTINGS.alignment.speed + 1e-9
        last = script.machine.setpoint.p_LF_L
    while script.machine.state == JointState.APPROACH:
        script.hold(pose(0.03), 0.5)
        if script.t > 20.0:
            break
    np.testing.assert_allclose(script.machine.setpoint.p_LF_L, [SIZE - 0.05, 0.0, 0.0], atol=1e-9)


def test_what_makes_no_sense_is_refused() -> None:
    joined, apart = Script(joined=True).machine, Script().machine
    with pytest.raises(BadInput, match="join 'j': it is joined, not apart"):
        joined.join(0.0, pose(0.1))
    with pytest.raises(BadInput, match="part 'j': it is apart, not joined"):
        apart.part(0.0)


def test_the_setpoint_begins_and_ends_its_way_no_faster_than_its_acceleration_allows() -> None:
    script = Script()
    script.machine.join(0.0, pose(1.0, 1.0))
    velocities = [script.machine.setpoint.v_LF_L]
    for _ in range(400):
        script.hold(pose(0.5), DT)
        setpoint = script.machine.setpoint
        velocities.append(setpoint.v_LF_L)
        np.testing.assert_allclose(setpoint.a_LF_L, np.diff(velocities[-2:], axis=0)[0] / DT)
    changes = np.linalg.norm(np.diff(velocities, axis=0), axis=1) / DT
    assert changes.max() == pytest.approx(SETTINGS.acceleration)
    assert not velocities[-1].any()  # it has arrived


def test_modules_are_apart_once_the_follower_is_at_the_end_of_its_way_and_not_its_setpoint() -> (
    None
):
    script = Script(joined=True)
    script.machine.part(0.0)
    late = SETTINGS.separation.distance - SIZE - 0.1
    assert script.hold(pose(late), 30.0) == JointState.SEPARATION
    np.testing.assert_allclose(
        script.machine.setpoint.p_LF_L[0], SETTINGS.separation.distance, atol=0.002
    )
    assert script.hold(pose(late + 0.09), DT) == JointState.APART
