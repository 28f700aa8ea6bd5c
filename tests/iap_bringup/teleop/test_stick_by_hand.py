# SPDX-License-Identifier: BSD-3-Clause
"""One period of a reference that a pilot moves, against numbers that are worked out by hand."""

from functools import partial

import numpy as np
import pytest

from iap_bringup.teleop.mappings import JoystickMapping, KeyboardMapping, StickLimits, load_mapping
from iap_bringup.teleop.stick_reference import Demand, Keyboard, StickReference, joystick_demand
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V, REF_W, P, Q

DT = 0.1
LIMITS = StickLimits(acceleration=2.0, angular_acceleration_deg=90.0, tilt_deg=30.0, leash=0.5)
PLACE = np.array([1.0, 2.0, 3.0])


def turned(yaw):
    return so3.quaternion_exp(np.array([0.0, 0.0, yaw]))


def hand(yaw=0.0, aircraft=(0.5, 2.0)):
    x = np.zeros((1 + len(aircraft), 13))
    x[0, P], x[0, Q] = PLACE, turned(yaw)
    for row, each in zip(x[1:], aircraft, strict=True):
        row[Q] = turned(each)
    return StickReference.at(x)


def moved(reference, velocity=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0), at=PLACE):
    demand = Demand(np.array(velocity), np.array(rate), held=True)
    return reference.moved(demand, DT, limits=LIMITS, p_WP_W=np.asarray(at))


def test_a_reference_begins_where_platform_and_aircraft_are():
    begun = hand(yaw=0.3)
    np.testing.assert_allclose(begun.row[REF_P], PLACE)
    np.testing.assert_allclose(begun.row[REF_FIXED:], [0.5, 2.0])
    np.testing.assert_allclose(begun.mount_yaw, [0.2, 1.7])  # seen from the platform


def test_a_velocity_is_reached_by_the_largest_acceleration():
    """2 m/s^2 for 0.1 s are 0.2 m/s, and 0.5 * 2 * 0.1^2 = 0.01 m."""
    row = moved(hand(), velocity=(0.0, 1.0, 0.0)).row
    np.testing.assert_allclose(row[REF_V], [0.0, 0.2, 0.0])
    np.testing.assert_allclose(row[REF_A], [0.0, 2.0, 0.0])
    np.testing.assert_allclose(row[REF_P], PLACE + [0.0, 0.01, 0.0])


def test_a_rate_is_reached_by_the_largest_angular_acceleration():
    """pi/2 rad/s^2 for 0.1 s are pi/20 rad/s, and half of that times 0.1 s is turned."""
    row = moved(hand(yaw=0.3), rate=(0.0, 0.0, 1.0)).row
    np.testing.assert_allclose(row[REF_W], [0.0, 0.0, np.pi / 20.0])
    np.testing.assert_allclose(row[REF_ALPHA], [0.0, 0.0, np.pi / 2.0])
    turn = 0.5 * DT * np.pi / 20.0
    np.testing.assert_allclose(row[REF_Q], turned(0.3 + turn))
    np.testing.assert_allclose(row[REF_FIXED:], [0.5 + turn, 2.0 + turn])


def test_at_the_largest_tilt_the_rate_is_that_of_the_way_which_is_left():
    """From 29 deg on, 30 deg are reached with 1 deg in 0.1 s, and nothing accelerates there."""
    x = np.zeros((1, 13))
    x[0, Q] = so3.quaternion_exp(np.array([np.deg2rad(29.0), 0.0, 0.0]))
    begun = StickReference.at(x)
    begun.row[REF_W] = [1.0, 0.0, 0.0]
    row = moved(begun, rate=(1.0, 0.0, 0.0), at=np.zeros(3)).row
    expected = so3.quaternion_exp(np.array([np.deg2rad(30.0), 0.0, 0.0]))
    np.testing.assert_allclose(row[REF_Q], expected, atol=1e-12)
    np.testing.assert_allclose(row[REF_W], [np.deg2rad(10.0), 0.0, 0.0], atol=1e-9)
    np.testing.assert_array_equal(row[REF_ALPHA], np.zeros(3))


def test_at_the_end_of_its_leash_a_reference_moves_as_that_end_does():
    """0.49 m ahead of a platform that stands, 0.01 m are left in 0.1 s."""
    begun = hand()
    begun.row[REF_P] = PLACE + [0.49, 0.0, 0.0]
    begun.row[REF_V] = [1.0, 0.0, 0.0]
    row = moved(begun, velocity=(1.0, 0.0, 0.0)).row
    np.testing.assert_allclose(row[REF_P], PLACE + [0.5, 0.0, 0.0])
    np.testing.assert_allclose(row[REF_V], [0.1, 0.0, 0.0])
    np.testing.assert_array_equal(row[REF_A], np.zeros(3))


def test_a_reference_that_is_farther_than_its_leash_does_not_jump_back():
    begun = hand()
    begun.row[REF_P] = PLACE + [2.0, 0.0, 0.0]
    row = moved(begun, velocity=(1.0, 0.0, 0.0)).row
    np.testing.assert_allclose(row[REF_P], PLACE + [2.0, 0.0, 0.0])
    np.testing.assert_allclose(row[REF_V], np.zeros(3), atol=1e-12)


def test_a_reference_that_is_let_go_keeps_the_headings_of_its_aircraft():
    begun = hand()
    held = begun.moved(Demand(), DT, limits=LIMITS, p_WP_W=PLACE)
    np.testing.assert_array_equal(held.row, begun.row)
    np.testing.assert_array_equal(held.mount_yaw, begun.mount_yaw)


def test_more_than_full_deflection_counts_as_full(gamepad):
    demand = partial(joystick_demand, buttons=[1], mapping=gamepad)
    np.testing.assert_allclose(demand([1.5, 0.0, 0.0, 0.0]).velocity_P, [2.0, 0.0, 0.0])
    np.testing.assert_allclose(demand([-1.5, 0.0, 0.0, 0.0]).velocity_P, [-2.0, 0.0, 0.0])
    np.testing.assert_allclose(demand([0.6, 0.0, 0.0, 0.0]).velocity_P, [1.0, 0.0, 0.0])


@pytest.fixture
def gamepad():
    axes = {name: {"axis": i, "full": 2.0} for i, name in enumerate("xyz")}
    rates = {name: {"axis": 3, "full": 90.0} for name in ("roll", "pitch", "yaw")}
    shipped = load_mapping(JoystickMapping, "gamepad").model_dump()
    names = list(shipped["rate_deg"])
    own = {"dead_man": 0, "dead_zone": 0.2, "velocity": axes}
    rate_deg = dict(zip(names, rates.values(), strict=True))
    return JoystickMapping.model_validate({**shipped, **own, "rate_deg": rate_deg})


def test_speeds_change_by_a_quarter_between_a_fifth_and_three():
    keyboard = Keyboard(load_mapping(KeyboardMapping, "keyboard"))
    mapping, speeds = keyboard.mapping, []
    for key in [mapping.faster] * 6 + [mapping.slower] * 13:
        keyboard.press(key, 0.0)
        speeds.append(keyboard.speed)
    faster = [1.25**k for k in range(1, 5)] + [3.0, 3.0]  # 1.25^5 = 3.05
    slower = [3.0 / 1.25**k for k in range(1, 13)] + [0.2]  # 3 / 1.25^12 = 0.206
    np.testing.assert_allclose(speeds, faster + slower)


def test_keys_are_held_from_their_first_press_to_their_release():
    keyboard = Keyboard(load_mapping(KeyboardMapping, "keyboard"))
    key, binding = next(iter(keyboard.mapping.keys.items()))
    keyboard.press(key, 10.0)
    release = keyboard.mapping.release
    asked = keyboard.demand(10.0 + 0.99 * release)
    assert asked.held
    np.testing.assert_allclose(asked.velocity_P, binding.velocity)
    np.testing.assert_allclose(asked.rate_P, np.deg2rad(binding.rate_deg))
    assert not keyboard.demand(10.0 + release).held


@pytest.mark.parametrize("pair", [("stop", "quit"), ("faster", "slower")])
def test_two_special_keys_are_not_one(pair):
    tree = load_mapping(KeyboardMapping, "keyboard").model_dump()
    tree[pair[0]] = tree[pair[1]]
    with pytest.raises(ValueError, match="stands for more than one thing"):
        KeyboardMapping.model_validate(tree)


def test_a_mapping_that_is_not_there_is_refused():
    with pytest.raises(BadInput, match="^unknown mapping 'nonsense': choose gamepad, keyboard"):
        load_mapping(KeyboardMapping, "nonsense")
