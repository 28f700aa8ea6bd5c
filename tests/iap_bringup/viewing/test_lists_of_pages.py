# SPDX-License-Identifier: BSD-3-Clause
"""Legends, events and tables of runs on a page."""

from types import SimpleNamespace

from made_up_pages import Server

from iap_bringup.viewing.events import Happenings, events_until
from iap_bringup.viewing.legend import Meaning, legend_of
from iap_bringup.viewing.legend import as_html as legend_html
from iap_bringup.viewing.panel import (
    add_legend,
)  # fmt: skip
from iap_bringup.viewing.run_table import Selection, SweepTable, columns_of, label_of
from iap_bringup.viewing.table_viewer import TableViewer, _limit, _text


def meta(**changes):
    """A run of one vehicle without sensors."""
    vehicle = SimpleNamespace(
        name="iap", feels=False, is_estimated=False, faults=(), losses=(), **changes
    )
    return SimpleNamespace(vehicles=[vehicle], sensors=[])


def test_the_legend_names_the_colours_that_there_are():
    plain = list(legend_of(meta(), ()))
    assert len(plain) == 4
    touching, estimated = meta(), meta()
    touching.vehicles[0].feels, estimated.vehicles[0].is_estimated = True, True
    assert [each.text for each in legend_of(touching, ())][4:] == ["force of the environment"]
    assert [each.text for each in legend_of(estimated, ())][4:] == [
        "estimate, three standard deviations"
    ]
    ranged = meta()
    ranged.sensors = [SimpleNamespace(kind="uwb")]
    assert [each.text for each in legend_of(ranged, ())][4:] == ["anchors of ranges"]
    coupled = [each.text for each in legend_of(meta(), (object(),))][4:]
    assert len(coupled) == 4 and coupled[-1] == "let go, or given up"
    assert len({each.color for each in legend_of(meta(), (object(),))}) == 7
    assert "rgb(1, 2, 3)" in legend_html(
        [Meaning((1, 2, 3), "thrust")]
    ) and "thrust" in legend_html(plain)
    server = Server()
    add_legend(server, plain)
    assert "thrust" in server.gui.of("html")[0].content


def test_events_of_tasks_estimators_and_vehicles_are_in_order_of_time():
    grasp = SimpleNamespace(object="box", start=2.0, end=6.0)
    metrics = {
        "docking": {
            "events": [{"t_s": 5.0, "what": "caught", "size": 3}, {"what": "no time"}, "word"]
        },
        "methods": {"vio": {"events": [{"t_s": 1.0, "what": "vision", "how": "lost"}]}},
        "vehicles": {"b": {"hand": {"events": [{"t_s": 0.5, "what": "wind"}]}}},
        "position_rmse_m": 0.1,
    }
    events = events_until(meta(), Happenings(6.0, {"iap": 3.0}, grasp, metrics))
    assert [(each.t, each.text) for each in events] == [
        (0.5, "b, hand: wind"), (1.0, "vio: vision lost"), (2.0, "box taken"), (3.0, "first contact"),
        (5.0, "docking: caught"), (6.0, "box let go"),
    ]  # fmt: skip
    several = meta()
    several.vehicles = [*several.vehicles, *meta().vehicles]
    held = events_until(several, Happenings(5.9, {"iap": 3.0}, grasp, {}))
    assert [each.text for each in held] == ["box taken", "first contact of iap"]


class Table:
    """Runs of a table, of which none is recorded."""

    title = "table"
    rows = [
        {
            "seed": str(k),
            "outcome": "completed",
            "rmse": f"{0.5 - 0.01 * k:.7f}" if k != 3 else "",
            "same": "1",
        }
        for k in range(25)
    ]
    flown = ()

    def recorded(self, number):
        return None

    def fly(self, number, folder):
        Table.flown = number, folder


def test_runs_of_a_table_are_sorted_filtered_and_chosen_by_a_click(tmp_path, monkeypatch):
    server = Server()
    viewer = TableViewer(server, Table(), tmp_path)
    assert viewer._count.content == "25 of 25 runs, the first 20:" and len(viewer._buttons) == 20
    assert viewer._buttons[0].label == "seed 0, outcome completed, rmse 0.5"
    server.gui.named("sort by").change("rmse")
    assert viewer._buttons[0].label.startswith("seed 24,")
    server.gui.named("largest first").change(True)
    assert viewer._buttons[0].label.startswith("seed 0,")
    server.gui.named("filter").change("rmse")
    server.gui.named("at most").change("0.4")
    server.gui.named("at least").change("0.35")
    assert viewer._count.content == "6 of 25 runs:"
    assert [each.label.split(",")[0] for each in viewer._buttons] == [
        f"seed {k}" for k in range(10, 16)
    ]
    viewer._buttons[2].click()
    assert viewer._number == 12 and viewer._clicked.is_set()
    monkeypatch.setattr(
        "iap_bringup.viewing.table_viewer.RunSource",
        SimpleNamespace(of_folder=lambda folder: folder),
    )
    assert viewer._source(12) == tmp_path / "12" and Table.flown == (12, tmp_path / "12")
    Table.flown = ()
    assert viewer._source(12) == tmp_path / "12" and Table.flown == ()  # it is there by now
    assert "flown again" in server.gui.of("markdown")[0].content
    assert server.gui.named("at most").args[1] == "0.4"  # the filter stays


def test_a_table_of_one_run_lists_it(tmp_path):
    table = Table()
    table.rows = table.rows[:1]
    viewer = TableViewer(Server(), table, tmp_path)
    (button,) = viewer._buttons
    assert button.label.startswith("seed 0, outcome completed")


def test_limits_are_what_is_typed_or_none():
    assert _limit("2.5", 9.0) == 2.5 and _limit("", 9.0) == 9.0 and _limit("nan", 9.0) == 9.0
    assert _text(0.25) == "0.25" and _text(float("inf")) == ""
    rows = [{"a": "1", "b": "2"}, {"a": "3", "b": "2"}]
    assert columns_of(rows) == ["a"] and columns_of(rows[:1]) == ["a", "b"]
    assert (
        label_of({"a": "0.123456", "b": "word", "c": ""}, ["a", "b", "c", "d"])
        == "a 0.1235, b word"
    )
    at_edges = Selection("a", descends=False, column="a", least=1.0, most=3.0)
    assert at_edges.rows(rows) == [0, 1]
    assert at_edges._replace(least=1.1).rows(rows) == [1] and at_edges._replace(most=2.9).rows(
        rows
    ) == [0]


def test_a_row_of_a_sweep_has_the_folder_that_it_names_or_none(tmp_path):
    table = object.__new__(SweepTable)
    table._folder, table.rows = tmp_path, [{"folder": "a-1"}, {"folder": ""}, {"seed": "3"}]
    assert table.recorded(0) == tmp_path / "runs" / "a-1"
    assert table.recorded(1) is None and table.recorded(2) is None
