# SPDX-License-Identifier: BSD-3-Clause
"""Small parts of engines by hand: joints that yield, forces of contacts, files of hulls, targets that are cut."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.math import so3
from iap_physics.engines.arm_motors import within_limits
from iap_physics.engines.mujoco.bond_forces import yields
from iap_physics.engines.mujoco.points import add_force, force_on_first
from iap_physics.engines.pybullet.objects import obj_text, stl_bytes
from iap_physics.propulsion.rotors import rotor_wrench, target_rpm

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def test_a_joint_yields_to_more_than_its_force_which_cuts_the_whole_wrench():
    wrench = np.array([3.0, 0.0, -4.0, 10.0, 0.0, 1.0])
    held = wrench.copy()
    assert not yields(held, 5.0) and (held == wrench).all()
    assert yields(held, 4.0)
    np.testing.assert_allclose(held, 0.8 * wrench)


def test_a_force_in_a_contacts_axes_acts_on_the_second_body_and_back_on_the_first():
    R = so3.exp(np.array([0.3, -0.2, 0.9]))
    f = np.array([2.0, -1.0, 0.5])
    np.testing.assert_allclose(force_on_first(f, R.ravel()), -(R.T @ f), atol=1e-12)
    force, place, center = (1.0, 2.0, 3.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    lever = np.cross(np.subtract(place, center), force)
    for is_first, sign in ((True, 1.0), (False, -1.0)):
        wrench = np.ones(6)
        add_force(force, is_first, place, center, wrench)
        np.testing.assert_allclose(wrench, 1.0 + sign * np.concatenate([force, lever]))


def test_a_binary_stl_has_its_triangles():
    data = stl_bytes(CORNERS, FACES)
    assert len(data) == 84 + 50 * 4 and int.from_bytes(data[80:84], "little") == 4
    rows = np.frombuffer(data[84:], [("normal", "<f4", 3), ("at", "<f4", (3, 3)), ("end", "<u2")])
    np.testing.assert_array_equal(rows["at"], CORNERS[FACES])


def test_an_obj_counts_vertices_from_one_through_all_pieces():
    lines = obj_text([(CORNERS, FACES), (CORNERS + 1.0, FACES[:1])]).splitlines()
    assert lines.count("o piece_0") == lines.count("o piece_1") == 1
    assert "v 0.0 2.0 0.0" in lines and "v 1.0 1.0 4.0" in lines
    assert [line for line in lines if line.startswith("f")] == [
        "f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4", "f 5 7 6"
    ]  # fmt: skip


def test_targets_of_joints_are_cut_to_travel_and_speeds_but_not_torques():
    limits = (np.array([-1.0, 0.0]), np.array([2.0, 0.5]))
    arm: Any = SimpleNamespace(
        record=SimpleNamespace(limits=limits, motor_speeds=np.array([3.0, 4.0]))
    )
    asked = np.array(
        [[[-9.0, 9.0], [-9.0, 9.0], [-9.0, 9.0]], [[1.0, 0.2], [2.0, -3.0], [0.0, 0.0]]]
    )
    kept = asked.copy()
    cut = within_limits(arm, asked)
    np.testing.assert_array_equal(cut[0], [[-1.0, 0.5], [-3.0, 4.0], [-9.0, 9.0]])
    np.testing.assert_array_equal(cut[1], asked[1])
    np.testing.assert_array_equal(asked, kept)


@pytest.mark.parametrize(
    ("command", "target"),
    [(-1.0, 0.0), (0.0, 0.0), (1.0, 100.0), (500.0, 500.0), (2000.0, 900.0)],
)
def test_a_rotor_turns_within_its_limits_or_is_off(command, target):
    assert target_rpm(command, 100.0, 900.0) == target


def test_four_thrusts_push_along_z_and_turn_by_their_torques():
    q = so3.quaternion_exp(np.array([0.4, 0.0, 0.0]))
    torques = np.array([[1.0, 0.0, -1.0, 0.0], [0.0, 2.0, 0.0, -2.0], [0.1, -0.1, 0.1, -0.1]])
    thrusts = np.array([4.0, 3.0, 2.0, 1.0])
    force, torque = rotor_wrench(tuple(thrusts), tuple(q), tuple(map(tuple, torques)))
    np.testing.assert_allclose(force, so3.rotate(q, np.array([0.0, 0.0, 10.0])), atol=1e-12)
    np.testing.assert_allclose(torque, so3.rotate(q, torques @ thrusts), atol=1e-12)
