# SPDX-License-Identifier: BSD-3-Clause
"""Latches of doors and levers on their leaves, in engines with contact."""

import math

import numpy as np
import pytest
from contact_engines import NAMES

from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.make import is_installed, make_engine

SURFACE = {"friction": 0.4, "restitution": 0.0}
MASS, SIZE, LEVER_MASS, REACH = 20.0, (0.8, 0.04, 2.0), 1.5, 0.7  # of the lever from the hinge [m]
DOOR_INERTIA = MASS * ((SIZE[0] ** 2 + SIZE[1] ** 2) / 12.0 + 0.25 * SIZE[0] ** 2)
DOOR = {
    "type": "box",
    "position": [5.0, 0.0, 1.0],
    "size": SIZE,
    "mass": MASS,
    "surface": SURFACE,
    "hinge": {"point": [-0.4, 0.0, 0.0], "limits_deg": [0.0, 90.0]},
}
LEVER = {  # its axis is 0.7 m from the hinge, and its CoM on it
    "type": "box",
    "position": [5.3, -0.06, 1.0],
    "size": [0.12, 0.02, 0.02],
    "mass": LEVER_MASS,
    "surface": SURFACE,
    "hinge": {"axis": [0.0, 1.0, 0.0], "limits_deg": [0.0, 45.0], "carrier": "door"},
}
LATCH = {"lever": "lever", "release_deg": 30.0, "stiffness": 2.0e4, "strength": 150.0, "damping": 150.0}  # fmt: skip
QUADROTOR = Assembly.of(load_platform("f450"))
STEP = 1e-3
ENGINES = ("pybullet", "mujoco")


def flown(name, door, lever, steps=400):
    """Rows (steps, 2, 13) of a door and its lever, and their angles (steps, 2)."""
    objects = {
        "door": {**DOOR, "hinge": {**DOOR["hinge"], **door}},
        "lever": {**LEVER, "hinge": {**LEVER["hinge"], **lever}},
    }
    world = World.model_validate({"gravity": 0.0, "objects": objects})
    engine, rows = make_engine(name), []
    engine.load(world, [QUADROTOR])
    for _ in range(steps):
        engine.step(STEP)
        rows.append(engine.object_states().copy())
    engine.close()
    x = np.array(rows)
    on_door = so3.multiply(so3.conjugate(x[:, 0, Q]), x[:, 1, Q])
    turns = [so3.quaternion_log(x[:, 0, Q])[:, 2], so3.quaternion_log(on_door)[:, 1]]
    return x, np.array(turns).T


@pytest.mark.parametrize("name", NAMES)
def test_a_latch_holds_a_door_until_its_lever_has_turned_so_far(name):
    pull, lever = {"stiffness": 40.0, "rest_deg": 60.0}, {"stiffness": 0.5, "rest_deg": 45.0}
    _, angles = flown(name, {**pull, "latch": LATCH}, lever)
    (freed,) = np.nonzero(angles[:, 1] >= math.radians(30.0))
    held = angles[: freed[0], 0]
    assert freed[0] > 50 and 0.0 < held.max() < 2.0 * 40.0 * math.radians(60.0) / 2.0e4
    assert angles[-1, 0] > 0.1
    _, angles = flown(name, {**pull, "latch": LATCH}, {})
    assert angles[-1, 0] == pytest.approx(40.0 * math.radians(60.0) / 2.0e4, rel=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_a_latch_gives_way_beyond_its_strength_and_a_lever_that_turns_back_frees_nothing(name):
    pull = {"stiffness": 200.0, "rest_deg": 60.0}  # 209 N m, the latch holds 150
    _, angles = flown(name, {**pull, "latch": LATCH}, {})
    assert angles[-1, 0] > 0.2
    backwards = {"limits_deg": [-45.0, 45.0], "stiffness": 0.5, "rest_deg": -45.0}
    _, angles = flown(name, {"stiffness": 40.0, "rest_deg": 60.0, "latch": LATCH}, backwards)
    assert angles[-1, 1] < math.radians(-30.0) and angles[-1, 0] < 0.01


@pytest.mark.parametrize("name", NAMES)
def test_a_door_that_falls_shut_on_its_latch_stays_shut(name):
    limits = {"limits_deg": [-90.0, 0.0], "stiffness": 30.0, "rest_deg": 5.0, "damping": 20.0}
    _, angles = flown(name, {**limits, "latch": {**LATCH, "strength": 10.0}}, {}, steps=800)
    assert np.abs(angles[-1, 0]) < 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_a_lever_goes_with_its_leaf_and_adds_to_its_inertia(name):
    stiffness, rest = 200.0, 0.5
    sprung = {"stiffness": stiffness, "rest_deg": math.degrees(rest)}
    x, angles = flown(name, sprung, {"friction": 5.0})
    about = LEVER_MASS * ((0.12**2 + 0.02**2) / 12.0 + REACH**2 + 0.06**2)
    rate = math.sqrt(stiffness / (DOOR_INERTIA + about))
    t = STEP * np.arange(1, len(angles) + 1)
    np.testing.assert_allclose(angles[:, 0], rest * (1.0 - np.cos(rate * t)), atol=0.006 * rest)
    np.testing.assert_allclose(angles[:, 1], 0.0, atol=1e-4)
    way = so3.rotate(so3.conjugate(x[:, 0, Q]), x[:, 1, P] - x[:, 0, P])
    np.testing.assert_allclose(way, np.tile([0.3, -0.06, 0.0], (len(way), 1)), atol=1e-4)
    moved = (x[1:, 1, P] - x[:-1, 1, P]) / STEP  # engines integrate velocities first
    np.testing.assert_allclose(x[1:, 1, V], moved, atol=5e-3)
    np.testing.assert_allclose(x[:, 1, W], x[:, 0, W], atol=1e-3)


@pytest.mark.skipif(not all(map(is_installed, ENGINES)), reason="without one of the engines")
def test_engines_agree_on_a_door_whose_lever_swings():
    pull, lever = {"stiffness": 40.0, "rest_deg": 60.0}, {"stiffness": 0.5, "rest_deg": 45.0}
    both = [flown(name, {**pull, "latch": LATCH}, lever)[1][:, 0] for name in ENGINES]
    np.testing.assert_allclose(*both, atol=0.01)
