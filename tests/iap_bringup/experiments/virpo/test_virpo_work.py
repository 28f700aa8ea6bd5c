# SPDX-License-Identifier: BSD-3-Clause
"""Runs and files of studies of localisation, on made-up flights and figures."""

import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.experiments.virpo import runs, units, zed
from iap_bringup.experiments.virpo import study as studies
from iap_bringup.experiments.virpo.cases import (
    PILOTED,
    SEQUENCES,
    SIZES,
    _piloted,
    _with_recording,
    study,
)
from iap_bringup.experiments.virpo.runs import CaseResults
from iap_bringup.experiments.virpo.scores import (
    EstimateKey,
    FailedEstimate,
    Ranking,
    SeedMean,
    TableCell,
    Tables,
    TrajectoryScore,
)
from iap_bringup.experiments.virpo.sequences import TABLE_II, size_ranking, sizes
from iap_bringup.experiments.virpo.tables import _with_noise
from iap_bringup.experiments.virpo.units import CENTRE_DEG, MAX_NEES, WINDOWS, _with_bar
from iap_description.errors import BadInput

REACHED = TableCell("t_1", "a_row", "virpo", 0.5, 0.01, 3, 0, bar=1.0)
MISSED = TableCell("t_1", "a_row", "joint", 2.0, 0.01, 3, 0, bar=1.0)
FREE = TableCell("t_1", "b_row", "vio", 3.0, 0.01, 3, 0)


def said_by(show, *content, width=100):
    """Lines that are shown on a pipe."""
    console = Console(file=io.StringIO(), width=width, markup=False)
    show(console, *content)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def score(error):
    """A score of one error everywhere."""
    return TrajectoryScore(error, error, 0.0, (0.0, error, error, error, error), 0.1)


def test_only_what_has_a_bar_is_counted_and_rows_are_words():
    order = Ranking("t_1", "SIAP", (("a", 0.1), ("b", 0.2)), (("a", 0.2), ("b", 0.3)), 0.0)
    made = Tables((REACHED, MISSED, FREE), (order, order))
    lines = said_by(studies.show_tables, made)
    assert lines[-1] == "1 of 2 bars reached"
    assert any("│ a row" in line for line in lines) and not any("a_row" in line for line in lines)
    assert sum(line.startswith("t_1, SIAP: ") for line in lines) == 2


def test_a_ranking_names_the_published_one_where_there_is_one_and_why_it_differs():
    here, there = (("a", 0.1), ("b", 0.2)), (("a", 0.4), ("b", 0.3))
    plain = studies._ranks(Ranking("t", "g", here, (), 0.0))
    assert plain == "b 0.200 > a 0.100; a 0.100, b 0.200"
    differing = studies._ranks(Ranking(TABLE_II, "g", here, there, 0.0))
    assert "; published a 0.400 > b 0.300; a 0.100, b 0.200" in differing and differing.endswith(
        f"({studies.WHY_NOT[TABLE_II]})"
    )
    other = studies._ranks(Ranking("t", "g", here, there, 0.0))
    assert "; published a 0.400 > b 0.300; a 0.100, b 0.200" in other and not other.endswith(")")
    same = studies._ranks(Ranking(TABLE_II, "g", here, here, 0.0))
    assert same.endswith("as published")


def test_tables_are_markdown_with_a_column_for_each_method_and_notes_at_the_end():
    lines = studies.as_markdown(Tables((REACHED, MISSED, FREE), ()), "a note").splitlines()
    assert lines[2:] == [
        "## t_1", "", "| | virpo | joint | vio |", "|---|---|---|---|", "| a_row | 0.500 ok | 2.000 MISSED |  |",
        "| b_row |  |  | 3.000 |", "", "a note",
    ]  # fmt: skip


def test_flights_of_the_camera_are_short_only_where_they_are_quick():
    lengths = [{case.duration for case in zed.zed_study(quick=q).cases} for q in (True, False)]
    assert lengths == [{zed.QUICK_SECONDS}, {zed.SECONDS}] and zed.QUICK_SECONDS < zed.SECONDS


def test_a_table_of_a_single_figure_and_of_none_are_csv():
    lines = studies.as_csv(Tables((REACHED,), ())).splitlines()
    assert lines[0].startswith("table,row,method,measured,") and lines[0].endswith(",passed")
    assert lines[1].startswith("t_1,a_row,virpo,0.5,") and lines[1].endswith(",True")
    assert studies.as_csv(Tables((), ())) == "\n"


@pytest.fixture
def two_cases(monkeypatch):
    """A study of two flights, the second of which fails."""
    what = study(quick=True)
    first, second = what.cases[0].name, what.cases[1].name

    def run_study(study_, report):
        report("1 of 2")
        drawn = SimpleNamespace(name=first)
        yield "first", CaseResults({EstimateKey(first, "vio", 1, "drone_1"): score(0.1)}, drawn)
        lost = FailedEstimate("no tracks")
        yield "second", CaseResults({EstimateKey(second, "vio", 1, "drone_1"): lost})

    monkeypatch.setattr(studies, "run_study", run_study)
    return what


def test_tables_grow_with_each_flight_and_are_shown_with_notes_at_the_end(two_cases, tmp_path):
    sizes_, tables_of = (
        [],
        lambda scores: sizes_.append(len(scores)) or Tables((REACHED, MISSED), ()),
    )
    notes = lambda scores: f"{len(scores)} [of 2]"  # noqa: E731
    made = []

    def run(console):
        made.append(studies.run_and_show(console, two_cases, tmp_path, tables_of, notes))

    lines = said_by(run, width=60)
    assert sizes_ == [1, 2] and made[0].cells == (REACHED, MISSED)
    assert lines[:2] == ["first: done", "second: done"]
    assert lines[-4:-2] == ["2 [of 2]", "1 of 2 bars reached"] and lines[-2:] == [
        str(tmp_path / "tables.csv"), str(tmp_path / "tables.md"),
    ]  # fmt: skip
    assert (tmp_path / "tables.md").read_text().endswith("2 [of 2]")


def test_tables_of_all_scenes_are_written_with_reasons_and_a_figure(
    two_cases, tmp_path, monkeypatch
):
    drawn = []

    def write_plot(path, draw):
        draw("figure")
        return path

    monkeypatch.setattr(studies, "study", lambda **options: two_cases)
    monkeypatch.setattr(studies, "tables", lambda *_: Tables((REACHED,), ()))
    monkeypatch.setattr(studies, "write_plot", write_plot)
    monkeypatch.setattr(studies, "draw_localized", lambda figure, flights: drawn.append(flights))
    monkeypatch.setattr(studies, "DRAWN", {two_cases.cases[0].name})
    out = tmp_path / "out"
    lines = said_by(lambda console: studies.run_tables(console, quick=True, out=out), width=200)
    failed = f"failed: {two_cases.cases[1].name} vio: no tracks"
    assert failed in lines and "1 of 1 bars reached" in lines
    assert lines[-3:] == [str(out / name) for name in ("tables.csv", "tables.md", "localized.png")]
    assert [[each.name for each in flights] for flights in drawn] == [[two_cases.cases[0].name]]
    assert (out / "tables.md").read_text().endswith(f"- {failed}")


def test_a_flight_is_watched_through_its_own_renderer_which_is_closed(monkeypatch):
    closed, case = [], study(quick=True).cases[0]
    renderer = SimpleNamespace(close=lambda: closed.append(1))
    monkeypatch.setattr(runs, "make_renderer", lambda name: renderer)
    monkeypatch.setattr(runs, "observe", lambda *what: what)
    found = runs.watch_case(case, 7)
    assert found[:2] == (case, 7) and found[3] is renderer and closed == [1]
    monkeypatch.setattr(runs, "observe", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        runs.watch_case(case, 7)
    assert closed == [1, 1]


def test_recordings_take_the_place_of_piloted_flights_of_their_scene_alone():
    case = _piloted("c", PILOTED["c"])
    assert case.is_piloted and case.title == "(c) broad station, scripted pilot"
    assert len(case.methods) > len(_piloted("b", PILOTED["b"]).methods)
    recorded = {
        "broad_station": SimpleNamespace(path=Path("x/my_flight.bag"), offset=(1.0, 2.0, 0.0))
    }
    found = _with_recording(case, recorded)
    assert found.title == "(c) my_flight, broad station" and found.offset == (1.0, 2.0, 0.0)
    assert found.source == Path("x/my_flight.bag")
    other = _piloted("d", PILOTED["d"])
    assert _with_recording(other, recorded) is other
    free = study().case("single")
    assert _with_recording(free, {free.scene: recorded["broad_station"]}) is free


@pytest.mark.parametrize(
    ("fewer", "more", "bar"),
    [
        (SeedMean(0.5, 0.3, 4, 0), SeedMean(0.4, 0.4, 9, 0), 0.5 + 2.0 * 0.5 / 2.0),
        (SeedMean(0.5, 0.3, 1, 0), SeedMean(0.4, 0.4, 1, 0), 0.5 + 2.0 * 0.5),
        (SeedMean(0.5, None, 0, 1), SeedMean(0.4, 0.25, 0, 2), 0.5 + 2.0 * 0.25),
        (SeedMean(None, None, 2, 1), SeedMean(0.4, None, 2, 2), 0.0),
    ],
)
def test_an_error_is_no_larger_where_its_mean_is_within_two_deviations(fewer, more, bar):
    assert _with_noise(fewer, more) == pytest.approx(bar)


def of_sizes(errors):
    """Results of one flight by numbers of constraints, in the order of 1, 3, 5 and all."""
    names = (*SIZES, "virpo")
    return {
        EstimateKey(SEQUENCES["SIAP-1"], name, 1, f"drone_{k}"): (
            FailedEstimate("lost") if error is None else score(k * error)
        )
        for name, error in zip(names, errors, strict=True)
        if error != 0.0
        for k in (1, 2, 3)
    }


def test_numbers_of_constraints_have_a_column_each_and_rank_only_where_all_are_measured():
    results = of_sizes((0.4, 0.3, 0.2, 0.1))
    cells = {(cell.row, cell.method): cell.measured for cell in sizes(results)}
    assert [cells["SIAP-1 drone_2", f"F_k {n}"] for n in ("1", "3", "5", "all")] == pytest.approx(
        [0.8, 0.6, 0.4, 0.2]
    )
    (order,) = size_ranking(results)
    assert [name for name, _ in order.measured] == [*SIZES, "virpo"]
    assert [value for _, value in order.measured] == pytest.approx([0.8, 0.6, 0.4, 0.2])
    assert size_ranking(of_sizes((0.4, None, 0.2, 0.1))) == []
    assert sizes(of_sizes((0.0, 0.0, 0.0, 0.1))) == []  # of the main methods alone
    assert len(sizes(of_sizes((0.0, 0.0, 0.2, 0.1)))) == 12


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"since": 1.0}, "for virpo_units with --flights"),
        ({"seconds": 1.0}, "for virpo_units with --flights"),
        ({"flights": Path(), "since": -0.1}, "--since: not below 0; --seconds: above 0"),
        ({"flights": Path(), "seconds": 0.0}, "--since: not below 0; --seconds: above 0"),
        ({"flights": Path(), "seconds": float("nan")}, "--seconds: above 0"),
    ],
)
def test_parts_of_recordings_are_of_recordings_and_some_seconds(options, said):
    with pytest.raises(BadInput, match=said):
        units.run_units(Console(quiet=True), **options)


@pytest.mark.parametrize("since", [0.0, 2.5])
def test_recordings_are_cut_where_they_begin_later(since, monkeypatch, tmp_path):
    monkeypatch.setattr(units, "recordings", lambda folder: [folder / "a.bag", folder / "b.bag"])
    monkeypatch.setattr(units, "cut", lambda path, t, folder: folder / f"{path.stem}_{t}")
    monkeypatch.setattr(units, "run_and_show", lambda console, what, folder, tables_of: what)
    what = units.run_units(
        Console(quiet=True), flights=tmp_path, out=tmp_path / "o", since=since, seconds=7.0
    )
    begin = tmp_path / "o" / f"a_{since}" if since else tmp_path / "a.bag"
    assert what.cases[0].source == begin and {case.duration for case in what.cases} == {7.0}


def test_flights_on_units_are_short_only_where_they_are_quick():
    lengths = [{c.duration for c in units.units_study(quick=q).cases} for q in (True, False)]
    assert lengths == [{units.QUICK_SECONDS}, {units.SECONDS}] and lengths[0] != lengths[1]
    assert len(units.units_study(quick=True).seeds) == 1 < len(units.units_study().seeds)


def test_bars_on_units_are_of_the_centres_attitude_and_of_consistency():
    centre = TableCell("t", "x, euroc: center", "joint", 0.1, None, 1, 0, unit="deg")
    assert _with_bar(centre).bar == CENTRE_DEG
    for other in ({"unit": "m"}, {"method": "vio"}, {"row": "x, euroc: drones"}):
        cell = TableCell(**{**vars(centre), **other})
        assert _with_bar(cell) == cell
    window = next(iter(WINDOWS))
    for measured, bar, at_least in (
        (0.9, 1.0 / MAX_NEES, True), (1.0, MAX_NEES, False), (None, MAX_NEES, False),
    ):  # fmt: skip
        found = _with_bar(TableCell("t", "r", window, measured, None, 1, 0, unit=""))
        assert (found.bar, found.at_least) == (bar, at_least)


def test_the_first_unit_of_an_aircraft_is_where_it_is_at_its_time(monkeypatch):
    asked = []
    sensors = SimpleNamespace(
        mounts=[SimpleNamespace(unit=lambda row: asked.append(row) or row)], rows=[1],
        aircraft=[SimpleNamespace(name="drone_1")], fleet=lambda spec: None,
    )  # fmt: skip
    t = np.array([0.0, 0.1, 0.2, 0.3])
    observed = SimpleNamespace(own=sensors, t=t, x=np.arange(8.0).reshape(4, 2, 1))

    def make_localizer(base, fleet, spec, first):
        for at in (0.1, 0.2 + 5e-7, 0.2 + 2e-6):
            first(0, at)
        return SimpleNamespace(faults=[])

    monkeypatch.setattr(runs, "make_localizer", make_localizer)
    found = runs.estimated(observed, [], "vio", None)
    assert found == FailedEstimate("no estimate came")
    assert [row.item() for row in asked] == [3.0, 5.0, 7.0]
