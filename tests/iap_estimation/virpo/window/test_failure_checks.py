# SPDX-License-Identifier: BSD-3-Clause
"""What counts as a failure of an estimate, and what it said itself that it might err."""

import numpy as np
import pytest
from synthetic_fleet import fleet_of

from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.window.failure_checks import check
from iap_estimation.virpo.window.window import EstimateLost

LIMITS = load_settings().estimator.failure
FLEET = fleet_of(1)


def jump(size, doubt):
    predicted = np.zeros((1, 16))
    found = predicted.copy()
    found[0, 0] = size
    check(found, predicted, np.array([doubt]), FLEET, LIMITS)


def test_a_jump_of_an_estimate_that_is_sure_is_a_failure():
    jump(0.9 * LIMITS.jump, 0.01)
    with pytest.raises(EstimateLost, match="jump"):
        jump(1.1 * LIMITS.jump, 0.01)


def test_one_that_was_in_doubt_by_metres_may_come_back_by_as_many():
    jump(LIMITS.jump + 3.0, 1.4)
    with pytest.raises(EstimateLost, match="jump"):
        jump(LIMITS.jump + 7.0, 1.4)
    with pytest.raises(EstimateLost, match="jump"):
        jump(np.nan, 1.4)
