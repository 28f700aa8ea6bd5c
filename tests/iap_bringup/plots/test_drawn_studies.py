# SPDX-License-Identifier: BSD-3-Clause
"""Every figure of dockings, sweeps and trainings draws its numbers in the unit of its labels."""

from types import SimpleNamespace

import numpy as np
import pytest
from drawn_flights import figure_of, levels
from matplotlib import pyplot

from iap_bringup.plots import docking_approach
from iap_bringup.plots import training as training_plot
from iap_bringup.plots.docking_approach import draw_approach
from iap_bringup.plots.sweep import _positions, draw_map, draw_over, draw_sweep
from iap_bringup.plots.training import draw_training
from iap_io.plots import plot_style
from iap_simulation.sweeps.statistics import wilson_interval
from iap_simulation.sweeps.study import Axis

RNG = np.random.default_rng(7)
SPEED, SIZE = "vehicles.0.speed", "size"


def test_a_docking_is_drawn_in_metres_before_the_mouth_and_millimetres_off_the_axis(
    tmp_path, monkeypatch
):
    kept = []
    monkeypatch.setattr(pyplot, "close", kept.append)
    rows = {"script": RNG.uniform(0.1, 1.0, (20, 3)), "policy": RNG.uniform(0.1, 1.0, (9, 3))}
    draw_approach(tmp_path / "approach.png", rows, depth=0.05)
    (figure,) = kept
    monkeypatch.undo()
    pyplot.close(figure)
    along, aside = figure.axes
    for k, (name, each) in enumerate(rows.items()):
        for axes, values in ((along, each[:, 1]), (aside, 1e3 * each[:, 2])):
            line = axes.lines[k]
            assert line.get_label() == name
            np.testing.assert_allclose(line.get_xydata(), np.stack([each[:, 0], values], axis=-1))
    assert levels(along) == [-0.05] and levels(aside) == []
    assert (along.get_ylabel(), aside.get_ylabel()) == (
        "before the mouth [m]",
        "off the axis [mm]",
    )
    assert aside.get_yscale() == "log" and along.get_yscale() == "linear"
    assert aside.get_xlabel() == "time [s]"
    assert [each.get_text() for each in along.get_legend().get_texts()] == list(rows)
    assert (tmp_path / "approach.png").read_bytes().startswith(b"\x89PNG")


def test_rows_of_a_docking_are_of_every_step_until_its_end_or_its_failure(monkeypatch):
    def approach(chaser, target, *ports):
        assert (chaser[0], target[0]) == (1, 0) and ports == ("probe", "socket")
        return SimpleNamespace(depth=-0.5 + docking.t, radius=0.1 * docking.t)

    monkeypatch.setattr(docking_approach, "approach", approach)
    monkeypatch.setattr(docking_approach, "port_frames", lambda scenario, latch: ("probe", latch))
    monkeypatch.setattr(docking_approach, "pair_of", lambda scenario: ((0, 1), None))

    class Docking:
        t = 0.0
        scenario = SimpleNamespace(docking=SimpleNamespace(latch="l"), latches={"l": "socket"})
        plant = SimpleNamespace(state=lambda vehicle: np.full((1, 1, 13), vehicle))
        fails = False

        @property
        def task(self):
            return self

        @property
        def is_over(self):
            return self.t > 0.35

        def step(self):
            self.t += 0.1
            if self.fails and self.t > 0.15:
                raise docking_approach.FlightFailed("crashed", self.t, "made up")

    docking = Docking()
    rows = docking_approach.approach_rows(docking)
    np.testing.assert_allclose(rows, [[0.1 * k, 0.5 - 0.1 * k, 0.01 * k] for k in range(4)])
    docking.t, docking.fails = 0.0, True
    assert len(docking_approach.approach_rows(docking)) == 2


def sweep_rows():
    """Rows of a sweep of two keys, four seeds each, of which the slowest large ones crashed."""
    return [
        {SPEED: speed, SIZE: size, "outcome": "crashed" if speed == 1.0 and seed < k else "completed",
         "position_rmse_m": 0.1 * speed + 0.01 * k + 0.001 * seed}
        for speed in (1.0, 2.0, 4.0) for k, size in enumerate(("small", "large")) for seed in range(4)
    ]  # fmt: skip


AXES = (Axis(SPEED, (1.0, 2.0, 4.0)), Axis(SIZE, ("small", "large")))


def bars_of(container):
    """(n, 3) low, middle and high of the bars of a series, by their places."""
    line, _, (bars,) = container
    ends = np.array(bars.get_segments())
    return line.get_xdata(), np.stack([ends[:, 0, 1], line.get_ydata(), ends[:, 1, 1]], axis=-1)


def test_success_and_quartiles_of_a_sweep_stand_over_the_values_of_a_key():
    left, right = figure_of(draw_over, AXES[0], AXES[1:], sweep_rows(), "position_rmse_m").axes
    for k in range(2):
        at, shares = bars_of(left.containers[k])
        assert at.tolist() == [1.0, 2.0, 4.0]
        share = np.array([[4 - k, 4], [4, 4], [4, 4]])
        expected = [(wilson_interval(a, n)[0], a / n, wilson_interval(a, n)[1]) for a, n in share]
        np.testing.assert_allclose(shares, expected)
        at, spreads = bars_of(right.containers[k])
        for row, speed in zip(spreads, at, strict=True):
            seeds = range(1 if k and speed == 1.0 else 0, 4)
            values = [0.1 * speed + 0.01 * k + 0.001 * seed for seed in seeds]
            np.testing.assert_allclose(row, np.percentile(values, (25, 50, 75)))
    assert left.get_ylim() == (-0.03, 1.03) and right.get_ylim()[0] == 0.0
    assert [each.get_xlabel() for each in (left, right)] == [SPEED, SPEED]
    assert right.get_ylabel() == "position_rmse_m (quartiles)"
    assert [each.get_text() for each in right.get_legend().get_texts()] == ["small", "large"]
    assert right.get_legend().get_title().get_text() == SIZE


def test_words_stand_side_by_side_and_many_series_are_thrown_together():
    left, _ = figure_of(draw_over, AXES[1], (), sweep_rows(), "position_rmse_m").axes
    assert [each.get_text() for each in left.get_xticklabels()] == ["small", "large"]
    assert len(left.containers) == 1 and bars_of(left.containers[0])[0].tolist() == [0.0, 1.0]
    assert bars_of(left.containers[0])[1][:, 1] == pytest.approx([1.0, 11 / 12])
    assert _positions(Axis("k", (3,))) == [0.0] and _positions(Axis("k", (3, 5))) == [3.0, 5.0]
    assert _positions(Axis("k", (True, False))) == [0.0, 1.0] and _positions(
        Axis("k", (2, "a"))
    ) == [0.0, 1.0]
    many = Axis("n", tuple(range(7)))
    rows = [{**row, "n": n} for row in sweep_rows() for n in range(7)]
    assert (
        len(figure_of(draw_over, AXES[0], (many,), rows, "position_rmse_m").axes[0].containers)
        == 1
    )
    few = Axis("n", tuple(range(6)))
    rows = [{**row, "n": n} for row in sweep_rows() for n in range(6)]
    assert (
        len(figure_of(draw_over, AXES[0], (few,), rows, "position_rmse_m").axes[0].containers) == 6
    )


def test_a_map_has_one_key_to_the_right_and_the_other_upwards():
    rows = [row for row in sweep_rows() if (row[SPEED], row[SIZE]) != (4.0, "large")]
    figure = figure_of(draw_map, AXES, rows, "position_rmse_m")
    share, median = figure.axes[:2]
    np.testing.assert_allclose(
        share.images[0].get_array().filled(np.nan), [[1.0, 1.0, 1.0], [0.75, 1.0, np.nan]]
    )
    middles = [[0.1015, 0.2015, 0.4015], [0.112, 0.2115, np.nan]]
    np.testing.assert_allclose(median.images[0].get_array().filled(np.nan), middles)
    assert share.images[0].get_clim() == (0.0, 1.0)
    assert median.images[0].get_clim() == pytest.approx((0.1015, 0.4015))
    said = {each.get_position(): each.get_text() for each in median.texts}
    assert said[0, 1] == "0.112" and said[2, 1] == "-" and said[2, 0] == "0.402"
    shades = {each.get_text(): each.get_color() for each in median.texts}
    assert shades["0.402"] == "black" and shades["0.102"] == shades["-"] == "white"
    for panel in (share, median):
        assert [each.get_text() for each in panel.get_xticklabels()] == ["1", "2", "4"]
        assert [each.get_text() for each in panel.get_yticklabels()] == ["small", "large"]
        assert (panel.get_xlabel(), panel.get_ylabel()) == (SPEED, SIZE)
        assert panel.images[0].origin == "lower"


def test_a_sweep_gets_a_figure_for_each_key_and_each_pair(tmp_path, monkeypatch):
    monkeypatch.setattr(plot_style, "DPI", 30)
    names = [path.name for path in draw_sweep(tmp_path, AXES, sweep_rows())]
    assert names == ["vehicles_0_speed.png", "size.png", "vehicles_0_speed_size.png"]
    assert all((tmp_path / "plots" / name).is_file() for name in names)
    assert draw_sweep(tmp_path / "none", (), sweep_rows()) == []
    assert not (tmp_path / "none").exists()


def test_a_training_is_drawn_over_millions_of_steps_with_and_without_exploration(
    tmp_path, monkeypatch
):
    drawn, own = [], training_plot._draw

    def draw(axes, *content):
        own(axes, *content)
        drawn.append(axes)

    monkeypatch.setattr(training_plot, "_draw", draw)
    rows = [
        {"stage": "online", "steps": 2e6 * k, "return": 3.0, "success": 0.1 * k} for k in range(9)
    ]
    for row in rows[::4]:
        row |= {"judged_return": 5.0 + row["steps"], "judged_success": 0.5}
    path = draw_training(tmp_path, [{"stage": "offline", "steps": 1.0, "return": 99.0}, *rows])
    assert path.read_bytes().startswith(b"\x89PNG")
    left, right = drawn
    for axes, label in ((left, "sum of rewards"), (right, "share of successes")):
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("steps [million]", label)
    explored, judged = left.lines
    assert explored.get_xdata() == pytest.approx([2.0 * k for k in range(9)])
    assert explored.get_ydata() == pytest.approx([3.0] * 9)
    assert judged.get_xdata() == pytest.approx([0.0, 8.0, 16.0])
    assert judged.get_ydata() == pytest.approx([5.0, 5.0 + 8e6, 5.0 + 16e6])
    assert right.lines[0].get_ydata()[4] == pytest.approx(0.4)
    assert right.get_ylim() == (-0.03, 1.03)
    assert [each.get_text() for each in left.get_legend().get_texts()] == [
        "with exploration",
        "without",
    ]
