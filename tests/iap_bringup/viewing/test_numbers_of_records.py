# SPDX-License-Identifier: BSD-3-Clause
"""Curves, images, events and rows of records: which there are, in which order, and where they are cut."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.viewing import events, record_notes, run_table
from iap_bringup.viewing.events import Event
from iap_bringup.viewing.record_notes import RecordedImages, curves_of
from iap_bringup.viewing.run_table import EvaluationTable, Selection
from iap_description.errors import BadInput


def a_flight(*, followed=True, first=1.0):
    """Curves of a flight of two aircraft with contact."""
    t = np.arange(3.0)
    error = SimpleNamespace(t=t, position=np.full((3, 3), 0.002), attitude=np.full((3, 3), 0.5))
    contact = SimpleNamespace(t=2.0 * t, first=first, filtered=np.arange(18.0).reshape(3, 6))
    return SimpleNamespace(
        is_followed=followed, error=error, thrust=np.ones((3, 2)), t=t,
        contact=None if first == 0.0 else contact,
    )  # fmt: skip


def test_curves_are_errors_in_millimetres_thrusts_and_forces_of_those_that_have_them():
    found = list(curves_of(SimpleNamespace(flights={"": a_flight()})))
    assert [each.title for each in found] == [
        "position error, mm", "attitude error, deg", "thrust of the aircraft, N", "force of contact, N",
    ]  # fmt: skip
    assert found[0].values == pytest.approx(2.0) and found[1].values == pytest.approx(0.5)
    assert [each.labels for each in found] == [
        ("x", "y", "z"), ("roll", "pitch", "yaw"), ("1", "2"), ("x", "y", "z"),
    ]  # fmt: skip
    assert found[3].values.tolist() == [[0, 1, 2], [6, 7, 8], [12, 13, 14]]
    assert found[3].t.tolist() == [0.0, 2.0, 4.0]
    several = {"_red_one": a_flight(followed=False, first=None), "_blue": a_flight(first=0.0)}
    titles = [each.title for each in curves_of(SimpleNamespace(flights=several))]
    assert titles == [
        "thrust of the aircraft, N, red one", "position error, mm, blue", "attitude error, deg, blue",
        "thrust of the aircraft, N, blue",
    ]  # fmt: skip


def test_an_image_is_the_last_one_up_to_a_time_of_two_periods_at_most(monkeypatch):
    asked = []

    class Image:
        def __init__(self, number):
            self.number = number

    def read(bag, cameras, *, start, stop):
        asked.append((bag.name, start, stop))
        yield Image(1)
        yield Image(2)
        yield "no image"

    monkeypatch.setattr(record_notes, "read_sensors", read)
    monkeypatch.setattr(record_notes, "ImageReading", Image)
    camera = SimpleNamespace(topic="/iap/left/", rate=20.0)
    images = RecordedImages(Path("x"), [camera])
    assert list(images.cameras) == ["iap/left"]
    assert images.at("iap/left", 2.5).number == 2
    images.at("iap/left", 0.05)
    assert [each[1:] for each in asked] == [(2_400_000_001, 2_500_000_001), (0, 50_000_001)]


@pytest.mark.parametrize(
    ("count", "lines", "more"), [(0, 1, 0), (12, 12, 0), (13, 13, 1), (20, 13, 8)]
)
def test_a_list_of_events_has_the_twelve_newest_ones(count, lines, more):
    text = events.as_html([Event(float(k), f"<{k}>") for k in range(count)])
    assert text.count("<div>") == lines
    assert (f"<div>and {more} before</div>" in text) == bool(more)
    if count:
        assert text.index(f"{count - 1}.00 s&ensp;&lt;{count - 1}&gt;") < 70
    else:
        assert "none so far" in text


def test_events_of_metrics_are_of_parts_estimators_and_each_vehicle():
    metrics = {
        "task": {"events": [{"t_s": 1, "what": "caught", "who": "j1", "n": 3}, {"what": "no time"}, "words"]},
        "count": 5, "methods": {"vio": {"events": [{"t_s": 2.5, "what": "lost"}]}},
        "vehicles": {"red": {"latch": {"events": [{"t_s": 0.5, "what": "locked"}]}}},
    }  # fmt: skip
    assert list(events._metric_events(metrics)) == [
        Event(1.0, "task: caught j1"), Event(2.5, "vio: lost"), Event(0.5, "red, latch: locked"),
    ]  # fmt: skip


def test_rows_within_limits_are_listed_in_their_order_and_equal_ones_by_their_text():
    rows = [{"m": "2"}, {"m": "x"}, {"m": "3"}, {"m": "a"}, {"m": "2.0"}]
    assert Selection("m", descends=False, column="m").rows(rows) == [0, 4, 2, 3, 1]
    assert Selection("m", descends=True, column="m").rows(rows) == [2, 0, 4, 3, 1]
    assert Selection("m", descends=False, column="m", most=2.0).rows(rows) == [0, 4]
    assert Selection("m", descends=False, column="m", least=2.0, most=3.0).rows(rows) == [0, 4, 2]
    assert Selection("m", descends=False, column="m", least=3.0).rows(rows) == [2]


def test_a_failure_of_an_evaluation_has_its_folder_where_that_is_there(tmp_path):
    failures = {
        "missed": {"first_seed": 6, "recorded": "runs/missed"}, "lost": {"first_seed": 7, "recorded": None},
        "late": {"first_seed": 8, "recorded": "runs/late"},
    }  # fmt: skip
    tree = {
        "arguments": {}, "policy": {"name": "script"}, "task": "docking", "engine": "mujoco", "failures": failures,
    }  # fmt: skip
    (tmp_path / run_table.EVALUATION).write_text(json.dumps(tree))
    (tmp_path / run_table.EPISODES).write_text("seed,success\n5,True\n6,False\n7,False\n8,False\n")
    (tmp_path / "runs" / "missed").mkdir(parents=True)
    table = EvaluationTable(tmp_path)
    assert table.title == f"script on docking, {tmp_path.name}"
    assert [table.recorded(k) for k in range(4)] == [None, tmp_path / "runs/missed", None, None]
    for key in tree:
        damaged = {name: each for name, each in tree.items() if name != key}
        (tmp_path / run_table.EVALUATION).write_text(json.dumps(damaged))
        with pytest.raises(BadInput, match=f"no key '{key}'; evaluate again"):
            EvaluationTable(tmp_path)


def test_a_table_without_rows_and_a_sweep_of_other_runs_are_refused(tmp_path):
    (tmp_path / "table.csv").write_text("seed,a\n")
    with pytest.raises(BadInput, match=r"table\.csv: no runs$"):
        run_table._rows(tmp_path / "table.csv")
    (tmp_path / run_table.STUDY).write_text("scenario: hover\nvary: {a: [1, 2]}\nseeds: 2\n")
    lines = [f"{seed},{a}" for a in (1, 2) for seed in (1, 2)]
    (tmp_path / run_table.TABLE).write_text("\n".join(["seed,a", *lines, ""]))
    table = run_table.SweepTable(tmp_path)
    assert table.title == f"hover, {tmp_path.name}" and len(table.rows) == 4
    (tmp_path / run_table.TABLE).write_text("\n".join(["seed,a", *lines[:3], ""]))
    with pytest.raises(BadInput, match="not the runs that .* names; sweep again"):
        run_table.SweepTable(tmp_path)
