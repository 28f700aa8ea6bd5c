# SPDX-License-Identifier: BSD-3-Clause
"""Momenta of a platform about its CoM, and its inertia by the parallel axes, as textbooks have them."""

import numpy as np

from iap_description.math import so3
from iap_description.math.momentum import inertia_about_com, momentum_about_com


def test_momenta_are_those_of_the_com_and_of_the_inertia_about_it():
    rng = np.random.default_rng(2)
    q = so3.normalized(rng.normal(size=4))
    v, w = rng.normal(size=(2, 3))
    row = np.array([1.0, 2.0, 3.0, *q, *v, *w])
    mass, d_0 = 3.0, np.array([0.1, -0.2, 0.3])
    half = rng.normal(size=(3, 3))
    J_C = half @ half.T
    R = so3.matrix_from_quaternion(q)
    linear, angular = momentum_about_com(row, mass, d_0, J_C)
    np.testing.assert_allclose(linear, mass * (v + np.cross(w, R @ d_0)), atol=1e-12)
    np.testing.assert_allclose(angular, R @ J_C @ R.T @ w, atol=1e-12)


def test_the_inertia_about_the_com_is_less_by_that_of_a_point():
    mass, d_0 = 2.0, np.array([0.5, 0.0, 0.0])
    about_origin = np.diag([1.0, 2.0, 3.0])
    about_com = inertia_about_com(about_origin, mass, d_0)
    np.testing.assert_allclose(about_com, about_origin - np.diag([0.0, 0.5, 0.5]), atol=1e-12)
