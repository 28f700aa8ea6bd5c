# SPDX-License-Identifier: BSD-3-Clause
"""The study of modules flies what the tables of the paper have, and sets errors beside them."""

from io import StringIO

import pytest
from rich.console import Console

from iap_bringup.experiments.modules.cases import SEEDS, cases, errors_of, published
from iap_bringup.experiments.modules.study import fly_all, table
from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.sweeps.flying import fly
from iap_simulation.sweeps.process_pool import FinishedWork


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
            len(scenario_of(c.flights[0].tree, "").vehicles): c.published
            for c in wanted
            if c.scenario == scenario and c.published
        }
        assert beside == rows
    (white, assembly) = (case for case in wanted if case.scenario == "module_assembly")
    assert "white noise" in white.label
    assert assembly.published == paper.assembly
    flights = [flight for case in wanted for flight in case.flights]
    assert len({flight.name for flight in flights}) == len(flights)
    assert len({case.name for case in wanted}) == len(wanted)


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


class Pool:
    """Flies nothing: the row of a flight is its seed; breaks off after so many."""

    retried = 0

    def __init__(self, most):
        self.left = most

    def map(self, do, pieces):
        for chunk in pieces:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield FinishedWork(chunk, [{"seed": chunk.seeds[0], "outcome": "", "failure": ""}])


def test_flights_that_a_folder_has_are_not_flown_again(tmp_path):
    two, progress = cases()[:2], []
    with pytest.raises(KeyboardInterrupt):
        fly_all(two, tmp_path / "out", progress.append, Pool(4))
    results = fly_all(two, tmp_path / "out", progress.append, Pool(2))
    assert {name: [row["seed"] for row in rows] for name, rows in results.items()} == {
        case.name: list(SEEDS) for case in two
    }
    assert progress[0] == "0 of 6"
    assert progress[-3:] == ["4 of 6", "5 of 6", "6 of 6"]


def test_a_folder_of_flights_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="--out .*file: cannot be made"):
        fly_all([], tmp_path / "file", lambda _: None)


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
    found = errors_of(case, fly(case.flights[0]))
    assert found is not None
    assert all(own < paper for own, paper in zip(found, case.published, strict=True))
