# SPDX-License-Identifier: BSD-3-Clause
"""Wrenches that messages ask for."""

import numpy as np
from flying import model_of

from iap_control.responders.wrench_input import WrenchDemand
from iap_description.signals import ForceMode

NO_WRENCH = np.zeros(6)


def test_a_wrench_that_messages_ask_for_holds_until_they_fall_silent() -> None:
    """It is zero from then on, also where a new message has not come yet."""
    demand = WrenchDemand(
        model_of("three_star"), ForceMode.SELECTIVE, ("x",), timeout=0.5, name="iap"
    )
    wrench = np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    demand.take(1.0, wrench)
    task = demand.task(1.4, NO_WRENCH)
    assert task.mode == ForceMode.SELECTIVE
    np.testing.assert_array_equal(task.desired_P, wrench)
    task = demand.task(1.6, NO_WRENCH)
    assert task.mode == ForceMode.NONE
    np.testing.assert_array_equal(task.desired_P, NO_WRENCH)
