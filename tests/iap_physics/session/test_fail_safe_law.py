# SPDX-License-Identifier: BSD-3-Clause
"""The fail-safe's law, worked out by hand, and which command of a vehicle counts."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import Command, Mode, P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.engines.joints import joined_rows
from iap_physics.session.command_buffer import CommandBuffer, FailSafe, VelocityHold, _yaw_lever

G, DT = 10.0, 0.01
UP = np.array([0.0, 0.0, 1.0])


def start_of(platform, yaw=0.0):
    base = np.array([1.0, 2.0, 3.0, 0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2), *[0.0] * 6])
    return joined_rows(Assembly.of(platform), base)


def guard_of(name, thrust, yaw=0.0):
    """The fail-safe of a platform whose aircraft thrust so much each in hover, and its start."""
    platform = load_platform(name)
    x = start_of(platform, yaw)
    vehicle = SimpleNamespace(
        assembly=Assembly.of(platform), platform=platform, hover_thrust=thrust, start=x
    )
    spec = SimpleNamespace(world=SimpleNamespace(gravity=G), dt=DT)
    return FailSafe(spec, vehicle), x.copy()


def forces(command):
    """(N, 3) thrusts of a command, world axes [N]."""
    return command.thrust[:, None] * so3.rotate(command.q_WB, UP)


def test_aircraft_keep_their_places_by_distance_velocity_and_the_mean_s_integral():
    """f = T (e_z - (2.5 e + 2.8 v + 0.9 int mean e) / g) in each of them."""
    thrust = np.array([15.0, 16.0, 17.0])
    guard, x = guard_of("three_star", thrust)
    command = guard(x)
    np.testing.assert_allclose(forces(command), thrust[:, None] * UP, atol=1e-9)
    headings = [so3.rotate(row[Q], np.array([1.0, 0.0, 0.0])) for row in x[1:]]
    np.testing.assert_allclose(
        so3.rotate(command.q_WB, np.array([1.0, 0.0, 0.0])), headings, atol=1e-9
    )
    e = np.array([[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, -0.3]])
    v = np.array([[0.0, 0.1, 0.0], [0.2, 0.0, 0.0], [0.0, 0.0, 0.3]])
    x[1:, P] += e
    x[1:, V] = v
    for n in (1, 2, 3):
        pull = 2.5 * e + 2.8 * v + 0.9 * n * DT * e.mean(axis=0)
        expected = thrust[:, None] * (UP - pull / G)
        np.testing.assert_allclose(forces(guard(x)), expected, rtol=1e-9)
    guard.begin(x)  # where it is now, and no integral
    x[1:, V] = 0.0
    command = guard(x)
    np.testing.assert_allclose(command.thrust, thrust, rtol=0.2)
    x0 = start_of(load_platform("three_star"))
    guard.begin(x0)
    np.testing.assert_allclose(forces(guard(x0)), thrust[:, None] * UP, atol=1e-9)


def test_what_distance_and_integral_ask_for_is_at_most_five_metres_per_second_squared():
    thrust = np.array([15.0, 15.0, 15.0])
    guard, x = guard_of("three_star", thrust)
    x[1:, P] -= [0.0, 0.0, 100.0]  # far below
    np.testing.assert_allclose(guard(x).thrust, 15.0 * (1.0 + (5.0 + 0.9) / G), rtol=1e-9)
    for _ in range(9):
        guard(x)
    np.testing.assert_allclose(guard(x).thrust, 15.0 * (1.0 + 10.0 / G), rtol=1e-9)


def test_thrust_and_tilt_stay_within_the_aircraft_and_height_comes_before_direction():
    aircraft = load_platform("three_star").aircraft
    low, high = aircraft.thrust_limits
    guard, x = guard_of("three_star", np.full(3, 0.9 * high))
    x[1:, P] += [50.0, 0.0, -50.0]
    np.testing.assert_allclose(forces(guard(x)), high * np.tile(UP, (3, 1)), atol=1e-6)
    guard, x = guard_of("three_star", np.full(3, 15.0))
    x[1:, V] += [0.0, -100.0, 0.0]
    tilted = forces(guard(x))
    np.testing.assert_allclose(tilted[:, 2], 15.0)
    np.testing.assert_allclose(tilted[:, 1], 15.0 * np.tan(aircraft.tilt_max))
    x[1:, V] = [0.0, 0.0, 100.0]
    np.testing.assert_allclose(guard(x).thrust, low, atol=1e-9)
    z = 0.98 * high  # where thrust, not tilt, is what is left for the direction
    guard, x = guard_of("three_star", np.full(3, z))
    x[1:, V] += [100.0, 0.0, 0.0]
    np.testing.assert_allclose(guard(x).thrust, high, rtol=1e-9)
    np.testing.assert_allclose(forces(guard(x))[:, 2], z, rtol=1e-9)


@pytest.mark.parametrize("yaw", [0.0, 0.5])
def test_a_swing_about_the_joints_line_brakes_all_aircraft_alike(yaw):
    """0.3 m/s^2 per rad/s, across the line."""
    guard, x = guard_of("three_line", np.full(3, 15.0), yaw)
    places = x[1:, P]
    line = (places[-1] - places[0]) / np.linalg.norm(places[-1] - places[0])
    x[0, W] = 0.4 * line + [0.0, 0.0, 2.0]
    expected = 15.0 * (UP - 0.3 * 0.4 * np.cross(line, UP) / G)
    np.testing.assert_allclose(forces(guard(x)), np.tile(expected, (3, 1)), atol=1e-9)


def test_a_yaw_torque_is_made_of_thrusts_within_a_fifth_of_hovers():
    guard, x = guard_of("hexa", np.full(load_platform("hexa").count, 10.0))
    level = guard(x).thrust.copy()
    x[0, Q] = so3.quaternion_exp(np.array([0.0, 0.0, -3.0]))
    more = guard(x).thrust - level
    np.testing.assert_allclose(np.abs(more), 2.0, rtol=1e-6)
    levers = [_yaw_lever(each) for each in load_platform("hexa").fleet]
    assert all(np.sign(more) == np.sign(levers))  # it turns to the left
    fleet = load_platform("hexa").fleet
    arms = [each.wrench_of_rotor_thrusts[5].sum() / len(each.rotors) for each in fleet]
    assert levers == pytest.approx(arms) and _yaw_lever(load_platform("f450").fleet[0]) == 0.0


class Hold:
    """A hold that counts how often it began."""

    def __init__(self):
        self.begun, self.command = [], Command.zeros(2)

    def begin(self, x):
        self.begun.append(x)

    def __call__(self, x):
        return self.command


@pytest.fixture
def buffer():
    return CommandBuffer("iap", 2, Hold())


def thrusting(value):
    def fill(command):
        command.mode = Mode.ATTITUDE_THRUST
        command.thrust[:] = value

    return fill


def test_a_command_counts_once_and_the_last_one_stands_until_the_next(buffer):
    assert buffer.next_command("x", is_stale=False) is None
    buffer.offer(0, 0, thrusting(1.0))
    assert buffer.next_command("x", is_stale=False).thrust.tolist() == [1.0, 1.0]
    assert buffer.next_command("x", is_stale=False) is None
    buffer.offer(0, 1, thrusting(5.0))  # the same one again
    assert buffer.next_command("x", is_stale=False) is None
    with pytest.raises(BadInput, match=r"^header\.stamp: later than the present state$"):
        buffer.offer(2, 1, thrusting(5.0))
    assert buffer.newest == 0 and not buffer.is_new
    assert vars(buffer.counts) == {"taken": 1, "late": 0, "lost": 0, "holds": 0}


def test_commands_are_late_where_their_period_has_begun_or_lost_while_it_holds(buffer):
    buffer.offer(1, 1, thrusting(1.0))  # number 0 was overtaken
    assert vars(buffer.counts) == {"taken": 1, "late": 1, "lost": 0, "holds": 0}
    buffer.offer(3, 5, thrusting(1.0))
    assert vars(buffer.counts) == {"taken": 1, "late": 3, "lost": 0, "holds": 0}
    for _ in range(2):
        assert buffer.next_command("there", is_stale=True) is buffer.hold.command
    assert buffer.is_holding and buffer.hold.begun == ["there"]
    buffer.offer(9, 9, thrusting(1.0))
    assert vars(buffer.counts) == {"taken": 2, "late": 3, "lost": 5, "holds": 1}
    assert buffer.next_command("x", is_stale=False) is not None and not buffer.is_holding
    buffer.next_command("again", is_stale=True)
    assert buffer.hold.begun == ["there", "again"] and buffer.counts.holds == 2


def test_a_reset_forgets_commands_and_keeps_counts(buffer):
    buffer.offer(0, 0, thrusting(1.0))
    buffer.is_kept = True
    buffer.next_command("x", is_stale=True)
    counts = copy.copy(buffer.counts)
    buffer.reset()
    assert (buffer.newest, buffer.is_new, buffer.is_holding, buffer.is_kept) == (
        -1,
        False,
        False,
        False,
    )
    assert buffer.counts == counts and buffer.next_command("x", is_stale=False) is None


def test_a_wrench_of_the_platform_is_refused_and_the_command_before_it_stands(buffer):
    buffer.offer(0, 0, thrusting(1.0))

    def wrench(command):
        command.mode = Mode.WRENCH
        command.thrust[:] = 9.0

    with pytest.raises(BadInput, match="publish on command/wrench"):
        buffer.offer(1, 1, wrench)
    assert buffer.newest == 0 and buffer.counts.taken == 1
    assert buffer.next_command("x", is_stale=False).thrust.tolist() == [1.0, 1.0]


def test_a_plant_that_takes_velocities_is_stopped():
    hold = VelocityHold()
    hold.begin(np.zeros((1, 13)))
    command = hold(np.ones((1, 13)))
    assert command.mode == Mode.VELOCITY and not command.wrench_P.any()
    assert command.thrust.shape == (1,)
