# SPDX-License-Identifier: BSD-3-Clause
"""What really flies over what its file says: masses, inertias, CoM, drag and rotors."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.propulsion.deviation import NO_DEVIATION, Deviation
from iap_physics.propulsion.propulsion import Airframe
from iap_physics.propulsion.rotors import RotorParameters

STAR = load_platform("three_star")
NOMINAL = Assembly.of(STAR)


def test_masses_bring_their_inertias_along():
    heavier = Deviation(mass=1.1).assembly(NOMINAL)
    assert heavier.mass == pytest.approx(1.1 * NOMINAL.mass)
    np.testing.assert_allclose(heavier.inertia, 1.1 * NOMINAL.inertia)
    np.testing.assert_allclose(heavier.d_0, NOMINAL.d_0, atol=1e-15)


def test_inertias_can_be_larger_by_themselves():
    slower = Deviation(inertia=1.3).assembly(NOMINAL)
    assert slower.mass == NOMINAL.mass
    for body, nominal in zip(slower.bodies, NOMINAL.bodies, strict=True):
        np.testing.assert_allclose(body.inertia, 1.3 * nominal.inertia)


def test_a_com_elsewhere_leaves_joints_and_mounts_where_they_are_in_space():
    by = np.array([0.01, -0.02, 0.03])
    moved = Deviation(com=tuple(by)).assembly(NOMINAL)
    for joint, nominal in zip(moved.joints, NOMINAL.joints, strict=True):
        np.testing.assert_allclose(joint.p_PJ_P + by, nominal.p_PJ_P)
    np.testing.assert_allclose(moved.p_FP_F, by)
    # the aircraft have moved against the CoM of the centre, and the common CoM with them
    masses = np.array([body.mass for body in NOMINAL.bodies])
    share = masses[1:].sum() / masses.sum()
    np.testing.assert_allclose(moved.d_0, NOMINAL.d_0 - share * by)


def test_inertia_about_the_common_com_follows_the_parallel_axes():
    by = np.array([0.0, 0.0, 0.05])
    moved = Deviation(com=tuple(by)).assembly(NOMINAL)

    def about_com(assembly):
        d = so3.hat(assembly.d_0)
        return assembly.inertia + assembly.mass * d @ d

    center, others = NOMINAL.bodies[0].mass, NOMINAL.mass - NOMINAL.bodies[0].mass
    points = NOMINAL.p_PF_P[1:]  # all at one height above the centre's CoM
    before, after = points[0, 2], points[0, 2] - by[2]
    gained = center * others / NOMINAL.mass * (after**2 - before**2)
    difference = about_com(moved) - about_com(NOMINAL)
    np.testing.assert_allclose(difference, np.diag([gained, gained, 0.0]), atol=1e-12)


def test_rotors_of_each_aircraft_deviate_and_their_autopilot_does_not_know():
    deviation = Deviation(thrust=(0.9, 1.0, 1.1), rotor_lag=(2.0, 1.0, 0.5))
    airframe = Airframe(NOMINAL, STAR.fleet, None, deviation)
    nominal = RotorParameters.of(STAR.aircraft, 1)
    for rotors, thrust, lag in zip(
        airframe.rotors([1, 2, 3]), deviation.thrust, deviation.rotor_lag, strict=True
    ):
        assert rotors.thrust_coefficient == thrust * nominal.thrust_coefficient
        assert rotors.time_constant_up == lag * nominal.time_constant_up
        assert rotors.time_constant_down == lag * nominal.time_constant_down
    assert airframe.fleet == STAR.fleet


def test_without_a_deviation_every_number_stays_the_same():
    same = NO_DEVIATION.assembly(NOMINAL)
    for body, nominal in zip(same.bodies, NOMINAL.bodies, strict=True):
        assert (body.mass, body.drag) == (nominal.mass, nominal.drag)
        np.testing.assert_array_equal(body.inertia, nominal.inertia)
    assert same.joints == NOMINAL.joints
