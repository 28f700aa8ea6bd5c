# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of two vehicles that go through each other for a while, and joints that bring an attitude about."""

from dataclasses import replace

import numpy as np
import pytest
from contact_engines import NAMES
from docking_pairs import WEIGHTLESS, assemblies, engine, start

from iap_description.math import so3
from iap_description.states import P, Q
from iap_physics.engines.make import make_engine


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def meeting():
    """Two aircraft that overlap."""
    x = start(depth=0.12, aside=(0.0, 0.0), turn=(0.0, 0.0, 0.0))
    x[0, 1, P] = x[0, 0, P] + [0.02, -0.1, 0.05]
    return x


def touches(made):
    return any({c.body_a, c.body_b} == {0, 1} and c.distance < 0.0 for c in made.contacts())


def test_bodies_pass_each_other_until_they_are_to_touch_again(name, flown):
    made = engine(name, meeting())
    flown(made, 1)
    assert touches(made)
    made.let_pass(0, 1, passes=True)
    before = made.snapshot()
    flown(made, 1)
    assert not touches(made)
    made.let_pass(1, 0, passes=False)
    flown(made, 1)
    assert touches(made)
    made.restore(before)
    flown(made, 1)
    assert not touches(made)
    made.reset(meeting())
    flown(made, 1)
    assert touches(made)


def test_bodies_of_different_surfaces_pass_each_other_too(name, flown):
    target, chaser = assemblies()
    ice = chaser.bodies[0].surface.model_copy(update={"friction": 0.05})
    chaser = replace(chaser, bodies=(replace(chaser.bodies[0], surface=ice),))
    made = make_engine(name)
    made.load(WEIGHTLESS, [target, chaser])
    made.reset(meeting())
    flown(made, 1)
    assert touches(made)
    made.let_pass(0, 1, passes=True)
    flown(made, 1)
    assert not touches(made)


def test_a_fixed_joint_brings_about_the_attitude_that_it_is_given(name, flown):
    x = start(depth=0.12, aside=(0.0, 0.0), turn=(0.05, -0.03, 0.08))
    made = engine(name, x, shapes=False)
    q_AB = np.array([0.0, 0.0, 0.0, 1.0])
    place_a = so3.rotate(so3.conjugate(x[0, 0, Q]), x[0, 1, P] - x[0, 0, P])
    made.add_joint(0, 1, place_a, np.zeros(3), type="fixed", max_force=220.0, q_AB=q_AB)
    after = flown(made, 1000)[-1, 0]
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(after[0, Q]), after[1, Q]))
    assert np.linalg.norm(turn) < 1e-3
