# SPDX-License-Identifier: BSD-3-Clause
"""Springs and dampers in hinges: frequency, decay, energy and statics, and a quadrotor whose arms give way."""

from dataclasses import replace

import numpy as np
import pytest
from contact_engines import NAMES
from flying import fly_scenario, model_of
from scipy.optimize import brentq
from turning_joints import assembly_of

from iap_bringup.experiments.convergence import invariants
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_motion import joint_coordinates
from iap_description.vehicles.platform import Platform, load_platform
from iap_description.world.world import World
from iap_physics.engines.joints import joined_rows
from iap_physics.engines.make import make_engine

WEIGHTLESS = World(gravity=0.0, ground=False)
ARM = load_platform("morphing").aircraft
LEVER = 0.1198  # of an arm's CoM from its hinge [m]
STIFFNESS, DAMPING, REST = 8.0, 0.03, np.deg2rad(3.22)
STEP = 5e-4


def angles_of(assembly: Assembly, x) -> np.ndarray:
    """(..., joints) angles at rows (..., bodies, 13)."""
    found = [
        joint_coordinates(j, x[..., j.parent, :], x[..., j.child, :])[0] for j in assembly.joints
    ]
    return np.concatenate(found, axis=-1)


def swung(name: str, assembly: Assembly, angle: float, steps: int) -> np.ndarray:
    """(steps + 1, bodies, 13) rows in free flight of arms that are all bent alike from where springs are slack."""
    base = np.zeros(13)
    base[2], base[6] = 2.0, 1.0
    rest = np.array([joint.q_PJ for joint in assembly.joints])
    bent = so3.quaternion_exp(np.array([0.0, REST + angle, 0.0]))
    engine = make_engine(name)
    engine.load(WEIGHTLESS, [assembly])
    engine.reset(joined_rows(assembly, base, so3.multiply(rest, bent))[None])
    rows = [engine.state()[0].copy()]
    for _ in range(steps):
        engine.step(STEP)
        rows.append(engine.state()[0].copy())
    engine.close()
    return np.array(rows)


def swinging_inertia() -> float:
    """About a hinge, of an arm of four that swing alike and lift the centre by their reaction [kg m^2]."""
    mass = Assembly.of(load_platform("morphing")).mass
    return ARM.inertia[1] + ARM.mass * LEVER**2 - 4.0 * (ARM.mass * LEVER) ** 2 / mass


@pytest.mark.parametrize("name", NAMES)
def test_a_free_oscillation_has_the_frequency_and_the_decay_of_its_spring_and_damper(name):
    assembly = assembly_of("morphing")
    off = angles_of(assembly, swung(name, assembly, 0.01, 800))[:, 0] - REST
    t = STEP * np.arange(len(off))
    decay = DAMPING / (2.0 * swinging_inertia())
    turn = np.sqrt(STIFFNESS / swinging_inertia() - decay**2)
    wanted = np.exp(-decay * t) * (np.cos(turn * t) + decay / turn * np.sin(turn * t))
    np.testing.assert_allclose(off / off[0], wanted, atol=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_a_spring_alone_keeps_the_energy(name):
    assembly = assembly_of("morphing")
    joints = tuple(replace(joint, viscous=0.0) for joint in assembly.joints)
    assembly = replace(assembly, joints=joints)
    x = swung(name, assembly, 0.1, 1000)
    off = angles_of(assembly, x) - REST
    np.testing.assert_allclose(off, off[:, :1] * np.ones(4), atol=1e-6)  # all swing alike
    kept = invariants(assembly, x)
    energy = kept.kinetic + 0.5 * STIFFNESS * np.square(off).sum(axis=1)
    # to first order in the step it swings about its mean, which stays
    np.testing.assert_allclose(energy, energy[0], rtol=0.03)
    assert energy[-200:].mean() == pytest.approx(energy[:200].mean(), rel=2e-3)
    assert np.abs(kept.linear - kept.linear[0]).max() < 5e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_arms_bend_in_hover_as_statics_say(name):
    slack = [f"platform.joints.{i}.spring.rest_deg=0.0" for i in range(4)]
    (flight,) = fly_scenario("hover", *slack, platform="morphing", engine=name, duration=4.0)
    weight = Assembly.of(load_platform("morphing")).mass * 9.80665
    reach = LEVER + ARM.rotors[0].position[0]

    def turning(q: float) -> float:
        lift = weight / 4.0 / np.cos(q)
        return -STIFFNESS * q - reach * lift + ARM.mass * 9.80665 * LEVER * np.cos(q)

    wanted = brentq(turning, -0.5, 0.5)
    found = angles_of(Assembly.of(load_platform("morphing")), flight.x[-200:])
    assert np.rad2deg(wanted) == pytest.approx(-3.2, abs=0.1)
    np.testing.assert_allclose(found, wanted, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_hovers_and_flies_with_arms_that_give_way(name):
    aside = ("draw.position=0.05", "draw.attitude_deg=3.0")
    (flight,) = fly_scenario("hover", *aside, platform="morphing", engine=name, duration=6.0)
    assert np.abs(flight.position_error[-200:]).max() < 5e-3
    assert np.abs(flight.x[-200:, 0, Q][:, :2]).max() < 2e-3
    assert np.abs(flight.x[-1, 0, P][2] - flight.reference[-1, 2]) < 2e-3


def test_its_controller_takes_arms_for_parts_of_one_body():
    model = model_of("morphing")
    assert model.actuation.name == "rigid"
    fixed = load_platform("morphing_fixed")
    np.testing.assert_allclose(model.inertia.J, Assembly.of(fixed).inertia, rtol=1e-12)


def test_springs_are_of_hinges():
    tree = load_platform("three_star").model_dump()
    tree["joints"][0]["spring"] = {"stiffness": 1.0, "rest_deg": 0.0}
    with pytest.raises(ValueError, match="key 'spring': a joint of type 'revolute' is expected"):
        Platform.model_validate(tree)
