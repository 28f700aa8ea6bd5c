# SPDX-License-Identifier: BSD-3-Clause
"""Effects of a coordinator's orders on references: no jumps, and nothing twice."""

from typing import Any

import numpy as np
import pytest
from support.module_joints import SIZE, WEIGHT, lift, spec_of, told

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import JointState, ModuleReports, ModuleRole
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3

PERIOD = 0.025  # of coordination [s]
BIAS = np.array([0.03, -0.02, 0.01])


def joint(leader: str, follower: str, **keys: Any) -> dict[str, Any]:
    """A joint along x."""
    return {"leader": leader, "face": "+x", "follower": follower, **keys}


def fleet(joints: dict[str, Any], count: int, **keys: Any) -> Coordinator:
    """A coordinator of modules m1, m2, and so on."""
    names = [f"m{i + 1}" for i in range(count)]
    return Coordinator(spec_of(joints, **keys), names, lift(count))


def references(coordinator: Coordinator, reports: ModuleReports) -> Array:
    """References of all modules at the time of reports."""
    rows = np.zeros_like(reports.nominal)
    coordinator.put_rows(reports.t, reports.nominal, rows)
    return rows


PAIR_APART = np.array([[0.0, 0.0, 1.0], [1.5, 0.2, 1.1]])
LINE = np.array([[SIZE * i, 0.0, 1.0] for i in range(3)])


def test_an_order_to_join_moves_no_reference_though_the_leader_is_off_its_own():
    """The follower begins where its reference is, as seen from where the leader is and not from its reference."""
    coordinator, now = fleet({"j": joint("m1", "m2")}, 2), told(0.0, PAIR_APART)
    now.nominal[:, 3:7] = so3.quaternion_exp(np.array([0.0, 0.0, 0.4]))
    now.shared[0, :3] += BIAS
    before = references(coordinator, now)
    coordinator.join("j", now)
    np.testing.assert_allclose(references(coordinator, now)[:, :3], before[:, :3], atol=1e-12)
    seen = coordinator.machines["j"].setpoint.p_LF_L
    way = PAIR_APART[1] - PAIR_APART[0] - BIAS
    turned = [
        np.cos(0.4) * way[0] + np.sin(0.4) * way[1],
        np.cos(0.4) * way[1] - np.sin(0.4) * way[0],
    ]
    np.testing.assert_allclose(seen, [*turned, way[2]], atol=1e-12)


def test_a_follower_leaves_its_own_reference_with_the_order_to_join():
    coordinator, now = fleet({"j": joint("m1", "m2")}, 2), told(0.0, PAIR_APART)
    coordinator.join("j", now)
    now.nominal[:, 1] += 5.0
    moved = references(coordinator, now)
    assert moved[0, 1] == pytest.approx(5.0)
    assert moved[1, 1] == pytest.approx(0.2)


def test_modules_that_are_joined_dock_by_the_module_whose_face_it_is():
    """m2, m3 and m4 hold together, led by m3; m2 is the one that docks onto m1."""
    joints = {"j": joint("m1", "m2"), "k": joint("m2", "m3", joined=True)}
    joints["l"] = joint("m3", "m4", joined=True)
    places = np.array([[0.0, 0.0, 1.0], *(LINE + [1.5, 0.0, 0.0])])
    coordinator, now = fleet(joints, 4), told(0.0, places)
    now.nominal[1, :3] += 0.3  # what m2 would track alone is elsewhere
    assert coordinator.roles[2] == ModuleRole.LEADER
    before = references(coordinator, now)
    coordinator.join("j", now)
    np.testing.assert_allclose(references(coordinator, now)[:, :3], before[:, :3], atol=1e-12)


def test_a_module_apart_flies_its_own_reference_wherever_it_is():
    coordinator, now = fleet({"j": joint("m1", "m2")}, 2), told(0.0, PAIR_APART)
    now.estimates[:, :3] += BIAS
    for t in (0.0, PERIOD, 2.0 * PERIOD):
        coordinator.update(now._replace(t=t))
    np.testing.assert_array_equal(references(coordinator, now), now.nominal)


def test_reports_of_one_instant_are_taken_once():
    """An order that finds them taken changes nothing in what structures turn by."""
    joints = {"j": joint("m1", "m2", joined=True), "k": joint("m2", "m3")}
    now = told(0.0, LINE + np.array([[0.0, 0, 0], [0, 0, 0], [1.0, 0, 0]]))
    later = told(PERIOD, now.nominal[:, :3])
    later.estimates[0, 3:7] = so3.quaternion_exp(np.array([0.0, 0.02, 0.0]))
    found = []
    for orders in (0, 3):
        coordinator = fleet(joints, 3)
        coordinator.update(now)
        for _ in range(orders):
            assert coordinator.abort("k", later, "it is apart, so nothing ends") == []
        coordinator.update(later)
        found.append(references(coordinator, later)[:, 16:19])
    np.testing.assert_array_equal(found[0], found[1])
    assert found[0][0, 1] < 0.0 and found[0][1, 1] < 0.0
    assert not found[0][2].any()


def test_an_emergency_before_any_coordination_leaves_modules_where_they_are():
    coordinator, now = fleet({"j": joint("m1", "m2", joined=True)}, 2), told(0.0, LINE[:2] + 3.0)
    before = references(coordinator, now)
    coordinator.abort("j", now, "a rotor stands still")
    np.testing.assert_allclose(references(coordinator, now)[:, :3], before[:, :3], atol=1e-12)


def test_of_two_that_part_both_stay_where_they_think_that_they_are():
    coordinator, now = fleet({"j": joint("m1", "m2", joined=True)}, 2), told(0.0, LINE[:2])
    now.estimates[0, :3] += BIAS
    now.estimates[1, :3] -= BIAS
    coordinator.abort("j", now, "a rotor stands still")
    np.testing.assert_allclose(references(coordinator, now)[0, :3], LINE[0] + BIAS, atol=1e-12)
    np.testing.assert_allclose(references(coordinator, now)[1, :3], LINE[1] - BIAS, atol=1e-12)


def test_a_module_without_motors_is_borne_by_those_that_are_left():
    joints = {"j": joint("m1", "m2", joined=True), "k": joint("m2", "m3", joined=True)}
    coordinator = fleet(joints, 3, faults=[{"module": "m2", "at": 1.0, "kind": "motors"}])
    coordinator.update(told(1.0, LINE))
    borne = coordinator.feed_forward.wrenches_P
    np.testing.assert_allclose(borne[[0, 2], 2], WEIGHT / 2)
    coordinator.abort("j", told(1.0, LINE), "one side opens")
    np.testing.assert_allclose(borne[:, 2], [0.0, 0.0, WEIGHT], atol=1e-9)


def test_who_has_led_leads_on_whatever_happens_to_others():
    """Of two equals the first would lead, had the other one not led three before."""
    joints = {"j": joint("m1", "m2", joined=True), "k": joint("m2", "m3", joined=True)}
    coordinator = fleet(joints, 3, lost_after=0.05)
    coordinator.update(told(1.0, LINE))
    coordinator.abort("k", told(1.0, LINE), "one side opens")
    roles = [ModuleRole.FOLLOWER, ModuleRole.LEADER, ModuleRole.SEPARATED]
    assert coordinator.roles == roles
    for t in (1.025, 1.05):
        coordinator.update(told(t, LINE, command_times=np.array([t, t, 1.0])))
    assert [loss.module for loss in coordinator.losses] == ["m3"]
    assert coordinator.roles == roles


def test_a_docking_goes_on_by_a_period_of_its_speed():
    """On its way a setpoint moves at most as fast as it may, 1/40 s in each update."""
    coordinator = fleet({"j": joint("m1", "m2")}, 2)
    places = np.array([[0.0, 0.0, 1.0], [9.0, 0.0, 1.0]])
    coordinator.join("j", told(0.0, places))
    machine = coordinator.machines["j"]
    x = []
    for k in range(200):
        coordinator.update(told(k * PERIOD, places))
        x.append(machine.setpoint.p_LF_L[0])
    assert machine.state == JointState.ALIGNMENT
    assert x[-2] - x[-1] == pytest.approx(PERIOD * coordinator.spec.machine.alignment.speed)


def test_a_joint_opens_while_no_other_one_is_on_its_way():
    joints = {"j": joint("m1", "m2", joined=True), "k": joint("m2", "m3", joined=True)}
    coordinator = fleet(joints, 3)
    coordinator.part("k", told(0.0, LINE))
    with pytest.raises(BadInput, match="^joint 'j': 'k' is in separation, one at a time$"):
        coordinator.part("j", told(0.0, LINE))


def test_a_state_of_a_joint_is_an_event_once_with_the_time_of_its_update():
    coordinator = fleet({"j": joint("m1", "m2")}, 2)
    coordinator.update(told(0.0, PAIR_APART))
    assert coordinator.events == []
    coordinator.join("j", told(PERIOD, PAIR_APART))
    for k in (1, 2, 3):
        coordinator.update(told(k * PERIOD, PAIR_APART))
    assert coordinator.events == [(PERIOD, "j", JointState.ALIGNMENT)]
