# SPDX-License-Identifier: BSD-3-Clause
"""Exponential and angles of loops over lanes, against numpy's and those of rotations."""

import numpy as np
import pytest
from numba import njit

from iap_description.math import so3
from iap_description.math.elementary import angle_of, exponential, turn_of, turn_vector
from iap_description.math.kernels import quat_at

CLOSE = 5e-16


@njit(error_model="numpy")
def exponentials(x, out):
    for i in range(len(x)):
        out[i] = exponential(x[i])


@njit(error_model="numpy")
def angles(sine, cosine, out):
    for i in range(len(sine)):
        out[i] = angle_of(sine[i], cosine[i])


def exponentials_of(*x):
    out = np.empty(np.size(x))
    exponentials(np.ravel(x).astype(float), out)
    return out


def test_exponential_is_numpys():
    x = np.concatenate([np.linspace(-707.9, 708.9, 200_001), -np.geomspace(1e-300, 1.0, 1000)])
    np.testing.assert_allclose(exponentials_of(x), np.exp(x), rtol=CLOSE, atol=0.0)


def test_exponential_at_its_ends():
    assert exponentials_of(0.0, -0.0, -708.1, -np.inf).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert np.all(exponentials_of(709.5, np.inf) == exponentials_of(709.0))
    assert np.isnan(exponentials_of(np.nan)).all()


def test_angle_is_numpys():
    rng, n = np.random.default_rng(0), 200_001
    angle, size = np.linspace(0.0, 0.5 * np.pi, n), 10.0 ** rng.uniform(-100.0, 100.0, n)
    sine, cosine, out = size * np.abs(np.sin(angle)), size * np.abs(np.cos(angle)), np.empty(n)
    angles(sine, cosine, out)
    np.testing.assert_allclose(out, np.arctan2(sine, cosine), rtol=CLOSE, atol=0.0)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 0.3, 1.0, 2.5, np.pi - 1e-9, 4.0])
def test_turn_of_a_quaternion(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    q = np.array([*np.sin(0.5 * angle) * axis, np.cos(0.5 * angle)])
    shorter = min(angle, 2.0 * np.pi - angle)
    assert turn_of(quat_at(q, 0)) == pytest.approx(shorter, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(turn_vector(quat_at(q, 0)), so3.quaternion_log(q), atol=1e-15)
