# SPDX-License-Identifier: BSD-3-Clause
"""Plots of flights in contact carry the right numbers, and are drawn where there is something to see."""

import json

import numpy as np
import pytest
from contact_flights import TOUCHES_AT, felt_run, push
from matplotlib.figure import Figure

from iap_bringup.pictures import render
from iap_bringup.plots.contact import (
    draw_compared,
    draw_contact,
    draw_integrals,
    draw_wrench,
)
from iap_bringup.plots.flight_curves import flight_curves
from iap_bringup.plots.hole_outlines import Plane, cuts, insertion, silhouette
from iap_bringup.plots.insertion import draw_insertion
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import FLIGHT_PLOTS, PLOTS, write_plots
from iap_description.math import so3
from iap_description.signals import ForceMode
from iap_description.states import P
from iap_description.vehicles.tool import Tool
from iap_description.world.objects import Funnel
from iap_description.world.scene_objects import SceneObject
from iap_description.world.world import World
from iap_io.plots import plot_style
from iap_simulation.metrics.contact import ESTIMATED, RAW, ContactScores
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = pytest.mark.filterwarnings("error")
SURFACE = {"friction": 0.4, "restitution": 0.0}
START, LEAN = np.array([-3.0, 0.0, 2.0]), np.deg2rad(15.0)
AXIS = np.array([-np.cos(LEAN), 0.0, -np.sin(LEAN)])
TIP_P = np.array([-1.0, 0.0, 0.0])


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    monkeypatch.setattr(plot_style, "DPI", 50)


def drawn(draw, run):
    figure = Figure()
    draw(figure, flight_curves(run.meta, run.vehicles[0]))
    return figure


def curve(axes, label):
    return next(line for line in axes.lines if line.get_label() == label)


def texts(axes):
    legend = axes.get_legend()
    return [text.get_text() for text in legend.get_texts()] if legend else []


def turned(angle_deg, axis):
    return so3.quaternion_exp(np.deg2rad(angle_deg) * np.eye(3)[axis])


def rod():
    tip = {"type": "sphere", "radius": 0.03}
    at = {"position": (0.0, 0.0, 0.0), "rpy_deg": (0.0, 0.0, 180.0)}
    return Tool(type="rod", length=1.0, radius=0.03, tip=tip, **at)


def funnel():
    size = {"throat_radius": 0.045, "throat_length": 0.48, "mouth_radius": 0.14}
    more = {"cone_length": 0.24, "wall": 0.02, "surface": SURFACE}
    return Funnel(type="funnel", position=tuple(START), rpy_deg=(0.0, -15.0, 0.0), **size, **more)


def inserted(depth=0.5, rod_below_deg=12.0):
    """A recording that ends with the rod in the funnel, and the rod's way there."""
    run, c = felt_run()
    q = turned(-rod_below_deg, 1)  # the rod points along -x: this lowers its tip
    tips = START + np.linspace(-0.1, depth, len(c.t))[:, None] * AXIS
    c.x[:, 0, 3:7] = q
    c.x[:, 0, P] = tips - so3.rotate(q, TIP_P)
    return run, c


def test_forces_are_left_and_torques_right_in_the_units_of_their_labels():
    run, _ = felt_run()
    figure = drawn(draw_wrench, run)
    units = [axes.get_ylabel().split("[")[1] for axes in figure.axes]
    assert units == ["N]", "N m]"] * 3
    assert curve(figure.axes[0], "filtered").get_ydata()[-1] == 5.0
    assert curve(figure.axes[3], "filtered").get_ydata()[-1] == -2.0


def test_spikes_of_raw_contact_do_not_set_the_scale():
    run, c = felt_run()
    c.wrench_record.wrenches[1000, RAW, 0] = 800.0
    low, high = drawn(draw_wrench, run).axes[0].get_ylim()
    assert low < 0.0 and 5.0 < high < 8.0


def test_what_the_observer_says_is_never_cut_off():
    run, c = felt_run()
    c.wrench_record.wrenches[1200, ESTIMATED, 0] = 9.0
    assert drawn(draw_wrench, run).axes[0].get_ylim()[1] > 9.0


def test_a_desired_wrench_is_drawn_only_while_and_where_it_is_controlled():
    run, c = felt_run()
    assert "desired" not in [line.get_label() for line in drawn(draw_wrench, run).axes[0].lines]
    push(c, ForceMode.SELECTIVE, [1, 0, 0, 0, 0, 0], since=5.0, axis_0=4.0)
    figure = drawn(draw_wrench, run)
    desired = curve(figure.axes[0], "desired").get_ydata()
    assert np.isnan(desired[c.t < 5.0]).all() and (desired[c.t >= 5.0] == 4.0).all()
    assert np.isnan(curve(figure.axes[2], "desired").get_ydata()).all()
    assert texts(figure.axes[0]) == ["RMSE 1 N"] and texts(figure.axes[2]) == []


def test_figures_in_the_panels_are_those_of_the_metrics():
    run, c = felt_run()
    push(c, ForceMode.PAPER, [1] * 6, since=4.5, axis_0=4.3)
    c.x[c.t > 7.0, 0, 1] = 0.02
    felt = flight_curves(run.meta, run.vehicles[0]).contact
    scores = ContactScores(run.vehicles[0].meta, run.meta)
    scores.add(c, c.wrench_record)
    metrics = scores.metrics()
    errors = felt.rmse(felt.filtered - felt.desired)
    np.testing.assert_allclose(errors[:3], metrics["force_rmse_n"])
    np.testing.assert_allclose(errors[3:], metrics["torque_rmse_nm"])
    assert felt.first == metrics["first_contact_s"] == TOUCHES_AT


def test_the_time_axis_begins_shortly_before_anything_happens():
    run, _ = felt_run()
    left, right = drawn(draw_wrench, run).axes[0].get_xlim()
    assert TOUCHES_AT - 1.0 < left < TOUCHES_AT and right == pytest.approx(9.995)


def test_time_before_contact_has_settled_is_grey():
    run, _ = felt_run()
    (grey,) = drawn(draw_wrench, run).axes[0].patches
    assert grey.get_x() + grey.get_width() == pytest.approx(TOUCHES_AT + 1.0)


def test_where_admittance_revised_the_command_both_deviations_are_drawn():
    run, c = felt_run()
    touches = c.t >= TOUCHES_AT
    c.wrench_record.tracked[touches, 3:7] = turned(-12.0, 1)
    c.wrench_record.tracked[touches, 0] = 0.05
    c.x[touches, 0, 0] = 0.06
    figure = drawn(draw_contact, run)
    x, pitch = figure.axes[0], figure.axes[3]
    assert curve(x, "simulated \u2212 command").get_ydata()[-1] == pytest.approx(60.0)
    assert curve(x, "revised \u2212 given command").get_ydata()[-1] == pytest.approx(50.0)
    assert x.get_ylabel() == "x deviation\nin map [mm]"
    assert curve(pitch, "revised \u2212 given command").get_ydata()[-1] == pytest.approx(-12.0)
    assert texts(pitch) == ["last 2 s: \u221212.00 \u00b1 0.00 deg"]


def test_without_admittance_only_the_pose_deviates():
    run, _ = felt_run()
    labels = [line.get_label() for line in drawn(draw_contact, run).axes[0].lines]
    assert "revised \u2212 given command" not in labels


def test_axes_that_the_wrench_has_say_so_and_deviations_are_the_platform_s():
    """Turned by 90 deg, the platform's y is the world's -x."""
    run, c = felt_run()
    push(c, ForceMode.SELECTIVE, [1, 0, 0, 0, 0, 0], since=4.0, axis_0=5.0)
    c.x[:, 0, 3:7] = c.reference[:, 3:7] = c.wrench_record.tracked[:, 3:7] = turned(90.0, 2)
    c.x[:, 0, 0] = -0.02
    figure = drawn(draw_contact, run)
    assert figure.axes[2].get_ylabel() == "y deviation\nin P [mm]"
    assert curve(figure.axes[2], "simulated \u2212 command").get_ydata()[-1] == pytest.approx(20.0)
    assert [text.get_text() for text in figure.axes[0].texts] == ["x is left to the wrench"]
    assert texts(figure.axes[2]) == ["RMSE 20 mm"] and texts(figure.axes[0]) == []


def test_integrals_that_cancel_meet_in_their_figure():
    run, c = felt_run()
    push(c, ForceMode.PAPER, [1] * 6, since=4.0, axis_0=4.0)
    c.wrench_record.integrals[:, 0, 0], c.wrench_record.integrals[:, 1, 0] = 0.7, -0.7
    axes = drawn(draw_integrals, run).axes[0]
    pose, wrench = (line.get_ydata() for line in axes.lines if len(line.get_ydata()))
    np.testing.assert_array_equal(pose, wrench)
    assert texts(axes) == ["ends at 0.70 N"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("mode", [ForceMode.NONE, ForceMode.SELECTIVE, ForceMode.PAPER])
def test_each_kind_of_flight_in_contact_gets_its_plots(tmp_path, mode):
    plots = [plot for plot in PLOTS if plot.name in ("wrench", "contact", "integrals")]
    run, c = felt_run()
    push(c, mode, [1, 0, 0, 0, 0, 0], since=4.0)
    names = [path.stem for path in write_plots(RecordedRun(tmp_path, run), plots)]
    assert names == ["wrench", "contact", *(["integrals"] if mode == ForceMode.PAPER else [])]


def test_flights_are_compared_by_their_contact_forces():
    run, c = felt_run()
    felt = flight_curves(run.meta, run.vehicles[0]).contact
    harder, c = felt_run(wrench_P=(15.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    other = flight_curves(harder.meta, harder.vehicles[0]).contact
    figure = Figure()
    flights = {"this flight": felt, "without admittance": other}
    draw_compared(figure, "title", flights)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "this flight: peak 5.0 N, last 2 s 5.0 N",
        "without admittance: peak 15.0 N, last 2 s 15.0 N",
    ]


def test_a_section_through_a_funnel_shows_its_bore_and_its_wall():
    item = funnel()
    up = np.cross(AXIS, [0.0, 1.0, 0.0])
    plane = Plane(START, AXIS, up)
    points = np.vstack(cuts(SceneObject(item.pieces(), item.row(0.0)), plane))
    bore = points[points[:, 0] > 1e-6]
    assert np.abs(bore[:, 1]).min() == pytest.approx(0.045, rel=0.01)  # flat sides
    assert np.abs(bore[:, 1]).max() == pytest.approx(0.065, rel=0.01)
    assert points[:, 0].min() == pytest.approx(-0.24) and points[:, 0].max() == pytest.approx(0.48)


def test_a_plane_beside_an_object_cuts_nothing():
    item = funnel()
    aside = Plane(START + [0.0, 1.0, 0.0], AXIS, np.cross(AXIS, [0.0, 1.0, 0.0]))
    assert cuts(SceneObject(item.pieces(), item.row(0.0)), aside) == []


def test_a_tool_s_silhouette_is_as_long_and_as_thick_as_the_tool():
    plane = Plane(np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    row = np.zeros(13)
    row[6] = 1.0
    shaft, ball = silhouette(rod(), TIP_P, row, plane)
    np.testing.assert_allclose(np.ptp(shaft, axis=0), [1.0, 0.06], atol=1e-12)
    assert ball[:, 0].min() == pytest.approx(-1.03, abs=1e-3)


def test_the_insertion_tells_depth_and_angles_in_millimetres_and_degrees():
    _, c = inserted(depth=0.5, rod_below_deg=12.0)
    put = insertion(World(objects={"funnel": funnel()}), rod(), TIP_P, c)
    figure = Figure()
    draw_insertion(figure, "title", put)
    side, above = figure.axes
    assert side.get_title("left") == "from the side: rod 12.0 deg, hole 15.0 deg below level"
    assert above.get_title("left") == "from above: tip 500 mm past the hole\u2019s start"
    way = curve(above, "way of the tip").get_xdata()
    np.testing.assert_allclose(way[[0, -1]], [-100.0, 500.0], atol=1e-6)
    left, right = above.get_xlim()
    assert left < -240.0 and right > 530.0


def test_a_rod_that_missed_the_hole_is_not_drawn_in_it():
    _, c = inserted()
    c.x[:, 0, 1] += 0.5
    assert insertion(World(objects={"funnel": funnel()}), rod(), TIP_P, c) is None


@pytest.fixture
def run_folder(tmp_path, monkeypatch):
    """Draws a run folder of the peg, whose pictures are only noted: (name, tick)."""
    _, tree = resolve("peg_in_hole", Options())
    (tmp_path / "config.yaml").write_text(json.dumps(tree))

    def draw(run):
        noted = []
        monkeypatch.setattr(
            render,
            "write_picture",
            lambda out, run, scenario, tick, size, of: noted.append((out.stem, tick)),
        )
        others = [plot for plot in PLOTS if plot not in FLIGHT_PLOTS]
        return [path.stem for path in write_plots(RecordedRun(tmp_path, run), others)], noted

    return draw


def test_a_run_with_contact_gets_snapshots_of_its_first_instant_and_of_its_end(run_folder):
    run, _ = felt_run()
    names, noted = run_folder(run)
    assert names == ["snapshot_contact", "snapshot_end"]
    assert noted == [("snapshot_contact", 800), ("snapshot_end", 1999)]


def test_a_run_whose_rod_is_in_the_hole_gets_its_section(run_folder):
    names, _ = run_folder(inserted()[0])
    assert names[0] == "insertion"


def test_a_run_without_contact_gets_no_snapshots(run_folder):
    run, c = felt_run()
    c.wrench_record.wrenches[:] = 0.0
    assert run_folder(run) == ([], [])
