# SPDX-License-Identifier: BSD-3-Clause
"""Rotations and matrices as tuples against the same on arrays, and the least squares made of them."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.math.kernels import mv
from iap_estimation.virpo.algebra import matrices as tuples

RNG = np.random.default_rng(0)
M, N = RNG.normal(size=(2, 3, 3))
A = RNG.normal(size=3)
SIZES = [0.0, 1e-9, 0.9e-4, 1.1e-4, 0.9e-3, 1.1e-3, 0.1, 1.0, 3.0]  # series end between them


def tup(a: np.ndarray) -> tuple:
    return tuple(a.ravel().tolist())


def arr(M: tuple) -> np.ndarray:
    return np.array(M).reshape(3, 3)


def turn(size: float) -> np.ndarray:
    return size * np.array([0.6, -0.48, 0.64])


def test_products():
    assert np.allclose(mv(tup(M), tup(A)), M @ A)
    assert np.allclose(tuples.mtv(tup(M), tup(A)), M.T @ A)
    assert np.allclose(arr(tuples.mm(tup(M), tup(N))), M @ N)
    assert np.allclose(arr(tuples.mtm(tup(M), tup(N))), M.T @ N)
    assert np.allclose(arr(tuples.ma(tup(M), tuples.ms(2.0, tup(N)))), M + 2.0 * N)
    assert np.allclose(arr(tuples.skew(tup(A))), so3.hat(A))
    assert np.allclose(arr(tuples.mskew(tup(M), tup(A))), M @ so3.hat(A))
    assert np.allclose(arr(tuples.transpose(tup(M))), M.T)
    assert np.allclose(arr(tuples.about_z(0.3)), so3.exp(np.array([0, 0, 0.3])))


def test_blocks():
    J = np.zeros((5, 6))
    tuples.put_block(J, 1, 2, tup(M), -2.0)
    assert np.allclose(J[1:4, 2:5], -2.0 * M) and np.count_nonzero(J) == 9
    assert np.allclose(arr(tuples.block(J, 1, 2)), -2.0 * M)
    assert np.allclose(arr(tuples.block(M, 0, 0)), M)


@pytest.mark.parametrize("size", SIZES)
def test_exponential(size):
    q = np.array(tuples.qexp(tup(turn(size))))
    assert np.allclose(q, so3.quaternion_exp(turn(size)), rtol=0.0, atol=1e-15)
    assert np.allclose(arr(tuples.matrix(tup(q))), so3.exp(turn(size)), rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("size", SIZES)
def test_jacobians_on_both_sides_of_their_series(size):
    """J_r by its integral: the mean of exp(-s a) over s from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    means = so3.exp(-0.5 * (nodes[:, None] + 1.0) * turn(size))
    expected = np.einsum("k,kij->ij", 0.5 * weights, means)
    ours = arr(tuples.right_jacobian(tup(turn(size))))
    inverse = arr(tuples.right_jacobian_inverse(tup(turn(size))))
    assert np.allclose(ours, expected, rtol=0.0, atol=1e-11)
    assert np.allclose(inverse @ expected, np.eye(3), rtol=0.0, atol=1e-11)
