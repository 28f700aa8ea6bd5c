# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of bodies that nothing measures any more."""

import numpy as np
import pytest

from iap_estimation.virpo.drift.outputs import UNSEEN_RATE, forgotten
from iap_estimation.virpo.messages import Estimate

SPEED = 2.0  # [m/s]


def last(t: float) -> Estimate:
    """An exact estimate at rest."""
    q = np.array([0.0, 0.0, 0.0, 1.0])
    p, zero = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    return Estimate(t, p, q, zero, zero, zero, np.zeros((15, 15)))


@pytest.mark.parametrize(("t", "age"), [(7.0, 2.0), (5.0, 0.0), (4.0, 0.0)])
def test_it_stays_where_it_was_and_becomes_less_certain_with_its_age(t: float, age: float) -> None:
    """A measurement that comes late is of an earlier time, and makes nothing less certain."""
    found = forgotten(t, last(5.0), SPEED)
    np.testing.assert_array_equal(found.p_WB_W, [1.0, 2.0, 3.0])
    deviations = np.sqrt(np.diag(found.covariance[:9, :9]))
    expected = np.repeat([SPEED * age, UNSEEN_RATE * age, SPEED], 3)
    np.testing.assert_allclose(deviations, expected, rtol=1e-12)
    assert np.isnan(found.covariance[9:, 9:]).all()
