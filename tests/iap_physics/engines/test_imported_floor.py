# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of a scene's file are touched where they are."""

import numpy as np
import pytest
from own_scenes import FLOOR, floor_gltf, scene_yaml

from iap_description.geometry.shapes import Surface
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.objects import Box
from iap_description.world.world import World

F450 = Assembly.of(load_platform("f450"), "f450")
AWAY = np.array([[[50.0, 0.0, 500.0, 0.0, 0.0, 0.0, 1.0, *[0.0] * 6]]])


@pytest.mark.parametrize("contact", ["surface", "none"])
def test_what_is_dropped_rests_on_an_imported_floor(tmp_path, engine, contact):
    floor_gltf(tmp_path / "floor.glb")
    path = scene_yaml(tmp_path, [{"type": "mesh", "file": "floor.glb", "contact": contact}])
    surface = Surface(friction=0.5, restitution=0.0)
    place = (-2.0, 0.0, FLOOR + 0.5)
    item = Box(type="box", position=place, size=(0.4, 0.4, 0.4), mass=1.0, surface=surface)
    engine.load(World(scene=str(path), objects={"box": item}), [F450])
    engine.reset(AWAY)
    for _ in range(1500):
        engine.step(1e-3)
    height = engine.object_states()[0, 2]
    if contact == "surface":
        assert height == pytest.approx(FLOOR + 0.2, abs=2e-3)
    else:
        assert height < -5.0  # it has no ground either
