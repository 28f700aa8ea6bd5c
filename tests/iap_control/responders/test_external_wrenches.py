# SPDX-License-Identifier: BSD-3-Clause
"""Wrenches that modules tell: which count at an instant, and whose are waited for."""

import numpy as np

from iap_control.responders.external_wrenches import TIMEOUT, ExternalWrenches

PERIOD = 5_000_000  # [ns]


def test_those_that_were_overtaken_are_late_until_they_tell_in_time() -> None:
    felt = ExternalWrenches(2)
    assert felt.late(0) == []  # all are waited for at first
    felt.take(0, 0, np.ones(6))
    assert felt.late(PERIOD) == [1]
    assert felt.late(PERIOD) == []  # once an instant
    felt.take(1, PERIOD, np.ones(6))
    assert felt.late(2 * PERIOD) == [0]


def test_what_was_told_before_an_instant_counts_there_for_a_while() -> None:
    felt = ExternalWrenches(2)
    np.testing.assert_array_equal(felt.before(0, ()), np.zeros((2, 6)))
    felt.take(0, PERIOD, np.full(6, 1.0))
    felt.take(0, 2 * PERIOD, np.full(6, 2.0))
    felt.take(0, 2 * PERIOD, np.full(6, 9.0))  # the same again
    assert felt.before(2 * PERIOD, ())[0, 0] == 1.0
    assert felt.before(2 * PERIOD + TIMEOUT, ())[0, 0] == 2.0
    late = felt.before(3 * PERIOD + TIMEOUT, {1})
    assert np.isnan(late[0]).all()
    np.testing.assert_array_equal(late[1], 0.0)  # lost: its last one stands


def test_a_new_flight_keeps_what_has_come_of_it() -> None:
    felt = ExternalWrenches(2)
    felt.late(0)
    felt.late(100 * PERIOD)
    felt.take(0, 100 * PERIOD, np.ones(6))
    felt.take(1, 0, np.full(6, 3.0))  # told before the reset was noticed
    felt.begin()
    assert felt.late(0) == []
    felt.take(0, 0, np.full(6, 4.0))
    np.testing.assert_array_equal(felt.before(0, ()), 0.0)
    assert felt.late(PERIOD) == []
    assert felt.before(PERIOD, ())[:, 0].tolist() == [4.0, 3.0]
