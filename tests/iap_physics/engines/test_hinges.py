# SPDX-License-Identifier: BSD-3-Clause
"""Objects on hinges in engines with contact: spring, damper, friction and stops, as the hinge's formula has them."""

import math

import numpy as np
import pytest
from contact_engines import NAMES

from iap_description.math import so3
from iap_description.states import Q, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.make import make_engine

MASS, SIZE = 20.0, (0.8, 0.04, 2.0)
INERTIA = MASS * ((SIZE[0] ** 2 + SIZE[1] ** 2) / 12.0 + 0.25 * SIZE[0] ** 2)  # about the hinge
QUADROTOR = Assembly.of(load_platform("f450"))
STEP, STEPS = 1e-3, 400


def turned(name, steps=STEPS, **hinge):
    """Angles and rates (steps,) of a leaf about its hinge, which begins at rest at angle 0."""
    leaf = {
        "type": "box",
        "position": [5.0, 0.0, 1.0],
        "rpy_deg": [0.0, 0.0, 30.0],
        "size": SIZE,
        "mass": MASS,
        "surface": {"friction": 0.4, "restitution": 0.0},
        "hinge": {"point": [-0.4, 0.0, 0.0], "limits_deg": [-90.0, 90.0], **hinge},
    }
    world = World.model_validate({"gravity": 0.0, "objects": {"leaf": leaf}})
    engine, rows = make_engine(name), []
    engine.load(world, [QUADROTOR])
    for _ in range(steps):
        engine.step(STEP)
        rows.append(engine.object_states()[0])
    engine.close()
    x, start = np.array(rows), world.objects["leaf"].q_WO
    turns = so3.quaternion_log(so3.multiply(so3.conjugate(start), x[:, Q]))
    assert np.abs(turns[:, :2]).max() < 1e-9 and np.abs(x[:, W][:, :2]).max() < 1e-9
    return turns[:, 2], x[:, W][:, 2]


@pytest.mark.parametrize("name", NAMES)
def test_a_leaf_swings_as_its_spring_and_damper_and_its_inertia_about_the_hinge_say(name):
    stiffness, damping, rest = 200.0, 10.0, 0.2
    angles, _ = turned(name, stiffness=stiffness, damping=damping, rest_deg=math.degrees(rest))
    t, decay = STEP * np.arange(1, STEPS + 1), damping / (2.0 * INERTIA)
    rate = math.sqrt(stiffness / INERTIA - decay**2)
    swing = np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
    np.testing.assert_allclose(angles, rest * (1.0 - swing), atol=0.006 * rest)  # half a step


@pytest.mark.parametrize("name", NAMES)
def test_friction_holds_up_to_its_torque_and_takes_it_from_what_is_above(name):
    rest, torque = 0.5, 200.0  # [rad], [N m] at the start
    spring = {"stiffness": torque / rest, "rest_deg": math.degrees(rest)}
    held, rates = turned(name, friction=1.01 * torque, **spring)
    assert np.abs(held).max() < 1e-5 and np.abs(rates).max() < 1e-4
    angles, _ = turned(name, friction=0.4 * torque, **spring)
    swing = 0.6 * rest  # about the angle at which spring and friction are in balance
    half = math.pi * math.sqrt(INERTIA / spring["stiffness"])
    arrival = round(half / STEP)
    t = STEP * np.arange(1, arrival + 1)
    np.testing.assert_allclose(
        angles[:arrival], swing * (1.0 - np.cos(math.pi * t / half)), atol=0.003
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_stop_ends_the_turn_where_it_is(name):
    angles, rates = turned(
        name, steps=600, limits_deg=[0.0, 10.0], stiffness=100.0, rest_deg=60.0, damping=5.0
    )
    assert np.rad2deg(angles.max()) == pytest.approx(10.0, abs=0.2)
    assert np.rad2deg(angles[-1]) == pytest.approx(10.0, abs=0.05) and abs(rates[-1]) < 0.01
