# SPDX-License-Identifier: BSD-3-Clause
"""Plots of flights, of modules and of localisation."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from made_up_flights import Record, random_flight, steady_flight
from matplotlib.figure import Figure

from iap_bringup.cli.images import plot_table
from iap_bringup.plots.flight import (
    draw_errors,
    draw_overview,
    draw_path3d,
    draw_thrusts,
)
from iap_bringup.plots.flight_curves import FlightCurves, flight_curves
from iap_bringup.plots.localized_flights import (
    COLORS,
    BodyPath,
    LocalizedFlight,
    colors_of,
    convex_hull,
    draw_localized,
    outlines,
)
from iap_bringup.plots.path_in_space import ELEVATION_DEG, azimuth_deg
from iap_bringup.plots.plot import FLIGHT, Plot, RenderedPlot
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import PLOTS, write_named_plots, write_plots
from iap_description.errors import BadInput
from iap_description.scenes.library import scene_names
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.plots import plot_style
from iap_io.plots.plot_style import drawn_figure, write_plot
from iap_io.runs import topics
from iap_io.runs.run_folder import RunData
from iap_io.runs.run_meta import Track
from iap_simulation.modules.record import FILE, STATE_NAMES

pytestmark = pytest.mark.filterwarnings("error")
NAMES = ["overview", "path3d", "pose", "errors", "thrusts"]
BOX = (0.0, 0.1, 0.2, 0.3, 0.5)
MODULES_PLOT = [plot for plot in PLOTS if plot.name == "modules"]


@pytest.fixture(autouse=True)
def _coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot_style, "DPI", 50)


ONLY_THRUSTS = (Plot("thrusts", FLIGHT, draw_thrusts),)


def write(folder: Path, run: RunData, plots: Sequence[Plot | RenderedPlot] = PLOTS) -> list[Path]:
    return write_plots(RecordedRun(folder, run), plots)


def _is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5_000


def test_a_run_gets_its_plots(tmp_path: Path, recorded: Record) -> None:
    paths = write(tmp_path, recorded(steady_flight("two_line", 50)))
    assert [path.name for path in paths] == [f"{name}.png" for name in NAMES]
    assert all(map(_is_png, paths))


def test_thrusts_have_a_line_and_a_name_for_each_aircraft_and_limits(recorded: Record) -> None:
    run = recorded(steady_flight("two_line", 50))
    flight, figure = flight_curves(run.meta, run.vehicles[0]), Figure()
    draw_thrusts(figure, flight)
    upper, lower = figure.axes
    (legend,) = figure.legends
    assert [each.get_text() for each in legend.get_texts()] == ["aircraft 1", "aircraft 2"]
    for i, color in enumerate(each.get_color() for each in legend.get_lines()):
        curves = [
            [line for line in axes.lines if line.get_color() == color] for axes in (upper, lower)
        ]
        for (line, *_), numbers in zip(curves, (flight.thrust, flight.tilt), strict=True):
            np.testing.assert_allclose(line.get_ydata(), numbers[:, i])
    words = {each.get_text().split()[0] for each in upper.texts + lower.texts}
    assert {"lower", "limit"} <= words
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("thrust [N]", "tilt [deg]")


def test_errors_of_equal_meaning_share_a_scale_that_shows_no_nanometres(recorded: Record) -> None:
    run = recorded(steady_flight("two_line", 50))
    flight = flight_curves(run.meta, run.vehicles[0])
    figure = Figure()
    draw_errors(figure, flight)
    labels = [axes.get_ylabel() for axes in figure.axes[::2]]
    assert labels == ["x error [mm]", "y error [mm]", "z error [mm]"]
    positions = {axes.get_ylim() for axes in figure.axes[::2]}
    assert len(positions) == 1
    assert max(positions.pop()) >= 1.0  # [mm]
    draw_overview(overview := Figure(), flight)
    tall = {axes.get_ylabel(): axes.get_ylim()[1] for axes in overview.axes[1:]}
    assert tall["position\nerror [mm]"] >= 1.0
    assert tall["attitude\nerror [deg]"] >= 0.1


def test_a_vehicle_whose_reference_nobody_follows_has_no_errors(
    tmp_path: Path, recorded: Record
) -> None:
    data = recorded(steady_flight("two_line", 50))
    metrics = {"unfollowed": [data.meta.vehicles[0].name]}
    run = RecordedRun(tmp_path, data, metrics)
    names = {path.stem for path in write_plots(run)}
    assert "errors" not in names
    assert {"overview", "pose", "thrusts"} <= names
    draw_overview(overview := Figure(), run.flights[""])
    labels = [axes.get_ylabel() for axes in overview.axes[1:]]
    assert labels == ["speed [m/s]", "largest\ntilt [deg]", "thrust of each\naircraft [N]"]
    assert "reference" not in {each.get_text() for each in overview.legends[0].get_texts()}


@pytest.mark.parametrize("sides", [(0.1, 0.1, 2.0), (9.0, 4.0, 0.3), (1.0, 1.0, 1.0)])
@pytest.mark.parametrize("draw", [draw_path3d, draw_overview])
def test_numbers_and_names_of_a_path_lie_apart_within_the_sheet_whatever_its_shape(
    recorded: Record, draw: Callable[[Figure, FlightCurves], None], sides: tuple[float, ...]
) -> None:
    run = recorded(steady_flight("two_line", 50))
    flight = flight_curves(run.meta, run.vehicles[0])
    share = np.linspace(0.0, 1.0, 50)[:, None] * np.array(sides)
    flight = replace(
        flight,
        frames=flight.frames + share[:, None],
        simulated=replace(flight.simulated, position=flight.simulated.position + share),
        reference=replace(flight.reference, position=flight.reference.position + share),
    )
    figure = drawn_figure(lambda figure: draw(figure, flight))
    figure.draw_without_rendering()
    path = figure.axes[0]
    for axis in (path.xaxis, path.yaxis, path.zaxis):
        low, high = axis.get_view_interval()
        ticks = [each for each in axis.get_major_ticks() if low <= each.get_loc() <= high]
        boxes = [each.label1.get_window_extent() for each in ticks]
        boxes.append(axis.label.get_window_extent())
        for i, box in enumerate(boxes):
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
            assert not any(box.overlaps(other) for other in boxes[:i])


def test_errors_that_are_not_scored_do_not_flatten_those_that_are(recorded: Record) -> None:
    run = recorded(steady_flight("two_line", 50))
    flight = flight_curves(run.meta, run.vehicles[0])
    errors = flight.error.position.copy()
    errors[:] = 2e-3
    errors[-5:] = 0.1
    inside = np.arange(len(errors)) < len(errors) - 5
    flight = replace(flight, error=replace(flight.error, position=errors, inside=inside))
    draw_errors(figure := Figure(), flight)
    assert 2.0 < figure.axes[0].get_ylim()[1] < 5.0  # [mm]
    texts = [each.get_text() for each in figure.axes[0].get_legend().get_texts()]
    assert texts == ["RMSE 2 mm, in grey up to 100 mm"]


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.8, 0.5, 0.3), (0.0, 1.0, 0.0)])
def test_a_path_in_a_plane_is_not_looked_at_edge_on(normal: tuple[float, float, float]) -> None:
    n = np.array(normal) / np.linalg.norm(normal)
    across = np.cross(n, [0.3, 0.2, 0.9])
    across /= np.linalg.norm(across)
    turn = np.linspace(0.0, 2.0 * np.pi, 100)[:, None]
    a = np.deg2rad(azimuth_deg(3.0 * np.cos(turn) * across + np.sin(turn) * np.cross(n, across)))
    e = np.deg2rad(ELEVATION_DEG)
    view = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
    assert abs(view @ n) > 0.35


def test_every_plot_is_listed_with_what_it_shows_and_whether_a_run_has_it(
    tmp_path: Path, recorded: Record
) -> None:
    rows = plot_table(None)
    assert [name for name, *_ in rows] == [plot.name for plot in PLOTS]
    assert all(text and needs for _, text, needs in rows)
    run = RecordedRun(tmp_path, recorded(steady_flight("two_line", 50)))
    has = [name for name, _, answer in plot_table(run) if answer == "yes"]
    assert has == NAMES


@pytest.mark.slow
def test_a_replay_shows_the_real_flight(tmp_path: Path, recorded: Record) -> None:
    flight = steady_flight("f450", 50)
    track = Track(flight.t[::5], flight.reference[::5, :7])
    tracks = {topics.REFERENCE_POSE: track, topics.ACTUAL: track}
    paths = write(tmp_path, recorded(flight, tracks=tracks))
    assert tmp_path / "plots" / "difference.png" in paths


@pytest.mark.slow
def test_one_tick_is_enough(tmp_path: Path, recorded: Record) -> None:
    assert len(write(tmp_path, recorded(random_flight("three_star", 1)))) == len(NAMES)


def test_no_state_no_plot(tmp_path: Path, recorded: Record) -> None:
    flight = steady_flight("three_star", 5)
    flight.x[:] = np.nan
    assert write(tmp_path, recorded(flight)) == []


def test_each_vehicle_gets_its_own_files(tmp_path: Path, recorded: Record) -> None:
    left, right = steady_flight("f450", 3, "left"), steady_flight("f450", 3, "right")
    names = [path.stem for path in write(tmp_path, recorded(left, right), ONLY_THRUSTS)]
    assert names == ["thrusts_left", "thrusts_right"]


def test_equal_runs_give_equal_plots(tmp_path: Path, recorded: Record) -> None:
    run = recorded(steady_flight("f450", 3))
    first, second = (write(tmp_path, run, ONLY_THRUSTS)[0].read_bytes() for _ in range(2))
    assert first == second


def test_a_failed_flight_says_so_in_the_title(recorded: Record) -> None:
    run = recorded(steady_flight("f450", 3))
    assert "crashed" in flight_curves(run.meta, run.vehicles[0], "crashed").title
    assert "completed" not in flight_curves(run.meta, run.vehicles[0]).title


def test_a_plot_that_cannot_be_written_is_one_line(tmp_path: Path, recorded: Record) -> None:
    run = recorded(steady_flight("f450", 3))
    (tmp_path / "plots").write_text("")
    with pytest.raises(RecordingFailed, match="plots"):
        write(tmp_path, run, ONLY_THRUSTS)


def test_yaw_is_drawn_on_the_turn_of_the_flight(recorded: Record) -> None:
    flight = steady_flight("three_star", 400)
    yaw = np.linspace(np.deg2rad(170.0), np.deg2rad(400.0), 400)
    for rows, angles in ((flight.x[:, 0], yaw), (flight.reference, yaw + np.deg2rad(12.0))):
        rows[:, 3], rows[:, 4] = 0.0, 0.0
        rows[:, 5], rows[:, 6] = np.sin(0.5 * angles), np.cos(0.5 * angles)
    run = recorded(flight)
    drawn = flight_curves(run.meta, run.vehicles[0])
    np.testing.assert_allclose(drawn.reference.angles[:, 2] - drawn.simulated.angles[:, 2], 12.0)


@pytest.mark.slow
def test_matplotlib_waits_until_it_is_needed() -> None:
    code = "import sys, iap_bringup.plots.table; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_plots_are_drawn_by_their_names_alone(tmp_path: Path, recorded: Record) -> None:
    run = RecordedRun(tmp_path, recorded(steady_flight("f450", 3)))
    assert [path.name for path in write_named_plots(run, ["thrusts"])] == ["thrusts.png"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("joints", "plot joints: .* has not an arm"),
        ("modules", "plot modules: .* has not joined modules"),
        ("speed", "unknown plot 'speed': choose overview, path3d"),
        ("iap_bringup.plots.plot:FLIGHT", "is no iap_bringup.plots.plot.Plot"),
    ],
)
def test_a_plot_that_a_run_cannot_have_says_so(
    tmp_path: Path, recorded: Record, name: str, complaint: str
) -> None:
    run = RecordedRun(tmp_path, recorded(steady_flight("f450", 3)))
    with pytest.raises(BadInput, match=complaint):
        write_named_plots(run, [name])


def test_a_hull_is_what_encloses_its_points():
    rng = np.random.default_rng(1)
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    points = np.vstack([corners, rng.uniform((0.0, 0.0), (2.0, 1.0), (50, 2)), [[1.0, 0.0]]])
    hull = convex_hull(points)
    np.testing.assert_array_equal(hull, corners)


@pytest.mark.parametrize("scene", scene_names())
def test_outlines_are_of_what_stands_and_convex(scene):
    for outline in outlines(scene):
        sides = np.roll(outline, -1, axis=0) - outline
        turns = np.cross(
            np.pad(sides, ((0, 0), (0, 1))), np.pad(np.roll(sides, -1, axis=0), ((0, 0), (0, 1)))
        )
        assert len(outline) >= 3
        assert (turns[:, 2] > 0.0).all()


def test_methods_keep_their_colours_and_others_get_some():
    colors = colors_of(["joint", *(f"size_{n}" for n in range(9))])
    assert colors["joint"] == COLORS["joint"]
    assert len(colors) == 10


def test_figures_are_drawn_with_near_and_far_anchors_and_missing_bodies(tmp_path, monkeypatch):
    monkeypatch.setattr(plot_style, "DPI", 200)
    t = np.arange(0.0, 10.0, 0.1)
    true = BodyPath(t, np.stack([3.0 * np.cos(t), 3.0 * np.sin(t), 2.0 + 0.1 * t], -1))
    anchors = np.array([[5.0, 2.0, 1.0], [40.0, -30.0, 3.0]])
    quartiles = {"vio": {"drone_1": BOX}, "joint": {"drone_1": BOX, "center": BOX}}
    estimates = {"joint": BodyPath(t, true.p + 0.05)}
    whole = LocalizedFlight("(b)", "narrow_station", anchors, "center", true, estimates, quartiles)
    bare = LocalizedFlight("(c)", "open_field", np.zeros((0, 3)), "drone_1", true, {}, {})
    path = write_plot(tmp_path / "fig.png", lambda figure: draw_localized(figure, [whole, bare]))
    image = cv2.imread(str(path))
    assert image.shape[1] == pytest.approx(1432, abs=2)
    purple = np.abs(image.astype(int) - (0x96, 0x3B, 0x7A)).max(axis=2) < 25
    assert purple.sum() > 300  # the joint's path, boxes and its line in the legend


def _of_modules(rows: int, count: int) -> dict[str, np.ndarray]:
    """Arrays of so many modules that no plot shows."""
    return {
        "roles": np.zeros((rows, count)),
        "feed_forward": np.zeros((rows, count, 6)),
        "external": np.zeros((rows, count, 6)),
    }


def test_a_run_of_modules_has_a_plot_and_others_have_none(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    assert write_plots(RecordedRun(tmp_path), MODULES_PLOT) == []
    t = np.arange(0.0, 4.0, 0.025)
    states = np.clip(np.floor(t), 0.0, 3.0)[:, None]
    columns = {
        "t": t,
        "states": states,
        "joint_wrenches": np.ones((len(t), 1, 6)),
        "errors": np.ones((len(t), 2, 6)),
        **_of_modules(len(t), 2),
        "joints": np.array(["j"]),
        "state_names": np.array(STATE_NAMES),
    }
    np.savez(tmp_path / FILE, **columns)
    (plot,) = write_plots(RecordedRun(tmp_path), MODULES_PLOT)
    assert plot.stat().st_size > 10_000


def test_a_single_module_has_no_joints_and_a_plot(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    t = np.arange(0.0, 1.0, 0.025)
    columns = {
        "t": t,
        "states": np.zeros((len(t), 0)),
        "joint_wrenches": np.zeros((len(t), 0, 6)),
        "errors": np.ones((len(t), 1, 6)),
        **_of_modules(len(t), 1),
        "joints": np.array([], dtype=str),
        "state_names": np.array(STATE_NAMES),
    }
    np.savez(tmp_path / FILE, **columns)
    assert len(write_plots(RecordedRun(tmp_path), MODULES_PLOT)) == 1
