# SPDX-License-Identifier: BSD-3-Clause
"""Missions of modules, step by step, what is reported of joints, and settings that do not fit."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.module_joints import SIZE, chain, lift, spec_of, square, told

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import JointState, ModuleRole
from iap_control.modules.joint_states import STATES, joint_states, joints_message, roles_of
from iap_control.modules.joint_wrench import moved_to
from iap_control.modules.losses import LossMonitor, fault_times
from iap_control.modules.mission import HoverStep, JoinStep, Mission, PartStep
from iap_control.modules.settings import modules_tree
from iap_control.modules.structure import ModuleJoint, Structure, structures
from iap_description.errors import BadInput

LINE = {f"j{i}": {"leader": f"m{i}", "face": "+x", "follower": f"m{i + 1}"} for i in (1, 2)}
PLACES = np.array([[SIZE * i, 0.0, 1.0] for i in range(3)])


class Joiner:
    """Joints whose states are set by hand, and the orders that they get."""

    def __init__(self, state):
        self.machines = {"j": SimpleNamespace(state=state)}
        self.failure, self.asked = None, []

    def join(self, name, reports):
        self.asked.append(("join", name, reports.t))
        return ["order"]

    def part(self, name, reports):
        self.asked.append(("part", name, reports.t))


def advanced(mission, joiner, *times):
    return [mission.advance(joiner, SimpleNamespace(t=t)) for t in times]


@pytest.mark.parametrize(
    ("step", "verb", "orders", "before", "after"),
    [
        (JoinStep(join="j"), "join", ["order"], JointState.ASSEMBLY, JointState.JOINED),
        (PartStep(part="j"), "part", [], JointState.SEPARATION, JointState.APART),
    ],
)
def test_a_step_is_ordered_once_and_over_when_its_joint_has_come_there(
    step, verb, orders, before, after
):
    mission, joiner = Mission([step, HoverStep(hover=1.0)]), Joiner(before)
    assert advanced(mission, joiner, 2.0, 3.0) == [orders, []]
    assert joiner.asked == [(verb, "j", 2.0)] and mission.at == 0 and step.joint == "j"
    joiner.machines["j"].state = after
    assert advanced(mission, joiner, 4.0) == [[]]
    assert mission.at == 1 and not mission.is_done


def test_a_pause_lasts_from_its_own_begin():
    mission, joiner = Mission([HoverStep(hover=1.0), HoverStep(hover=0.5)]), Joiner(None)
    found = []
    for k in range(80):
        found.append(mission.at)
        advanced(mission, joiner, 5.0 + 0.025 * k)
    assert found.index(1) - 1 == 40  # a second after it has begun
    assert found.index(2) - found.index(1) == 20 + 1
    assert mission.is_done and mission.at == 2 and joiner.asked == []
    assert mission.advance(joiner, SimpleNamespace(t=9.0)) == []


def test_a_docking_that_has_failed_ends_a_mission_for_good():
    mission, joiner = Mission([JoinStep(join="j")]), Joiner(JointState.APART)
    joiner.failure = "lost"
    assert advanced(mission, joiner, 1.0) == [[]]
    joiner.failure = None
    assert advanced(mission, joiner, 2.0) == [[]]
    assert mission.is_given_up and not mission.is_done and joiner.asked == []


def test_reports_of_joints_name_who_leads_and_who_is_lost():
    joints = {name: {**each, "joined": True} for name, each in LINE.items()}
    coordinator = Coordinator(spec_of(joints, lost_after=0.05), ("m1", "m2", "m3", "m4"), lift(4))
    places = np.vstack([PLACES, [[9.0, 0.0, 1.0]]])
    for t in (1.0, 1.025, 1.05):
        coordinator.update(told(t, places, command_times=np.array([t, t, 1.0, t])))
    report = joint_states(coordinator)
    assert report.led_by.tolist() == [1, 1, 1, 3]
    assert report.lost.tolist() == [0, 0, 1, 0]
    assert [STATES[each] for each in report.states] == [JointState.JOINED] * 2
    assert report.failed.tolist() == [0, 0] and report.returns.tolist() == [0, 0]
    assert report.steps_done == 0
    follower = ModuleRole.FOLLOWER
    roles = [follower, ModuleRole.LEADER, follower, ModuleRole.SEPARATED]
    assert roles_of(report.led_by) == coordinator.roles == roles


def test_the_message_of_joints_has_both_modules_of_each():
    message = joints_message(spec_of(LINE), ("m1", "m2", "m3"))
    assert list(message.names) == ["j1", "j2"]


def test_a_loss_is_late_by_its_patience_behind_the_newest():
    losses = LossMonitor({1: 3.0}, 0.05)
    assert losses.update(1.0, [1.0, 1.0, 1.0]) == []
    assert losses.stopped(2.99) == [] and losses.stopped(3.0) == [1]
    assert losses.update(3.0, [3.0, 3.0, 3.0]) == [1]
    assert losses.update(3.049, [3.049, 3.049, 3.0]) == []
    assert losses.update(3.051, [3.051, 3.0, 3.0]) == [2]
    assert losses.modules == {1, 2}


def test_faults_are_found_by_their_kind_and_module():
    faults = [
        {"module": "m3", "at": 2.0, "kind": "motors"},
        {"module": "m1", "at": 1.0, "kind": "controller"},
    ]
    spec = spec_of(LINE, faults=faults)
    assert fault_times(spec, ("m1", "m2", "m3"), "motors") == {2: 2.0}
    assert fault_times(spec, ("m1", "m2", "m3"), "controller") == {0: 1.0}
    text = r"^key 'modules.faults.1.module': no module 'm1' \(m2, m3\)$"
    with pytest.raises(BadInput, match=text):
        fault_times(spec, ("m2", "m3"), "motors")


def test_a_joint_leads_from_each_module_to_the_other():
    joint = ModuleJoint(3, 5, (0.1, -0.2, 0.3))
    assert joint.modules == (3, 5) and joint.other(3) == 5 and joint.other(5) == 3
    np.testing.assert_array_equal(joint.way_from(3), [0.1, -0.2, 0.3])
    np.testing.assert_array_equal(joint.way_from(5), [-0.1, 0.2, -0.3])


def test_a_structure_of_a_square_has_its_graph_and_connectivity():
    """Of a ring of four: eigenvalues 0, 2, 2 and 4."""
    structure = Structure.of(square(), 2)
    assert structure.modules == (0, 1, 2, 3) and structure.joints == ("a", "b", "c", "d")
    assert structure.connectivity == pytest.approx(2.0)
    np.testing.assert_array_equal(
        structure.incidence,
        [
            [-1.0, -1.0, 0.0, 0.0],
            [1.0, 0.0, -1.0, 0.0],
            [0.0, 1.0, 0.0, -1.0],
            [0.0, 0.0, 1.0, 1.0],
        ],
    )
    assert Structure.of({}, 7).connectivity == 0.0 and Structure.of({}, 7).modules == (7,)
    laplacian = structure.incidence @ structure.incidence.T
    np.testing.assert_allclose(
        laplacian @ structure.laplacian_inverse @ laplacian, laplacian, atol=1e-12
    )
    differences = structure.incidence.T
    np.testing.assert_allclose(
        differences @ structure.differences_inverse @ differences, differences, atol=1e-12
    )


@pytest.mark.parametrize(
    ("lost", "led", "leader"),
    [((), (), 1), ((), (2,), 2), ((), (3,), 1), ((1,), (), 2), ((1, 2), (3,), 3), ((0, 1, 2, 3), (), 1)],
)  # fmt: skip
def test_of_those_nearest_the_centre_leads_who_has_led_else_the_first(lost, led, leader):
    assert Structure.of(chain(4), 0, lost, led).leader == leader
    assert [each.leader for each in structures(chain(4), range(4), lost, led)] == [leader]


def test_a_loop_may_miss_itself_by_a_micrometre():
    for gap, fits in ((0.9e-6, True), (1.1e-6, False)):
        crooked = {**square(), "d": ModuleJoint(2, 3, (SIZE, gap, 0.0))}
        if fits:
            assert len(Structure.of(crooked, 0).modules) == 4
        else:
            with pytest.raises(
                BadInput, match=r"a closed loop of joints misses itself by 1\.1e-06 m$"
            ):
                Structure.of(crooked, 0)


def test_a_wrench_is_moved_with_its_arm_from_the_new_point():
    moved = moved_to(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]), np.array([[0.5, 0.0, 0.0]]))
    np.testing.assert_allclose(moved, [[1.0, 2.0, 3.0, 4.0, 5.0 - 1.5, 6.0 + 1.0]])


def test_keys_of_modules_come_on_top_of_their_preset():
    assert modules_tree(None, "s") is None
    assert modules_tree({"rate": 3.0}, "s") == {"rate": 3.0}
    tree = modules_tree({"preset": "beatle", "rate": 3.0}, "s")
    assert tree["rate"] == 3.0 and tree["gain"] == 0.2 and "preset" not in tree
    with pytest.raises(BadInput, match=r"^s: key 'modules': a mapping is expected \(got 4\)$"):
        modules_tree(4, "s")


@pytest.mark.parametrize(
    ("compensation", "gain", "replaces"),
    [("default", 10.0, True), ("printed", 0.0, True), ("none", 0.0, False)],
)
def test_steering_acts_with_compensation_and_integrals_are_replaced_by_any(
    compensation, gain, replaces
):
    spec = spec_of(LINE, compensation=compensation)
    assert spec.steered.gain == gain and spec.replaces_integral is replaces
    assert spec.steered.limit == spec.steering.limit
