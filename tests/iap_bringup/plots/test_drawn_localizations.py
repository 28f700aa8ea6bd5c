# SPDX-License-Identifier: BSD-3-Clause
"""Figures of localisations, contact sheets and pages draw numbers in the unit of their labels."""

from types import SimpleNamespace

import numpy as np
import pytest
from drawn_flights import assert_draws, figure_of, levels
from matplotlib.colors import to_hex

from iap_bringup.plots import localization
from iap_bringup.plots.localization import _reach, _Shown, draw_paths, draw_quartiles
from iap_bringup.plots.localized_flights import (
    COLORS,
    BodyPath,
    LocalizedFlight,
    _draw_above,
    _draw_anchors,
    _draw_height,
    _top,
    _view,
    colors_of,
    draw_boxes,
    draw_localized,
    quartiles_of,
)  # fmt: skip
from iap_io.plots.plot_style import REFERENCE

RNG = np.random.default_rng(9)
T = np.linspace(0.0, 5.0, 51)
BOX = (0.01, 0.02, 0.03, 0.05, 0.09)


def shown(scale=0.01, offset=(0.0, 0.0, 0.0), sigma=0.02, *, is_true=True):
    """A trajectory beside the truth."""
    truth = np.zeros((51, 7))
    truth[:, :3], truth[:, 6] = np.cumsum(0.1 * RNG.normal(size=(51, 3)), axis=0), 1.0
    estimate = truth.copy()
    estimate[:, :3] += scale * RNG.uniform(-1.0, 1.0, (51, 3)) + offset
    one = SimpleNamespace(t=T, estimate=estimate, truth=truth, sigma=np.full((51, 3), sigma))
    return _Shown(one, is_true=is_true)


def test_errors_are_on_one_scale_with_their_three_deviations_in_the_unit_of_their_size():
    for scale, sigma, unit, factor in ((0.01, 0.02, "mm", 1e3), (0.6, 0.3, "m", 1.0)):
        bodies = {
            "drone_1": {"vio": shown(scale, sigma=sigma), "joint": shown(scale, sigma=sigma)},
            "center": {"joint": shown(scale, sigma=sigma)},
        }
        figure = figure_of(localization.draw_errors, bodies)
        assert len(figure.axes) == 6
        for k, axes in enumerate(figure.axes):
            body, axis = ("drone_1", "center")[k // 3], k % 3
            for name, one in bodies[body].items():
                color = to_hex(COLORS[name])
                values = [
                    line.get_ydata() for line in axes.lines if to_hex(line.get_color()) == color
                ]
                np.testing.assert_allclose(values[0], factor * one.errors[:, axis])
                np.testing.assert_allclose(
                    values[1:],
                    [np.full(51, -3.0 * factor * sigma), np.full(51, 3.0 * factor * sigma)],
                )
            assert axes.get_title() == ("xyz"[axis] if k < 3 else "")
            assert (axes.get_xlabel() == "time [s]") == (k >= 3)
        assert figure.axes[0].get_ylabel() == f"drone_1\nerror [{unit}]"
        largest = max(
            np.abs(one.errors).max() for each in bodies.values() for one in each.values()
        )
        reach = 1.05 * factor * max(largest, min(3.0 * sigma, 4.0 * largest))
        assert figure.axes[0].get_ylim() == pytest.approx((-reach, reach))
        names = [each.get_text() for each in figure.legends[0].get_texts()]
        assert names == ["vio", "joint", "3 standard deviations"]


def test_the_scale_of_errors_holds_them_and_their_bounds_unless_these_are_far_larger():
    one = SimpleNamespace(
        errors=np.array([[0.02, -0.03, np.nan]]), sigma=np.array([[0.02, np.nan, 0.03]])
    )
    assert _reach([one]) == pytest.approx(1.05 * 0.09)
    one.sigma = np.array([[1.0, 1.0, 1.0]])
    assert _reach([one]) == pytest.approx(1.05 * 4.0 * 0.03)
    one.errors, one.sigma = np.zeros((1, 3)), np.full((1, 3), np.nan)
    assert _reach([one]) == pytest.approx(1.05 * 0.005)
    assert localization._unit(0.29)[0] == "mm" and localization._unit(0.3) == ("m", 1.0)


def test_paths_are_from_above_and_heights_over_time():
    bodies = {"drone_1": {"vio": shown(), "own": shown()}}
    above, height = figure_of(draw_paths, bodies).axes
    for name, one in bodies["drone_1"].items():
        assert_draws(above, localization._style(name), one.p[:, 0], one.p[:, 1])
        assert_draws(height, localization._style(name), T, one.p[:, 2])
    first = bodies["drone_1"]["vio"].truth
    assert_draws(above, REFERENCE, first[:, 0], first[:, 1])
    assert_draws(height, REFERENCE, T, first[:, 2])
    assert (above.get_xlabel(), above.get_ylabel()) == ("x [m]", "drone_1\ny [m]")
    assert (height.get_xlabel(), height.get_ylabel()) == ("time [s]", "z [m]")
    assert above.get_aspect() == 1.0


def test_a_trajectory_that_did_not_begin_at_the_truth_is_moved_onto_it():
    apart = shown(offset=(3.0, -2.0, 1.0), is_true=False)
    assert np.abs(apart.errors).max() < 0.05
    as_it_is = shown(offset=(3.0, -2.0, 1.0))
    assert as_it_is.errors[:, 0].mean() == pytest.approx(3.0, abs=0.01)


def test_quartiles_are_of_sizes_in_the_unit_of_the_largest():
    errors = np.zeros((5, 3))
    errors[:, 0], errors[4, 1] = [0.03, -0.02, 0.01, 0.05, 0.03], 0.04
    assert quartiles_of(errors) == pytest.approx((0.01, 0.02, 0.03, 0.05, 0.05))
    bodies = {
        "drone_1": {"vio": shown(0.01)},
        "center": {"vio": shown(0.02), "joint": shown(0.02)},
    }
    (axes,) = figure_of(draw_quartiles, bodies).axes
    assert axes.get_ylabel() == "position error [mm]"
    largest = max(
        np.linalg.norm(one.errors, axis=1).max()
        for each in bodies.values()
        for one in each.values()
    )
    assert axes.get_ylim()[1] == pytest.approx(1.06e3 * largest)
    (far,) = figure_of(draw_quartiles, {"drone_1": {"vio": shown(2.0)}}).axes
    assert far.get_ylabel() == "position error [m]"


def test_boxes_stand_beside_each_other_in_a_group_for_each_body():
    boxes = {"vio": {"a": BOX, "b": BOX}, "joint": {"b": tuple(0.5 * each for each in BOX)}}
    figure = figure_of(
        lambda figure: draw_boxes(figure.subplots(), boxes, {"vio": "red", "joint": "blue"})
    )
    (axes,) = figure.axes
    places = {to_hex(each.get_facecolor()): [] for each in axes.patches}
    for each in axes.patches:
        corners = each.get_path().vertices
        places[to_hex(each.get_facecolor())].append(
            (
                0.5 * (corners[:, 0].min() + corners[:, 0].max()),
                np.ptp(corners[:, 0]),
                corners[:, 1].min(),
                corners[:, 1].max(),
            )
        )
    red, blue = places[to_hex("red")], places[to_hex("blue")]
    assert [x for x, *_ in red] == pytest.approx([-0.2, 0.8]) and blue[0][0] == pytest.approx(1.2)
    assert (
        red[0][1] == pytest.approx(0.32)
        and red[0][2:] == pytest.approx((0.02, 0.05))
        and blue[0][2:] == pytest.approx((0.01, 0.025))
    )
    assert [each.get_text() for each in axes.get_xticklabels()] == [
        "a",
        "b",
    ] and axes.get_xlim() == (-0.5, 1.5)
    assert axes.get_ylim() == pytest.approx((0.0, 1.06 * 0.09))
    assert (
        _top({"vio": {"a": (0.0, 0.1, 0.1, 0.1, 99.0)}}) == pytest.approx(1.06 * 2.0)
        and _top({}) == 1.0
    )


def localized(anchors=((5.0, 2.0, 1.0), (40.0, -30.0, 3.0))):
    """A flight as it was localised."""
    path = np.stack([2.0 * T, np.sin(T), 2.0 + 0.1 * T], axis=-1)
    true = BodyPath(T, path)
    return LocalizedFlight(
        "(a)",
        "open_field",
        np.array(anchors),
        "drone_1",
        true,
        {"joint": BodyPath(T, path + 0.05)},
        {"joint": {"drone_1": BOX}},
    )


def test_a_localised_path_is_in_a_square_with_its_anchors_or_their_distances():
    made = localized()
    low, high = _view(made)
    middle, half = np.array([5.0, 0.5 * (made.true.p[:, 1].min() + made.true.p[:, 1].max())]), 9.0
    assert low == pytest.approx(middle - half) and high == pytest.approx(middle + half)
    (axes,) = figure_of(
        lambda figure: _draw_above(figure.subplots(), made, {"joint": "blue"})
    ).axes
    assert_draws(axes, "blue", *made.estimates["joint"].p[:, :2].T)
    assert_draws(axes, REFERENCE, *made.true.p[:, :2].T)
    assert axes.get_xlim() == pytest.approx(
        (low[0], high[0])
    ) and axes.get_ylim() == pytest.approx((low[1], high[1]))
    (axes,) = figure_of(
        lambda figure: _draw_anchors(figure.subplots(), made.anchors, low, high)
    ).axes
    inside, beyond = axes.lines
    assert (inside.get_xdata()[0], inside.get_ydata()[0]) == (5.0, 2.0)
    way = (made.anchors[1, :2] - middle) / half
    at = middle + 0.94 * half * way / np.abs(way).max()
    assert (beyond.get_xdata()[0], beyond.get_ydata()[0]) == pytest.approx(tuple(at))
    pointing = np.rad2deg(np.arctan2(way[1], way[0])) - 90.0
    assert beyond.get_marker() == (3, 0, pytest.approx(pointing))
    (text,) = axes.texts
    assert text.get_text() == f"{np.linalg.norm(made.anchors[1, :2] - middle):.0f} m"
    assert text.get_position() == pytest.approx(
        tuple(middle + 0.78 * half * way / np.abs(way).max())
    )


def test_heights_are_over_time_with_those_of_anchors():
    made = localized()
    (axes,) = figure_of(
        lambda figure: _draw_height(figure.subplots(), made, {"joint": "blue"})
    ).axes
    assert_draws(axes, "blue", T, made.estimates["joint"].p[:, 2])
    assert_draws(axes, REFERENCE, T, made.true.p[:, 2])
    assert levels(axes) == [1.0, 3.0] and axes.get_xlim() == (0.0, 5.0)
    assert (
        axes.get_ylim() == pytest.approx((0.0, 3.5))
        and axes.get_ylabel() == "height of drone 1 [m]"
    )
    figure = figure_of(draw_localized, [made, made])
    assert len(figure.axes) == 6 and [
        each.get_text() for each in figure.legends[0].get_texts()
    ] == ["truth", "joint", "anchor"]
    bare = figure_of(draw_localized, [localized(np.zeros((0, 3)))])
    assert [each.get_text() for each in bare.legends[0].get_texts()] == ["truth", "joint"]
    many = colors_of([f"own_{k}" for k in range(8)])
    assert many["own_0"] == many["own_6"] != many["own_1"]
