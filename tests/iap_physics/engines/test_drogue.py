# SPDX-License-Identifier: BSD-3-Clause
"""The drogue's cone as something to be touched: a module that is pressed against it off its axis slides home."""

import numpy as np
import pytest
from contact_engines import NAMES

from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.make import make_engine

DT, SIZE = 1e-3, 0.52  # [s], [m]
PUSH = 5.0  # [N] along the axis
OFF = (0.0, 0.055, 0.03)  # of the probe from the drogue's axis [m]: 63 mm
SPRING, DAMPER, TURN, SPIN = 400.0, 40.0, 400.0, 20.0  # by which modules are held


def held(row, place_W, stiffness):
    """Wrench (6,) of a spring and a damper at a place, and of those that hold it level."""
    force = stiffness * (place_W - row[P]) - DAMPER * row[V]
    return np.concatenate([force, -TURN * so3.quaternion_log(row[Q]) - SPIN * row[W]])


def pressed(name, platform, seconds=3.0):
    """Place (3,) of a follower whose probe is pressed along x, and by nothing aside, from where it is docked [m]."""
    engine = make_engine(name)
    parts = [Assembly.of(load_platform(platform), each) for each in ("leader", "follower")]
    engine.load(World(ground=False, gravity=0.0), parts)
    x = np.zeros((1, 2, 13))
    x[..., 6] = 1.0
    x[0, 1, P] = np.array([-SIZE - 0.13, 0.0, 0.0]) + OFF
    engine.reset(x)
    for _ in range(round(seconds / DT)):
        leader, follower = engine.state()[0]
        wrenches = np.zeros((1, 2, 6))
        wrenches[0, 0] = held(leader, np.zeros(3), SPRING)
        wrenches[0, 1] = held(follower, np.zeros(3), 0.0)
        wrenches[0, 1, 0] += PUSH
        engine.apply(wrenches)
        engine.step(DT)
    leader, follower = engine.state()[0]
    found = follower[P] - leader[P] + [SIZE, 0.0, 0.0]
    engine.close()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_cone_guides_home_what_is_off_its_axis(name):
    found = pressed(name, "beetle_drogue")
    assert abs(found[0]) < 5e-3
    assert (
        np.linalg.norm(found[1:]) < 4e-3
    )  # of a play of 2 mm, where two of the surfaces are soft


@pytest.mark.parametrize("name", NAMES)
def test_faces_without_a_cone_leave_it_where_it_is(name):
    found = pressed(name, "beetle", seconds=5.0)
    assert np.linalg.norm(found[1:] - OFF[1:]) < 5e-3
