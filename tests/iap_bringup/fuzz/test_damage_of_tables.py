# SPDX-License-Identifier: BSD-3-Clause
"""Each damage to the rows of a table is what its name says, for any seed."""

from random import Random

import pytest

from iap_bringup.fuzz import table_damage

SEEDS = range(60)


def rows_of(count=30):
    return [[str(k), str(0.5 * k), str(2.0 * k)] for k in range(count)]


def damaged(name):
    """Rows after a damage, for every seed."""
    for seed in SEEDS:
        rows = rows_of()
        getattr(table_damage, name)(rows, Random(seed))
        yield rows


def differing(rows):
    """Places at which rows of the same number differ from sound ones."""
    sound = rows_of()
    assert len(rows) == len(sound)
    return [
        (i, j)
        for i, (a, b) in enumerate(zip(rows, sound, strict=True))
        for j, (x, y) in enumerate(zip(a, b, strict=True))
        if x != y
    ]


def test_rows_get_a_column_too_few_or_too_many_and_keep_the_others():
    widths = [{len(row) for row in rows} for rows in damaged("_width")]
    assert all(each <= {2, 3} or each <= {3, 4} for each in widths)
    assert any(2 in each for each in widths) and any(4 in each for each in widths)
    for rows in damaged("_width"):
        for row, sound in zip(rows, rows_of(), strict=True):
            kept = [cell for cell in row if cell in sound]
            assert len(kept) >= min(len(row), len(sound)) - 1


def test_a_cell_gets_another_word():
    places = [differing(rows) for rows in damaged("_cell")]
    assert {len(each) for each in places} <= {0, 1} and sum(map(len, places)) > 0.9 * len(SEEDS)


@pytest.mark.parametrize("name", ["_column", "_scale", "_shift", "_noise"])
def test_a_column_changes_in_a_stretch_of_rows(name):
    for rows in damaged(name):
        places = differing(rows)
        assert len({j for _, j in places}) <= 1


def test_a_scale_is_one_factor_and_a_shift_one_step():
    for name, of in (
        ("_scale", lambda a, b: a / b if b else None),
        ("_shift", lambda a, b: a - b),
    ):
        for rows in damaged(name):
            changes = {
                round(each, 6)
                for i, j in differing(rows)
                if j != 0
                and (each := of(float(rows[i][j]), float(rows_of()[i][j]))) is not None
                and abs(each) < 1e6
            }
            assert len(changes) <= 1


def test_rows_are_left_out_or_come_twice_as_they_are():
    sound = rows_of()
    for rows in damaged("_left_out"):
        assert len(rows) < len(sound) and [row for row in sound if row in rows] == rows
    for rows in damaged("_again"):
        assert len(sound) < len(rows) <= 2 * len(sound)
        assert all(row in sound for row in rows) and all(row in rows for row in sound)


def test_rows_come_in_another_order_and_columns_change_places():
    sound = rows_of()
    for rows in damaged("_order"):
        assert sorted(rows) == sorted(sound)
    assert any(rows == sound[::-1] for rows in damaged("_order"))
    for rows in damaged("_swap"):
        assert [sorted(row) for row in rows] == [sorted(row) for row in sound]
        assert len({tuple(row.index(cell) for cell in own) for row, own in
                    zip(rows[5:], sound[5:], strict=True)}) == 1  # fmt: skip
