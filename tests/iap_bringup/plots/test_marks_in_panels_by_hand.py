# SPDX-License-Identifier: BSD-3-Clause
"""Marks of limits and free angles in panels, and the room that notes take above the curves."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from iap_bringup.plots import panels


def panel(low=0.0, high=10.0):
    axes = Figure().add_subplot()
    axes.set_xlim(0.0, 4.0)
    axes.set_ylim(low, high)
    return axes


@pytest.mark.parametrize(
    ("value", "at", "text", "offset", "va", "has_line"),
    [
        (6.9, 6.9, "limit", (0, 3), "bottom", True), (7.1, 7.1, "limit", (0, 2), "bottom", True),
        (21.9, 21.9, "limit", (0, 2), "bottom", True), (22.1, 12.0, f"limit {panels.ABOVE}", (0, -3), "top", False),
        (-7.9, -7.9, "limit", (0, 3), "bottom", True), (-8.1, 2.0, f"limit {panels.BELOW}", (0, 3), "bottom", False),
    ],
)  # fmt: skip
def test_a_limit_is_drawn_within_a_panels_height_of_it_and_else_named_at_its_edge(
    value, at, text, offset, va, has_line
):
    axes = panel(2.0, 12.0)
    panels.mark_limit(axes, value, "limit")
    (note,) = axes.texts
    assert (note.get_text(), note.xyann, note.get_va(), note.get_ha()) == (
        text,
        offset,
        va,
        "right",
    )
    assert note.xy == pytest.approx((0.995, at))
    assert [line.get_ydata()[0] for line in axes.lines] == ([value] if has_line else [])


@pytest.mark.parametrize(("low", "high", "least", "expected"), [
    (4.0, 4.5, 2.0, (3.25, 5.25)), (4.0, 6.1, 2.0, (4.0, 6.1)),
])  # fmt: skip
def test_a_panel_is_widened_about_its_middle(low, high, least, expected):
    axes = panel(low, high)
    panels.widen(axes, least)
    assert axes.get_ylim() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("free", "axis", "text"),
    [(2, 2, "yaw is free"), (2, 0, "roll follows from the thrust"), (None, 1, "pitch follows from the thrust")],
)  # fmt: skip
def test_an_angle_that_is_not_controlled_is_greyed_out_with_a_word_above_the_curves(
    free, axis, text
):
    axes = panel(-2.0, 3.0)
    panels.mark_free(axes, SimpleNamespace(meta=SimpleNamespace(free_axis=free)), axis)
    assert axes.get_ylim() == pytest.approx((-2.0, 4.0))
    (note,) = axes.texts
    assert (note.get_text(), note.get_va()) == (text, "top") and note.get_position() == (0.5, 0.95)
    assert axes.get_facecolor() != panel().get_facecolor()


def test_figures_of_a_panel_stand_inside_it_and_names_of_curves_outside():
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0.0, 1.0], [0.0, 4.0], label="simulated")
    axes.plot([], [], label="RMSE 3 mm")
    axes.set_ylim(0.0, 4.0)
    panels.panel_legend(axes)
    panels.legend(figure, axes)
    assert axes.get_ylim() == pytest.approx((0.0, 5.0))
    assert [each.get_text() for each in axes.get_legend().get_texts()] == ["RMSE 3 mm"]
    assert [each.get_text() for each in figure.legends[0].get_texts()] == ["simulated"]


def test_faults_have_lines_where_they_strike_and_end_within_the_panel():
    faults = [SimpleNamespace(at=1.0, until=3.0), SimpleNamespace(at=3.0, until=9.0)]
    axes = panel()
    panels._mark_faults(axes, SimpleNamespace(meta=SimpleNamespace(faults=faults)))
    assert [line.get_xdata()[0] for line in axes.lines] == [1.0, 3.0]


def spans(axes):
    """Begins and ends of what is greyed out."""
    boxes = [each.get_extents().transformed(axes.transData.inverted()) for each in axes.patches]
    return [(pytest.approx(box.x0), pytest.approx(box.x1)) for box in boxes]


@pytest.mark.parametrize(
    ("window", "grey"),
    [((2.0, 4.0), [(1.0, 2.0), (4.0, 6.0)]), ((1.0, 9.0), []), ((0.0, 5.0), [(5.0, 6.0)]), ((9.0, 9.0), [(1.0, 6.0)])],
)  # fmt: skip
def test_time_outside_the_window_is_grey(window, grey):
    axes = panel()
    meta = SimpleNamespace(faults=[])
    panels.shade_unscored(axes, SimpleNamespace(t=[1.0, 3.0, 6.0], window=window, meta=meta))
    assert axes.get_xlim() == (1.0, 6.0) and spans(axes) == grey
    alone = panel()
    panels.shade_unscored(alone, SimpleNamespace(t=[1.0], window=(0.0, 9.0), meta=meta))
    assert alone.get_xlim() == pytest.approx((1.0, 1.001))


def test_time_in_which_contact_is_not_judged_is_grey_from_its_begin_on():
    judged = np.array([False, False, True, True, False, True])
    contact = SimpleNamespace(t=np.arange(6.0), start=0.5, judged=judged)
    axes = panel()
    panels.shade_unjudged(axes, SimpleNamespace(contact=contact, meta=SimpleNamespace(faults=[])))
    assert axes.get_xlim() == (0.5, 5.0) and spans(axes) == [(0.5, 2.0), (4.0, 5.0)]
