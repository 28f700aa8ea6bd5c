# SPDX-License-Identifier: BSD-3-Clause
"""The study of modules flies what the tables of the paper have, and sets errors beside them."""

from io import StringIO

import pytest
from rich.console import Console

from iap_bringup.experiments.modules.cases import SEEDS, cases, errors_of, published
from iap_bringup.experiments.modules.study import table
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.sweeps.flying import fly


def row(errors, outcome="completed"):
    modules = {
        "rmse": errors,
        "rmse_steady": errors,
        "joint_force_n": 0.25,
        "joint_torque_nm": 0.5,
    }
    return {"outcome": outcome, "modules": modules}


def test_every_row_of_the_tables_is_flown_with_as_many_modules():
    paper, wanted = published(), cases()
    for scenario, rows in (("module_hover", paper.hover), ("module_lemniscate", paper.lemniscate)):
        beside = {
            len(scenario_of(c.chunk.tree, "").vehicles): c.published
            for c in wanted
            if c.scenario == scenario and c.published
        }
        assert beside == rows
    (white, assembly) = (case for case in wanted if case.scenario == "module_assembly")
    assert "white noise" in white.label
    assert assembly.published == paper.assembly
    assert len({case.chunk.name for case in wanted}) == len(wanted)


@pytest.mark.parametrize(("n", "central"), [(1, "m1"), (2, "m1"), (4, "m2"), (8, "m4")])
def test_the_module_nearest_the_centre_counts(n, central):
    (case,) = (
        case for case in cases() if case.label == f"n = {n}" and case.scenario == "module_hover"
    )
    assert case.module == central


def test_errors_are_the_largest_of_all_seeds_and_none_of_flights_that_failed():
    hover, assembly = cases()[1], cases()[-1]
    rows = [
        row({"m1": [1, 5, 1, 1, 1, 1], "m2": [9] * 6}),
        row({"m1": [2, 1, 1, 1, 1, 7], "m2": [3] * 6}),
    ]
    assert errors_of(hover, rows) == [2, 5, 1, 1, 1, 7]
    assert errors_of(assembly, rows) == [9] * 6
    assert errors_of(hover, [*rows, row({}, "crashed")]) is None


def test_a_table_has_errors_beside_what_is_published():
    hover = cases()[0]
    text = StringIO()
    rows = [row({"m1": [1.5e-3] * 6})] * len(SEEDS)
    Console(file=text, width=200).print(table("TABLE", [hover], [rows]))
    assert "1.5 (3.8)" in text.getvalue()
    assert "0.250" in text.getvalue()
    assert "3 of 3" in text.getvalue()


@pytest.mark.slow
def test_one_module_hovers_better_than_published():
    case = cases()[0]._replace(seeds=SEEDS[:1])
    found = errors_of(case, fly(case.chunk))
    assert found is not None
    assert all(own < paper for own, paper in zip(found, case.published, strict=True))
