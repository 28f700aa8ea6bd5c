# SPDX-License-Identifier: BSD-3-Clause
"""A world that follows states shows rays what the world that was flown in shows them."""

import numpy as np
import pytest

from iap_bringup.scenario import Options, resolve
from iap_description.assembly import Assembly
from iap_description.platform import load_platform
from iap_description.states import P
from iap_physics.bystander import Bystander
from iap_physics.joints import at_rest
from iap_physics.pybullet_engine import PyBulletEngine

BOX = "{type: box, size: [0.6, 0.4, 0.3], mass: 2.0, position: [2.0, 0.3, 1.0]}"
DOOR = "{type: box, size: [0.1, 2.0, 2.0], position: [-2.5, 0.0, 1.0], motion: {type: sine, amplitude: [0.0, 0.5, 0.0], period: 2.0}}"


@pytest.fixture(scope="module")
def worlds():
    """The engine that flies, half a second on, and the one that looks."""
    objects = f"world.objects={{crate: {BOX}}}"
    scenario, _ = resolve("hover", Options(assignments=(objects,)))
    assemblies = [Assembly.of(load_platform("three_star"))]
    flown, looked = PyBulletEngine(), Bystander()
    for engine in (flown, looked):
        engine.load(scenario.world, assemblies)
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
    looked.follow(states[0] + 0.0 * states[0], states[1])
    moved = states[0].copy()
    moved[:, P] += [0.0, 0.0, 1.0]
    looked.follow(moved, states[1])
    assert np.abs(looked.ray_cast(*rays()) - first).max() > 0.1
    looked.follow(*states)
    np.testing.assert_allclose(looked.ray_cast(*rays()), first, atol=1e-9)
