# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of worlds by hand: what an object hides, holes' profiles, draws of obstacles, nearest points, light."""

import numpy as np
import pytest
from boxed_worlds import BOX, COLOR, HALF, SURFACE, world

from iap_description.errors import BadInput, IapError
from iap_description.geometry.cavities import arc, rectangular, thick
from iap_description.geometry.shapes import Shape
from iap_description.math import so3
from iap_description.states import P, V, resting_state
from iap_description.world import obstacles
from iap_description.world.distances import STANDS, Surroundings, nearest_of_triangle
from iap_description.world.objects import BlindHole, Hole
from iap_description.world.scene_objects import SceneObject, object_parts, standing


def shape(**keys):
    return Shape(color=COLOR, **keys)


def placed(*pieces, yaw_deg=0.0, position=(0.0, 0.0, 0.0), is_tube=False):
    q = so3.quaternion_exp(np.array([0.0, 0.0, np.radians(yaw_deg)]))
    return SceneObject(pieces, resting_state(np.array(position), q), is_tube)


@pytest.mark.parametrize(
    ("piece", "low", "high"),
    [
        (
            shape(shape="box", size=(2.0, 4.0, 6.0), position=(1.0, 0.0, 0.0)),
            (0, -2, -3),
            (2, 2, 3),
        ),
        (
            shape(shape="box", size=(2.0, 4.0, 6.0), rpy_deg=(0.0, 0.0, 90.0)),
            (-2, -1, -3),
            (2, 1, 3),
        ),
        (shape(shape="cylinder", radius=0.5, length=3.0), (-0.5, -0.5, -1.5), (0.5, 0.5, 1.5)),
        (
            shape(shape="sphere", radius=0.5, position=(0.0, 0.0, 2.0)),
            (-0.5, -0.5, 2.0),
            (0.5, 0.5, 2.0),
        ),
    ],
)
def test_corners_hold_a_shape(piece, low, high):
    corners = placed(piece).corners_O
    np.testing.assert_allclose(corners.min(axis=0), low, atol=1e-12)
    np.testing.assert_allclose(corners.max(axis=0), high, atol=1e-12)


def test_points_and_corners_go_between_an_object_and_the_map():
    one = placed(
        shape(shape="box", size=(2.0, 4.0, 6.0)), yaw_deg=90.0, position=(10.0, 20.0, 30.0)
    )
    np.testing.assert_allclose(
        one.to_O(np.array([[11.0, 22.0, 33.0]])), [[2.0, -1.0, 3.0]], atol=1e-12
    )
    np.testing.assert_allclose(np.ptp(one.corners_W, axis=0), [4.0, 2.0, 6.0])
    np.testing.assert_allclose(one.corners_W.mean(axis=0), [10.0, 20.0, 30.0])
    points = np.array(
        [
            [11.9, 20.9, 32.9],
            [11.9, 21.1, 30.0],
            [12.1, 20.0, 30.0],
            [10.0, 20.0, 26.9],
            [8.01, 19.01, 27.01],
        ]
    )
    assert one.holds(points).tolist() == [True, False, False, False, True]


def test_a_box_hides_what_is_behind_it_and_not_what_is_before_it_or_beside():
    one = placed(shape(shape="box", size=(2.0, 2.0, 2.0)), position=(5.0, 0.0, 0.0))
    eye = np.zeros(3)
    points = np.array(
        [
            [10.0, 0.0, 0.0],
            [3.9, 0.0, 0.0],
            [5.0, 0.0, 0.0],
            [10.0, 2.4, 0.0],
            [10.0, 2.6, 0.0],
            [-9.0, 0.0, 0.0],
        ]
    )
    assert one.hides(points, eye).tolist() == [True, False, True, True, False, False]


def test_an_object_is_cut_open_along_its_x_on_the_side_of_a_direction():
    near, far, middle = (
        shape(shape="box", size=(1.0, 0.5, 0.5), position=(3.0, y, 0.0)) for y in (1.0, -1.0, 0.0)
    )
    one = placed(near, far, middle, yaw_deg=90.0)
    assert one.opened(np.array([-1.0, 0.0, 0.0])).pieces == [
        far,
        middle,
    ]  # y of O is -x of the map
    assert one.opened(np.array([1.0, 0.0, 0.0])).pieces == [near, middle]
    assert one.opened(np.array([0.0, 9.0, 0.0])).pieces == [near, far, middle]  # along x of O


def test_objects_stand_where_their_motion_has_them_and_tubes_are_funnels():
    drifting = {**BOX, "motion": {"type": "velocity", "velocity": [0.5, 0.0, 0.0]}}
    funnel = {"type": "funnel", "position": [0.0, 0.0, 1.0], "throat_radius": 0.1, "throat_length": 0.2,
              "mouth_radius": 0.3, "cone_length": 0.4, "surface": SURFACE}  # fmt: skip
    first, second = standing(world(a=drifting, b=funnel), 4.0)
    assert first.row[P].tolist() == [3.0, 2.0, 3.0] and first.row[V].tolist() == [0.5, 0.0, 0.0]
    assert (first.is_tube, second.is_tube) == (False, True) and len(second.pieces) == 64
    (part,) = object_parts(world(a=BOX).objects["a"])
    assert part.label == 50 and object_parts(world(a=BOX).objects["a"], label=7)[0].label == 7


def test_profiles_of_holes_begin_at_their_rounded_edge():
    np.testing.assert_allclose(
        Hole(type="through", radius=0.1).profile(0.3), [[0.0, 0.1], [-0.3, 0.1]]
    )
    rounded = Hole(type="through", radius=0.1, fillet=0.02).profile(0.3)
    cut = 0.02 * HALF
    np.testing.assert_allclose(
        rounded, [[0.0, 0.12], [-0.02 + cut, 0.12 - cut], [-0.02, 0.1], [-0.3, 0.1]], atol=1e-15
    )
    socket = BlindHole(type="socket", radius=0.1, straight=0.05)
    assert socket.depth == pytest.approx(0.15)
    profile = socket.profile(0.3)
    assert len(profile) == 7
    np.testing.assert_allclose(profile[:2], [[0.0, 0.1], [-0.05, 0.1]], atol=1e-15)
    np.testing.assert_allclose(np.hypot(profile[1:, 0] + 0.05, profile[1:, 1]), 0.1)
    assert profile[-1, 1] == pytest.approx(0.004)  # the flat pole


def test_borders_are_at_an_even_distance_or_on_a_rectangle():
    rays = np.array([[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(thick(0.2)(rays, 0.5), [[0.0, 0.7], [0.7, 0.0]])
    np.testing.assert_allclose(
        rectangular(4.0, 6.0)(rays, 0.5), [[0.0, 3.0], [2.0, 3.0], [2.0, 0.0]]
    )
    np.testing.assert_allclose(
        arc((1.0, 2.0), 0.5, 0.0, np.pi, 2), [[1.5, 2.0], [1.0, 2.5], [0.5, 2.0]]
    )


@pytest.mark.parametrize(
    ("p", "nearest"),
    [
        ((-1.0, -1.0, 5.0), (0.0, 0.0, 0.0)),
        ((6.0, -1.0, 5.0), (4.0, 0.0, 0.0)),
        ((-1.0, 3.5, 5.0), (0.0, 2.0, 0.0)),
        ((1.0, -3.0, 5.0), (1.0, 0.0, 0.0)),
        ((-3.0, 1.5, 5.0), (0.0, 1.5, 0.0)),
        ((4.0, 2.0, 5.0), (3.2, 0.4, 0.0)),
        ((1.0, 0.5, 5.0), (1.0, 0.5, 0.0)),
    ],
)
def test_the_nearest_point_of_a_triangle_is_a_corner_on_an_edge_or_within(p, nearest):
    a, b, c = (0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 2.0, 0.0)
    np.testing.assert_allclose(nearest_of_triangle(p, a, b, c), nearest, atol=1e-12)


def test_surroundings_have_pieces_that_stand_or_move_and_need_the_states_of_these():
    moving = {**BOX, "motion": {"type": "velocity", "velocity": [1.0, 0.0, 0.0]}}
    both = Surroundings([world(a=BOX), world(a=BOX, b=moving)])
    assert both.pieces.sizes.tolist() == [1, 2] and both.pieces.movers[1].tolist() == [STANDS, 1]
    np.testing.assert_allclose(both.pieces.spheres[0, 0], [1.0, 2.0, 3.0, np.sqrt(14.0)])
    np.testing.assert_allclose(
        both.pieces.spheres[1, 1], [0.0, 0.0, 0.0, np.sqrt(14.0)], atol=1e-12
    )
    points = np.array([[1.0, 2.0, 8.0], [5.0, 2.0, 3.0]])
    with pytest.raises(
        IapError, match="^distances: states of objects and bodies are needed, for some move$"
    ):
        both.distances(points)
    rows = np.zeros((2, 2, 13))
    rows[..., 6] = 1.0
    rows[1, 1, :3] = 7.5, 2.0, 3.0
    np.testing.assert_allclose(both.distances(points, rows), [2.0, 1.5])
    still = Surroundings([world(a=BOX), world()])
    np.testing.assert_allclose(still.distances(points), [2.0, np.inf])
    np.testing.assert_allclose(still.distances_of(0, points[::-1]), [3.0, 2.0])


def test_headings_and_tilts_are_drawn_within_their_bounds():
    R = obstacles.turns(np.random.default_rng(1), 4000, 20.0, (30.0, 70.0))
    tilt = np.degrees(np.arccos(np.clip(R[:, 2, 2], -1.0, 1.0)))
    assert tilt.max() < 20.0 and tilt.max() > 19.9 and tilt.mean() == pytest.approx(10.0, abs=0.5)
    level = obstacles.turns(np.random.default_rng(1), 4000, 0.0, (30.0, 70.0))
    yaw = np.degrees(np.arctan2(level[:, 1, 0], level[:, 0, 0]))
    assert 30.0 < yaw.min() < 30.2 and 69.8 < yaw.max() < 70.0
    directions = np.arctan2(R[:, 1, 2], R[:, 0, 2])  # of the tilts, about any level axis
    assert np.histogram(directions, 4, (-np.pi, np.pi))[0].min() > 900
    ends = obstacles.between(np.random.default_rng(2), (3.0, 2.0), 500)
    assert 2.0 < ends.min() < 2.02 and 2.98 < ends.max() < 3.0
    assert obstacles._heights(np.random.default_rng(2), None, np.array([7.0])).tolist() == [7.0]


def test_pieces_are_turned_and_moved_each_by_its_own():
    R = np.stack([np.eye(3), so3.exp(np.array([0.0, 0.0, np.pi / 2.0]))])
    vertices = np.array([[[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]]])
    out = obstacles._placed(
        vertices, R, np.array([[10.0, 20.0], [30.0, 40.0]]), np.array([5.0, 6.0])
    )
    np.testing.assert_allclose(out, [[[11.0, 22.0, 8.0]], [[28.0, 41.0, 9.0]]])


@pytest.mark.parametrize("sides", [5, 8])
def test_a_prism_is_closed_and_stands_in_a_cylinder_of_radius_and_height_1(sides):
    vertices, faces = obstacles._prism(sides)
    assert (vertices.shape, faces.shape) == ((2 * sides, 3), (4 * sides - 4, 3))
    np.testing.assert_allclose(np.hypot(vertices[:, 0], vertices[:, 1]), 1.0)
    assert sorted(set(vertices[:, 2])) == [-0.5, 0.5]
    corners = vertices[faces]
    volume = (
        np.sum(np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6.0
    )
    assert volume == pytest.approx(0.5 * sides * np.sin(2.0 * np.pi / sides))
    edges = {
        tuple(edge)
        for face in faces.tolist()
        for edge in zip(face, np.roll(face, -1).tolist(), strict=True)
    }
    assert len(edges) == 3 * len(faces) and all(edge[::-1] in edges for edge in edges)


def field(**keys):
    tree = {
        "type": "boxes",
        "size": [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
        "area": [[4.0, 0.0], [0.0, 2.0]],
        **keys,
    }
    return world(field=tree).objects["field"]


def test_places_of_obstacles_are_in_the_area_and_off_free_columns():
    one = field(count=300, seed=1, free=[[1.0, 1.0, 0.5]])
    xy = one.positions(np.random.default_rng(0), np.full(300, 0.25))
    assert xy.min(axis=0).tolist() == pytest.approx([0.0, 0.0], abs=0.1)
    assert xy.max(axis=0).tolist() == pytest.approx([4.0, 2.0], abs=0.1)
    away = np.hypot(*(xy - 1.0).T).min()
    assert 0.75 <= away < 0.8
    with pytest.raises(
        BadInput, match="^key 'free': these columns leave no room for obstacles in the area$"
    ):
        field(count=3, seed=1, free=[[2.0, 1.0, 9.0]]).positions(
            np.random.default_rng(0), np.zeros(3)
        )
    with pytest.raises(BadInput, match="^key 'seed': the seed of 3 obstacles is still open$"):
        _ = field(count=3).dice


def test_a_preset_is_filled_in_with_what_is_changed_of_it():
    tree = obstacles.objects_tree(
        {"a": {"preset": "boxes", "count": 3}, "b": {"type": "box"}, "c": 5}
    )
    assert tree["a"]["count"] == 3 and "preset" not in tree["a"] and tree["a"]["type"] == "boxes"
    assert (tree["b"], tree["c"]) == ({"type": "box"}, 5) and obstacles.objects_tree([1]) == [1]
