# SPDX-License-Identifier: BSD-3-Clause
"""References of many worlds, each at a control instant of its own."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from iap_control.references import timeline_parts as parts
from iap_control.references.timeline import Timeline
from iap_description.states import REF_P, REF_Q, Level
from iap_simulation.batch import references
from iap_simulation.batch.references import ReferenceTable

DT = 0.01


def row(*position):
    whole = np.zeros(19)
    whole[REF_P], whole[REF_Q] = position, [0.0, 0.0, 0.0, 1.0]
    return whole


@pytest.fixture
def timeline():
    """An approach whose velocities are tracked, then one whose wrench is given, then poses."""
    corners = [row(0, 0, 1), row(1, 0, 1), row(1, 2, 1), row(0, 0, 3)]
    ways = pairwise(corners)
    levels = (Level.VELOCITY, Level.WRENCH, Level.POSE)
    made = tuple(
        replace(parts.approach_part("k", *way, 0.1, DT), level=level)
        for way, level in zip(ways, levels, strict=True)
    )
    return Timeline(made, 31, (0.0, 0.3), 0.0, DT)


def test_each_world_has_the_row_and_the_level_of_its_instant(timeline):
    table, instants = ReferenceTable.of(timeline), np.array([25, 0, 9, 10, 19, 20, 30])
    rows, levels = np.full((7, 19), np.nan), np.full(7, -1)
    table.look_up(instants, rows, levels)
    assert levels.tolist() == [0, 1, 1, 3, 3, 0, 0]
    np.testing.assert_array_equal(rows, [timeline.row(k) for k in instants.tolist()])


def test_behind_the_last_instant_the_last_row_holds(timeline):
    rows, levels = np.zeros((2, 19)), np.zeros(2, np.int64)
    ReferenceTable.of(timeline).look_up(np.array([31, 10**6]), rows, levels)
    np.testing.assert_array_equal(rows, np.tile(timeline.row(30), (2, 1)))


@pytest.mark.parametrize(("most", "kept"), [(30, False), (31, True)])
def test_too_many_instants_have_no_table(timeline, monkeypatch, most, kept):
    monkeypatch.setattr(references, "MAX_TABLE_INSTANTS", most)
    assert (ReferenceTable.of(timeline) is not None) == kept
