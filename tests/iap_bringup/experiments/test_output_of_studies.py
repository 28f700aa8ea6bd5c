# SPDX-License-Identifier: BSD-3-Clause
"""What studies measure is printed as one line of JSON, or as a table of the same figures."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from iap_bringup.experiments import studies
from iap_bringup.experiments.rows import Bar
from iap_bringup.experiments.table import run_experiment
from iap_learning.tasks.task import TASKS

HERE = "iap_bringup.experiments"
BARS = [Bar("force, N", 4.0, 3.0), Bar("lock, s", 2.0, 3.0)]
AS_JSON = [
    {**bar._asdict(), "passes": passes} for bar, passes in zip(BARS, (False, True), strict=True)
]


def rows(size=1.25):
    return {"three_star": {"force_n": size}}


def measured(*_, quick=False, **__):
    return rows(9.5 if quick else 1.25)


def instead(monkeypatch, **by_place):
    """Put functions in place of those that measure, by their modules and names."""
    for place, function in by_place.items():
        monkeypatch.setattr(place, function)


def said(capsys, name, **options):
    run_experiment(name, **options)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("peg_in_hole", f"{HERE}.contact.peg_over_seeds"),
        ("landing", f"{HERE}.landing.landings"),
        ("identification", f"{HERE}.identification.identification_rows"),
    ],
)
def test_a_study_of_rows_is_a_table_or_json_and_may_be_quick(name, measure, monkeypatch, capsys):
    instead(monkeypatch, **{measure: measured, f"{HERE}.landing.COLUMNS": ("force_n",)})
    monkeypatch.setattr(studies, "PEG", ("force_n",))
    assert json.loads(said(capsys, name, json=True)) == rows()
    text = said(capsys, name)
    assert "three_star" in text and "1.25" in text and not text.startswith("{")
    if name != "peg_in_hole":
        assert json.loads(said(capsys, name, json=True, quick=True)) == rows(9.5)
        assert "9.5" in said(capsys, name, quick=True)


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("photometry", f"{HERE}.photometry.photometry"),
        ("cameras", f"{HERE}.camera_effects.camera_bars"),
    ],
)
def test_a_study_of_bars_says_which_are_missed_and_leaves_no_renderer(
    name, measure, monkeypatch, capsys
):
    closed = []
    renderer = SimpleNamespace(close=lambda: closed.append(name))
    instead(
        monkeypatch,
        **{measure: lambda *_: BARS, "iap_sensors.cameras.make.make_renderer": lambda _: renderer},
    )
    assert json.loads(said(capsys, name, json=True)) == AS_JSON
    text = said(capsys, name)
    assert "force, N" in text and not text.startswith("[")
    assert closed == ([name] * 2 if name == "cameras" else [])


def test_sensors_have_one_table_of_all_their_studies(monkeypatch, capsys):
    asked, closed = [], []
    renderer = SimpleNamespace(close=lambda: closed.append(True))

    def study(name, *_):
        asked.append((name, *_[1:]))
        return {name: {"force_n": 1.25}}

    names = {
        "sensors": ("noise", "dead_reckoning", "attitude", "stamps"),
        "images": ("projection", "stereo", "features"),
    }
    for module, those in names.items():
        for name in those:
            one = lambda *given, name=name: study(name, *given)  # noqa: E731 - has a name below
            one.__name__ = name
            instead(monkeypatch, **{f"{HERE}.{module}.{name}": one})
    instead(monkeypatch, **{"iap_sensors.cameras.make.make_renderer": lambda _: renderer})
    found = json.loads(said(capsys, "sensors", json=True))
    assert list(found) == [*names["sensors"], *names["images"]]
    assert asked == [(name,) for name in names["sensors"][:3]] + [
        (name, renderer) for name in ("stamps", *names["images"])
    ]
    text = said(capsys, "sensors")
    assert all(name in text for name in found) and not text.startswith("{")
    assert closed == [True, True]


def test_contact_has_three_tables(monkeypatch, capsys):
    for number, name in enumerate(("resting", "peg_over_rates", "observer_steps")):
        instead(monkeypatch, **{f"{HERE}.contact.{name}": lambda _, n=number: rows(1.5 + n)})
    monkeypatch.setattr(studies, "PEG", ("force_n",))
    found = json.loads(said(capsys, "contact", json=True))
    assert found == {"resting": rows(1.5), "peg_in_hole": rows(2.5), "observer": rows(3.5)}
    text = said(capsys, "contact")
    assert [text.count(size) for size in ("1.5", "2.5", "3.5")] == [1, 1, 1]
    text = " ".join(text.split())
    assert "at rest on the ground" in text and "momentum observer" in text


def test_tasks_have_a_table_each_and_dockings_their_bars(monkeypatch, capsys):
    scores = {"no action": SimpleNamespace(row={"success_%": 12.5})}
    monkeypatch.setattr(type(TASKS), "names", lambda self: ["hold", "navigate"])
    instead(
        monkeypatch,
        **{
            "iap_learning.evaluation.baselines.baselines": lambda name, worlds: scores,
            f"{HERE}.docking.docking_rows": lambda sizes, _: rows(float(sizes[0])),
            f"{HERE}.docking.docking_bars": lambda _: iter(BARS),
        },
    )
    table = {"no action": {"success_%": 12.5}}
    assert json.loads(said(capsys, "tasks", json=True)) == {"hold": table, "navigate": table}
    text = said(capsys, "tasks")
    assert text.count("no action") == 2 and "hold" in text and not text.startswith("{")
    whole, quick = (json.loads(said(capsys, "docking", json=True, quick=q)) for q in (False, True))
    assert whole["bars"] == AS_JSON
    assert whole["three_star"]["force_n"] > quick["three_star"]["force_n"] > 0.0
    text = said(capsys, "docking")
    assert "docking_hard" in text and "lock, s" in text and not text.startswith("{")


def test_nodes_are_measured_by_pace_two_at_once_and_in_one_process(monkeypatch, capsys):
    asked = []

    def measure(*flight, together=False):
        asked.append((*flight, together))
        return {"rate": 7.25}

    def measure_together(*flight):
        asked.append(flight)
        return {"two, first": {"rate": 7.75}}

    stub = ModuleType("measure")
    stub.measure, stub.measure_together = measure, measure_together
    monkeypatch.setitem(sys.modules, f"{HERE}.nodes.measure", stub)
    text = said(capsys, "nodes")
    star, modules = ("three_star_spiral", "pybullet"), ("module_assembly", "pybullet")
    assert asked == [
        (*star, "realtime", 60.0, False),
        (*star, "lockstep", 60.0, False),
        (*star, "realtime", 60.0, ("/sim_1", "/sim_2")),
        (*modules, "realtime", 60.0, False),
        (*modules, "lockstep", 60.0, False),
        (*modules, "realtime", 60.0, True),
    ]
    text = " ".join(text.split())
    assert "7.75" in text and "three_star_spiral, every node" in text
    assert "module_assembly, every node" in text and "one process" in text


@pytest.mark.parametrize(
    ("name", "place", "options", "handed_on"),
    [
        ("modules", "modules.study.study_modules", {"quick": True}, (True, False, None)),
        ("modules", "modules.study.study_modules", {"json": True}, (False, True, None)),
        ("virpo_faults", "virpo.faults.run_faults", {}, (False,)),
        ("virpo_faults", "virpo.faults.run_faults", {"quick": True}, (True,)),
        ("virpo_tables", "virpo.study.run_tables", {"quick": True}, (True,)),
        ("virpo_units", "virpo.units.run_units", {"since": 3.0}, (3.0,)),
        ("engines", "engines.compare_engines", {"quick": True}, (True,)),
        ("readme", "readme_figures.compare_readme", {"json": True}, (True,)),
        ("readme", "readme_figures.compare_readme", {}, (False,)),
        ("rays", "rays.draw_rays", {}, ()),
    ],
)
def test_options_of_a_study_reach_what_measures(name, place, options, handed_on, monkeypatch):
    asked = []
    instead(
        monkeypatch, **{f"{HERE}.{place}": lambda _, **given: asked.append(tuple(given.values()))}
    )
    run_experiment(name, **options)
    assert asked == [handed_on]


def test_a_long_flight_is_measured_in_one_process_and_as_nodes(monkeypatch, capsys):
    grown = {"at the begin": {"memory_mb": 100.0}, "at the end": {"memory_mb": 101.5}}
    asked = []
    for name in ("in_process", "as_nodes"):
        instead(
            monkeypatch,
            **{f"{HERE}.soak.{name}": lambda t, _, n=name: asked.append((n, t)) or grown},
        )
    instead(monkeypatch, **{f"{HERE}.soak.growth_row": lambda rows: {"memory_mb": 1.5}})
    text = said(capsys, "soak")
    assert asked == [("in_process", 3600.0), ("as_nodes", 3600.0)]
    text = " ".join(text.split())
    assert text.index("one process") < text.index("nodes in lockstep")
    assert text.count("grown by") == 2
