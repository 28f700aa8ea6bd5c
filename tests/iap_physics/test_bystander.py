# SPDX-License-Identifier: BSD-3-Clause
"""A world that follows states shows rays what the world that was flown in shows them."""

import numpy as np
import pytest
from touching import world_of

from iap_description.states import P
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.bystander import Bystander
from iap_physics.engines.joints import at_rest
from iap_physics.engines.pybullet.engine import PyBulletEngine

PUSH = {"type": "velocity", "velocity": [0.0, 1.0, 0.0]}
CRATE = {
    "type": "board",
    "width": 0.8,
    "height": 0.8,
    "thickness": 0.3,
    "hole": {"type": "through", "radius": 0.2, "fillet": None},
    "position": [2.0, 0.3, 2.0],
    "rpy_deg": [10.0, 20.0, 30.0],
    "mass": 2.0,
}
DOOR = {"type": "box", "size": [0.1, 2.0, 2.0], "position": [-2.5, 0.0, 1.0], "motion": PUSH}


@pytest.fixture(scope="module")
def worlds():
    """The engine that flies, a third of a second on, and the one that looks."""
    assemblies, world = (
        [Assembly.of(load_platform("three_star"))],
        world_of(crate=CRATE, door=DOOR),
    )
    flown, looked = PyBulletEngine(), Bystander()
    for engine in (flown, looked):
        engine.load(world, assemblies)
    x = at_rest(assemblies)[None]
    x[..., P] += [0.0, 0.0, 2.0]
    flown.reset(x)
    for _ in range(300):
        flown.apply(np.zeros((1, x.shape[1], 6)))
        flown.step(0.001)
    yield flown, looked
    flown.close()
    looked.close()


def rays():
    """Starts around everything, and ends beyond it."""
    rng = np.random.default_rng(4)
    starts = rng.uniform([-4.0, -4.0, 0.2], [4.0, 4.0, 4.0], (2000, 3))
    return starts, -starts + rng.normal(0.0, 0.5, starts.shape)


def test_rays_meet_in_it_what_they_meet_in_the_world_that_is_flown_in(worlds):
    flown, looked = worlds
    before = looked.ray_cast(*rays())
    looked.follow(flown.state()[0], flown.object_states())
    seen, hit = looked.ray_cast(*rays()), flown.ray_cast(*rays())
    assert (hit < 1.0).mean() > 0.2
    np.testing.assert_allclose(seen, hit, atol=1e-6)
    assert np.abs(before - hit).max() > 0.1


def test_it_can_follow_back_and_forth(worlds):
    flown, looked = worlds
    states = flown.state()[0].copy(), flown.object_states()
    looked.follow(*states)
    first = looked.ray_cast(*rays())
    moved = states[0].copy()
    moved[:, P] += [0.0, 0.0, 1.0]
    looked.follow(moved, states[1])
    assert np.abs(looked.ray_cast(*rays()) - first).max() > 0.1
    looked.follow(*states)
    np.testing.assert_allclose(looked.ray_cast(*rays()), first, atol=1e-9)
