# SPDX-License-Identifier: BSD-3-Clause
"""Limits, strengths, headings and maps of a platform's aircraft in a controller's model."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from flying import model_of

from iap_control.allocation.inverses import least_norm, rotor_strengths, thrust_strengths
from iap_control.allocation.model import check_axes, mount_yaws
from iap_control.allocation.rotor_maps import in_platform, rotor_shares
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.faults import MotorFault, RotorFault
from iap_description.vehicles.health import Health

FAULTS = [
    MotorFault(at=1.0, aircraft=1, motors="off", known=True),
    RotorFault(at=1.0, aircraft=2, rotor=3, thrust=0.6, known=True),
]


@pytest.fixture
def weak():
    """A platform without its first aircraft, and with a weak rotor on the second."""
    model = model_of("three_star")
    health = Health.sound(model.fleet)
    health.weaken(FAULTS, 9.0)
    return model, model.weakened(health)


def test_limits_of_rotors_are_those_of_their_speeds_and_fall_with_their_health(weak):
    sound, left = weak
    rotor = sound.fleet[0].rotor
    low, high = rotor.c_f * rotor.rpm_min**2, rotor.c_f * rotor.rpm_max**2
    for found, expected in zip(sound.rotor_limits, (low, high), strict=True):
        np.testing.assert_allclose(found, expected)
        assert found.shape == (12,)
    least, most = left.rotor_limits
    np.testing.assert_allclose(most[:4], 0.0)
    np.testing.assert_allclose(least[:4], 0.0)
    np.testing.assert_allclose(most[4:], high * np.array([1, 1, 0.6, 1, 1, 1, 1, 1]))
    np.testing.assert_allclose(least[4:], low * np.array([1, 1, 0.6, 1, 1, 1, 1, 1]))
    shares = left.health.thrust.ravel()
    np.testing.assert_allclose(left.rotor_coefficients, rotor.c_f * shares)
    assert shares[6] == pytest.approx(0.6)


def test_limits_of_aircraft_are_zero_where_they_are_lost(weak):
    sound, left = weak
    np.testing.assert_allclose(sound.thrust_limits, [each.thrust_limits for each in sound.fleet])
    assert not left.thrust_limits[0].any()
    np.testing.assert_allclose(left.thrust_limits[1:, 1], sound.thrust_limits[1:, 1] * [0.6, 1.0])
    np.testing.assert_allclose(left.thrust_limits[1:, 0], sound.thrust_limits[1:, 0])
    np.testing.assert_allclose(left.B, sound.B)
    assert left.count == 3


def test_the_least_thrust_of_an_aircraft_is_never_above_its_largest():
    model = model_of("three_star")
    health = SimpleNamespace(aircraft=np.array([1.0, 0.001, 0.0]))
    limits = replace(model, health=health).thrust_limits
    assert (limits[:, 0] <= limits[:, 1]).all() and limits[1, 0] == limits[1, 1] > 0.0


@pytest.mark.parametrize(
    ("platform", "turns"), [("three_star", True), ("three_star_fixed", False)]
)
def test_aircraft_turn_freely_on_spherical_joints(platform, turns):
    model = model_of(platform)
    assert model.turns.tolist() == [turns] * model.count
    assert model.reach.rank == (6 if turns else 4)


def test_aircraft_are_headed_as_their_joints_are_mounted():
    mounts = [
        SimpleNamespace(q_PJ=so3.quaternion_exp(np.array([0.0, 0.0, yaw]))) for yaw in (0.3, -2.0)
    ]
    np.testing.assert_allclose(mount_yaws(SimpleNamespace(joints=mounts)), [0.3, -2.0])
    assert mount_yaws(SimpleNamespace(joints=[])).tolist() == [0.0]


def test_wrenches_of_aircraft_are_turned_and_moved_to_the_platform():
    """One is turned by a quarter at (0.1, 0.2, 0.3), the other one is the platform's own body."""
    joint = SimpleNamespace(
        child=1, p_PC_P=np.array([0.1, 0.2, 0.3]), q_PJ=so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    )  # fmt: skip
    assembly = SimpleNamespace(joints=[joint], aircraft=(1, 0))
    column = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]).T
    found = in_platform(assembly, [column, 2.0 * column])
    force = np.array([-2.0, 1.0, 3.0])
    torque = np.array([-5.0, 4.0, 6.0]) + np.cross([0.1, 0.2, 0.3], force)
    np.testing.assert_allclose(found[:, 0], [*force, *torque], atol=1e-12)
    np.testing.assert_allclose(found[:, 1], 2.0 * column[:, 0])


def aircraft(c_f, rpm_max, thrust, tilt=None):
    return SimpleNamespace(
        rotor=SimpleNamespace(c_f=c_f, rpm_max=rpm_max), thrust_limits=(0.1, thrust), tilt=tilt
    )


def test_strengths_are_shares_of_what_the_first_aircraft_can_lift():
    fleet = (aircraft(2.0, 3.0, 10.0), aircraft(4.0, 6.0, 25.0, tilt="servo"))
    health = SimpleNamespace(
        aircraft=np.array([0.5, 0.8]),
        rotors=np.array([[1.0, 0.5, 0.0, 1.0], [1.0, 1.0, 0.25, 1.0]]),
    )
    np.testing.assert_allclose(thrust_strengths(fleet, health), [0.5, 2.5 * 0.8])
    np.testing.assert_allclose(
        rotor_strengths(fleet, health), [1.0, 0.5, 0.0, 1.0, 8.0, 8.0, 2.0, 8.0]
    )
    shares = [1, 0, 0.5, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0.25, 0.25, 1, 1]
    np.testing.assert_allclose(rotor_shares(fleet, health), shares)


def test_of_two_that_lift_the_stronger_takes_more_by_the_square_of_its_strength():
    """f_1 + f_2 = U with least (f_1 / 1)^2 + (f_2 / 2)^2: one fifth and four fifths."""
    np.testing.assert_allclose(
        least_norm(np.array([[1.0, 1.0]]), np.array([1.0, 2.0])), [[0.2], [0.8]]
    )


def test_a_wrench_that_a_platform_cannot_make_is_refused_by_its_axis():
    check_axes(model_of("three_star"), np.ones(6, bool), "iap")
    axes = np.array([False, True, False, False, False, False])
    with pytest.raises(BadInput, match="iap.*without spherical joints tilts to push"):
        check_axes(model_of("f450"), axes, "iap")
    check_axes(model_of("f450"), np.zeros(6, bool), "iap")


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_what_thrusts_can_make_does_not_depend_on_how_large_the_platform_is(scale):
    """Torques count per longest lever."""
    model = model_of("three_star")
    levers = np.repeat([1.0, scale], 3)[:, None]
    larger = replace(model, B=model.B * levers).reach
    np.testing.assert_allclose(larger.singular, model.reach.singular, rtol=1e-9)
    assert larger.rank == 6
