# SPDX-License-Identifier: BSD-3-Clause
"""A ball that falls upon an asset of a folder rests at its height, in every engine with contact."""

import pytest
import trimesh
from asset_folders import assets_tree, ell
from contact_engines import NAMES
from touching import RIGID, level_start

from iap_description.config.record import validate
from iap_description.states import P, V
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.obstacles import objects_tree
from iap_description.world.world import World
from iap_physics.engines.make import make_engine

RADIUS = 0.1  # of the ball [m]
FURNITURE = "package://iap_description/assets/furniture"


def resting_height(engine_name, ball, at, field):
    """Height of a ball [m] 1.5 s after it was let go at a place (3,) above a field of assets."""
    trimesh.creation.icosphere(3, RADIUS).export(ball)
    falling = {"type": "mesh", "file": str(ball), "mass": 0.5, "position": at, "surface": RIGID}
    tree = objects_tree({"things": field, "ball": falling})
    world = validate(World, {"objects": tree}, source="test")
    bystander = Assembly.of(load_platform("f450"), "bystander")
    engine = make_engine(engine_name)
    engine.load(world, [bystander], level_start(bystander, (0.0, 50.0, 50.0))[None])
    for _ in range(1500):
        engine.step(1e-3)
    row = engine.object_states()[1]
    engine.close()
    assert abs(row[V][2]) < 0.01  # it may roll, for it has flat sides
    return row[P][2]


@pytest.mark.parametrize("engine", NAMES)
def test_a_ball_rests_on_the_table_whose_plate_is_74_cm_high(tmp_path, engine):
    field = assets_tree(FURNITURE, weights={"table.urdf": 1.0, "shelf.urdf": 0.0})
    z = resting_height(engine, tmp_path / "ball.stl", [0.2, 0.1, 0.95], field)
    assert z == pytest.approx(0.74 + RADIUS, abs=2e-3)


@pytest.mark.parametrize("engine", NAMES)
def test_a_ball_rests_on_the_hull_of_what_is_not_convex_where_it_is_asked_for(tmp_path, engine):
    """The middle of the L's notch, of which the hull covers the inner half."""
    (tmp_path / "things").mkdir()
    ell().export(tmp_path / "things/ell.stl")
    field = assets_tree(tmp_path / "things", contact="hulls")
    z = resting_height(engine, tmp_path / "ball.stl", [0.1, 0.1, 1.2], field)
    assert z == pytest.approx(1.0 + RADIUS, abs=2e-3)
