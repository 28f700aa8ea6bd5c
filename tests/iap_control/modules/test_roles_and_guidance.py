# SPDX-License-Identifier: BSD-3-Clause
"""Integrals of modules in their roles, and references of modules between instants."""

import numpy as np
import pytest
from flying import controller_of
from support.module_joints import SIZE, chain, told

from iap_control.modules.exchange import ModuleRole
from iap_control.modules.follower import RoleControl
from iap_control.modules.guidance import ModuleGuidance
from iap_control.modules.relative_pose import Setpoint
from iap_control.modules.structure import Structure, structures
from iap_description.math import so3

LEADER, FOLLOWER, SEPARATED = ModuleRole.LEADER, ModuleRole.FOLLOWER, ModuleRole.SEPARATED


@pytest.mark.parametrize(("replaces", "left"), [(True, 1.0), (False, 7.0)])
def test_a_follower_that_parts_has_its_integral_back_where_feed_forward_stood_in_for_it(
    replaces, left
):
    controller = controller_of("three_star")
    control, law = RoleControl.of("m1", controller, replaces=replaces), controller.law
    law.integral[:] = 1.0
    control.take(FOLLOWER, np.full(6, 0.5))
    assert law.integrates is not replaces
    assert controller.feed_forward_P.tolist() == [0.5] * 6
    law.integral[:] = 7.0
    control.take(FOLLOWER, np.zeros(6))
    control.take(SEPARATED, np.zeros(6))
    assert law.integrates
    np.testing.assert_array_equal(law.integral, left)


def test_a_leader_that_parts_keeps_what_it_has_added_up():
    controller = controller_of("three_star")
    control, law = RoleControl.of("m1", controller, replaces=True), controller.law
    control.take(LEADER, np.zeros(6))
    assert law.integrates
    law.integral[:] = 7.0
    control.take(SEPARATED, np.zeros(6))
    np.testing.assert_array_equal(law.integral, 7.0)


def test_roles_begin_anew_with_the_flight():
    controller = controller_of("three_star")
    control, law = RoleControl.of("m1", controller, replaces=True), controller.law
    control.take(FOLLOWER, np.zeros(6))
    law.integral[:] = 3.0
    control.reset()
    control.take(SEPARATED, np.zeros(6))
    np.testing.assert_array_equal(law.integral, 3.0)


PLACES = np.array([[SIZE * i, 0.0, 1.0] for i in range(3)])


def rows_of(guidance, t, nominal):
    out = np.zeros_like(nominal)
    guidance.put_rows(t, nominal, out)
    return out


def test_headings_of_references_are_the_modules_own():
    guidance, nominal = ModuleGuidance([Structure.of(chain(3), 0)], 3), told(0.0, PLACES).nominal
    nominal[:, 19] = 1.0, 2.0, 3.0
    assert rows_of(guidance, 0.0, nominal)[:, 19].tolist() == [1.0, 2.0, 3.0]


def test_a_guided_module_goes_on_with_the_velocity_of_its_setpoint_in_the_leaders_frame():
    guidance, nominal = ModuleGuidance(structures({}, range(2)), 2), told(0.0, PLACES[:2]).nominal
    q = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    setpoint = Setpoint(
        np.array([2.0, 0.0, 0.5]), np.array([-0.4, 0.1, 0.0]), np.array([0.0, 0.2, 0.0])
    )
    guidance.go(1, 3.0, np.array([1.0, 1.0, 1.0]), q, setpoint)
    row = rows_of(guidance, 3.1, nominal)[1]
    np.testing.assert_allclose(row[:3], [1.0 - 0.01, 3.0 - 0.04, 1.5])
    np.testing.assert_allclose(row[3:7], q)
    np.testing.assert_allclose(row[7:10], [-0.1, -0.4, 0.0], atol=1e-12)
    np.testing.assert_allclose(row[13:16], [-0.2, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(rows_of(guidance, 3.1, nominal)[0], nominal[0])


def test_a_module_that_stays_moves_on_as_its_own_reference_does_from_there():
    guidance, nominal = ModuleGuidance(structures({}, range(2)), 2), told(0.0, PLACES[:2]).nominal
    q = so3.quaternion_exp(np.array([0.0, 0.0, 0.4]))
    guidance.go(1, 0.0, np.zeros(3), q, Setpoint.at(np.ones(3)))
    guidance.stay(1, (np.array([5.0, 6.0, 7.0]), q), nominal[1])
    turned = so3.quaternion_exp(np.array([0.0, 0.0, 0.3]))
    nominal[1, :3] += [0.1, 0.2, 0.3]
    nominal[1, 3:7] = turned
    row = rows_of(guidance, 1.0, nominal)[1]
    np.testing.assert_allclose(row[:3], [5.1, 6.2, 7.3])
    np.testing.assert_allclose(row[3:7], so3.multiply(q, turned))


def test_a_structure_follows_the_module_that_it_is_anchored_by():
    structure = Structure.of(chain(3), 0)
    guidance, nominal = ModuleGuidance([structure], 3), told(0.0, PLACES).nominal
    assert [guidance.anchor_of(i) for i in range(3)] == [1, 1, 1]
    guidance.anchor(structure, 2)
    assert [guidance.anchor_of(i) for i in range(3)] == [2, 2, 2]
    nominal[2, :3] += [0.1, 0.2, 0.3]
    np.testing.assert_allclose(rows_of(guidance, 0.0, nominal)[:, :3], PLACES + [0.1, 0.2, 0.3])
    nominal[0, :3] += 9.0
    np.testing.assert_allclose(rows_of(guidance, 0.0, nominal)[:, :3], PLACES + [0.1, 0.2, 0.3])
    guidance.turns_S[:] = [0.0, 0.0, 0.5]
    rows = rows_of(guidance, 0.0, nominal)
    np.testing.assert_allclose(rows[:, 16:19], [[0.0, 0.0, 0.5]] * 3)
    np.testing.assert_allclose(rows[0, 13:16], [0.0, -0.5 * 2 * SIZE, 0.0], atol=1e-12)
