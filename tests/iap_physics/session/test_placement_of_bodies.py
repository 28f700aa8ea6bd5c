# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles that are put elsewhere while time stands still: why they cannot be, and where their bodies are then."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_physics.session.placement import moved, obstacle_to_placement

CARRY = "vehicles that latch or carry something cannot be put elsewhere"


def session_of(**changes):
    spec = {
        "latches": {},
        "modules": None,
        "gripper": None,
        "identified": None,
        "objects": {},
        "arm": None,
        **changes,
    }
    vehicle = SimpleNamespace(platform=SimpleNamespace(arm=spec["arm"]))
    world = SimpleNamespace(objects=spec["objects"])
    of_spec = {key: spec[key] for key in ("latches", "modules", "gripper", "identified")}
    return SimpleNamespace(
        is_broken=spec.get("is_broken", False), failure="it fell",
        spec=SimpleNamespace(**of_spec, world=world, vehicles=[vehicle]),
    )  # fmt: skip


def thing(mass=None, motion=None):
    return SimpleNamespace(mass=mass, motion=motion)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"objects": {"wall": thing()}}, ""),
        ({"is_broken": True}, "the flight is over: it fell"),
        ({"latches": {"a": 1}}, CARRY),
        ({"modules": 1}, CARRY),
        ({"gripper": 1}, CARRY),
        ({"identified": 1}, "an identified plant cannot be put elsewhere"),
        ({"objects": {"wall": thing(), "box": thing(mass=1.0)}}, "not beside objects that move"),
        ({"objects": {"gate": thing(motion="sine")}}, "not beside objects that move"),
        ({"arm": 1}, "vehicles with an arm cannot be put elsewhere"),
    ],
)
def test_vehicles_are_put_elsewhere_where_nothing_hangs_on_where_they_are(changes, reason):
    assert obstacle_to_placement(session_of(**changes)) == reason


def rows():
    x = np.random.default_rng(2).normal(size=(3, 13))
    x[:, Q] = so3.normalized(x[:, Q])
    return x


def test_bodies_turn_with_the_central_one_and_their_velocities_with_them():
    x = rows()
    pose = np.array([1.0, 2.0, 3.0, *so3.quaternion_exp(np.array([0.3, -0.8, 0.5]))])
    out = moved(x, pose, None)
    np.testing.assert_allclose(out[0, :7], pose, atol=1e-12)
    R = so3.matrix_from_quaternion(so3.multiply(pose[3:], so3.conjugate(x[0, Q])))
    for i in range(3):
        np.testing.assert_allclose(out[i, P] - pose[:3], R @ (x[i, P] - x[0, P]), atol=1e-12)
        np.testing.assert_allclose(out[i, V], R @ x[i, V], atol=1e-12)
        np.testing.assert_allclose(out[i, W], R @ x[i, W], atol=1e-12)
        own, there = (so3.matrix_from_quaternion(each[i, Q]) for each in (x, out))
        np.testing.assert_allclose(there, R @ own, atol=1e-12)


def test_a_twist_is_that_of_one_rigid_body():
    x, twist = rows(), np.array([0.1, 0.2, 0.3, 0.5, -0.4, 0.8])
    out = moved(x, None, twist)
    np.testing.assert_array_equal(out[:, :7], x[:, :7])
    for i in range(3):
        expected = twist[:3] + np.cross(twist[3:], x[i, P] - x[0, P])
        np.testing.assert_allclose(out[i, V], expected, atol=1e-12)
        np.testing.assert_array_equal(out[i, W], twist[3:])
    np.testing.assert_array_equal(moved(x, None, None), x)
