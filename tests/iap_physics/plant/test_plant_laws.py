# SPDX-License-Identifier: BSD-3-Clause
"""Touchdowns, forces of contact, starts and the fail-safe of a plant, by numbers worked out by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from state_rows import plain, row

from iap_description.math import so3
from iap_physics.docking import contact as probe_contact
from iap_physics.engines import joints as engine_joints
from iap_physics.engines.mujoco import points as mujoco_points
from iap_physics.engines.mujoco.points import ContactPoints
from iap_physics.plant.touchdowns import Touchdown
from iap_physics.session import command_buffer


def test_a_touchdown_has_the_speed_before_it_the_mean_force_and_the_height_of_the_cut() -> None:
    one = Touchdown(clearance=0.2, hover=20.0, forces=np.zeros(4))

    def note(step: int, force: float, thrust: float, fall: float, height: float = 0.2) -> None:
        one.note(step, row([0.0, 0.0, height], v=[0.0, 0.0, -fall]), force, thrust, 3)

    note(0, 0.0, 20.0, 0.5)
    note(1, 40.0, 20.0, 0.1)
    assert (one.touch_speed, one.force) == (0.5, 10.0)
    note(2, 80.0, 20.0, 0.9)
    note(3, 0.0, 6.1, 0.9)
    note(4, 10.0, 6.1, 0.0)  # a bounce within three steps is no other touch
    assert (one.touch_speed, one.force, one.cut_height) == (0.5, 32.5, None)
    note(5, 10.0, 5.9, 0.01, height=0.25)
    assert one.cut_height == pytest.approx(0.05) and one.stands
    note(6, 10.0, 5.9, 0.021, height=0.2)
    assert one.cut_height == pytest.approx(0.05) and not one.stands
    for step in range(7, 10):
        note(step, 0.0, 5.9, 0.01)
    assert not one.stands
    note(10, 5.0, 20.0, 0.0)
    assert one.touch_speed == 0.5 and one.cut_height is None  # slower than the first
    assert one.record == {
        "touch_speed_mps": 0.5,
        "force_n": 32.5,
        "cut_height_m": None,
        "stands": False,
    }
    one.leave(row(v=[0.0, 0.0, -0.7]))
    assert one.flies and one.fall == 0.7 and not one.forces.any()
    one.clear()
    assert one.record["touch_speed_mps"] is None and not one.flies


def pushed(overlap: float, v: Any, friction: float = 0.5, mass: float = 2.0) -> np.ndarray:
    """Wrenches of a probe's touch from below, 0.1 m ahead of its CoM, on a socket that cannot yield."""
    inverse = SimpleNamespace(inverse_mass=1.0 / mass)
    mechanism: Any = SimpleNamespace(stiffness=1000.0, damping=10.0, friction=friction)
    spot: Any = SimpleNamespace(overlap=overlap, normal=(0.0, 0.0, 1.0), place=(0.1, 0.0, 0.0))
    out, mobility = np.zeros((2, 6)), probe_contact.mobility_at
    probe_contact.mobility_at = lambda x, place, n, m: m.inverse_mass  # type: ignore[assignment]
    try:
        still = SimpleNamespace(inverse_mass=0.0)
        assert plain(probe_contact._push)(
            row(v=v), row(), inverse, still, mechanism, 0.001, spot, out
        ) == (overlap > 0.0)
    finally:
        probe_contact.mobility_at = mobility
    return out


def test_a_touch_pushes_by_overlap_and_rate_and_rubs_within_its_cone() -> None:
    damper = 0.001 * 1000.0 + 10.0
    easing = 1.0 + 0.001 * damper / 2.0
    f = (1000.0 * 0.01 + damper * 0.2) / easing
    out = pushed(0.01, [0.0, 3.0, -0.2])
    np.testing.assert_allclose(out[0], [0.0, -0.5 * f, f, 0.0, -0.1 * f, -0.05 * f])
    np.testing.assert_allclose(out[1, :3], -out[0, :3])
    slow = pushed(0.01, [0.0, 1e-4, 0.0])
    assert slow[0, 1] == pytest.approx(
        -0.5 * 1e-4 / (0.001 / 2.0)
    )  # friction stops it within two steps, no more
    assert not pushed(0.0, [0.0, 0.0, -1.0]).any()
    assert not pushed(0.001, [0.0, 0.0, 1.0]).any()  # what parts is not pulled back


def test_contact_points_lie_on_the_first_body_and_push_both() -> None:
    points = ContactPoints(
        np.array([[1, 2], [0, 1], [3, 3]]), np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 0.0], [9.0, 9.0, 9.0]]),
        np.array([[0.0, 0.0, 1.0]] * 3), np.array([-0.2, 0.1, 0.0]),
        np.array([[0.0, 0.0, 5.0], [1.0, 0.0, 0.0], [7.0, 7.0, 7.0]]),
    )  # fmt: skip
    made: Any = SimpleNamespace(owners=np.array([-1, 0, 1, 0]), vehicles=np.array([-1, 0, 1, 0]))
    first, second, _ = points.listed(made)
    assert (first.body_a, first.body_b, first.distance) == (0, 1, -0.2)
    np.testing.assert_allclose(
        [first.position_W, second.position_W], [[1.0, 2.0, 2.9], [1.0, 0.0, 0.05]]
    )
    assert (first.normal_W, first.force_W) == ((0.0, 0.0, 1.0), (0.0, 0.0, 5.0))
    wrench = np.zeros(6)
    plain(mujoco_points._add_up)(
        points, made.vehicles, made.owners, 0, np.array([1.0, 1.0, 0.0]), wrench
    )
    np.testing.assert_allclose(wrench, [-1.0, 0.0, 5.0, 5.0, 0.0, -1.0])


def test_attitudes_of_a_start_are_made_units_unless_they_are_none() -> None:
    make_units = plain(engine_joints._make_units)
    x = np.zeros((1, 2, 13))
    x[..., 3:7] = so3.quaternion_exp(np.array([0.1, -0.4, 0.2]))
    x[0, 1, 3:7] *= 1.0 + 5e-7
    assert make_units(x, 1e-6)
    np.testing.assert_allclose(np.linalg.norm(x[..., 3:7], axis=-1), 1.0, atol=1e-15)
    x[0, 1, 3:7] *= 1.0 + 2e-6
    assert not make_units(x, 1e-6)


def test_the_tilt_of_a_joint_is_that_of_its_childs_axis() -> None:
    joint: Any = SimpleNamespace(q_PJ=so3.quaternion_exp(np.array([0.2, 0.0, 0.0])))
    parent = row(turn=[0.0, 0.3, 0.0])
    child = row()
    child[3:7] = so3.multiply(
        so3.multiply(parent[3:7], joint.q_PJ), so3.quaternion_exp(np.array([0.0, 0.7, 0.0]))
    )
    assert engine_joints.tilt_of(joint, parent, child) == pytest.approx(0.7)
    child[3:7] = so3.multiply(child[3:7], so3.quaternion_exp(np.array([0.0, 0.0, 1.0])))
    assert engine_joints.tilt_of(joint, parent, child) == pytest.approx(0.7)


def test_vectors_are_shortened_to_a_length_and_turns_lead_from_upright_to_them() -> None:
    np.testing.assert_allclose(
        command_buffer._shortened(np.array([[3.0, 4.0, 0.0], [0.3, 0.4, 0.0]]), 2.5),
        [[1.5, 2.0, 0.0], [0.3, 0.4, 0.0]],
    )
    f = np.array([[3.0, -1.0, 5.0], [0.0, 0.0, 2.0]])
    q = command_buffer._turns_to(f)
    np.testing.assert_allclose(
        so3.matrix_from_quaternion(q)[:, :, 2], f / np.linalg.norm(f, axis=1, keepdims=True)
    )
    np.testing.assert_allclose(q[:, 2], 0.0)
    line = command_buffer._line_through(
        np.array([[1.0, 0.0, 2.0], [2.0, 1.0, 2.0], [4.0, 3.0, 2.0]])
    )
    np.testing.assert_allclose(np.abs(line), [np.sqrt(0.5), np.sqrt(0.5), 0.0], atol=1e-12)
    for points in ([[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]):
        assert not command_buffer._line_through(np.array(points)).any()
