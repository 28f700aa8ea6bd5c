# SPDX-License-Identifier: BSD-3-Clause
"""Counts of tasks that touch, told period by period."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array


def flown(module: Any, counts: Any, rules: Any, *series: Sequence[Any]) -> tuple[Any, int]:  # noqa: ANN401
    """Counts of the second of two worlds after its periods, and its outcome; the first one stands still."""
    status = np.zeros(2, np.int64)
    for row in zip(*series, strict=True):
        both = [np.stack([np.zeros_like(each), each]) for each in map(np.asarray, row)]
        module.count(*both, status, rules, counts)
    return counts, int(counts.contact.outcome[1])


def results(measured: dict[str, Array]) -> dict[str, float]:
    """Results of the second world."""
    return {name: float(each[1]) for name, each in measured.items()}


def floats(values: Sequence[float]) -> list[float]:
    """Numbers as they are compiled for."""
    return [float(each) for each in values]
