# SPDX-License-Identifier: BSD-3-Clause
"""Quaternions of single numbers, in doubles."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_physics.batch.load_store import unit


@pytest.mark.parametrize("seed", range(4))
def test_a_quaternion_that_single_precision_has_rounded_is_of_unit_length_and_turns_alike(seed):
    exact = so3.quaternion_exp(np.random.default_rng(seed).normal(size=3))
    rounded = exact.astype(np.float32)
    out = np.array(unit(tuple(rounded)))
    assert np.linalg.norm(out) == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(out, exact, atol=2e-7)
