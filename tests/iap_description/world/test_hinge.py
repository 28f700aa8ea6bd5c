# SPDX-License-Identifier: BSD-3-Clause
"""Hinges of objects: the state row of what turns, and what is refused."""

import numpy as np
import pytest
from pydantic import ValidationError

from iap_description.math import euler, so3
from iap_description.states import P, Q, V, W
from iap_description.world.hinge import Hinge, latch_torque
from iap_description.world.objects import Box
from iap_description.world.world import World

SURFACE = {"friction": 0.4, "restitution": 0.0}
LEAF = {"type": "box", "position": [1.0, 2.0, 3.0], "size": [0.8, 0.04, 2.0], "surface": SURFACE}
LATCH = {"lever": "lever", "release_deg": 0.0, "stiffness": 1e4, "strength": 100.0}
HINGE = Hinge(point=(0.4, 0.0, 0.1), axis=(0.0, 0.0, 2.0), limits_deg=(-10.0, 90.0))


def test_the_axis_stays_where_it_is_and_velocities_are_the_derivatives_of_places():
    q_WO, place = euler.quaternion_from_rpy_deg((10.0, 20.0, 30.0)), np.array([1.0, 2.0, 3.0])
    dt, rate = 1e-6, 0.7
    here, there = (HINGE.row(place, q_WO, 0.5 + rate * step, rate) for step in (0.0, dt))
    on_axis = [x[P] + so3.rotate(x[Q], np.array(HINGE.point)) for x in (here, there)]
    np.testing.assert_allclose(on_axis[0], on_axis[1], atol=1e-15)
    np.testing.assert_allclose((there[P] - here[P]) / dt, here[V], atol=1e-6)
    turn = so3.quaternion_log(so3.multiply(there[Q], so3.conjugate(here[Q])))
    np.testing.assert_allclose(turn / dt, here[W], atol=1e-6)
    assert HINGE.angle(q_WO, here[Q]) == pytest.approx(0.5, abs=1e-12)
    np.testing.assert_allclose(HINGE.row(place, q_WO, 0.0, 0.0)[:7], [*place, *q_WO], atol=1e-15)


def test_an_object_with_a_hinge_is_no_free_one_and_says_where_it_is():
    door = Box(**LEAF, mass=20.0, hinge=HINGE)
    assert door.moves and door.is_placed and not door.is_free
    assert Box(**LEAF, mass=20.0).is_free and not Box(**LEAF, mass=20.0).is_placed
    assert Box(**LEAF).is_placed and not Box(**LEAF).moves


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"hinge": HINGE}, "key 'mass': an object with a hinge needs one"),
        ({"mass": 1.0, "hinge": {"axis": [0, 0, 0], "limits_deg": [0, 90]}}, "'axis': it has no"),
        ({"mass": 1.0, "hinge": {"limits_deg": [10.0, 90.0]}}, "'limits_deg': .* the angle 0"),
        ({"mass": 1.0, "hinge": {"limits_deg": [0.0, 0.0]}}, "'limits_deg'"),
        ({"mass": 1.0, "hinge": {}}, "limits_deg"),
        (
            {"mass": 1.0, "hinge": {"limits_deg": [0, 90], "latch": LATCH}},
            "'release_deg': at angle 0",
        ),
    ],
)
def test_a_hinge_that_is_none_is_refused_with_its_key(keys, why):
    with pytest.raises(ValidationError, match=why):
        Box(**LEAF, **keys)


def test_a_bolt_acts_up_to_its_strength_and_until_its_lever_has_turned_as_far_either_way():
    numbers = (100.0, 2.0, 3.0, 0.5)
    assert latch_torque(numbers, 0.01, 0.2, 0.49) == pytest.approx(-1.0 - 0.6)
    assert latch_torque(numbers, -0.0199, 0.0, -9.0) == pytest.approx(1.99)
    assert latch_torque(numbers, 0.01, 0.2, 0.5) == latch_torque(numbers, 0.021, 0.0, 0.0) == 0.0
    assert latch_torque((*numbers[:3], -0.5), 0.01, 0.0, -0.6) == 0.0
    assert latch_torque((*numbers[:3], -0.5), 0.01, 0.0, 0.6) == -1.0


def with_lever(door, lever):
    """A world of a door and a lever with these keys of their hinges."""
    parts = {"door": door, "lever": lever}
    objects = {
        name: {**LEAF, "mass": 2.0, "hinge": {"limits_deg": [0.0, 40.0], **keys}}
        for name, keys in parts.items()
    }
    return World.model_validate({"objects": {**objects, "post": LEAF}})


@pytest.mark.parametrize(
    ("door", "lever", "why"),
    [
        (
            {},
            {"carrier": "gate"},
            r"objects.lever.hinge.carrier': 'gate' has no hinge .*such: door",
        ),
        ({}, {"carrier": "post"}, r"objects.lever.hinge.carrier': 'post' has no hinge"),
        ({}, {"carrier": "lever"}, r"objects.lever.hinge.carrier': 'lever'"),
        (
            {"carrier": "lever"},
            {"carrier": "door"},
            r"objects.door.hinge.carrier': 'lever' .*such: none",
        ),
        ({"latch": {**LATCH, "release_deg": 9.0, "lever": "door"}}, {}, r"latch.lever': no other"),
        ({"latch": {**LATCH, "release_deg": 9.0, "lever": "post"}}, {}, r"such: lever"),
        ({"latch": {**LATCH, "release_deg": 41.0}}, {}, r"latch.release_deg': 41 is beyond"),
        ({"latch": {**LATCH, "release_deg": -9.0}}, {}, r"latch.release_deg': -9 is beyond"),
    ],
)
def test_a_lever_or_a_carrier_that_is_none_is_refused_with_its_key(door, lever, why):
    with pytest.raises(ValidationError, match=why):
        with_lever(door, lever)


def test_what_a_door_carries_turns_with_it():
    world = with_lever({"point": [-0.4, 0.0, 0.0]}, {"carrier": "door", "axis": [0.0, 1.0, 0.0]})
    assert world.carried == [(1, 0)]
    (door, lever), place = (
        (world.objects[k] for k in ("door", "lever")),
        np.array(LEAF["position"]),
    )
    still = np.array([0.0, 0.0, 0.0, 1.0])
    dt, rates = 1e-6, (0.4, -0.9)

    def rows(t):
        made = [
            item.hinge.row(place, still, 0.3 + rate * t, rate)
            for item, rate in zip((door, lever), rates, strict=True)
        ]
        made = np.array([*made, world.resting_rows()[2]])
        world.carry(made)
        return made

    here, there = rows(0.0), rows(dt)
    np.testing.assert_allclose((there[1, P] - here[1, P]) / dt, here[1, V], atol=1e-6)
    turn = so3.quaternion_log(so3.multiply(there[1, Q], so3.conjugate(here[1, Q])))
    np.testing.assert_allclose(turn / dt, here[1, W], atol=1e-6)
    np.testing.assert_allclose(here[2], world.resting_rows()[2])
