# SPDX-License-Identifier: BSD-3-Clause
"""Deviations of a vehicle from its file, and arrays of the commands and rotors of a fleet."""

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.states import Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.propulsion.deviation import NO_DEVIATION, Deviation
from iap_physics.propulsion.last_command import FleetArrays


def test_no_deviation_leaves_all_as_it_is():
    assembly = Assembly.of(load_platform("three_star"))
    same = NO_DEVIATION.assembly(assembly)
    for one, other in zip(assembly.bodies, same.bodies, strict=True):
        assert one.mass == other.mass and one.drag == other.drag
        np.testing.assert_array_equal(one.inertia, other.inertia)
    np.testing.assert_allclose(same.p_PB_P, assembly.p_PB_P, atol=1e-15)
    assert NO_DEVIATION.of_rotors(2) == (1.0, 1.0)
    rest = NO_DEVIATION.model_dump()
    assert rest == {
        "mass": 1.0, "inertia": 1.0, "com": (0.0, 0.0, 0.0), "drag": 1.0, "thrust": (), "rotor_lag": (),
        "delay": 0.0, "force": (0.0, 0.0, 0.0), "torque": (0.0, 0.0, 0.0),
    }  # fmt: skip


def test_factors_act_on_masses_inertias_and_drag_of_every_body():
    assembly = Assembly.of(load_platform("three_star"))
    real = Deviation(mass=1.5, inertia=0.8, drag=3.0).assembly(assembly)
    for one, other in zip(assembly.bodies, real.bodies, strict=True):
        assert other.mass == pytest.approx(1.5 * one.mass)
        np.testing.assert_allclose(other.inertia, 1.2 * one.inertia)
        assert other.drag.linear == pytest.approx(tuple(3.0 * k for k in one.drag.linear))
        assert other.drag.quadratic == pytest.approx(tuple(3.0 * k for k in one.drag.quadratic))
    assert any(any((*each.drag.linear, *each.drag.quadratic)) for each in assembly.bodies)


def test_factors_of_rotors_are_one_for_each_aircraft_or_none():
    deviation = Deviation(thrust=(0.9, 1.1, 1.2), rotor_lag=(2.0, 3.0, 4.0))
    assert [deviation.of_rotors(i) for i in range(3)] == [(0.9, 2.0), (1.1, 3.0), (1.2, 4.0)]
    assert Deviation(thrust=(0.9,)).of_rotors(0) == (0.9, 1.0)
    assert Deviation(rotor_lag=(0.9,)).of_rotors(0) == (1.0, 0.9)
    deviation.check(3)
    NO_DEVIATION.check(3)
    with pytest.raises(ValueError, match=r"^key 'deviation\.thrust': 2 entries are needed$"):
        deviation.check(2)
    with pytest.raises(ValueError, match=r"^key 'deviation\.rotor_lag': 2 entries are needed$"):
        Deviation(rotor_lag=(1.0, 1.0, 1.0)).check(2)


@pytest.mark.parametrize(
    ("key", "value"), [("mass", 0.0), ("inertia", 0.0), ("drag", -0.1), ("delay", -0.01)]
)
def test_factors_that_make_no_sense_are_refused(key, value):
    with pytest.raises(BadInput, match=key):
        validate(Deviation, {key: value}, source="test")
    assert Deviation(drag=0.0).drag == 0.0


def test_rotors_of_a_fleet_stand_still_until_they_are_commanded():
    fleet = FleetArrays.empty(3, 2)
    assert (fleet.command.modes == int(Mode.RPM)).all() and fleet.command.modes.shape == (3, 2)
    assert fleet.command.modes.dtype == np.int64
    shapes = [each.shape for each in fleet.command[1:]]
    assert shapes == [(3, 2), (3, 2, 4), (3, 2, 3), (3, 2, 4), (3, 2, 4)]
    assert [each.shape for each in fleet[1:]] == [(3, 2, 4)] * 3
    assert not any(each.any() for each in (*fleet.command[1:], *fleet[1:]))


def test_arrays_of_one_aircraft_are_views_of_those_of_the_fleet():
    fleet = FleetArrays.empty(3, 2)
    one = fleet.of_aircraft(1)
    for k, each in enumerate((*one.command, *one[1:])):
        assert each.shape[:2] == (3, 1)
        each[2] = k + 1
    for k, each in enumerate((*fleet.command, *fleet[1:])):
        assert (each[2, 1] == k + 1).all()
    assert (fleet.command.modes[:, 0] == int(Mode.RPM)).all()
    assert not any(each[:, 0].any() for each in (*fleet.command[1:], *fleet[1:]))
