# SPDX-License-Identifier: BSD-3-Clause
"""The passive decomposition of platforms with collinear joints, iap_simulator eqs. (12), (13)."""

import numpy as np
import pytest
from lines import LINES, every_line, split_of


@every_line
@pytest.mark.parametrize("com_coupling", [True, False])
def test_the_free_turn_and_the_rest_do_not_couple_through_the_inertia(line, com_coupling):
    model, split = split_of(line, com_coupling=com_coupling)
    coupling = split.Delta[:, 5] @ model.inertia.M @ split.Delta[:, :5]
    np.testing.assert_allclose(coupling, 0.0, atol=1e-12)


@every_line
def test_the_free_turn_leaves_every_joint_where_it_is(line):
    _, split = split_of(line)
    v, w = np.split(split.Delta[:, 5], 2)
    for joint in LINES[line].joints:
        np.testing.assert_allclose(v + np.cross(w, joint.position), 0.0, atol=1e-12)


@every_line
def test_thrusts_have_no_power_in_the_free_turn(line):
    model, split = split_of(line)
    np.testing.assert_allclose(split.Delta[:, 5] @ model.B, 0.0, atol=1e-12)


@every_line
def test_the_decomposition_preserves_power(line):
    _, split = split_of(line)
    rng = np.random.default_rng(1)
    for _ in range(10):
        xi, U = rng.normal(size=(2, 6))
        nu, u = split.Delta_inverse @ xi, split.Delta_T @ U
        assert u @ nu == pytest.approx(U @ xi, abs=1e-12)
        np.testing.assert_allclose(split.Omega_T @ u, U, atol=1e-12)
        np.testing.assert_allclose(split.Delta @ nu, xi, atol=1e-12)


@every_line
def test_kinetic_energy_is_the_sum_of_both_parts(line):
    model, split = split_of(line)
    M_u = split.Delta[:, 5] @ model.inertia.M @ split.Delta[:, 5]
    for xi in np.random.default_rng(2).normal(size=(10, 6)):
        nu = split.Delta_inverse @ xi
        parts = nu[:5] @ split.M_a @ nu[:5] + M_u * nu[5] ** 2
        assert parts == pytest.approx(xi @ model.inertia.M @ xi)
