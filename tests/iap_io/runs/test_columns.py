# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a run's columns come back as they were put."""

import numpy as np

from iap_description.signals import ArmRecord
from iap_io.runs.columns import ArmColumns


def test_rows_of_an_arm_come_back_as_they_were_put() -> None:
    columns, rng = ArmColumns.zeros(4, 3), np.random.default_rng(1)
    load = rng.normal(size=columns.load.shape[1])
    record = ArmRecord(*rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), load)
    columns.put(2, record)
    for found, put in zip(columns.record(2), record, strict=True):
        np.testing.assert_array_equal(found, put)
    assert not columns.q[[0, 1, 3]].any()
