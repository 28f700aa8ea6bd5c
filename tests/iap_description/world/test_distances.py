# SPDX-License-Identifier: BSD-3-Clause
"""Distances of points to objects of worlds."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.world.distances import SIDES, Surroundings
from iap_description.world.world import World

SURFACE = {"friction": 0.5, "restitution": 0.0}


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
    """What is round has flat sides, which are too far in by at most r (1 - cos(pi / n))."""
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


def test_what_moves_is_refused():
    """The key of the object is named."""
    motion = {"type": "velocity", "velocity": (1.0, 0.0, 0.0)}
    with pytest.raises(BadInput, match="world.objects.crate"):
        Surroundings([_world(crate=_box(0.0, 0.0, 0.0, motion=motion))])
