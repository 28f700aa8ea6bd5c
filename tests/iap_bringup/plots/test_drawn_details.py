# SPDX-License-Identifier: BSD-3-Clause
"""Limits, legends, labels and sizes of figures: what stands where, and where it changes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from drawn_flights import assert_draws, contact, figure_of, flight, levels, series
from matplotlib.figure import Figure

from iap_bringup.plots import panels
from iap_bringup.plots.contact import draw_compared, draw_contact, draw_wrench
from iap_bringup.plots.open_loop import _shown, draw_steps, draw_windows
from iap_bringup.plots.plot import first_sentence
from iap_description.math import so3
from iap_description.signals import ForceMode
from iap_io.plots.plot_style import LIMIT, REAL, SIMULATED, WIDTH
from iap_simulation.open_loop.step_response import AxisResponses


def replay(count=60, window=10, *, with_v=True):
    """A log of a roll that grows, flown in overlapping windows that are off by a tenth."""
    t = 0.1 * np.arange(count)
    angles = np.stack([0.01 * np.arange(count), 0.0 * t, 0.0 * t], 1)
    q = so3.quaternion_from_matrix(so3.matrix_from_euler(angles))
    v = np.stack([t, -2.0 * t, 0.0 * t], 1) if with_v else None
    starts = np.arange(0, count - window, 5)
    x = np.zeros((window + 1, len(starts), 13))
    x[..., 6] = 1.0
    for w, start in enumerate(starts):
        x[:, w, 3:7] = q[start : start + window + 1]
        if v is not None:
            x[:, w, 7:10] = v[start : start + window + 1] + 0.1
    return SimpleNamespace(
        table=SimpleNamespace(t=t, q=q, v=v), paths=SimpleNamespace(starts=starts, x=x)
    )


def test_windows_that_do_not_overlap_are_drawn_over_the_recorded_motion():
    made = replay()
    begins = [segment[0][0] for segment in _shown(made)]
    assert begins == pytest.approx([0.0, 1.0, 2.0, 3.0, 4.0])
    figure = figure_of(draw_windows, made)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "roll (deg)", "pitch (deg)", "v east (m/s)", "v north (m/s)", "v up (m/s)",
    ]  # fmt: skip
    assert figure.get_size_inches() == pytest.approx([WIDTH, 6.5])
    roll, pitch, east, north, _ = figure.axes
    assert_draws(roll, REAL, made.table.t, np.degrees(0.01 * np.arange(60)))
    assert len(series(roll, SIMULATED)) == 5
    assert series(east, SIMULATED)[1].get_xdata() == pytest.approx(np.linspace(1.0, 2.0, 11))
    assert series(north, SIMULATED)[1].get_ydata() == pytest.approx(np.linspace(-1.9, -3.9, 11))
    half = 0.5 * 1.3 * 5.9
    assert east.get_ylim() == pytest.approx((2.95 - half, 2.95 + half))
    assert pitch.get_ylim() == pytest.approx((-1e-3, 1e-3))
    assert [text.get_text() for text in roll.get_legend().get_texts()] == [
        "recorded", "simulated, open loop",
    ]  # fmt: skip
    assert figure.axes[-1].get_xlabel() == "time since the log's boot (s)"
    assert pitch.get_legend() is None
    assert len(figure_of(draw_windows, replay(with_v=False)).axes) == 2


def test_responses_to_a_step_stand_side_by_side_with_their_bands():
    t = np.linspace(0.0, 1.0, 5)
    each = SimpleNamespace(t=t, values=t**2, deviations=0.1 + 0.0 * t)
    steps = {"roll": AxisResponses(each, each), "pitch": AxisResponses(each, None)}
    figure = figure_of(draw_steps, steps)
    roll, pitch = figure.axes
    assert (roll.get_title(), pitch.get_title()) == ("roll", "pitch")
    assert roll.get_ylabel() == "share of the step" and pitch.get_ylabel() == ""
    assert pitch.get_xlabel() == "time after the step (s)" and levels(pitch) == [1.0]
    assert len(roll.collections) == 2 and len(pitch.collections) == 1
    band = roll.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(-0.1) and band[:, 1].max() == pytest.approx(1.1)
    names = [text.get_text() for text in roll.get_legend().get_texts()]
    assert names == list(AxisResponses._fields)
    assert figure.get_size_inches() == pytest.approx([WIDTH, 2.4])


def test_a_wrench_is_drawn_raw_estimated_filtered_desired_and_as_it_was_measured():
    made = contact()
    measured = SimpleNamespace(t=made.t, wrenches=made.raw + 9.0)
    felt = replace(made, measured=measured)
    figure = figure_of(draw_wrench, replace(flight("three_star"), contact=felt))
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["raw", "estimated", "filtered", "desired", "measured"]
    for i, axes in enumerate(figure.axes[::2] + figure.axes[1::2]):
        drawn = {line.get_label(): line.get_ydata() for line in axes.lines}
        for name in ("raw", "estimated", "filtered", "desired"):
            np.testing.assert_array_equal(drawn[name], getattr(made, name)[:, i])
        np.testing.assert_array_equal(drawn["measured"], measured.wrenches[:, i])
        assert axes.get_ylim()[1] > measured.wrenches[made.t >= 1.0, i].max()
        assert axes.get_ylabel() == (
            ("$f_x$", "$f_y$", "$f_z$", r"$\tau_x$", r"$\tau_y$", r"$\tau_z$")[i]
            + (" [N]" if i < 3 else " [N m]")
        )
    bare = figure_of(
        draw_wrench, replace(flight("three_star"), contact=replace(made, mode=ForceMode.NONE))
    )
    assert [text.get_text() for text in bare.legends[0].get_texts()] == names[:3]


def test_angles_that_are_not_controlled_are_grey_in_contact():
    meta = flight("three_star").meta.model_copy(update={"controlled": (True, False, True)})
    figure = figure_of(draw_contact, replace(flight("three_star"), contact=contact(), meta=meta))
    pitch, others = figure.axes[3], [figure.axes[k] for k in (0, 1, 2, 4, 5)]
    assert len(pitch.texts) == 1 and pitch.texts[0].get_text().startswith("pitch ")
    assert list(pitch.get_yticks()) == [] and all(len(axes.get_yticks()) for axes in others)
    assert not any(axes.texts for axes in others) and not series(pitch, SIMULATED)
    assert all(levels(axes)[0] == 0.0 for axes in figure.axes)


def test_compared_forces_have_a_title_their_axes_and_at_least_a_tenth_of_a_newton():
    still = contact(filtered=np.zeros((101, 6)))
    figure = figure_of(draw_compared, "a title", {"this flight": still})
    (axes,) = figure.axes
    assert axes.get_ylim() == pytest.approx((0.0, 1.12 * 0.1))
    assert figure.get_suptitle() == "a title" and figure.get_size_inches() == pytest.approx(
        [WIDTH, 2.5]
    )
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time [s]", "contact force, filtered [N]")


def an_axes(low=0.0, high=10.0):
    """A panel with ends."""
    axes = Figure().subplots()
    axes.set_ylim(low, high)
    return axes


@pytest.mark.parametrize(
    ("value", "is_near", "text", "offset", "side"),
    [
        (-10.0, True, "limit", 3, "bottom"), (-10.1, False, "limit \N{DOWNWARDS ARROW}", 3, "bottom"),
        (20.0, True, "limit", 2, "bottom"), (20.1, False, "limit \N{UPWARDS ARROW}", -3, "top"),
        (5.0, True, "limit", 3, "bottom"), (5.1, True, "limit", 2, "bottom"),
    ],
)  # fmt: skip
def test_a_limit_near_the_curves_is_a_line_and_one_far_away_an_arrow(
    value, is_near, text, offset, side
):
    axes = an_axes()
    panels.mark_limit(axes, value, "limit")
    (note,) = axes.texts
    assert note.get_text() == text and note.xyann == (0, offset) and note.get_va() == side
    assert [line.get_color() for line in axes.lines] == [LIMIT["color"]] * is_near
    at = value if is_near else 10.0 if value > 0.0 else 0.0
    assert note.xy == (0.995, at) and note.get_ha() == "right"


def test_a_panel_is_widened_about_its_middle_only_where_it_is_thin():
    for low, high, ends in (
        (1.0, 1.5, (0.25, 2.25)),
        (0.0, 2.0, (0.0, 2.0)),
        (0.0, 9.0, (0.0, 9.0)),
    ):
        axes = an_axes(low, high)
        panels.widen(axes, 2.0)
        assert axes.get_ylim() == pytest.approx(ends)


def test_a_mark_and_the_figures_of_a_panel_have_room_above_the_curves():
    axes = an_axes()
    panels.mark(axes, "why")
    assert axes.get_ylim() == (0.0, 12.0) and axes.texts[0].get_text() == "why"
    assert axes.texts[0].get_position() == (0.5, 0.95)
    axes = an_axes()
    for label in ("curve", "RMSE 1 N", "last 2 s: 3", "ends at 4", "other"):
        axes.plot([0.0, 1.0], [0.0, 1.0], label=label)
    axes.set_ylim(0.0, 10.0)
    panels.panel_legend(axes)
    assert axes.get_ylim() == (0.0, 12.5)
    inside = [text.get_text() for text in axes.get_legend().get_texts()]
    assert inside == ["RMSE 1 N", "last 2 s: 3", "ends at 4"]
    panels.legend(axes.figure, axes)
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["curve", "other"]


def test_panels_are_two_columns_of_one_time_axis_with_a_title():
    made = flight("three_star")
    figure, shaded = Figure(), []
    found = panels.grid(figure, made, lambda axes, each: shaded.append(axes))
    assert len(found) == 6 and found[:3] == figure.axes[::2] and found[3:] == figure.axes[1::2]
    assert figure.get_suptitle() == made.title and len(shaded) == 6
    assert [axes.get_xlabel() for axes in found] == ["", "", "time [s]"] * 2
    assert figure.get_size_inches() == pytest.approx([WIDTH, 4.6])


def test_a_function_is_told_of_by_the_first_line_of_its_docstring():
    def drawn():
        """Draw it.

        And more.
        """

    def bare():
        pass

    assert first_sentence(drawn) == "Draw it" and first_sentence(bare) == ""
