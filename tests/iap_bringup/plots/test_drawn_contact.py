# SPDX-License-Identifier: BSD-3-Clause
"""Figures of contact draw wrenches and deviations in the unit of their labels."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_flights import (
    assert_draws,
    contact,
    figure_of,
    flight,
    greys,
)

from iap_bringup.plots.contact import draw_compared, draw_contact, draw_integrals
from iap_io.plots.plot_style import AIRCRAFT, SIMULATED


def test_time_in_which_contact_is_not_judged_is_grey_from_the_begin_of_the_figure():
    made = replace(flight("three_star"), contact=contact())
    for axes in figure_of(draw_integrals, made).axes:
        assert axes.get_xlim() == (1.0, 10.0)
        assert greys(axes) == pytest.approx(np.array([(1.0, 4.1), (9.0, 10.0)]))
    judged = replace(made, contact=contact(judged=made.contact.t > -1.0))
    assert not any(axes.patches for axes in figure_of(draw_integrals, judged).axes)


def test_integrals_are_drawn_against_the_negative_of_each_other():
    made = contact()
    figure = figure_of(draw_integrals, replace(flight("three_star"), contact=made))
    for i, axes in enumerate(figure.axes[::2] + figure.axes[1::2]):
        assert_draws(axes, SIMULATED, made.t, made.integrals[:, 0, i])
        assert axes.lines[2].get_ydata() == pytest.approx(-made.integrals[:, 1, i])
        assert axes.get_ylabel().endswith("[N]" if i < 3 else "[N m]")
        shown = np.stack([made.integrals[:, 0, i], -made.integrals[:, 1, i]])[:, made.t >= 1.0]
        low, high = axes.get_ylim()
        assert low < shown.min() and high > shown.max()


@pytest.mark.parametrize(("size", "unit", "scale"), [(0.05, "mm", 1e3), (2.0, "m", 1.0)])
def test_deviations_in_contact_are_in_the_unit_of_their_size(size, unit, scale):
    rng = np.random.default_rng(4)
    made = contact(deviation=np.clip(size * rng.normal(size=(101, 6)), -1.1 * size, 1.1 * size))
    figure = figure_of(draw_contact, replace(flight("three_star"), contact=made))
    for i, axes in enumerate(figure.axes[::2] + figure.axes[1::2]):
        factor, axis_unit = (scale, unit) if i < 3 else (1.0, "deg")
        assert axes.get_ylabel().endswith(f"[{axis_unit}]")
        assert ("in P" in axes.get_ylabel()) == (i < 3)
        assert_draws(axes, SIMULATED, made.t, factor * made.deviation[:, i])
        rmse = factor * np.sqrt(np.mean(made.deviation[made.judged, i] ** 2))
        assert axes.get_legend().get_texts()[0].get_text() == f"RMSE {rmse:.3g} {axis_unit}"


def test_a_panel_of_contact_is_at_least_so_tall_and_a_fifth_of_its_tallest_neighbour():
    t = np.linspace(0.0, 10.0, 101)
    deviation = np.zeros((101, 6))
    figure = figure_of(
        draw_contact, replace(flight("three_star"), contact=contact(deviation=deviation))
    )
    heights = [
        np.ptp(axes.get_ylim()) / 1.25 for axes in figure.axes
    ]  # the figure's legend takes a quarter
    assert heights == pytest.approx([1.16 * 5.0, 1.16 * 0.5] * 3)
    deviation[:, 0], deviation[:, 4] = 0.1 * (t > 5.0), 30.0 * (t > 5.0)
    figure = figure_of(
        draw_contact, replace(flight("three_star"), contact=contact(deviation=deviation))
    )
    heights = np.array([np.ptp(axes.get_ylim()) / 1.25 for axes in figure.axes]).reshape(3, 2).T
    assert heights == pytest.approx(1.16 * np.array([[100.0, 20.0, 20.0], [6.0, 30.0, 6.0]]))


def test_compared_forces_are_sizes_over_all_their_times():
    one, other = contact(), contact(t=np.linspace(0.0, 12.0, 101), start=0.5)
    figure = figure_of(draw_compared, "title", {"this flight": one, "stiff": other})
    (axes,) = figure.axes
    for each, color in ((one, SIMULATED["color"]), (other, AIRCRAFT[0])):
        assert_draws(axes, color, each.t, np.linalg.norm(each.filtered[:, :3], axis=1))
    assert axes.get_xlim() == (0.5, 12.0)
    largest = np.linalg.norm(one.filtered[:, :3], axis=1).max()
    assert axes.get_ylim() == pytest.approx((0.0, 1.12 * largest))
    steady = np.linalg.norm(one.filtered[one.t >= 8.0 - 1e-9, :3], axis=1).mean()
    assert figure.legends[0].get_texts()[0].get_text().endswith(f"last 2 s {steady:.1f} N")
    assert axes.lines[0].get_zorder() > axes.lines[1].get_zorder()  # the flight itself lies on top


def test_first_contact_is_at_its_row_and_nothing_judged_is_no_number():
    made = contact()
    assert made.t[made.first_tick] == pytest.approx(2.0)
    assert contact(first=None).first_tick == 0
    assert np.isnan(contact(judged=np.zeros(101, bool)).rmse(made.raw)).all()
    holes = made.raw.copy()
    holes[::2] = np.nan
    there = made.judged & (np.arange(101) % 2 == 1)
    np.testing.assert_allclose(made.rmse(holes), np.sqrt(np.mean(made.raw[there] ** 2, axis=0)))
