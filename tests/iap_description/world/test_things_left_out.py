# SPDX-License-Identifier: BSD-3-Clause
"""What stands for keys of things in a world that are left out, and where their pieces are."""

import numpy as np
import pytest
from strict_records import lax_fields, plain_fields

from iap_description.geometry.solids import triangles
from iap_description.world.hinge import Hinge
from iap_description.world.object_motions import Drift, Sine
from iap_description.world.objects import Board, Cylinder, Floor, Funnel, Wall
from iap_description.world.world import World

PLACE = {"position": (1.0, 2.0, 3.0), "surface": {"friction": 0.5, "restitution": 0.1}}


def made(kind, **keys):
    return kind.model_validate(
        {**PLACE, "type": kind.model_fields["type"].annotation.__args__[0], **keys}
    )


def corners(thing):
    """Corners (n, 3) of all pieces of hulls."""
    return np.vstack([triangles(piece)[0] for piece in thing.pieces()])


def test_a_wall_is_ten_centimetres_thick_behind_its_front_and_a_floor_below_its_top():
    (wall,) = made(Wall, width=2.0, height=3.0).pieces()
    assert tuple(wall.size) == (0.1, 2.0, 3.0) and tuple(wall.position) == (-0.05, 0.0, 0.0)
    (floor,) = made(Floor, length=2.0, width=3.0).pieces()
    assert tuple(floor.size) == (2.0, 3.0, 0.1) and tuple(floor.position) == (0.0, 0.0, -0.05)
    (thick,) = made(Wall, width=2.0, height=3.0, thickness=0.3).pieces()
    assert thick.size[0] == 0.3 and thick.position[0] == -0.15


def test_a_funnel_has_32_sides_of_a_centimetre_and_opens_along_x():
    keys = {"throat_radius": 0.02, "throat_length": 0.05, "mouth_radius": 0.1, "cone_length": 0.2}
    funnel = made(Funnel, **keys)
    assert len(funnel.pieces()) == 2 * 32
    points = corners(funnel)
    off = np.linalg.norm(points[:, 1:], axis=1)
    for x, radius in ((0.2, 0.1), (0.0, 0.02), (-0.05, 0.02)):
        there = off[np.isclose(points[:, 0], x)]
        assert (there.min(), there.max()) == pytest.approx((radius, radius + 0.01))
    assert (points[:, 0].min(), points[:, 0].max()) == pytest.approx((-0.05, 0.2))


def test_a_board_has_16_sides_around_its_hole_and_fills_its_rectangle():
    hole = {"type": "through", "radius": 0.05}
    board = made(Board, width=0.4, height=0.3, thickness=0.1, hole=hole)
    assert len(board.pieces()) == 16
    points = corners(board)
    np.testing.assert_allclose(np.abs(points[:, 1:]).max(axis=0), (0.2, 0.15))
    assert np.linalg.norm(points[:, 1:], axis=1).min() == pytest.approx(0.05)
    assert (points[:, 0].min(), points[:, 0].max()) == pytest.approx((-0.1, 0.0))


def test_a_thing_stands_level_and_still_where_it_is():
    thing = made(Cylinder, radius=0.1, length=0.5)
    np.testing.assert_array_equal(thing.row(5.0), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, *[0.0] * 6])
    assert not thing.moves and thing.is_placed and not thing.is_free


def test_a_hinge_is_upright_through_the_origin_and_resists_nothing():
    hinge = Hinge(limits_deg=(-90.0, 90.0))
    assert (hinge.point, hinge.axis) == ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert not any((hinge.friction, hinge.damping, hinge.stiffness, hinge.rest_deg))


def test_motions_begin_at_time_zero_in_their_own_axes_at_their_own_pace():
    drift = Drift(type="velocity", velocity=(1.0, 2.0, 0.0))
    for t, way in ((-1.0, 0.0), (0.0, 0.0), (1.5, 1.5)):
        np.testing.assert_allclose(drift.at(t)[0], (way, 2.0 * way, 0.0), atol=1e-12)
    swing = Sine(type="sine", amplitude=(0.0, 0.5, 0.0), period=4.0)
    for t, y in ((0.0, 0.0), (1.0, 0.5), (2.0, 0.0), (3.0, -0.5)):
        np.testing.assert_allclose(swing.at(t)[0], (0.0, y, 0.0), atol=1e-12)
    faster = swing.changed(time_scale=2.0, time_shift=0.25, turn_deg=90.0)
    place, velocity = faster.at(0.0)
    s, w = 0.5, 2.0 * np.pi / 4.0
    np.testing.assert_allclose(place, (-0.5 * np.sin(w * s), 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(velocity, (-0.5 * 2.0 * w * np.cos(w * s), 0.0, 0.0), atol=1e-12)


def test_a_world_has_a_ground_that_is_rough_and_hardly_springs():
    left_out = {name: field.default for name, field in World.model_fields.items()}
    assert left_out["ground"] is True
    assert (left_out["surface"].friction, left_out["surface"].restitution) == (0.8, 0.1)


def test_a_number_of_a_world_is_no_text_and_a_switch_is_no_number_wherever_it_stands():
    assert len(list(plain_fields(World))) > 60
    assert lax_fields(World) == []
