# SPDX-License-Identifier: BSD-3-Clause
"""Outlines of a rod in a hole are those of its shapes, and the figure draws them in millimetres."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from drawn_flights import figure_of
from matplotlib.colors import to_rgba

from iap_bringup.plots import hole_outlines, insertion, recorded_run
from iap_bringup.plots.hole_outlines import Insertion, Plane, cuts, silhouette
from iap_bringup.plots.insertion import draw_insertion
from iap_bringup.plots.recorded_run import RecordedRun, TouchingVehicle
from iap_description.math import so3
from iap_description.states import P, Q, resting_state
from iap_description.vehicles.tool import Tool
from iap_description.world.objects import Funnel
from iap_description.world.scene_objects import SceneObject
from iap_description.world.world import World

SURFACE = {"friction": 0.4, "restitution": 0.0}
X, Y, Z = np.eye(3)
TIP = {
    "sphere": {"type": "sphere", "radius": 0.03},
    "plate": {"type": "plate", "size": (0.01, 0.08, 0.06)},
}


def rod(tip="sphere", length=0.8):
    """A rod along -x of its platform."""
    at = {"position": (0.0, 0.0, 0.0), "rpy_deg": (0.0, 0.0, 180.0)}
    return Tool(type="rod", length=length, radius=0.02, tip=TIP[tip], **at)


def funnel(lean_deg=0.0, position=(2.0, 1.0, 1.5)):
    """A funnel that things enter along -x."""
    size = {
        "throat_radius": 0.05,
        "throat_length": 0.4,
        "mouth_radius": 0.15,
        "cone_length": 0.2,
        "wall": 0.02,
    }
    return Funnel(
        type="funnel", position=position, rpy_deg=(0.0, lean_deg, 0.0), surface=SURFACE, **size
    )


def put(depth=0.25, lean_deg=0.0, tip="sphere"):
    """A rod whose tip ends so deep in a funnel, after it came from before its mouth."""
    item = funnel(lean_deg)
    hole = SceneObject(item.pieces(), item.row(0.0))
    made = Insertion(hole, 0.4, 0.2, 0.17, rod(tip), np.array([-0.8, 0.0, 0.0]), np.zeros((3, 13)))
    rows = np.zeros((3, 13))
    rows[:, Q] = hole.row[Q]
    for row, along in zip(rows, (-0.3, 0.0, depth), strict=True):
        row[P] = hole.row[P] + along * made.axis + so3.rotate(row[Q], np.array([0.8, 0.0, 0.0]))
    return replace(made, rows=rows)


def test_a_plane_has_coordinates_along_its_axes_and_heights_across_them():
    plane = Plane(np.array([1.0, 2.0, 3.0]), Y, Z)
    points = np.array([[1.5, 4.0, 8.0], [0.0, 2.0, 3.0]])
    np.testing.assert_allclose(plane.flat(points), [[2.0, 5.0], [0.0, 0.0]])
    np.testing.assert_allclose(plane.height(points), [0.5, -1.0])
    np.testing.assert_allclose(plane.flat(points[None]), plane.flat(points)[None])


@pytest.mark.parametrize("lean_deg", [0.0, -20.0, 90.0])
def test_a_tip_is_as_deep_as_it_was_put_and_planes_go_through_the_axis(lean_deg):
    made = put(0.25, lean_deg)
    assert made.depth == pytest.approx(0.25)
    assert made.rod_axis == pytest.approx(made.axis)
    np.testing.assert_allclose(made.tip[-1], made.hole.row[P] + 0.25 * made.axis, atol=1e-9)
    upright, across = made.planes
    for plane in (upright, across):
        assert plane.height(
            made.hole.row[P] + np.array([[0.3], [-0.2]]) * made.axis
        ) == pytest.approx([0.0, 0.0], abs=1e-9)
        assert plane.right @ plane.up == pytest.approx(0.0, abs=1e-9)
        assert np.linalg.norm(plane.right) == pytest.approx(1.0) and np.linalg.norm(
            plane.up
        ) == pytest.approx(1.0)
    assert upright.up == pytest.approx(Z) and across.right == pytest.approx(made.axis)
    assert abs(across.up[2]) < 1e-9
    if lean_deg == 90.0:
        assert upright.right == pytest.approx(X)


def test_a_window_holds_hole_and_tip_with_some_room():
    made = put(0.25)
    _, above = made.planes
    (left, low), (right, high) = made.window(above)
    assert (left, right) == pytest.approx((-0.2 - 0.10, 0.4 + 0.08))
    assert high == pytest.approx(0.17 + 0.02, abs=0.005) and low == pytest.approx(
        -0.17 - 0.02, abs=0.005
    )
    (_, _), (deeper, _) = put(0.9).window(above)
    assert deeper == pytest.approx(0.9 + 0.08)
    assert made._across(above) == pytest.approx([0.0, 1.0])


def test_a_silhouette_covers_the_rod_and_its_tip_from_any_place():
    row = resting_state(
        np.array([1.0, 2.0, 3.0]), so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    )
    plane = Plane(np.zeros(3), Y, Z)
    shaft, ball = silhouette(rod(), np.array([-0.8, 0.0, 0.1]), row, plane)
    assert shaft[:, 0].min() == pytest.approx(2.0 - 0.8) and shaft[:, 0].max() == pytest.approx(
        2.0
    )
    assert shaft[:, 1].min() == pytest.approx(3.08) and shaft[:, 1].max() == pytest.approx(3.12)
    middle = np.array([1.2, 3.1])
    assert len(ball) == hole_outlines.SIDES and np.linalg.norm(
        ball - middle, axis=1
    ) == pytest.approx(0.03)
    _, *faces = silhouette(rod("plate"), np.array([-0.8, 0.0, 0.1]), row, plane)
    corners = np.vstack(faces)
    assert len(faces) == 6 and all(len(face) == 4 for face in faces)
    assert np.ptp(corners, axis=0) == pytest.approx([0.01, 0.06]) and corners[
        :, 0
    ].min() == pytest.approx(1.2)
    for face in faces:  # corners go around, not across
        sides = np.linalg.norm(np.roll(face, -1, axis=0) - face, axis=1)
        assert sides[0] == pytest.approx(sides[2]) and sides[1] == pytest.approx(sides[3])


def test_cuts_go_around_their_piece_in_order():
    made = put()
    for plane in made.planes:
        polygons = cuts(made.hole, plane)
        assert polygons
        for polygon in polygons:
            sides = np.roll(polygon, -1, axis=0) - polygon
            turns = sides[:, 0] * np.roll(sides[:, 1], -1) - sides[:, 1] * np.roll(sides[:, 0], -1)
            assert (turns > -1e-9).all() and len(polygon) >= 3
    bore = np.vstack(cuts(made.hole, made.planes[1]))
    inside = bore[(bore[:, 0] > 0.1) & (bore[:, 0] < 0.39)]
    assert not len(inside) or np.abs(inside[:, 1]).min() > 0.045


@pytest.mark.parametrize(("lean_deg", "is_wide"), [(0.0, True), (-60.0, False)])
def test_the_figure_of_a_rod_in_a_hole_is_in_millimetres_at_equal_scale(lean_deg, is_wide):
    made = put(0.25, lean_deg)
    figure = figure_of(draw_insertion, "title", made)
    side, above = figure.axes
    assert (side.get_xlabel(), side.get_ylabel()) == ("horizontal [mm]", "up [mm]")
    assert (above.get_xlabel(), above.get_ylabel()) == ("along the hole [mm]", "aside [mm]")
    for axes, plane in zip((side, above), made.planes, strict=True):
        (left, low), (right, high) = 1e3 * made.window(plane)
        assert axes.get_xlim() == pytest.approx(
            (left, right)
        ) and axes.get_ylim() == pytest.approx((low, high))
        assert axes.get_aspect() == 1.0
        lines = {line.get_label(): line.get_xydata() for line in axes.lines}
        np.testing.assert_allclose(lines["way of the tip"], 1e3 * plane.flat(made.tip))
        ends = made.hole.row[P] + np.array([[-10.0], [10.0]]) * made.axis
        np.testing.assert_allclose(lines["axis of the hole"], 1e3 * plane.flat(ends))
        filled = {to_rgba(patch.get_facecolor()): patch.get_xy() for patch in axes.patches}
        rod_at_end = filled[to_rgba(insertion.ROD["facecolor"])]
        first, last = (silhouette(made.tool, made.tip_P, row, plane) for row in made.rows[[0, -1]])
        drawn = np.vstack([patch.get_xy() for patch in axes.patches])
        for polygon in (*first, *last):
            assert (
                np.abs(drawn[None] - 1e3 * polygon[:, None]).sum(axis=2).min(axis=1).max() < 1e-6
            )
        assert len(rod_at_end)
        assert len(axes.patches) == len(cuts(made.hole, plane)) + 4
    assert figure.get_figwidth() == pytest.approx(5.4 if is_wide else 7.16)
    lean = abs(lean_deg)
    words = f"from the side: rod {lean:.1f} deg, hole {lean:.1f} deg below level"
    assert side.get_title("left").replace("\u2212", "") == words
    assert above.get_title("left") == "from above: tip 250 mm past the hole\u2019s start"
    names = [each.get_text() for each in figure.legends[0].get_texts()]
    assert names == ["at first contact", "at the end", "way of the tip", "axis of the hole"]


def columns(made):
    """Columns of a vehicle on its way."""
    t = np.arange(len(made.rows), dtype=float)
    return SimpleNamespace(t=t, x=made.rows[:, None])


def test_only_the_hole_that_the_tip_is_in_is_found():
    made = put(0.25)
    world = World(objects={"other": funnel(position=(5.0, 0.0, 1.0)), "own": funnel()})
    found = hole_outlines.insertion(world, made.tool, made.tip_P, columns(made))
    assert (found.length, found.before, found.radius) == (
        0.4,
        0.2,
        0.15 + 0.02,
    ) and found.depth == pytest.approx(0.25)
    before = put(-0.01)
    assert hole_outlines.insertion(world, made.tool, made.tip_P, columns(before)) is None
    for off, is_in in ((0.16, True), (0.18, False)):
        aside = put(0.25)
        aside.rows[:, 1] += off
        assert (
            hole_outlines.insertion(world, made.tool, made.tip_P, columns(aside)) is not None
        ) is is_in
    assert hole_outlines.insertion(World(), made.tool, made.tip_P, columns(made)) is None
    board = SimpleNamespace(thickness=0.03, hole=SimpleNamespace(radius=0.02))
    assert hole_outlines._measures(board) == (0.03, 0.0, pytest.approx(0.06))


def test_a_vehicle_without_a_tool_is_in_no_hole_and_flights_beside_it_come_by_name(
    monkeypatch, tmp_path
):
    vehicle = SimpleNamespace(meta=SimpleNamespace(tool_tip_P=None), columns=None)
    platform = SimpleNamespace(platform=SimpleNamespace(tool=rod()))
    run = SimpleNamespace(
        folder=tmp_path,
        finite_data=SimpleNamespace(vehicles=[vehicle]),
        scenario=SimpleNamespace(vehicles=[platform]),
    )
    assert TouchingVehicle(run, 0, None, SimpleNamespace(first_tick=0)).insertion is None
    platform.platform.tool = None
    vehicle.meta.tool_tip_P = (1.0, 0.0, 0.0)
    assert TouchingVehicle(run, 0, None, SimpleNamespace(first_tick=0)).insertion is None
    for name in ("b", "a", "c"):
        (tmp_path / recorded_run.COMPARED / name).mkdir(parents=True)
    monkeypatch.setattr(
        recorded_run, "load_run", lambda folder: SimpleNamespace(meta=None, vehicles=[folder.name])
    )
    monkeypatch.setattr(
        recorded_run,
        "flight_curves",
        lambda meta, name: SimpleNamespace(contact=None if name == "c" else name),
    )
    touching = TouchingVehicle(run, 0, None, "own")
    assert touching.compared == {"this flight": "own", "a": "a", "b": "b"}


def test_a_run_tells_its_outcome_and_who_follows(tmp_path):
    vehicle = SimpleNamespace(meta=SimpleNamespace(name="a"))
    data = SimpleNamespace(vehicles=[vehicle], meta=SimpleNamespace(sensors=[], vehicles=[]))
    assert RecordedRun(tmp_path, data, {"outcome": "crashed"}).outcome == "crashed"
    assert (
        RecordedRun(tmp_path, data).outcome == "completed"
        and not RecordedRun(tmp_path, data).has_cameras
    )
    assert RecordedRun(tmp_path, data)._end("a") == ""
    data.vehicles.append(vehicle)
    assert RecordedRun(tmp_path, data)._end("a") == "_a"
    assert (
        RecordedRun(tmp_path, data).identified == {} and RecordedRun(tmp_path, data).modules == {}
    )
