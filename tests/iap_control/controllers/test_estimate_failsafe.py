# SPDX-License-Identifier: BSD-3-Clause
"""What makes an estimate count as lost, and what is tracked then."""

import numpy as np
import pytest

from iap_control.controllers.estimate_failsafe import EstimateFailsafe, Failsafe, reason_of
from iap_description.signals import EstimateHealth, Reference
from iap_description.states import REF_FIXED, REF_P, REF_V

SOUND = EstimateHealth(tracks=80, blind=0.0, deviation=0.02, age=0.1)
LIMITS = Failsafe(blind=2.0, deviation=0.5, silence=1.0, action="land", descent=0.5)
GIVEN = Reference(np.r_[4.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, np.zeros(REF_FIXED - 7), 0.3])
X = np.r_[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, np.zeros(6)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"blind": 2.1}, "nothing seen for 2.1 s"),
        ({"deviation": 0.7}, "uncertain by 0.70 m"),
        ({"deviation": float("nan")}, ""),
        ({"age": 1.5}, "no update for 1.5 s"),
    ],
)
def test_each_limit_has_its_reason(change, words):
    assert reason_of(SOUND._replace(**change), LIMITS) == words


def test_a_gap_in_the_states_is_a_loss_that_lasts_until_a_reset():
    failsafe = EstimateFailsafe(LIMITS)
    for t in (0.0, 0.005, 1.0):
        assert failsafe.reference(t, X, GIVEN) is GIVEN
    down = failsafe.reference(2.01, X, GIVEN)
    assert failsafe.text == "estimate lost at 2.01 s, no state for 1.0 s"
    assert down.row[REF_V] == pytest.approx([0.0, 0.0, -0.5])
    assert failsafe.reference(4.01, X, GIVEN).row[REF_P] == pytest.approx([1.0, 2.0, 2.0])
    failsafe.reset()
    assert failsafe.reference(0.0, X, GIVEN) is GIVEN
    assert not failsafe.text


def test_the_first_reason_stays():
    failsafe = EstimateFailsafe(LIMITS)
    assert not failsafe.judge(0.0, SOUND)
    assert failsafe.judge(1.0, SOUND._replace(blind=2.5))
    assert not failsafe.judge(2.0, SOUND._replace(deviation=0.9))
    assert failsafe.text == "estimate lost at 1.00 s, nothing seen for 2.5 s"
    assert failsafe.is_landing
