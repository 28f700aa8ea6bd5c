# SPDX-License-Identifier: BSD-3-Clause
"""Every button, slider, box and list of a page does what its label says."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_pages import Server, page

from iap_bringup.viewing import panel
from iap_bringup.viewing.control import FASTEST, SPEEDS, Playback
from iap_bringup.viewing.events import MOST_LINES, Event, Happenings, as_html, events_until
from iap_bringup.viewing.legend import Meaning, legend_of
from iap_bringup.viewing.legend import as_html as legend_html
from iap_bringup.viewing.panel import (
    CurvePanel,
    EventLog,
    ImagePanel,
    TimeSlider,
    add_events,
    add_layers,
    add_legend,
    add_time,
)  # fmt: skip
from iap_bringup.viewing.record_notes import Curves, as_picture
from iap_bringup.viewing.run_table import Selection, columns_of, label_of
from iap_bringup.viewing.table_viewer import TableViewer, _limit, _text


class Flight:
    """A flight whose time a person controls."""

    speeds = (0.5, 1.0, FASTEST)

    def __init__(self):
        self.is_paused, self.speed, self.done = False, 1.0, []

    def step(self):
        self.is_paused = True
        self.done.append("step")

    def reset(self):
        self.is_paused = False
        self.done.append("reset")


def test_time_has_buttons_to_pause_step_and_reset_and_its_speeds():
    server, flight = Server(), Flight()
    add_time(server, flight)
    pause, speed = server.gui.named("Pause"), server.gui.named("speed")
    pause.click()
    assert flight.is_paused and pause.label == "Play"
    pause.click()
    assert not flight.is_paused and pause.label == "Pause"
    server.gui.named("Step").click()
    assert flight.done == ["step"] and pause.label == "Play"
    server.gui.named("Reset").click()
    assert flight.done == ["step", "reset"] and pause.label == "Pause"
    assert speed.args[1] == ("0.5x", "1x", "as fast as it can") and speed.value == "1x"
    for name, expected in (("0.5x", 0.5), ("as fast as it can", FASTEST)):
        speed.change(name)
        assert flight.speed == expected


def test_a_way_without_reset_and_speeds_has_no_such_buttons():
    server = Server()
    add_time(server, SimpleNamespace(is_paused=True, speed=1.0, speeds=(), step=lambda: None))
    assert {each.label for each in server.gui.of("button")} == {"Pause", "Step"}
    assert server.gui.of("dropdown") == []


def test_playback_stays_within_its_flight_and_begins_again_at_its_end():
    played = Playback((1.0, 3.0), 0.1)
    assert played.t == 1.0 and played.speeds == SPEEDS and not played.is_paused
    played.pass_time(0.5)
    assert played.t == 1.5
    played.speed = 4.0
    played.pass_time(0.25)
    assert played.t == 2.5
    played.pass_time(9.0)
    assert played.t == 3.0
    played.pass_time(0.1)
    assert played.t == 1.0
    played.step()
    assert played.t == pytest.approx(1.1) and played.is_paused
    played.pass_time(9.0)
    assert played.t == pytest.approx(1.1)
    for t, expected in ((0.0, 1.0), (2.0, 2.0), (9.0, 3.0)):
        played.seek(t)
        assert played.t == expected
    played.reset()
    assert played.t == 1.0


def test_a_slider_seeks_where_a_person_moves_it_and_follows_the_time_else(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(panel.time, "monotonic", lambda: clock[0])
    server, played = Server(), Playback((0.0004, 20.0), 0.1)
    slider = TimeSlider(
        server, played, (0.0004, 20.0), [Event(3.00049, "b"), Event(1.0, "a"), Event(1.0001, "c")]
    )
    (element,) = server.gui.of("slider")
    assert element.options["marks"] == (1.0, 3.0)
    assert (element.options["min"], element.options["max"]) == (0.0, 20.0)
    played.seek(7.12345)
    slider.update()
    assert element.value == 7.123
    element.change(7.123, client="page")  # what was sent comes back
    assert not played.is_paused and played.t == 7.12345
    clock[0] += 1.01
    element.change(7.123, client="page")  # a person, for nothing was sent for a while
    assert played.is_paused and played.t == 7.123
    element.change(12.5, client=None)  # by itself
    assert played.t == 7.123
    element.change(12.5, client="page")
    assert played.t == 12.5
    played.seek(3.0)
    slider.update()
    assert element.value == 12.5  # the person's hand is still on it
    clock[0] += 0.51
    slider.update()
    assert element.value == 3.0
    empty = TimeSlider(Server(), played, (2.0, 2.0))
    assert empty._slider.options["marks"] is None and empty._slider.options["max"] == 2.001


def curves(rows=1000):
    """Curves of 100 s."""
    t = np.linspace(0.0, 100.0, rows + 1)
    return Curves("force, N", ("x", "y"), t, np.stack([t, -t], axis=-1))


def test_curves_show_the_last_ten_seconds():
    server, made = Server(), curves()
    shown = CurvePanel(server, [made])
    (plot,) = server.gui.of("uplot")
    series = plot.args[1]
    assert plot.options["title"] == "force, N" and len(series) == 3
    shown.update(50.0)
    t, x, y = plot.data
    assert t[0] == pytest.approx(40.1) and t[-1] == pytest.approx(50.0) and len(t) == 100
    np.testing.assert_array_equal(x, t)
    np.testing.assert_array_equal(y, -t)
    shown.update(-1.0)
    assert plot.data[0].tolist() == pytest.approx([0.0, 0.1])
    many = curves(100_000)
    t = panel._window(many, 50.0)[0]
    assert 290 <= len(t) <= 310 and t[-1] == pytest.approx(50.0, abs=0.05) and t[0] > 40.0


def test_events_are_buttons_that_seek_and_a_list_with_the_newest_first():
    server, played = Server(), Playback((0.0, 9.0), 0.1)
    add_events(server, [Event(1.234, "caught"), Event(4.0, "locked")], played)
    server.gui.named("4.00 s  locked").click()
    assert played.t == 4.0
    server.gui.named("1.23 s  caught").click()
    assert played.t == 1.234
    log = EventLog(server)
    assert "none so far" in log._lines.content
    log.update([Event(float(k), f"<{k}>") for k in range(MOST_LINES + 3)])
    text = log._lines.content
    assert text.index("14.00 s") < text.index("13.00 s") and "and 3 before" in text
    assert "2.00 s&" not in text.replace("12.00 s&", "") and "&lt;14&gt;" in text
    log._lines.content = "as it was"
    log.update([Event(float(k), f"<{k}>") for k in range(MOST_LINES + 3)])
    assert log._lines.content == "as it was"  # nothing is new
    assert "before" not in as_html([Event(float(k), "") for k in range(MOST_LINES)])


def test_boxes_show_and_hide_the_nodes_of_their_layers_and_let_the_camera_follow():
    server, shown = Server(), []
    stage = SimpleNamespace(show=lambda node, *, visible: shown.append((node, visible)))
    scenes = [
        SimpleNamespace(
            layers={"bodies": None},
            follows=False,
            home=None,
            nodes=lambda name, k=k: [f"{k}/{name}", f"{k}/more"],
        )
        for k in range(2)
    ]
    add_layers(server, stage, scenes)
    server.gui.named("bodies").change(False)
    assert shown == [
        ("0/bodies", False),
        ("0/more", False),
        ("1/bodies", False),
        ("1/more", False),
    ]
    server.gui.named("paths").change(True)
    assert shown[4] == ("0/paths", True)
    follows, viewer = server.gui.named("camera follows"), page(0.0, 10.0, 0.0)
    follows.change(True, viewer)
    assert all(scene.follows for scene in scenes) and viewer.camera.position.tolist() == [
        0.0,
        10.0,
        0.0,
    ]
    scenes[0].home = np.array([1.0, 2.0, 3.0])
    follows.change(True, viewer)
    assert viewer.camera.position == pytest.approx(
        [1.0, 4.8, 3.0]
    ) and viewer.camera.look_at == pytest.approx([1.0, 2.0, 3.0])
    follows.change(False, viewer)
    assert not any(scene.follows for scene in scenes) and viewer.camera.position == pytest.approx(
        [1.0, 4.8, 3.0]
    )
    follows.change(True, None)
    assert scenes[1].follows


def test_the_chosen_camera_shows_its_last_image():
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    asked = []

    def at(name, t):
        asked.append((name, t))
        return None if t < 1.0 else SimpleNamespace(pixels=pixels)

    server = Server()
    shown = ImagePanel(server, SimpleNamespace(cameras={"left": 1, "right": 2}, at=at))
    (choice,), (image,) = server.gui.of("dropdown"), server.gui.of("image")
    assert choice.args[1] == ["none", "left", "right"]
    shown.update(5.0)
    assert asked == [] and image.args[0].shape == (2, 2, 3)
    choice.change("right")
    shown.update(0.5)
    shown.update(5.0)
    assert asked == [("right", 0.5), ("right", 5.0)]
    np.testing.assert_array_equal(image.image, pixels)


def test_a_reading_is_a_picture_of_three_colours_whatever_it_is_of():
    grey = as_picture(SimpleNamespace(pixels=np.array([[0, 200]], np.uint8)))
    assert grey.tolist() == [[[0, 0, 0], [200, 200, 200]]]
    depth = as_picture(SimpleNamespace(pixels=np.array([[1.0, 2.0, np.inf, np.nan]], np.float32)))
    assert depth[0, :, 0].tolist() == [127, 255, 0, 0] and depth.shape == (1, 4, 3)
    nothing = as_picture(SimpleNamespace(pixels=np.zeros((1, 2), np.float32)))
    assert not nothing.any()


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
