# SPDX-License-Identifier: BSD-3-Clause
"""Obstacles from folders in many worlds: each world draws its own, and is its single run bit for bit."""

import numpy as np
import pytest
import trimesh
from contact_engines import NAMES

from iap_description.errors import FlightFailed
from iap_description.sensors.readings import ImageReading
from iap_physics.engines.make import is_installed
from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

THINGS = {"preset": "assets", "count": 6, "area": [[2.0, -2.0], [5.0, 2.0]], "scale": [0.5, 1.0]}
RODS = {"preset": "rods", "count": 4}
CAMERA = {"preset": "d455", "width": 32, "height": 24, "outputs": ["depth", "segmentation"]}
ENGINES = [
    "closed_form",
    pytest.param(
        "mujoco", marks=pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
    ),
]
PERIODS = 14


@pytest.mark.parametrize("engine", ENGINES)
def test_worlds_are_their_single_runs_bit_for_bit(engine):
    """Also in MuJoCo, where tables of five pieces and ramps of one have models of one size."""
    keys = {"world.objects": {"things": THINGS}, "engine.name": engine}
    worlds = Worlds.of("hover", 4, settings={**keys, "sensors": {"depth_camera": CAMERA}})
    camera = WorldRaySensor.of(worlds, outputs=["depth", "segmentation"])
    for _ in range(PERIODS):
        worlds.advance()
    images = camera.images()
    for i in range(len(worlds.seeds)):
        with Simulation.of(worlds.world(i)) as simulation:
            for _ in range(PERIODS):
                simulation.step()
            np.testing.assert_array_equal(simulation.state, worlds.state[i])
            readings = [each for each in simulation.readings if isinstance(each, ImageReading)]
            seen = {r.encoding: r.pixels for r in readings if "drone_1/" in r.source.topic}
        np.testing.assert_array_equal(images["depth"][i], seen["32FC1"])
        np.testing.assert_array_equal(images["segmentation"][i], seen["16UC1"])
    assert 50 in np.unique(images["segmentation"])
    assert np.abs(images["segmentation"][0] - images["segmentation"][1].astype(int)).any()


def test_a_field_of_assets_changes_no_other_field_of_its_world():
    drawn = []
    for objects in ({"rods": RODS}, {"things": THINGS, "rods": RODS}):
        scenario, _ = resolved("hover", {"world.objects": objects, "seed": 5}, {})
        drawn.append(placed_world(scenario).objects["rods"])
    for one, other in zip(drawn[0].corners(), drawn[1].corners(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_folder_is_recorded_by_its_whole_path(tmp_path, monkeypatch):
    """A run folder is looked at from wherever one is."""
    (tmp_path / "yard").mkdir()
    trimesh.creation.box().export(tmp_path / "yard/box.stl")
    monkeypatch.chdir(tmp_path)
    _, tree = resolved("hover", {"world.objects": {"t": {**THINGS, "folder": "yard"}}}, {})
    assert tree["world"]["objects"]["t"]["folder"] == str(tmp_path / "yard")


@pytest.mark.parametrize("engine", NAMES)
def test_a_vehicle_that_meets_a_board_of_a_shelf_has_crashed(engine):
    ahead = {**THINGS, "count": 1, "area": [[2.0, 0.0], [2.0, 0.0]], "free": [], "seed": 1}
    ahead |= {"scale": [2.0, 2.0], "weights": {"shelf.urdf": 1.0}, "yaw_deg": [90.0, 90.0]}
    move = {"seconds": 3.0, "by": [3.0, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
    there = {"position": [0.0, 0.0, 2.4], "rpy_deg": [0.0, 0.0, 0.0], "ease": 0.5}
    tree = {
        "platform": "f450",
        "engine": {"name": engine},
        "world": {"objects": {"shelf": ahead}},
        "reference": {"type": "moves", **there, "moves": [move]},
        "start": {"lead_in": 0.0},
    }
    with Simulation.of(tree) as simulation, pytest.raises(FlightFailed, match="hit an obstacle"):
        for _ in range(1000):
            simulation.step()
    assert 0.5 < simulation.t < 3.5
