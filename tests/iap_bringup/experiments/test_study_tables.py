# SPDX-License-Identifier: BSD-3-Clause
"""Every study shows what it has measured: as a table, and the same as one line of JSON; its options reach its work."""

import inspect
import io
import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.experiments import (
    camera_effects,
    contact,
    convergence,
    docking,
    identification,
    images,
    landing,
    photometry,
    sensors,
    soak,
    studies,
)
from iap_bringup.experiments.convergence import ConvergenceRow
from iap_bringup.experiments.rows import Bar, bar_row, print_json
from iap_bringup.experiments.table import EXPERIMENTS, run_experiment
from iap_bringup.experiments.virpo.scores import TableCell, Tables
from iap_bringup.films import documented
from iap_description.errors import BadInput

ROWS = {
    "first, pybullet": {"force_n": 1.25, "depth_m": 0.5},
    "second": {"force_n": 2.5, "outcome": "lost"},
}
BARS = [Bar("slow, s", 2.0, 3.0), Bar("weak, N", 4.0, 3.0), Bar("many", 2.0, 3.0, at_least=True)]
NAMES = [each.name for each in EXPERIMENTS]


class Renderer:
    """A renderer that draws nothing, and knows whether it was closed."""

    closed = 0

    def close(self):
        Renderer.closed += 1


@pytest.fixture
def asked(monkeypatch):
    """What was asked of the work of studies, which is made up here."""
    noted = {}

    def gives(module, name, result):
        def work(*args, **options):
            noted[name] = args, options
            return result

        monkeypatch.setattr(module, name, work)

    gives(contact, "resting", {"500 Hz": {"jitter_mm": 0.25}})
    gives(contact, "peg_over_rates", {"1000 Hz": {"depth_m": 0.5, "outcome": "completed"}})
    gives(contact, "observer_steps", {"step x": {"seen_of_it": 0.75}})
    gives(
        contact,
        "peg_over_seeds",
        {"default 1": {"depth_m": 0.5, "push_ratio": 3.5, "other": 9.75}},
    )
    gives(landing, "landings", {"f450": {"outcome": "completed", "force_n": 88.0, "other": 9.75}})
    gives(identification, "identification_rows", ROWS)
    gives(docking, "docking_rows", ROWS)
    gives(docking, "docking_bars", BARS)
    gives(photometry, "photometry", BARS)
    gives(camera_effects, "camera_bars", BARS)
    line = ConvergenceRow("closed_form", 200, 1.5e-3, None, 1e-4, 2e-5, 3e-6)
    gives(
        convergence,
        "free_flight_convergence",
        [line, ConvergenceRow("mujoco", 1000, 2.5e-4, 1.25, 4e-4, 5e-5, 6e-6)],
    )
    for module, names in (
        (sensors, ("noise", "dead_reckoning", "attitude", "stamps")),
        (images, ("projection", "stereo", "features")),
    ):
        for k, name in enumerate(names):
            gives(module, name, {f"{name}, %": bar_row(0.5 + k, "<= 2")})
    monkeypatch.setattr("iap_sensors.cameras.make.make_renderer", lambda name: Renderer())
    return noted


def printed(name, capsys, monkeypatch, **options):
    """Text that a study prints on a wide terminal, or its JSON."""
    monkeypatch.setenv("COLUMNS", "200")
    run_experiment(name, **options)
    said = capsys.readouterr().out
    return json.loads(said) if options.get("json") else said


def test_rows_are_a_table_with_lengths_in_millimetres_or_json_in_metres(
    asked, capsys, monkeypatch
):
    assert printed("identification", capsys, monkeypatch, json=True) == ROWS
    rows = printed("docking", capsys, monkeypatch, json=True)
    assert [bar["passes"] for bar in rows.pop("bars")] == [True, False, False] and rows == ROWS
    for name in ("identification", "docking"):
        text = printed(name, capsys, monkeypatch)
        assert "depth mm" in text and "500" in text and "1.25" in text and "lost" in text
        assert "{" not in text and text.count("miss") == (2 if name == "docking" else 0)


def test_quick_reaches_the_work(asked, capsys, monkeypatch):
    for quick in (True, False):
        printed("identification", capsys, monkeypatch, quick=quick)
        printed("landing", capsys, monkeypatch, quick=quick)
        printed("docking", capsys, monkeypatch, quick=quick)
        assert asked["identification_rows"][1] == asked["landings"][1] == {"quick": quick}
        assert asked["docking_rows"][0][0] == (docking.QUICK if quick else docking.Sizes())


@pytest.mark.parametrize("name", ["photometry", "cameras"])
def test_bars_are_a_table_of_passes_and_misses_or_json(name, asked, capsys, monkeypatch):
    rows = printed(name, capsys, monkeypatch, json=True)
    assert [(row["what"], row["measured"], row["passes"]) for row in rows] == [
        ("slow, s", 2.0, True), ("weak, N", 4.0, False), ("many", 2.0, False)
    ]  # fmt: skip
    text = printed(name, capsys, monkeypatch)
    assert (
        text.count("pass") == 1 and text.count("miss") == 2 and "<= 3" in text and ">= 3" in text
    )


def test_contact_has_three_tables_and_the_peg_a_ratio(asked, capsys, monkeypatch):
    tables = printed("contact", capsys, monkeypatch, json=True)
    assert {name: list(rows) for name, rows in tables.items()} == {
        "resting": ["500 Hz"], "peg_in_hole": ["1000 Hz"], "observer": ["step x"]
    }  # fmt: skip
    text = printed("contact", capsys, monkeypatch)
    assert all(
        word in text for word in ("0.25", "500", "0.75", "three_star at rest", "momentum observer")
    )
    assert "completed" in text
    row = printed("peg_in_hole", capsys, monkeypatch, json=True)["default 1"]
    assert row["push_ratio"] == 3.5
    assert asked["peg_over_seeds"][0][0] == ("default", "paper")
    text = printed("peg_in_hole", capsys, monkeypatch)
    assert "3.50" in text and "9.75" not in text  # of the metrics those that matter
    assert "9.75" not in printed("landing", capsys, monkeypatch)


def test_all_studies_of_sensors_are_one_table_and_their_renderer_is_closed(
    asked, capsys, monkeypatch
):
    before = Renderer.closed
    rows = printed("sensors", capsys, monkeypatch, json=True)
    assert len(rows) == 7 and rows["stereo, %"] == {"measured": 1.5, "bar": "<= 2"}
    assert Renderer.closed == before + 1
    printed("cameras", capsys, monkeypatch)
    assert Renderer.closed == before + 2
    monkeypatch.setattr(sensors, "stamps", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        printed("sensors", capsys, monkeypatch)
    assert Renderer.closed == before + 3


def test_free_flight_is_in_millimetres_with_its_order_and_drifts(asked, capsys, monkeypatch):
    rows = printed("free_flight", capsys, monkeypatch, json=True)
    assert rows["closed_form, 200 Hz"]["position_error_m"] == 1.5e-3
    assert rows["mujoco, 1000 Hz"]["order"] == 1.25
    text = printed("free_flight", capsys, monkeypatch)
    for word in ("1.5", "0.25", "1.25", "1.0e-04", "2.0e-05", "3.0e-06", "closed_form, 200 Hz"):
        assert word in text


def test_every_task_is_scored_by_all_baselines_in_as_many_worlds(capsys, monkeypatch):
    scored = []

    def baselines(name, worlds):
        scored.append((name, worlds))
        return {
            "nothing": SimpleNamespace(row={"success_%": 12.5}),
            "script": SimpleNamespace(row={"success_%": 75.0}),
        }

    monkeypatch.setattr("iap_learning.evaluation.baselines.baselines", baselines)
    tables = printed("tasks", capsys, monkeypatch, json=True)
    assert set(tables) == {name for name, _ in scored} and {worlds for _, worlds in scored} == {
        256
    }
    assert all(rows["script"]["success_%"] == 75.0 for rows in tables.values())
    text = printed("tasks", capsys, monkeypatch)
    assert text.count("75.0") == len(tables) and text.count("12.5") == len(tables)
    assert "{" not in text


def test_films_go_where_they_are_asked_for_and_their_sizes_are_kilobytes(
    tmp_path, capsys, monkeypatch
):
    def write(folder, report):
        (folder / "film.webp").write_bytes(bytes(12_500))
        return [folder / "film.webp"]

    monkeypatch.setattr(documented, "write_documented_films", write)
    text = printed("films", capsys, monkeypatch, out=tmp_path)
    assert "".join(text.split()).endswith("film.webp:12kB")


def test_an_hour_is_soaked_in_one_process_and_as_nodes(monkeypatch):
    shown = []
    monkeypatch.setattr(
        soak, "show_soak", lambda console, fly, duration: shown.append((fly, duration))
    )
    run_experiment("soak")
    assert shown == [(soak.in_process, 3600.0), (soak.as_nodes, 3600.0)]


def test_nodes_are_measured_by_pace_two_at_once_and_in_one_process(capsys, monkeypatch):
    called = []
    measure = ModuleType("measure")  # which needs ROS
    measure.measure = lambda *flight, together=False: (
        called.append((*flight, together)) or {"rate": 7.25}
    )
    measure.measure_together = lambda *flight: (
        called.append(flight) or {"two, first": {"rate": 7.75}}
    )
    monkeypatch.setitem(sys.modules, "iap_bringup.experiments.nodes.measure", measure)
    text = printed("nodes", capsys, monkeypatch)
    star, modules = ("three_star_spiral", "pybullet"), ("module_assembly", "pybullet")
    by_pace = [(pace, 60.0, False) for pace in ("realtime", "lockstep")]
    at_once = (*star, "realtime", 60.0, ("/sim_1", "/sim_2"))
    assert called[:3] == [(*star, *each) for each in by_pace] + [at_once]
    assert called[3:] == [(*modules, *each) for each in (*by_pace, ("realtime", 60.0, True))]
    for word in ("7.25", "7.75", "spiral, every node", "assembly, every node", "one process"):
        assert word in text


def test_bars_of_nodes_are_shown_as_they_were_measured(capsys, monkeypatch):
    measured = ModuleType("node_bars")  # which needs ROS
    measured.node_bars = lambda report: report("a platform") or BARS
    monkeypatch.setitem(sys.modules, "iap_bringup.experiments.nodes.node_bars", measured)
    rows = printed("node_bars", capsys, monkeypatch, json=True)
    assert [(row["what"], row["passes"]) for row in rows] == [
        ("slow, s", True), ("weak, N", False), ("many", False)
    ]  # fmt: skip
    text = printed("node_bars", capsys, monkeypatch)
    assert text.count("pass") == 1 and text.count("miss") == 2


def test_methods_that_localise_as_nodes_are_the_columns_of_a_table_of_thirty_seconds(
    capsys, monkeypatch
):
    measured, asked = ModuleType("measure_localization"), []  # which needs ROS
    measured.measure_methods = lambda methods, seconds, report: (
        asked.append((methods, seconds)) or {each: {"rate": 7.25} for each in methods}
    )
    monkeypatch.setitem(
        sys.modules, "iap_bringup.experiments.nodes.measure_localization", measured
    )
    text = printed("localization_nodes", capsys, monkeypatch)
    assert asked == [(("virpo", "joint"), 30.0)]
    assert "virpo" in text and "joint" in text and text.count("7.25") == 2


@pytest.mark.parametrize("each", EXPERIMENTS, ids=NAMES)
def test_a_study_takes_the_options_that_it_lists_and_refuses_others(each):
    parameters = inspect.signature(each.run).parameters
    if not any(p.kind == inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        assert set(each.options) == set(parameters) - {"console"}
        assert all(parameters[name].default in (None, False) for name in each.options)
    assert each.text and each.text.strip().endswith(".")
    with pytest.raises(BadInput, match=f"experiment {each.name}: --nonsense is for"):
        run_experiment(each.name, nonsense=1)


@pytest.mark.parametrize(
    "name",
    [
        "engines",
        "virpo_tables",
        "virpo_units",
        "virpo_light",
        "virpo_zed",
        "virpo_faults",
        "modules",
        "readme",
        "rays",
    ],
)
def test_options_are_handed_on_to_studies_of_other_modules(name, monkeypatch):
    where = {
        "engines": "engines.compare_engines", "virpo_tables": "virpo.study.run_tables",
        "virpo_units": "virpo.units.run_units", "virpo_light": "virpo.light.run_light",
        "virpo_zed": "virpo.zed.run_zed",
        "virpo_faults": "virpo.faults.run_faults",
        "modules": "modules.study.study_modules", "readme": "readme_figures.compare_readme", "rays": "rays.draw_rays",
    }[name]  # fmt: skip
    calls = []
    monkeypatch.setattr(
        f"iap_bringup.experiments.{where}", lambda console, **options: calls.append(options)
    )
    run_experiment(name)
    assert len(calls) == 1
    if name in ("virpo_faults", "modules"):
        run_experiment(name, quick=True)
        assert calls[0]["quick"] is False and calls[1]["quick"] is True
    if name == "readme":
        run_experiment(name, json=True)
        assert calls[1] == {"as_json": True} and calls[0] == {"as_json": False}


@pytest.mark.parametrize(
    ("bar", "passes"),
    [
        (Bar("", 3.0, 3.0), True), (Bar("", 3.01, 3.0), False), (Bar("", 2.99, 3.0), True),
        (Bar("", 3.0, 3.0, at_least=True), True), (Bar("", 2.99, 3.0, at_least=True), False),
        (Bar("", 3.01, 3.0, at_least=True), True), (Bar("", float("inf"), 3.0), False),
    ],
)  # fmt: skip
def test_a_bar_is_reached_on_its_own_side(bar, passes):
    assert bar.passes is passes


def test_figures_of_any_kind_are_json_and_numbers_have_three_digits():
    console = Console(file=io.StringIO())
    print_json(console, {1: (np.float64(2.5), [float("nan"), np.int64(3), "word", None, True])})
    assert json.loads(console.file.getvalue()) == {"1": [2.5, [None, 3, "word", None, True]]}
    assert bar_row(0.123456, "<= 1") == {"measured": 0.123, "bar": "<= 1"}
    assert studies.TASK_WORLDS == 256


def test_a_study_of_localisation_prints_its_figures_as_json_and_all_else_elsewhere(
    monkeypatch, capsys
):
    cells = (
        TableCell("light", "day", "vio", 0.0816, 0.01, 3, 0, published=0.4, bar=0.4),
        TableCell("light", "day", "joint", None, None, 2, 1, bar=0.5),
        TableCell("gains", "all", "virpo", 20.0, None, 3, 0, unit="%"),
    )

    def run(console, **options):
        console.print("a table for people")
        return Tables(cells, ())

    monkeypatch.setattr("iap_bringup.experiments.virpo.light.run_light", run)
    run_experiment("virpo_light", json=True)
    said = capsys.readouterr()
    tree = json.loads(said.out)
    assert "a table for people" in said.err
    day = tree["light"]["day"]
    assert day["vio"] == {
        "measured": 0.0816, "spread": 0.01, "seeds": 3, "failed": 0, "published": 0.4, "bar": 0.4, "unit": "m",
        "passes": True,
    }  # fmt: skip
    assert (day["joint"]["measured"], day["joint"]["passes"], day["joint"]["failed"]) == (
        None,
        False,
        1,
    )
    assert (tree["gains"]["all"]["virpo"]["unit"], tree["gains"]["all"]["virpo"]["passes"]) == (
        "%",
        None,
    )
