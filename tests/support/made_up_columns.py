# SPDX-License-Identifier: BSD-3-Clause
"""Columns of vehicles whose numbers all differ, and empty records of their topics."""

import numpy as np
from made_up_flights import vehicle_meta

from iap_io.runs.columns import Columns

F450, STAR = vehicle_meta("f450", "one"), vehicle_meta("three_star", "star")
QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # turn about z
ESTIMATED = STAR.model_copy(update={"state_source": "vio"})
FEELS = STAR.model_copy(update={"feels": True})


def records(layout, count):
    """So many records of a layout, as its template."""
    return np.tile(layout.template, (count, 1)).view(layout.dtype)[:, 0]


def columns(vehicle, count=3):
    """Columns whose numbers all differ."""
    c = Columns.zeros(count, vehicle)
    c.k[:], c.t[:] = 7 + np.arange(count), 1.5 + 0.25 * np.arange(count)
    for i, part in enumerate(
        (c.x, c.reference, c.reference_wrench_P, c.wrench_P, c.aircraft, c.rpm, c.tilt)
    ):
        part[...] = 1000.0 * i + np.arange(part.size).reshape(part.shape)
    c.x[..., 3:7] = QUARTER
    c.level[:], c.mode[:] = 2, 3
    return c
