# SPDX-License-Identifier: BSD-3-Clause
"""Limits of panels of contact, sizes and titles of sheets of images and of approaches, worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from iap_bringup.plots import contact_sheet, flight, panels
from iap_bringup.plots.contact import _limits
from iap_bringup.plots.docking_approach import draw_approach
from iap_bringup.plots.open_loop import draw_steps
from iap_simulation.open_loop.step_response import AxisResponses


def test_panels_hold_what_is_shown_and_zero_with_a_margin_of_eight_hundredths():
    curves = np.zeros((2, 3, 6))
    curves[0, 1], curves[1, 2] = [-3.0, 0.5, 0.0, 2.0, 0.1, 0.0], [7.0, 1.0, 0.0, -1.0, 0.0, 0.0]
    curves[:, 0] = 99.0  # before what is shown
    shown = SimpleNamespace(shown=slice(1, None))
    found = _limits(curves, shown, (0.5, 0.7))
    # Heights are 10, a fifth of it, twice, then 3, the least, twice; about the middles of what is shown.
    heights = np.array([10.0, 2.0, 2.0, 3.0, 0.7, 0.7])
    middles = np.array([2.0, 0.5, 0.0, 0.5, 0.05, 0.0])
    np.testing.assert_allclose(found[:, 0], middles - 0.58 * heights)
    np.testing.assert_allclose(found[:, 1], middles + 0.58 * heights)


def test_a_sheet_is_as_large_as_its_images_below_a_title():
    def image(rows, columns):
        return SimpleNamespace(pixels=np.zeros((rows, columns), np.uint8), encoding="mono8")

    figure = Figure()
    columns = [[("left", image(50, 100)), ("right", image(50, 100))], [("down", image(90, 100))]]
    contact_sheet._draw(figure, title="at 3 s", columns=columns)
    wide, high = 2.4, 1.2
    width, height = 2 * (wide + 0.06) + 0.06, 2 * (high + 0.22) + 0.22 + 0.06
    assert figure.get_size_inches() == pytest.approx([width, height])
    (title,) = figure.texts
    assert title.get_text() == "at 3 s"
    assert title.get_position() == pytest.approx((0.5, 1.0 - 0.11 / height))
    assert (title.get_ha(), title.get_va()) == ("center", "center")
    boxes = [each.get_position(original=True).bounds for each in figure.axes]
    tops = [(y + h) * height for _, y, _, h in boxes]
    assert [x * width for x, *_ in boxes] == pytest.approx([0.06, 0.06, 2.52])
    assert [w * width for _, _, w, _ in boxes] == pytest.approx([wide] * 3)
    assert tops == pytest.approx([height - 0.44, height - 0.44 - high - 0.22, height - 0.44])
    assert [each.get_title() for each in figure.axes] == ["left", "right", "down"]


def test_an_approach_is_a_picture_of_900_by_675_pixels(tmp_path):
    from matplotlib import image, pyplot

    before = pyplot.get_fignums()  # of other tests
    rows = np.array([[0.0, 1.0, 0.1], [1.0, 0.5, 0.01], [2.0, -0.05, 0.001]])
    draw_approach(tmp_path / "a.png", {"one": rows}, 0.05)
    assert image.imread(tmp_path / "a.png").shape[:2] == (675, 900)
    assert pyplot.get_fignums() == before, "it is closed"


# panels of flights


def panel():
    return Figure().add_subplot()


@pytest.mark.parametrize(
    ("speed", "tilt", "tops"),
    [(0.05, 0.5, (0.11, 1.1)), (0.2, 3.0, (0.22, 3.3)), (0.0, 0.0, (0.11, 1.1))],
)
def test_motions_that_nobody_leads_are_shown_from_zero_to_a_tenth_more_than_their_largest(
    speed, tilt, tops
):
    t = np.arange(3.0)
    flown = SimpleNamespace(
        t=t, speed=speed * np.array([0.0, 1.0, np.nan]), tilt=tilt * np.array([[0.1, 0.2], [1.0, 0.3], [0.0, 0.0]])
    )  # fmt: skip
    both = panel(), panel()
    assert flight._draw_motion_panels(both, flown) == ("speed [m/s]", "largest\ntilt [deg]")
    for axes, top in zip(both, tops, strict=True):
        assert axes.get_ylim() == pytest.approx((0.0, top))
    np.testing.assert_allclose(both[1].lines[0].get_ydata(), tilt * np.array([0.2, 1.0, 0.0]))


@pytest.mark.parametrize(
    ("thrust", "count", "height"), [(0.0, 2, 0.2), (10.0, 2, 2.02), (10.0, 1, 2.0)]
)
def test_thrusts_fill_a_panel_of_a_fifth_of_the_largest_with_room_for_names(thrust, count, height):
    t = np.arange(4.0)
    values = np.stack([np.full(4, thrust), np.full(4, 1.01 * thrust)], axis=1)[:, :count]
    flown = SimpleNamespace(t=t, thrust=values, meta=SimpleNamespace(count=count))
    axes = panel()
    flight._draw_thrust_panel(axes, flown)
    low, high = axes.get_ylim()
    assert (high - low) / 1.25 == pytest.approx(height)
    widths = [line.get_linewidth() for line in axes.lines[1:]]
    assert widths == pytest.approx([1.9, 0.9][-count:])
    legend = axes.get_legend()
    names = [] if legend is None else [each.get_text() for each in legend.get_texts()]
    assert names == (["aircraft", "1", "2"] if count > 1 else [])


def test_faults_are_named_beside_their_lines_on_the_side_with_room():
    class Fault(SimpleNamespace):
        def __str__(self):
            return self.name

    faults = [
        Fault(at=at, until=at + 1.0, name=name)
        for at, name in (
            (1.0, "first"),
            (5.0, "middle"),
            (5.1, "late"),
            (1.0, "second"),
            (11.0, "none"),
        )
    ]
    axes = panel()
    axes.set_xlim(0.0, 10.0)
    panels.name_faults(axes, SimpleNamespace(meta=SimpleNamespace(faults=faults)))
    found = [(each.get_text(), each.xy[0], each.xyann, each.get_ha()) for each in axes.texts]
    assert found == [
        ("first\nsecond", 1.0, (3, 0), "left"), ("middle", 5.0, (3, 0), "left"), ("late", 5.1, (-3, 0), "right"),
    ]  # fmt: skip


def test_steps_share_their_axes_and_have_bands_of_a_deviation():
    made = SimpleNamespace(t=np.arange(3.0), values=np.ones(3), deviations=np.full(3, 0.25))
    figure = Figure()
    draw_steps(figure, {"roll": AxisResponses(made, None), "pitch": AxisResponses(made, made)})
    roll, pitch = figure.axes
    assert roll.get_shared_x_axes().joined(roll, pitch) and roll.get_shared_y_axes().joined(
        roll, pitch
    )
    assert (len(roll.collections), len(pitch.collections)) == (1, 2)
    band = pitch.collections[1]
    assert band.get_alpha() == pytest.approx(0.2)
    ends = band.get_paths()[0].vertices[:, 1]
    assert (ends.min(), ends.max()) == pytest.approx((0.75, 1.25))
    assert type(figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"
    assert (roll.get_title(), pitch.get_title()) == ("roll", "pitch")
    assert roll.get_ylabel() == "share of the step"
