# SPDX-License-Identifier: BSD-3-Clause
"""Contact sheets and pages hold the images and lines of a run at their places."""

from types import SimpleNamespace

import numpy as np
import pytest
from drawn_flights import figure_of, flight
from matplotlib.colors import to_hex

from iap_bringup.plots import contact_sheet
from iap_bringup.plots.contact_sheet import _columns, _draw, _show
from iap_bringup.plots.flight import draw_errors, draw_path3d
from iap_bringup.plots.interactive import page_of, panels_of
from iap_io.plots.plot_style import REAL, SIMULATED


def camera(topic, parent, outputs=("mono8",)):
    """A camera of a body."""
    return SimpleNamespace(topic=topic, parent=parent, outputs=outputs)


def test_a_contact_sheet_has_a_column_for_each_body_and_names_other_outputs():
    images = {(f"/a/{side}", "mono8"): f"a {side}" for side in ("left", "right")} | {
        ("/b/left", "32FC1"): "b depth"
    }
    two = _columns(
        [
            camera("/a/left", "a"),
            camera("/a/right", "a"),
            camera("/b/left", "b", ("mono8", "depth")),
        ],
        images,
    )
    assert two == [[("a left", "a left"), ("a right", "a right")], [("b left, depth", "b depth")]]
    one = _columns([camera("/a/left", "a"), camera("/a/right", "a")], images)
    assert one == [[("a left", "a left")], [("a right", "a right")]]
    reading = SimpleNamespace(pixels=np.zeros((30, 60), np.uint8), encoding="mono8")
    columns = [[("one", reading), ("two", reading)], [("three", reading)]]
    figure = figure_of(lambda figure: _draw(figure, title="title", columns=columns))
    width, height = figure.get_size_inches()
    assert width == pytest.approx(2 * 2.46 + 0.06) and height == pytest.approx(
        2 * (1.2 + 0.22) + 0.28
    )
    boxes = {axes.get_title(): axes.get_position().bounds for axes in figure.axes}
    assert boxes["one"][:2] == pytest.approx((0.06 / width, (height - 0.22 - 1.42) / height))
    assert boxes["two"][1] == pytest.approx((height - 0.22 - 2.84) / height) and boxes["three"][
        0
    ] == pytest.approx(2.52 / width)
    assert boxes["one"][2:] == pytest.approx((2.4 / width, 1.2 / height))


def test_depth_is_coloured_between_its_percentiles_and_labels_by_their_number():
    depth = np.linspace(1.0, 11.0, 101).reshape(1, -1)
    depth[0, -1] = np.inf
    (axes,) = figure_of(
        lambda figure: _show(
            figure.subplots(), "d", SimpleNamespace(pixels=depth, encoding="32FC1")
        )
    ).axes
    low, high = np.percentile(depth[0, :-1], (1, 95))
    assert axes.images[0].get_clim() == pytest.approx((low, high))
    assert axes.get_title() == f"d, {low:.1f} to {high:.1f} m"
    labels = SimpleNamespace(pixels=np.array([[0, 1, 21]], np.uint16), encoding="16UC1")
    (axes,) = figure_of(lambda figure: _show(figure.subplots(), "l", labels)).axes
    shown_labels = axes.images[0].get_array()
    assert shown_labels[0, 1] == shown_labels[0, 2] == 1 and axes.images[0].get_clim() == (
        -0.5,
        19.5,
    )
    grey = SimpleNamespace(pixels=np.array([[0, 255]], np.uint8), encoding="mono8")
    (axes,) = figure_of(lambda figure: _show(figure.subplots(), "g", grey)).axes
    assert axes.images[0].get_clim() == (0, 255)
    nothing = SimpleNamespace(pixels=np.full((1, 2), np.inf), encoding="32FC1")
    (axes,) = figure_of(lambda figure: _show(figure.subplots(), "n", nothing)).axes
    assert axes.get_title() == "n, 0.0 to 1.0 m"


def test_images_are_the_next_ones_of_each_camera_from_a_time_on(monkeypatch, tmp_path):
    asked = []

    class Reading(contact_sheet.ImageReading):
        def __new__(cls, *_):
            return object.__new__(cls)

    def reading(t, topic):
        made = Reading.__new__(Reading)
        for name, value in (
            ("t", t),
            ("source", SimpleNamespace(topic=topic)),
            ("encoding", "mono8"),
        ):
            object.__setattr__(made, name, value)
        return made

    said = [reading(1.0, "/a"), reading(1.05, "/a"), reading(1.1, "/b"), reading(1.2, "/b")]

    def read(bag, cameras, start, stop):
        asked.append((start, stop))
        return iter(said)

    monkeypatch.setattr(contact_sheet, "read_sensors", read)
    cameras = [
        SimpleNamespace(outputs=("mono8",), rate=20.0),
        SimpleNamespace(outputs=("mono8",), rate=10.0),
    ]
    found = contact_sheet._images(tmp_path, cameras, 1.0)
    assert {key: each.t for key, each in found.items()} == {
        ("/a", "mono8"): 1.0,
        ("/b", "mono8"): 1.1,
    }
    assert asked == [(1_000_000_000, 1_100_000_001)]
    said.clear()
    with pytest.raises(contact_sheet.BadInput, match=r"no images from t = 1.000 s on"):
        contact_sheet._images(tmp_path, cameras, 1.0)


def test_pages_have_the_lines_of_each_panel_with_their_colours_dashes_and_limits():
    made = flight()
    figure = figure_of(draw_errors, made)
    panels = panels_of(figure)
    names = ["x error [mm]", "y error [mm]", "z error [mm]", "yaw error [deg]"]
    assert [each.label for each in panels] == names
    real, simulated = panels[0].series
    assert (real.name, simulated.name) == ("real \u2212 reference", "simulated \u2212 reference")
    for each, style in ((real, REAL), (simulated, SIMULATED)):
        red, green, blue = (int(to_hex(style["color"])[k : k + 2], 16) for k in (1, 3, 5))
        assert each.color == f"rgba({red},{green},{blue},1)" and not each.dashed
    assert panels[0].limits == figure.axes[0].get_ylim()
    dashed = figure_of(
        lambda figure: figure.subplots().plot([0.0, 1.0, 2.0], [1.0, 2.0, np.nan], "--", alpha=0.5)
    )
    (series,) = panels_of(dashed)[0].series
    assert series.dashed and series.color.endswith(",0.5)")
    assert (
        panels_of(
            figure_of(lambda figure: figure.subplots().plot([0.0, 2.0, 1.0], [1.0, 2.0, 3.0]))
        )
        == []
    )
    assert (
        panels_of(figure_of(lambda figure: figure.subplots().plot([0.0, 2.0], [1.0, 2.0]))) == []
    )
    assert panels_of(figure_of(draw_path3d, made)) == []
    page = page_of("a </script> title", panels_of(dashed))
    assert "null" in page and "a &lt;/script&gt; title" in page and page.count("</script>") >= 2
