# SPDX-License-Identifier: BSD-3-Clause
"""References of worlds whose scenario is too long for a table, what is taken of an action, and whom actions are for."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import Command, Level, Mode
from iap_simulation.batch.references import References
from iap_simulation.batch.tracking import MixedActions
from iap_simulation.batch.worlds import Worlds


@pytest.fixture
def worlds():
    return Worlds.of("velocity_steps", 4)


def test_references_are_the_same_with_a_table_and_without(worlds):
    (tracking,) = worlds.trackings
    last = worlds.timeline.last
    instants = np.array([last // 2, 0, last + 7, last // 2])
    tabled = tracking.references(instants)
    rows, levels = tabled.rows.copy(), tabled.levels.copy()
    all_rows, which = tracking.reference_rows(instants)
    assert len(all_rows) == worlds.timeline.count and which.tolist() == [
        last // 2,
        0,
        last,
        last // 2,
    ]
    np.testing.assert_array_equal(all_rows[which], rows)
    tracking.table = None
    tracking.rows[:], tracking.levels[:] = np.nan, -1
    found = tracking.references(instants)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.levels, levels)
    assert not found.wrenches_P.any() and (levels == int(worlds.timeline.level(0))).all()
    each, which = tracking.reference_rows(instants)
    np.testing.assert_array_equal(each[which], rows)
    np.testing.assert_array_equal(rows[2], worlds.timeline.row(last))


def test_references_that_are_taken_are_copied_and_have_their_shapes(worlds):
    (tracking,) = worlds.trackings
    given = References.of(np.full(tracking.rows.shape, 2.0), Level.WRENCH, np.full((4, 6), 3.0))
    tracking.take(given)
    given.rows[:] = 9.0
    assert (tracking.rows == 2.0).all() and (tracking.levels == int(Level.WRENCH)).all()
    assert (tracking.wrenches_P == 3.0).all()
    with pytest.raises(
        BadInput, match=r"^references: 'wrenches_P' has shape \(4, 5\); \(4, 6\) is expected$"
    ):
        tracking.take(given._replace(wrenches_P=np.zeros((4, 5))))
    with pytest.raises(
        BadInput, match=r"^references: 'levels' has shape \(3,\); \(4,\) is expected$"
    ):
        tracking.take(given._replace(levels=np.zeros(3, int)))


@pytest.mark.parametrize(
    ("which", "why"),
    [
        ([0, 1, 1], r"which has shape \(3,\); \(4,\) is expected"),
        ([0.0, 1.0, 1.0, 0.0], "whole numbers are expected as which"),
        ([0, 2, 1, 0], "which goes from 0 to 2, and there are 2 actions from 0 on"),
        ([0, -1, 1, 0], "which goes from -1 to 1, and there are 2 actions from 0 on"),
    ],
)
def test_mixed_actions_are_numbered_world_by_world(which, why):
    action = Command.zeros(1, Mode.RPM)
    with pytest.raises(BadInput, match=f"^mixed actions: {why}$"):
        MixedActions((action, action), np.array(which)).checked(4)
    np.testing.assert_array_equal(
        MixedActions((action, action), np.array([0, 1, 1, 0])).checked(4), [0, 1, 1, 0]
    )


def test_mixed_actions_write_the_references_of_their_own_worlds_alone(worlds):
    (tracking,) = worlds.trackings
    rows = tracking.references(np.zeros(4, int)).rows.copy()
    first, second = (
        References.of(rows + each, Level.POSE, np.full((4, 6), each)) for each in (1.0, 2.0)
    )
    held = Command.zeros(3, Mode.RPM)
    mixed = MixedActions((first, held, second), np.array([0, 1, 2, 2]))
    own = tracking.references(np.zeros(4, int))
    inputs = worlds._inputs(0)
    commands = tracking.command_mixed(mixed, own, inputs, worlds.threads)
    assert commands[0][0] is held and commands[0][1].tolist() == [False, True, False, False]
    assert commands[1][1].tolist() == [True, False, True, True] and len(commands) == 2
    np.testing.assert_array_equal(own.rows, rows + np.array([[1.0], [0.0], [2.0], [2.0]]))
    np.testing.assert_array_equal(
        tracking.wrenches_P[[0, 2, 3]], np.array([[1.0], [2.0], [2.0]]) * np.ones(6)
    )
