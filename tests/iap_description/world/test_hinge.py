# SPDX-License-Identifier: BSD-3-Clause
"""Hinges of objects: the state row of what turns, and what is refused."""

import numpy as np
import pytest
from pydantic import ValidationError

from iap_description.math import euler, so3
from iap_description.states import P, Q, V, W
from iap_description.world.hinge import Hinge
from iap_description.world.objects import Box

SURFACE = {"friction": 0.4, "restitution": 0.0}
LEAF = {"type": "box", "position": [1.0, 2.0, 3.0], "size": [0.8, 0.04, 2.0], "surface": SURFACE}
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
    ],
)
def test_a_hinge_that_is_none_is_refused_with_its_key(keys, why):
    with pytest.raises(ValidationError, match=why):
        Box(**LEAF, **keys)
