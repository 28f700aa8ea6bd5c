# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a run's columns come back as they were put."""

import re

import numpy as np
import pytest
from made_up_flights import vehicle_meta

from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.signals import ArmRecord
from iap_io.runs.column_messages import (
    LARGEST_WRENCH,
    _check_numbers,
    _sample_and_hold,
    recorded_rows,
    seconds,
    stamps_ns,
)
from iap_io.runs.columns import ArmColumns, Columns
from iap_io.wire.stamps import set_stamps


def test_rows_of_an_arm_come_back_as_they_were_put() -> None:
    columns, rng = ArmColumns.zeros(4, 3), np.random.default_rng(1)
    load = rng.normal(size=columns.load.shape[1])
    record = ArmRecord(*rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), load)
    columns.put(2, record)
    for found, put in zip(columns.record(2), record, strict=True):
        np.testing.assert_array_equal(found, put)
    assert not columns.q[[0, 1, 3]].any()


def rows_of(count: int = 4) -> Columns:
    """Columns of a platform that feels and is estimated."""
    meta = vehicle_meta("three_star").model_copy(
        update={"feels": True, "state_source": "vio", "tool_tip_P": (0.0, 0.0, 0.0)}
    )
    return Columns.zeros(count, meta)


@pytest.mark.parametrize(
    ("name", "column", "largest", "may_be_nan"),
    [
        ("reference", "reference", MAX_SI_NUMBER, False),
        ("rotor speed", "rpm", MAX_SI_NUMBER, False),
        ("rotor tilt", "tilt", MAX_SI_NUMBER, False),
        ("estimate", "estimated", MAX_SI_NUMBER, True),
        ("revised reference", "wrench_record.tracked", MAX_SI_NUMBER, False),
        ("wrench", "wrench_record.wrenches", LARGEST_WRENCH, True),
    ],
)
def test_numbers_that_no_flight_records_are_refused_by_what_they_are(
    name: str, column: str, largest: float, may_be_nan: bool
) -> None:
    for value, is_sound in (
        (largest, True), (-largest, True), (1.01 * largest, False), (-1.01 * largest, False),
        (np.inf, False), (np.nan, may_be_nan),
    ):  # fmt: skip
        columns = rows_of()
        owner, *rest = [columns, *(getattr(columns, c) for c in column.split(".")[:-1])][::-1]
        getattr(owner, column.split(".")[-1]).reshape(4, -1)[2, 1] = value
        if is_sound:
            _check_numbers(columns)
        else:
            with pytest.raises(
                ValueError, match=rf"^{name}: .* is beyond {re.escape(f'{largest:g}')}, or none"
            ):
                _check_numbers(columns)


@pytest.mark.parametrize(
    ("value", "count"), [(MAX_SI_NUMBER, 4), (1.01 * MAX_SI_NUMBER, 2), (np.nan, 2), (-np.inf, 2)]
)
def test_a_flight_that_diverges_ends_before_its_first_state_that_is_none(
    value: float, count: int
) -> None:
    columns = rows_of()
    columns.x[2:, 1, 5] = value
    assert recorded_rows(columns) == count


def test_stamps_are_whole_nanoseconds_and_the_nearest() -> None:
    assert stamps_ns(np.array([0.005, 1.4e-9, 1.6e-9])).tolist() == [5_000_000, 1, 2]
    assert seconds(np.array([5_000_000, 1])).tolist() == [0.005, 1e-9]


def test_the_last_message_is_held_and_the_first_stands_before_it() -> None:
    header = np.dtype([("stamp", [("sec", "i4"), ("nanosec", "u4")])])
    records = np.zeros(3, [("header", header), ("value", "f8")])
    set_stamps(records["header"], np.array([10, 20, 2_000_000_000]))
    records["value"] = [1.0, 2.0, 3.0]
    held = _sample_and_hold(records, np.array([5, 10, 19, 20, 21, 2_000_000_001]))
    assert held["value"].tolist() == [1.0, 1.0, 1.0, 2.0, 2.0, 3.0]
    assert _sample_and_hold(records, np.array([10, 20, 2_000_000_000])) is records
