# SPDX-License-Identifier: BSD-3-Clause
"""People in many worlds: where their walks say, and where depth cameras see them."""

import numpy as np
import pytest

from iap_description.states import P, V
from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds


def passer(x, **keys):
    return {"type": "person", "position": [x, 0.0, 0.0], **keys}


def test_people_walk_in_each_world_in_a_direction_of_its_seed():
    motion = {"type": "walk", "area": [6.0, 4.0], "speed": 1.3}
    objects = {"passer": passer(6.0, motion=motion)}
    settings = {"world.objects": objects, "draw.motion_turn_deg": 180.0}
    worlds = Worlds.of("hover", 2, settings=settings, sensors="none")
    worlds.fly(100)
    one, other = worlds.object_states[:, 0]
    assert one[V][:2] != pytest.approx(other[V][:2])
    assert [np.linalg.norm(each[V]) for each in (one, other)] == pytest.approx([1.3, 1.3])
    away = [np.linalg.norm(each[P] - [6.0, 0.0, 0.0]) for each in (one, other)]
    assert away == pytest.approx([0.65, 0.65], abs=0.01)  # after half a second, on the first leg


def test_a_depth_camera_sees_a_person_as_far_as_the_person_is():
    nearest = []
    for x in (4.0, 5.0):
        settings = {"world.objects": {"passer": passer(x)}, "world.ground": False}
        worlds = Worlds.of("hover", 1, settings=settings, sensors="none")
        depth = WorldRaySensor.of(worlds, "d455", ["depth"], width=64, height=48).images()["depth"]
        nearest.append(np.nanmin(np.where(np.isfinite(depth), depth, np.nan)))
    assert nearest[1] - nearest[0] == pytest.approx(1.0, abs=0.06)  # noise grows with distance
    assert 3.0 < nearest[0] < 4.0 - 0.1
