# SPDX-License-Identifier: BSD-3-Clause
"""Every button, slider, box and list of a page does what its label says."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_pages import Server, page

from iap_bringup.viewing import panel
from iap_bringup.viewing.control import FASTEST, SPEEDS, Playback
from iap_bringup.viewing.events import MOST_LINES, Event, as_html
from iap_bringup.viewing.panel import (
    CurvePanel,
    EventLog,
    ImagePanel,
    TimeSlider,
    add_events,
    add_layers,
    add_time,
)  # fmt: skip
from iap_bringup.viewing.record_notes import Curves, as_picture


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
    monkeypatch.setattr(panel, "time", SimpleNamespace(monotonic=lambda: clock[0]))
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
