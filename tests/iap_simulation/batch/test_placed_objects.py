# SPDX-License-Identifier: BSD-3-Clause
"""Objects that move as prescribed in many worlds: drawn by seed, in time, and seen as by single runs."""

import numpy as np
import pytest

from iap_description.sensors.readings import ImageReading
from iap_description.states import P
from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.simulation.simulation import Simulation

ROUGH = {"friction": 0.5, "restitution": 0.0}
OBJECTS = {
    "ball": {
        "type": "cylinder",
        "position": [3.0, 0.0, 1.5],
        "radius": 0.4,
        "length": 0.8,
        "surface": ROUGH,
        "motion": {"type": "sine", "amplitude": [0.0, 1.0, 0.0], "period": 2.0},
    },
    "crates": {
        "preset": "boxes",
        "count": 4,
        "area": [[2.0, -2.0], [5.0, 2.0]],
        "motion": {
            "type": "waypoints",
            "points": [[0.0, 1.0, 0.3]],
            "speed": 0.8,
            "then": "return",
        },
    },
    "post": {
        "type": "cylinder",
        "position": [4.0, 1.0, 1.0],
        "radius": 0.2,
        "length": 2.0,
        "surface": ROUGH,
    },
}
DRAWN = {
    "world.objects": OBJECTS,
    "draw.object_position": [0.5, 0.5, 0.2],
    "draw.motion_speed": 0.5,
    "draw.motion_turn_deg": 40.0,
    "draw.motion_shift": 2.0,
    "draw.position": 0.2,
}
CAMERA = {"preset": "d455", "width": 32, "height": 24, "outputs": ["depth", "segmentation"]}
PERIODS = 14


def worlds_of(seeds=4, **settings):
    sensors = {"sensors": {"depth_camera": CAMERA}}
    return Worlds.of("hover", seeds, settings={**DRAWN, **sensors, **settings})


@pytest.mark.parametrize("engine", ["closed_form", "mujoco"])
def test_moving_objects_are_seen_as_by_single_runs_bit_for_bit(engine):
    worlds = worlds_of(**{"engine.name": engine})
    camera = WorldRaySensor.of(worlds, outputs=["depth", "segmentation"])
    for _ in range(PERIODS):
        worlds.advance()
    images, states = camera.images(), worlds.object_states
    for i in range(len(worlds.seeds)):
        with Simulation.of(worlds.world(i)) as simulation:
            for _ in range(PERIODS):
                simulation.step()
            np.testing.assert_array_equal(simulation.plant.engine.object_states(), states[i])
            readings = [each for each in simulation.readings if isinstance(each, ImageReading)]
            seen = {r.encoding: r.pixels for r in readings if "drone_1/" in r.source.topic}
        np.testing.assert_array_equal(images["depth"][i], seen["32FC1"])
        np.testing.assert_array_equal(images["segmentation"][i], seen["16UC1"])
    assert {50, 51} <= set(np.unique(images["segmentation"]))


def test_moving_objects_are_seen_where_they_would_stand():
    """A moving object's depth is that of one that stands at its present place."""
    worlds = worlds_of(2, **{"draw.position": 0.0})
    exact = {"baseline": 0.0, "disparity_noise_deg": 0.0, "dropout": 0.0, "resolution": 0.0}
    for _ in range(60):
        worlds.advance()
    seen = WorldRaySensor.of(worlds, "d455", ["depth"], width=32, height=24, **exact)
    for i in range(2):
        placed, standing = placed_world(worlds.world(i)), {}
        for (name, item), row in zip(placed.objects.items(), worlds.object_states[i], strict=True):
            tree = item.model_dump(exclude={"motion"}, exclude_none=True)
            standing[name] = {**tree, "position": row[P].tolist()}
        still = {"world.objects": standing, "draw.position": 0.0}
        there = Worlds.of("hover", [int(worlds.seeds[i])], settings=still)
        for _ in range(60):
            there.advance()
        expected = WorldRaySensor.of(there, "d455", ["depth"], width=32, height=24, **exact)
        depth, found = expected.images()["depth"][0], seen.images()["depth"][i]
        same = np.isfinite(depth) & np.isfinite(found)
        assert same.mean() > 0.2
        edges = (
            np.abs(depth[same] - found[same]) > 1e-4
        )  # a ray beside an edge may hit on either side
        assert edges.mean() < 0.01
        assert (np.isfinite(depth) != np.isfinite(found)).mean() < 0.01


def test_time_begins_anew_with_a_reset_of_one_world_alone():
    worlds = worlds_of(3)
    first = worlds.object_states
    for _ in range(30):
        worlds.advance()
    later = worlds.object_states
    assert (np.abs(later - first)[:, :2].max(axis=(1, 2)) > 0.01).all()
    np.testing.assert_array_equal(later[:, 2], first[:, 2])  # the post stands
    worlds.reset([1])
    np.testing.assert_array_equal(worlds.object_states[1], first[1])
    np.testing.assert_array_equal(worlds.object_states[[0, 2]], later[[0, 2]])
    worlds.reset([1], [2])
    np.testing.assert_array_equal(worlds.object_states[1], first[2])


def test_a_snapshot_brings_moving_objects_back():
    worlds = worlds_of(2)
    camera = WorldRaySensor.of(worlds, outputs=["range"])
    worlds.fly(8) if worlds.flies_at_once else worlds.advance()
    snapshot, before = worlds.snapshot(), camera.images()["range"]
    for _ in range(20):
        worlds.advance()
    assert (camera.images()["range"] != before).any()
    worlds.restore(snapshot)
    np.testing.assert_array_equal(camera.images()["range"], before)


def test_worlds_that_are_alike_see_the_objects_at_their_own_times():
    motion = {f"draw.{key}": 0.0 for key in ("motion_speed", "motion_turn_deg", "motion_shift")}
    still = {"draw.object_position": 0.0, "draw.position": 0.0, **motion}
    ball = {"world.objects": {"ball": OBJECTS["ball"]}, **still}
    worlds = worlds_of([1, 1], **ball)
    camera = WorldRaySensor.of(worlds, outputs=["faces"])
    for _ in range(40):
        worlds.advance()
    worlds.reset([1])
    late, early = camera.images()["faces"]
    assert (late != early).any()
    again = camera.images()["faces"]
    np.testing.assert_array_equal(again, np.array([late, early]))
