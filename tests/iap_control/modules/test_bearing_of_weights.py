# SPDX-License-Identifier: BSD-3-Clause
"""Wrenches that modules bear for lost ones, against numbers that are worked out by hand."""

import numpy as np
import pytest
from support.module_joints import ARM, SIZE, chain, lift

from iap_control.modules.bearing import Lift, _bearing, _least_largest, shares
from iap_control.modules.exchange import mean_wrench
from iap_control.modules.feed_forward import increments
from iap_control.modules.joint_wrench import moved_to, potential
from iap_control.modules.structure import Structure


def test_the_largest_of_two_thrusts_is_least_in_the_norm_of_sixteen():
    """u1 + 2 u2 = 3: u2^15 = 2 u1^15, hence u1 = 3 / (1 + 2 * 2^(1/15))."""
    first = 3.0 / (1.0 + 2.0 * 2.0 ** (1.0 / 15.0))
    found = _least_largest(np.array([[1.0, 2.0]]), np.array([3.0]))
    np.testing.assert_allclose(found, [first, 2.0 ** (1.0 / 15.0) * first], rtol=1e-9)


def test_a_thrust_that_does_nothing_is_zero_and_no_division_by_it():
    np.testing.assert_allclose(
        _least_largest(np.array([[1.0, 0.0]]), np.array([3.0])), [3.0, 0.0], atol=1e-12
    )


def test_a_module_bears_the_wrench_of_a_common_twist_about_the_centre():
    """f = a + alpha x d and tau = rho^2 alpha about its CoM, so rho^2 alpha + d x f about the GCoS."""
    d, lever = np.array([0.3, -0.2, 0.5]), 0.4
    a, alpha = np.array([1.0, 2.0, -3.0]), np.array([0.7, -0.6, 0.9])
    force = a + np.cross(alpha, d)
    torque = lever**2 * alpha + np.cross(d, force)
    np.testing.assert_allclose(
        _bearing(d, lever) @ np.concatenate([a, alpha]), np.concatenate([force, torque])
    )


def test_of_unequal_weights_a_vertical_wrench_leaves_the_largest_thrust_least():
    """Sum and moment fix two of three thrusts u; the third follows from 2 u2^15 = u1^15 + u3^15."""
    weights = np.array([10.0, 20.0, 40.0])
    lifts = Lift.of(weights, [[(0.0, 0.1), (0.0, -0.1)]] * 3, [(1.0, 1.0, 1.0)] * 3)
    structure = Structure.of(chain(3), 0)
    wrench = np.array([0.0, 0.0, 30.0, 0.0, 0.0, 0.0])
    borne = shares(structure, wrench, lifts)
    u1, u2, u3 = 0.5 * (weights + borne[:, 2])
    assert u1 + u2 + u3 == pytest.approx(50.0)
    assert u3 - u1 == pytest.approx(15.0)
    assert 2.0 * u2**15 == pytest.approx(u1**15 + u3**15, rel=1e-6)
    np.testing.assert_allclose(borne[:, [0, 1, 3, 4, 5]], 0.0, atol=1e-9)


def test_a_level_wrench_is_borne_with_forces_rather_than_torques():
    """N about z: alpha = N / (3 rho^2 + 2 SIZE^2) of three in a chain, whose ends push with alpha SIZE."""
    structure, lever = Structure.of(chain(3), 0), lift(3).lever
    assert lever == pytest.approx(ARM)
    alpha = 2.0 / (3.0 * ARM**2 + 2.0 * SIZE**2)
    borne = shares(structure, np.array([3.0, 0.0, 0.0, 0.0, 0.0, 2.0]), lift(3))
    np.testing.assert_allclose(borne[:, 0], 1.0)
    np.testing.assert_allclose(borne[:, 1], [-alpha * SIZE, 0.0, alpha * SIZE], atol=1e-12)
    np.testing.assert_allclose(borne[:, 5], ARM**2 * alpha)
    np.testing.assert_allclose(borne[:, 2:5], 0.0, atol=1e-9)


def test_nobody_bears_anything_where_all_are_lost():
    structure = Structure.of(chain(3), 0, range(3))
    borne = shares(structure, np.ones(6), lift(3))
    assert borne.shape == (3, 6) and not borne.any()


def test_feed_forward_adds_nothing_where_those_that_obey_bear_a_lost_one_as_they_shall():
    """Of four, the second is lost; the others feel the forces of least norm that sum up to what it lacks."""
    structure = Structure.of(chain(4), 0, {1})
    lacks = np.array([3.0, -2.0, 0.0, 0.0, 0.0, 0.5])
    felt = -shares(structure, lacks, lift(4))
    about_gcos = moved_to(felt, structure.offsets_S).sum(axis=0)
    felt[1] = moved_to(-about_gcos[None], -structure.offsets_S[1:2])[0]
    y = potential(structure, felt)
    none = np.zeros((3, 6))
    np.testing.assert_allclose(increments(structure, y, none, ARM), 0.0, atol=1e-9)
    felt[0, 0] += 1.0
    felt[2, 0] -= 1.0
    changes = increments(structure, potential(structure, felt), none, ARM)
    assert np.abs(changes).max() > 0.1
    assert not changes[1].any() and not changes[structure.modules.index(structure.leader)].any()


def test_the_mean_of_no_wrenches_is_none():
    np.testing.assert_array_equal(mean_wrench([]), np.zeros(6))
    np.testing.assert_array_equal(
        mean_wrench([np.arange(6.0), np.ones(6)]), 0.5 + np.arange(6) / 2
    )
