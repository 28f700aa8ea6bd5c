# SPDX-License-Identifier: BSD-3-Clause
"""Depth cameras in many worlds see all vehicles, and hang on the one that is meant."""

import numpy as np
import pytest

from iap_physics.engines.make import is_installed
from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds

SIZE = {"width": 64, "height": 48, "range_min": 0.2}


def nearest(worlds: Worlds, vehicle: int) -> np.ndarray:
    """(B,) least depths of a vehicle's camera [m], infinite where it sees nothing."""
    camera = WorldRaySensor.of(worlds, "d455", ["depth"], vehicle=vehicle, **SIZE)
    depth = camera.images()["depth"]
    return np.where(depth > 0.0, depth, np.inf).min(axis=(1, 2))


@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_a_camera_sees_the_other_vehicle_that_is_before_it() -> None:
    settings = {"engine.name": "mujoco", "world.ground": False}
    worlds = Worlds.of("two_platforms", 2, settings=settings)
    assert worlds.bodies.shape[1] == 2 * worlds.state.shape[1]
    away = worlds.bodies[0, 4, 0] - worlds.bodies[0, 0, 0]  # along x, where the cameras look
    ahead = nearest(worlds, 0)
    assert (ahead < away).all() and (ahead > 0.5 * away).all()
    assert np.isinf(nearest(worlds, 1)).all()  # whose camera looks away from the first one
