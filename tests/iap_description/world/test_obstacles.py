# SPDX-License-Identifier: BSD-3-Clause
"""Obstacles and distances to them."""

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput, IapError
from iap_description.geometry.solids import moments, triangles
from iap_description.geometry.tessellation import mesh
from iap_description.math import so3
from iap_description.states import P
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.distances import SIDES, Surroundings
from iap_description.world.obstacles import PRESETS, objects_tree
from iap_description.world.world import World
from iap_physics.engines.joints import at_rest
from iap_physics.engines.pybullet.engine import PyBulletEngine
from iap_sensors.rays.world_rays import Rays

SURFACE = {"friction": 0.5, "restitution": 0.0}


def field(preset, **changes):
    tree = objects_tree({"field": {"preset": preset, "seed": 3, **changes}})
    return validate(World, {"objects": tree}, source="test").objects["field"]


@pytest.mark.parametrize("preset", PRESETS.names())
def test_every_preset_is_made_of_closed_pieces_that_stand_off_its_free_columns(preset):
    one = field(preset)
    (x0, y0), (x1, y1) = one.area
    for piece in one.pieces():
        vertices, faces = triangles(piece)
        assert moments(vertices, faces)[0] > 0.0  # counter-clockwise from outside
        for x, y, radius in one.free:
            assert np.hypot(vertices[:, 0] - x, vertices[:, 1] - y).min() > radius - 1e-9
        middle = vertices.mean(axis=0)
        assert x0 - 3.0 <= middle[0] <= x1 + 3.0
        assert y0 - 3.0 <= middle[1] <= y1 + 3.0


@pytest.mark.parametrize("preset", PRESETS.names())
def test_rays_and_contact_have_the_same_triangles(preset):
    one = field(preset, count=5)
    seen, touched = (
        [vertices[faces] for vertices, _, faces in map(mesh, shapes)]
        for shapes in (one.visual(), one.pieces())
    )
    for own, other in zip(one.corners(), seen, strict=True):
        np.testing.assert_array_equal(own, other)
    assert {each.tobytes() for each in seen} <= {each.tobytes() for each in touched}


def test_sizes_and_heights_are_drawn_between_their_ends():
    one = field("boxes", count=200, size=[[0.2, 0.4, 0.6], [0.3, 0.5, 0.7]], tilt_deg=0.0)
    ((vertices, _),) = one.hulls()
    height = np.ptp(vertices[..., 2], axis=1)
    assert 0.6 <= height.min() < 0.61
    assert 0.69 < height.max() <= 0.7
    middle = vertices.mean(axis=1)
    low, high = one.heights
    assert low <= middle[:, 2].min() < middle[:, 2].max() <= high
    side = (
        np.linalg.norm(vertices[:, 0] - vertices[:, 1], axis=-1),
        np.linalg.norm(vertices[:, 1] - vertices[:, 2], axis=-1),
    )
    assert all(0.2 <= each.min() and each.max() <= 0.5 for each in side)
    ((walls, _),) = field("walls").hulls()
    np.testing.assert_allclose(walls[..., 2].min(axis=1), 0.0, atol=1e-12)


def test_a_seed_gives_its_field_again_and_another_one_another():
    one, again, other = field("trees"), field("trees"), field("trees", seed=4)
    np.testing.assert_array_equal(one.hulls()[0][0], again.hulls()[0][0])
    assert np.abs(one.hulls()[0][0] - other.hulls()[0][0]).max() > 1.0


@pytest.mark.parametrize("preset", PRESETS.names())
def test_rays_end_where_the_engine_that_flies_is_touched(preset):
    star = [Assembly.of(load_platform("three_star"))]
    world = World(objects={"field": field(preset, free=[])})
    engine, rays = PyBulletEngine(), Rays(world, star)
    engine.load(world, star)
    x = at_rest(star)[None]
    x[..., P] += [0.0, 0.0, 30.0]
    engine.reset(x)
    rays.follow(x[0], engine.object_states())
    rng = np.random.default_rng(2)
    starts = rng.uniform([-12.0, -12.0, 0.5], [12.0, 12.0, 5.0], (3000, 3))
    ends = starts + 15.0 * np.array([p / np.linalg.norm(p) for p in rng.normal(size=(3000, 3))])
    off = 15.0 * np.abs(rays.ray_cast(starts, ends) - engine.ray_cast(starts, ends))
    engine.close()
    # the engine rounds hulls by a margin of its own, which rays that graze thin ones see
    assert (off > 5e-3).mean() <= 0.01
    assert np.median(off) < 1e-5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": 0}, "key 'objects.field.count'"),
        ({"seed": -1}, "key 'objects.field.seed'"),
        ({"size": [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]}, "key 'objects.field.size"),
    ],
)
def test_an_impossible_field_is_refused_by_key(changes, words):
    with pytest.raises(BadInput, match=words):
        field("boxes", **changes)


def test_an_unknown_preset_an_open_seed_and_a_field_without_room_are_refused():
    with pytest.raises(BadInput, match="no obstacles 'hedges'"):
        field("hedges")
    with pytest.raises(BadInput, match="seed"):
        field("boxes", seed=None).pieces()
    with pytest.raises(BadInput, match="no room"):
        field("boxes", free=[[0.0, 0.0, 30.0]]).pieces()


def _world(**objects):
    placed = {name: {"surface": SURFACE, **item} for name, item in objects.items()}
    return World(ground=False, objects=placed)


def _box(*position, size=(1.0, 2.0, 3.0), **more):
    return {"type": "box", "position": position, "size": size, **more}


def test_a_box():
    """Outside by Euclid, inside zero."""
    rng = np.random.default_rng(0)
    p = rng.uniform(-3.0, 3.0, (500, 3))
    around = Surroundings([_world(box=_box(0.2, 0.0, 0.0))] * len(p))
    beyond = np.maximum(np.abs(p - [0.2, 0.0, 0.0]) - [0.5, 1.0, 1.5], 0.0)
    assert np.allclose(around.distances(p), np.linalg.norm(beyond, axis=1), atol=1e-12)
    assert (beyond == 0.0).all(axis=1).any()


def test_a_turned_box_is_as_far_as_the_point_turned_back():
    """A world that is turned about z by 30 deg is the world seen from a point turned by -30 deg."""
    p = np.array([[2.0, 1.0, 0.5]])
    turned = Surroundings([_world(box=_box(0.0, 0.0, 0.0, rpy_deg=(0.0, 0.0, 30.0)))])
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    back = p @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    straight = Surroundings([_world(box=_box(0.0, 0.0, 0.0))])
    assert turned.distances(p) == pytest.approx(straight.distances(back), abs=1e-12)


def test_a_cylinder_within_its_flat_sides():
    """The most by which flat sides of a round body are too far in: r (1 - cos(pi / n))."""
    item = {"type": "cylinder", "position": (0.0, 0.0, 1.0), "radius": 0.4, "length": 2.0}
    angles = np.linspace(0.0, 2.0 * np.pi, 50)
    p = np.stack([1.4 * np.cos(angles), 1.4 * np.sin(angles), 0.0 * angles + 1.0], -1)
    far = Surroundings([_world(post=item)] * len(p)).distances(p)
    assert np.all(far > 1.0 - 1e-9)
    assert np.all(far < 1.0 + 0.4 * (1.0 - np.cos(np.pi / SIDES)) + 1e-9)


def test_every_world_has_objects_of_its_own():
    """Worlds with other objects, of which one is exchanged for a larger one, and an empty one."""
    worlds = [_world(a=_box(5.0, 0.0, 0.0)), _world(), _world(a=_box(9.0, 0.0, 0.0))]
    around, p = Surroundings(worlds), np.zeros((3, 3))
    assert np.allclose(around.distances(p)[[0, 2]], [4.5, 8.5])
    assert around.distances(p)[1] == np.inf
    around.set_world(1, _world(a=_box(3.0, 0.0, 0.0), b=_box(-2.0, 0.0, 0.0)))
    assert np.allclose(around.distances(p), [4.5, 1.5, 8.5])


def test_the_nearest_of_many_is_the_smallest_of_their_distances():
    """Passing over what is far changes nothing."""
    rng = np.random.default_rng(1)
    boxes = [
        _box(*rng.uniform(-4.0, 4.0, 3), rpy_deg=tuple(rng.uniform(-180, 180, 3)))
        for _ in range(12)
    ]
    points = rng.uniform(-4.0, 4.0, (40, 3))
    many = _world(**{f"box_{i}": box for i, box in enumerate(boxes)})
    together = Surroundings([many] * len(points)).distances(points)
    alone = [Surroundings([_world(box=box)] * len(points)).distances(points) for box in boxes]
    assert np.array_equal(together, np.min(alone, axis=0))


def test_what_moves_is_as_far_as_where_it_is():
    """The distance to a box that drifts is the distance to one that stands where it has come to."""
    rng, motion = np.random.default_rng(2), {"type": "velocity", "velocity": (0.4, -0.3, 0.1)}
    turned = {"rpy_deg": (10.0, 20.0, 30.0)}
    moving = _world(post=_box(4.0, 0.0, 0.0), crate=_box(1.0, 0.0, 0.0, motion=motion, **turned))
    standing = _world(post=_box(4.0, 0.0, 0.0), crate=_box(1.8, -0.6, 0.2, **turned))
    p = rng.uniform(-3.0, 3.0, (200, 3))
    rows = np.repeat(moving.object_states(2.0)[None], len(p), axis=0)
    found = Surroundings([moving] * len(p)).distances(p, rows)
    np.testing.assert_allclose(
        found, Surroundings([standing] * len(p)).distances(p), rtol=0.0, atol=1e-12
    )
    with pytest.raises(IapError, match="states of objects and bodies are needed"):
        Surroundings([moving]).distances(p[:1])


def _sampled(corners, points, count=24):
    """Distances (n,) of points to triangles (t, 3, 3) by a grid of points on each: too large by less than the grid."""
    steps = [(i, j) for i in range(count + 1) for j in range(count + 1 - i)]
    weights = np.array([(i, j, count - i - j) for i, j in steps]) / count
    surface = np.einsum("wk,tkx->twx", weights, corners).reshape(-1, 3)
    return np.array([np.linalg.norm(surface - p, axis=1).min() for p in points])


def test_what_moves_freely_or_turns_is_as_far_as_the_triangles_of_where_it_is():
    """A loose box and a door about a hinge, wherever an engine has brought them, against a grid on their surfaces."""
    door = {"hinge": {"point": (0.5, 0.0, 0.0), "limits_deg": (0.0, 90.0)}, "mass": 20.0}
    world = _world(crate=_box(0.0, 0.0, 0.0, mass=1.0), door=_box(2.0, 0.0, 0.0, **door))
    rng = np.random.default_rng(4)
    rows = np.zeros((30, 2, 13))
    rows[:, :, :3] = rng.uniform(-2.0, 2.0, (30, 2, 3))
    rows[:, :, 3:7] = so3.quaternion_exp(rng.uniform(-2.0, 2.0, (60, 3))).reshape(30, 2, 4)
    points = rng.uniform(-3.0, 3.0, (30, 3))
    found = Surroundings([world] * 30).distances(points, rows)
    half = np.array([0.5, 1.0, 1.5])
    for p, states, distance in zip(points, rows, found, strict=True):
        surfaces, is_within = [], False
        for item, row in zip(world.objects.values(), states, strict=True):
            (shape,) = item.pieces()
            vertices, _, faces = mesh(shape, sides=SIDES)
            surfaces.append(row[:3] + so3.rotate(row[3:7], vertices[faces]))
            p_O = so3.rotate(so3.conjugate(row[3:7]), p - row[:3])
            is_within |= bool((np.abs(p_O) < half).all())
        assert is_within == (distance == 0.0)
        if not is_within:
            near = _sampled(np.concatenate(surfaces), [p])[0]
            assert near - 0.1 < distance <= near + 1e-9
    assert 15 < (found > 0.0).sum() < 30


def test_bodies_among_objects_are_as_far_as_they_are_in_every_world():
    """A ball of another vehicle, moved and turned: its middle less its radius, or nearer what stands."""
    platform = Assembly.of(load_platform("f450"), "other")
    shapes = [body.collision for body in platform.bodies]
    worlds = [_world(post=_box(9.0, 0.0, 0.0)), _world(post=_box(0.8, 0.0, 0.0))]
    around = Surroundings(worlds, shapes)
    rows = np.zeros((2, 2, 13))
    rows[:, :, 6] = 1.0
    rows[:, 1, :3], rows[:, 1, 3:7] = (
        [1.0, 2.0, 0.0],
        so3.quaternion_exp(np.array([0.3, -0.4, 1.0])),
    )
    found = around.distances(np.zeros((2, 3)), rows)
    surfaces = []
    for shape in shapes[0]:
        vertices, _, faces = mesh(shape, sides=SIDES)
        surfaces.append(rows[0, 1, :3] + so3.rotate(rows[0, 1, 3:7], vertices[faces]))
    (near,) = _sampled(np.concatenate(surfaces), [np.zeros(3)], 60)
    assert near - 0.02 < found[0] <= near + 1e-9 and 1.5 < found[0] < 2.2
    assert found[1] == pytest.approx(0.3)
    with pytest.raises(IapError, match="states of objects and bodies are needed"):
        around.distances(np.zeros((2, 3)))
