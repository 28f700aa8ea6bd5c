# SPDX-License-Identifier: BSD-3-Clause
"""Every picture of a film shows its own time, and what stands on its stage where the flight has it."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.films import film_stage
from iap_bringup.films.film import FilmSettings, film_times
from iap_bringup.films.film_picture import DEPTH_SHRINK, FOCAL, FilmPicture, View
from iap_bringup.films.film_stage import FilmStage
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.world.world import World
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Frame
from iap_sensors.cameras.spec import CameraSpec

SIZE = (300, 150)
RED, GREEN = (255, 0, 0), (0, 255, 0)


@pytest.mark.parametrize(
    ("settings", "first", "count", "step"),
    [
        (FilmSettings(), 1.0, 50, 0.04),
        (FilmSettings(rate=10.0, speed=2.0), 1.0, 10, 0.2),
        (FilmSettings(rate=10.0, begin=1.5), 1.5, 15, 0.1),
        (FilmSettings(rate=10.0, begin=1.5, end=2.0, speed=0.5), 1.5, 10, 0.05),
        (FilmSettings(rate=200.0, end=1.5), 1.0, 100, 0.005),
    ],
)
def test_picture_k_shows_its_time_and_there_are_as_many_as_the_time_takes(
    settings, first, count, step
):
    times = film_times(settings, (1.0, 3.0), 200.0)
    assert len(times) == count
    np.testing.assert_allclose(times, first + step * np.arange(count))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rate": 0.0}, "--rate 0"), ({"rate": 201.0}, "--rate 201: above 0 and at most 200"),
        ({"rate": -1.0}, "--rate"),
        ({"speed": 0.0}, "--speed 0"), ({"speed": 1001.0}, "--speed 1001"), ({"begin": 0.9}, "--from 0.9"),
        ({"end": 3.1}, "--to 3.1: the flight lasts from 1.0 to 3.0 s"), ({"begin": 2.0, "end": 2.0}, "--from 2 --to 2"),
    ],
)  # fmt: skip
def test_times_that_a_flight_has_not_are_refused(changes, said):
    with pytest.raises(BadInput, match=said):
        film_times(FilmSettings(**changes), (1.0, 3.0), 200.0)


def straight_view():
    """From 5 m behind the origin, 2 m high, along x."""
    return View.towards(np.array([-5.0, 0.0, 2.0]), np.array([5.0, 0.0, 2.0]))


def picture(depth=100.0, view=None):
    """A black picture before a wall at a depth [m]."""
    spec = CameraSpec.for_pictures(SIZE, FOCAL, outputs=("rgb8",))
    pixels = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    depths = np.full((SIZE[1] // DEPTH_SHRINK, SIZE[0] // DEPTH_SHRINK), depth)
    return FilmPicture(pixels, depths, CameraModel.of(spec), view or straight_view())


def pixel(point, view=None):
    """Column and row at which a point in `map` is seen."""
    x, y, z = (np.asarray(point, float) - (view or straight_view()).p_WC_W) @ (
        view or straight_view()
    ).R_WC
    f = FOCAL * SIZE[0]
    return f * x / z + 0.5 * (SIZE[0] - 1), f * y / z + 0.5 * (SIZE[1] - 1)


def drawn(made, color):
    """(n, 2) columns and rows that are about of a colour."""
    rows, columns = np.nonzero((np.abs(made.pixels.astype(int) - color) < 60).all(axis=2))
    return np.stack([columns, rows], axis=1)


def test_a_view_looks_at_its_target_with_its_head_up():
    view = View.towards(np.array([1.0, 2.0, 3.0]), np.array([4.0, 6.0, 3.0]))
    np.testing.assert_allclose(
        view.R_WC, np.array([[0.8, 0.0, 0.6], [-0.6, 0.0, 0.8], [0.0, -1.0, 0.0]]), atol=1e-12
    )
    down = View.towards(np.array([0.0, -4.0, 3.0]), np.zeros(3))
    assert down.R_WC[:, 2] == pytest.approx([0.0, 0.8, -0.6]) and down.R_WC[2, 1] < 0.0
    assert np.linalg.det(down.R_WC) == pytest.approx(1.0)


def test_balls_points_lines_and_arrows_are_drawn_where_they_are_seen():
    made, place = picture(), np.array([0.0, 0.5, 2.3])
    made.draw_ball(place, 0.1, RED)
    found = drawn(made, RED)
    assert found.mean(axis=0) == pytest.approx(pixel(place), abs=0.6)
    assert np.ptp(found, axis=0) / 2.0 == pytest.approx([0.1 * FOCAL * SIZE[0] / 5.0] * 2, abs=1.2)
    made = picture()
    made.draw_ball(place, 1e-4, RED)
    assert 5 < len(drawn(made, RED)) < 30  # at least two pixels wide
    made = picture()
    made.draw_points(np.stack([place, place + [1.0, -1.0, 0.0]]), GREEN)
    centres = [pixel(place), pixel(place + [1.0, -1.0, 0.0])]
    found = drawn(made, GREEN)
    for each in centres:
        near = found[np.linalg.norm(found - each, axis=1) < 4.0]
        assert near.mean(axis=0) == pytest.approx(each, abs=0.8)
        assert (np.ptp(near, axis=0) + 1).tolist() == [5, 5]  # pixels across
    made = picture()
    made.draw_line(np.stack([place, place + [0.0, -1.0, 0.0]]), RED)
    found = drawn(made, RED)
    assert found[:, 0].min() == pytest.approx(pixel(place)[0], abs=2.0)
    assert found[:, 0].max() == pytest.approx(pixel(place + [0.0, -1.0, 0.0])[0], abs=2.0)
    made = picture()
    made.draw_arrow(place, place + [0.0, 0.0, 0.5], RED)
    found = drawn(made, RED)
    top, low = (
        found[found[:, 1] < found[:, 1].min() + 6],
        found[found[:, 1] > found[:, 1].max() - 6],
    )
    assert np.ptp(top[:, 0]) > np.ptp(low[:, 0])  # its tip is where its head is
    assert found[:, 1].max() == pytest.approx(pixel(place)[1], abs=2.0)
    made = picture()
    made.draw_arrow(place, place + [0.0, 0.0, 0.05], RED)
    assert len(drawn(made, RED)) == 0  # too short to be seen
    made.draw_arrow(np.array([-6.0, 0.0, 2.0]), place, RED)
    assert len(drawn(made, RED)) == 0  # it begins behind the camera


def test_what_lies_behind_a_surface_or_the_camera_is_not_drawn():
    for x, seen in ((-0.1, True), (0.03, True), (0.1, False), (-6.0, False)):
        made = picture(depth=5.0)
        made.draw_ball(np.array([x, 0.0, 2.0]), 0.1, RED)
        made.draw_points(np.array([[x, 0.3, 2.0]]), GREEN)
        assert (len(drawn(made, RED)) > 0) is seen and (len(drawn(made, GREEN)) > 0) is seen
    made = picture(depth=5.0)
    half = made._depth.shape[1] // 2
    made._depth[:, half:] = 1.0  # a wall at the right
    ends = np.array([[0.0, y, 2.0] for y in np.linspace(1.0, -1.0, 41)])
    made.draw_path(ends, RED, 2)
    found = drawn(made, RED)
    assert found[:, 0].max() <= SIZE[0] // 2 + 4 and found[:, 0].min() == pytest.approx(
        pixel(ends[0])[0], abs=3
    )
    made.draw_line(ends[[0, -1]], GREEN)
    assert drawn(made, GREEN)[:, 0].max() > SIZE[0] // 2 + 30  # axes are drawn over all


def test_a_dashed_path_has_three_legs_of_six():
    ends = np.array([[0.0, y, 2.0] for y in np.linspace(1.2, -1.2, 25)])
    whole, dashed = picture(), picture()
    whole.draw_path(ends, RED, 1)
    dashed.draw_path(ends, RED, 1, dashed=True)
    columns, some = (set(np.nonzero(each.pixels[..., 0] > 100)[1]) for each in (whole, dashed))
    assert 0.4 < len(some) / len(columns) < 0.65
    share = [
        (c - pixel(ends[0])[0]) / (pixel(ends[-1])[0] - pixel(ends[0])[0]) * 24.0 for c in some
    ]
    assert all(each % 6.0 < 3.6 or each % 6.0 > 5.4 for each in share)
    lone = picture()
    lone.draw_path(ends[:1], RED, 1)
    assert not lone.pixels.any()


class Renderer:
    """A renderer that draws black, and keeps what it is given."""

    def __init__(self):
        self.loads, self.shots, self.closed = [], [], 0

    def load(self, scene, bodies):
        self.loads.append((scene, bodies))

    def render(self, shots, poses):
        self.shots.append((shots, poses))
        return [
            Frame(
                rgb=np.zeros((each.spec.height, each.spec.width, 3), np.uint8),
                depth=np.full((each.spec.height, each.spec.width), 50.0),
            )
            for each in shots
        ]

    def close(self):
        self.closed += 1


@pytest.fixture
def stage(monkeypatch):
    """A stage whose renderer draws nothing."""
    renderer = Renderer()
    monkeypatch.setattr(film_stage, "make_renderer", lambda name: renderer)
    return FilmStage("opengl", World(), SIZE), renderer


def pose(p, turn=(0.0, 0.0, 0.0)):
    """A place and a rotation vector as a pose."""
    return np.concatenate([p, so3.quaternion_exp(np.array(turn))])


def test_bodies_are_rendered_where_their_ancestors_have_them(stage):
    made, renderer = stage
    corners, faces = np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32)
    part = MeshPart(
        "p", corners, corners, np.zeros((3, 2), np.float32), faces, None, (1.0,) * 4, 1
    )
    for name in ("w", "w/a", "w/a/b"):
        made.add_frame(name)
    made.add_part("w/a/b/0", part)
    made.add_part("w/a/0", part)
    made.place("w/a", pose([1.0, 0.0, 0.0], (0.0, 0.0, np.pi / 2)))
    made.place("w/a/b", pose([1.0, 0.0, 0.0], (0.0, 0.0, np.pi / 2)))
    made.picture(straight_view(), 1.25)
    (_, bodies), (shots, poses) = renderer.loads[0], renderer.shots[0]
    assert [len(each) for each in bodies] == [1, 1]
    np.testing.assert_allclose(poses[1, P], [1.0, 1.0, 0.0], atol=1e-12)
    assert np.abs(poses[1, Q]) == pytest.approx([0.0, 0.0, 1.0, 0.0], abs=1e-9)
    assert poses[0, P] == pytest.approx([1.0, 0.0, 0.0])
    image, depth = shots
    assert (image.spec.width, image.spec.height) == SIZE and (
        depth.spec.width,
        depth.spec.height,
    ) == (100, 50)
    assert image.t == 1.25 and image.p_WC_W == pytest.approx([-5.0, 0.0, 2.0])
    assert so3.matrix_from_quaternion(image.q_WC) == pytest.approx(straight_view().R_WC)
    made.place("w/a/b", pose([2.0, 0.0, 0.0]))
    made.picture(straight_view(), 1.5)
    assert len(renderer.loads) == 1 and renderer.shots[1][1][1, P] == pytest.approx(
        [1.0, 2.0, 0.0]
    )
    made.close()
    assert renderer.closed == 1


def test_marks_hang_on_their_nodes_and_hidden_ones_are_not_drawn(stage):
    made, _ = stage
    seen = []
    canvas = SimpleNamespace(
        draw_points=lambda points, color: seen.append(
            ("points", np.round(points, 9).tolist(), color)
        ),
        draw_line=lambda ends, color: seen.append(("line", np.round(ends, 9).tolist(), color)),
        draw_ball=lambda center, radius, color: seen.append(
            ("ball", np.round(center, 9).tolist(), radius, color)
        ),
        draw_arrow=lambda foot, head, color: seen.append(
            ("arrow", np.round(foot, 9).tolist(), np.round(head, 9).tolist(), color)
        ),
    )
    made.add_frame("w/body")
    made.place("w/body", pose([1.0, 2.0, 3.0], (np.pi / 2, 0.0, 0.0)))
    made.add_frame("w/body/axes", 0.5)
    made.add_ball("w/body/ball", 0.25, RED)
    made.add_points("w/body/cloud", GREEN, 0.1)
    made.scatter("w/body/cloud", np.array([[0.0, 1.0, 0.0]]))
    made.add_arrow("w/body/arrow", RED)
    made.stretch("w/body/arrow", np.array([2.0, 2.0, 0.75]))
    made.draw_marks(canvas)
    kinds = {
        kind: [each for each in seen if each[0] == kind]
        for kind in ("points", "line", "ball", "arrow")
    }
    assert kinds["points"] == [("points", [[1.0, 2.0, 4.0]], GREEN)]
    assert [each[1] for each in kinds["line"]] == [
        [[1.0, 2.0, 3.0], [1.5, 2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.5]], [[1.0, 2.0, 3.0], [1.0, 1.5, 3.0]]
    ]  # fmt: skip
    assert [each[2] for each in kinds["line"]] == list(film_stage.AXIS_COLORS)
    assert kinds["ball"] == [("ball", [1.0, 2.0, 3.0], 0.25, RED)]
    assert kinds["arrow"] == [("arrow", [1.0, 2.0, 3.0], [1.0, 1.25, 3.0], RED)]
    seen.clear()
    made.stretch("w/body/arrow", 0.0)
    made.show("w/body/ball", visible=False)
    made.remove("w/body/cloud")
    made.scatter("w/body/axes", np.zeros((1, 3)))
    made.draw_marks(canvas)
    assert {each[0] for each in seen} == {"line"}
    made.show("w/body/ball", visible=True)
    made.stretch("w/body/ball", np.array([1.0, 3.0, 2.0]))
    made.draw_marks(canvas)
    assert "ball" in {each[0] for each in seen} and made._nodes["w/body/ball"].length == 3.0
