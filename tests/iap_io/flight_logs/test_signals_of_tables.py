# SPDX-License-Identifier: BSD-3-Clause
"""Signals out of tables of logs: which rows count."""

import warnings

import numpy as np
import pytest

from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.log_tables import LogField, LogTable, signals_of

T = np.arange(4.0)


def test_numbers_that_no_quaternion_has_are_left_out_without_a_word_of_numpy():
    columns = {f"q[{k}]": np.array([0.0, 0.0, 1e300, 0.0]) for k in range(1, 4)}
    columns["q[0]"] = np.array([1.0, -1.0, 1e300, 1.0])
    tables = {"A": [LogTable("A", T, columns)]}
    field = LogField(names.ATTITUDE, "A", tuple(f"q[{k}]" for k in range(4)), form="number")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        signals, _ = signals_of(tables, [field])
    assert signals[names.ATTITUDE].t.tolist() == [0.0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("first", "last", "kept"), [(-60.0, 260.0, 4), (-60.1, 260.0, 3), (-60.0, 260.1, 3)]
)
def test_changes_of_state_are_within_a_minute_of_all_that_is_measured(first, last, kept):
    """Voltages are measured from 0 to 200 s, temperatures of nothing: the state may change from -60 to 260 s."""
    tables = {
        "V": [LogTable("V", np.array([0.0, 150.0, 200.0]), {"v": np.array([11.0, 12.0, 11.5])})],
        "S": [LogTable("S", np.array([first, 10.0, 20.0, last]), {"on": np.arange(4.0)})],
    }
    fields = [LogField(names.VOLTAGE, "V", ("v",)), LogField(names.ARMED, "S", ("on",))]
    signals, notes = signals_of(tables, fields)
    assert len(signals[names.ARMED].t) == kept
    left_out = ["armed: 1 stray time stamps left out"] if kept < 4 else []
    assert [note for note in notes if "stray" in note] == left_out
