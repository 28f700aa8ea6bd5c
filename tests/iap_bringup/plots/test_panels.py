# SPDX-License-Identifier: BSD-3-Clause
"""Panels of figures: what they show at least, what they leave out, and what they say of it."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_flights import (
    TICKS,
    TURN,
    flight,
)
from matplotlib.figure import Figure

from iap_bringup.plots import panels
from iap_bringup.plots.flight_curves import ErrorCurves, _tilt
from iap_bringup.plots.path_in_space import _box, _thinned, draw_path
from iap_description.math import so3


def test_tilts_are_of_the_bodys_axis_against_the_vertical_whatever_the_heading():
    made = flight("three_star")
    c, s = np.cos(np.deg2rad(35.0)), np.sin(np.deg2rad(35.0))
    for heading in (0.0, 2.0):
        q = so3.multiply(
            so3.quaternion_exp(np.array([0.0, 0.0, heading])), np.array([0.0, s, 0.0, c])
        )
        assert _tilt(q) == pytest.approx(70.0)
    assert made.tilt[:, 0] == pytest.approx(
        np.rad2deg(np.arccos(np.cos(TURN[0]) * np.cos(TURN[1]))), abs=3.0
    )


@pytest.mark.parametrize(
    ("inside", "outside", "expected"),
    [
        (2.0, 2.5, 2.5),
        (2.0, 5.9, 5.9),
        (2.0, 6.1, 2.0),
        (0.2, 0.3, 0.5),
        (0.2, 1.6, 0.5),
        (2.0, 1.0, 2.0),
    ],
)
def test_errors_beyond_three_times_those_that_are_scored_are_cut(inside, outside, expected):
    values, scored = np.array([[inside, np.nan], [-outside, 0.1]]), np.array([True, False])
    assert panels.shown_limit([(values, scored)], 0.5) == expected
    assert panels.shown_limit([(values, scored), (values, ~scored)], 0.5) == max(
        0.5, inside, outside
    )
    none = np.zeros(2, bool)
    assert panels.shown_limit([(values, none)], 0.5) == max(0.5, inside, outside)


def test_words_and_units_change_at_their_limits():
    assert panels.beyond_text(np.array([1.0, -2.5]), 2.4, "mm") == ", in grey up to 2.5 mm"
    assert panels.beyond_text(np.array([1.0, -2.5]), 2.5, "mm") == ""
    assert panels.rmse_text(0.00099, "m") == "RMSE < 0.001 m"
    assert panels.rmse_text(0.0010, "m") == "RMSE 0.001 m"
    assert panels.rmse_text(float("nan"), "m") == "RMSE nan m"
    assert panels.number(-0.004, 2) == "0.00" and panels.number(-1.25, 1) == "\u22121.2"
    t, three = np.zeros(1), np.zeros((1, 3))
    for size, unit in ((0.299, (1e3, "mm")), (0.3, (1.0, "m")), (-0.5, (1.0, "m"))):
        error = ErrorCurves(t, three + size, three, np.ones(1, bool))
        assert panels.length_unit([ErrorCurves(t, three, three, np.ones(1, bool)), error]) == unit
    assert panels.length_unit([]) == (1e3, "mm")
    assert np.isnan(ErrorCurves(t, three, three, np.zeros(1, bool)).rmse()).all()


def test_a_box_around_a_path_holds_all_that_is_drawn_and_is_nowhere_thin():
    made = flight("three_star")
    low, high = _box(made)
    clouds = np.vstack([made.frames.reshape(-1, 3), made.reference.position, made.real.position])
    assert (low < clouds.min(axis=0)).all() and (high > clouds.max(axis=0)).all()
    sides = high - low
    assert sides.min() >= sides.max() / 3.0 - 1e-9
    assert sides.max() == pytest.approx(1.04 * np.ptp(clouds, axis=0).max())
    aside = replace(made.reference, position=made.reference.position + 50.0)
    assert (_box(replace(made, reference=aside))[1] > 50.0).all()
    assert (_box(replace(made, reference=aside, is_followed=False))[1] < 49.0).all()
    still = replace(made, frames=np.zeros((TICKS, 1, 3)), is_followed=False, real=None)
    np.testing.assert_allclose(_box(still), [[-0.104] * 3, [0.104] * 3])


def test_a_path_in_space_has_its_curves_ends_shadow_and_sketches():
    made = flight("three_star")
    axes = draw_path(Figure(), made, (0.0, 0.0, 1.0, 1.0))
    curves = {line.get_label(): np.array(line.get_data_3d()).T for line in axes.lines}
    np.testing.assert_array_equal(curves["simulated"], made.simulated.position)
    np.testing.assert_array_equal(curves["recorded flight"], made.real.position)
    np.testing.assert_array_equal(curves["reference"], made.reference.position)
    np.testing.assert_array_equal(curves["start"][0], made.simulated.position[0])
    np.testing.assert_array_equal(curves["end"][0], made.simulated.position[-1])
    shadow = np.array(axes.lines[0].get_data_3d()).T
    np.testing.assert_array_equal(shadow[:, :2], made.simulated.position[:, :2])
    assert (shadow[:, 2] == axes.get_zlim()[0]).all() and axes.get_zlim()[0] < made.frames[
        ..., 2
    ].min()
    rods = [
        np.array(each.get_data_3d()).T for each in axes.lines if len(each.get_data_3d()[0]) == 2
    ]
    assert len(rods) == 9 * made.meta.count
    np.testing.assert_array_equal(rods[0], made.frames[0, [0, 1]])
    np.testing.assert_array_equal(rods[-1], made.frames[-1, [0, made.meta.count]])
    assert [axes.get_xlabel(), axes.get_ylabel(), axes.get_zlabel()] == ["x [m]", "y [m]", "z [m]"]
    alone = draw_path(Figure(), flight("f450"), (0.0, 0.0, 1.0, 1.0))
    assert not [each for each in alone.lines if len(each.get_data_3d()[0]) == 2]


@pytest.mark.parametrize("count", [1, 2, 1999, 2000, 4000, 4001, 9000])
def test_a_long_path_is_thinned_and_keeps_its_ends(count):
    points = np.arange(count)[:, None] * np.ones(3)
    few = _thinned(points)
    assert few[0, 0] == 0 and few[-1, 0] == count - 1
    assert len(few) <= 3000 and len(few) >= min(count, 2000)
    assert (np.diff(few[:-1, 0]) == max(1, count // 2000)).all()


def test_of_one_instant_a_millisecond_is_drawn() -> None:
    """Matplotlib itself warns, and draws some seconds around it."""
    axes = Figure().subplots()
    assert panels.limit_times(axes, 2.0, 5.0) == 5.0 and axes.get_xlim() == (2.0, 5.0)
    panels.limit_times(axes, 2.0, 2.0)
    assert axes.get_xlim() == pytest.approx((2.0, 2.001))
