# SPDX-License-Identifier: BSD-3-Clause
"""Every level at which a platform can be commanded, flown through the Plant, from poses down to rotor speeds."""

import math

import numpy as np
import pytest
from flying import DT, Loop, hover_rpm, plant_of, scenario_of

from iap_description.errors import BadInput, FlightFailed
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import Command, Level, Mode, Q, V, W, resting_state
from iap_description.vehicles.platform import load_platform

PLATFORMS = ["three_star", "three_line", "f450"]
JOINTED = ["three_star", "three_line"]
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
ENGINES = ["closed_form", "pybullet"]


@pytest.fixture
def hovering():
    """Loops at hover at the height of 1.5 m; closed after the test."""
    loops = []

    def make(name, engine="closed_form"):
        loops.append(Loop.of(scenario_of("hover", platform=name, engine=engine)))
        return loops[-1]

    yield make
    for loop in loops:
        loop.plant.engine.close()


def base(loop):
    return loop.plant.state(0)[0, 0]


def row_of(loop):
    """A reference row at the present place, at rest."""
    row = np.zeros(19 + loop.vehicles[0].controller.model.count)
    row[:7] = loop.vehicles[0].start[0, :7]
    return row


def track(loop, reference, seconds):
    """Through the controller; the reference may be a function of time."""
    for k in range(round(seconds / DT)):
        now = reference(k * DT) if callable(reference) else reference
        loop.plant.command(0, loop.vehicles[0].controller(base(loop), now))
        loop.plant.advance()
    return base(loop).copy()


def command(loop, order, seconds):
    """Past the controller, straight to the Plant; wrenches by way of the vehicle, which allocates them."""
    for _ in range(round(seconds / DT)):
        loop.plant.command(0, loop.vehicles[0].allocated(order, base(loop)[Q]))
        loop.plant.advance()
    return base(loop).copy()


def order_of(loop, mode):
    """A command that hovers, in a mode."""
    platform = loop.scenario.vehicles[0].platform
    order = Command.zeros(platform.count, mode)
    mass = loop.vehicles[0].controller.model.inertia.mass
    order.thrust[:] = mass * 9.81 / platform.count
    order.q_WB[:] = loop.vehicles[0].start[-platform.count :, Q]
    order.rpm[:] = hover_rpm(platform)
    d_0 = loop.vehicles[0].controller.model.inertia.d_0
    order.wrench_P[:3] = (0.0, 0.0, mass * 9.81)
    order.wrench_P[3:] = np.cross(d_0, order.wrench_P[:3])
    return order


# --- through the controller --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", PLATFORMS)
def test_a_moving_pose_is_tracked(hovering, name, engine):
    loop = hovering(name, engine)
    row = row_of(loop)

    def reference(t):
        """A metre east in two seconds, smoothly."""
        s = min(t / 2.0, 1.0)
        moving = row.copy()
        moving[0] += s**3 * (10 - 15 * s + 6 * s**2)
        moving[7] = 15.0 * s**2 * (1 - s) ** 2
        moving[13] = 15.0 * s * (1 - s) * (1 - 2 * s)
        return Reference(moving)

    x = track(loop, reference, 3.0)
    np.testing.assert_allclose(x[:3], row[:3] + [1.0, 0.0, 0.0], atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", PLATFORMS)
def test_a_velocity_is_tracked_without_a_pose(hovering, name, engine):
    loop = hovering(name, engine)
    row = row_of(loop)
    row[:3] = 1e3  # must not matter
    row[7:10] = (0.4, -0.2, 0.1)
    track(loop, Reference(row, Level.VELOCITY), 3.0)
    on_the_line = 2 if name == "three_line" else 0  # below its line the platform swings freely
    x = loop.plant.state(0)[0, on_the_line]
    np.testing.assert_allclose(x[V], row[7:10], atol=0.015)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLATFORMS)
def test_a_turn_rate_is_tracked_without_a_pose(hovering, name):
    loop = hovering(name)
    row = row_of(loop)
    row[12] = 0.4
    x = track(loop, Reference(row, Level.VELOCITY), 3.0)
    np.testing.assert_allclose(x[W], [0.0, 0.0, 0.4], atol=0.01)


@pytest.mark.parametrize("name", PLATFORMS)
def test_an_acceleration_is_tracked_without_pose_or_velocity(hovering, name):
    loop = hovering(name)
    row = row_of(loop)
    row[:3], row[7:10] = 1e3, 1e2
    row[13:16] = (0.3, 0.0, 0.1)
    early = track(loop, Reference(row, Level.ACCELERATION), 1.0)
    late = track(loop, Reference(row, Level.ACCELERATION), 1.0)
    np.testing.assert_allclose(late[V] - early[V], row[13:16], atol=0.015)


@pytest.mark.parametrize("name", JOINTED)
def test_a_wrench_reference_accelerates_the_platform_by_newton_s_law(hovering, name):
    loop = hovering(name)
    model = loop.vehicles[0].controller.model
    force = np.array([1.0, 0.0, model.inertia.mass * 9.81 + 0.5])
    U = np.concatenate([force, np.cross(model.inertia.d_0, force)])  # through the CoM
    reference = Reference(row_of(loop), Level.WRENCH, U)
    early, late = track(loop, reference, 0.5), track(loop, reference, 0.5)
    expected = np.array([1.0, 0.0, 0.5]) / model.inertia.mass * 0.5
    np.testing.assert_allclose(late[V] - early[V], expected, atol=0.01)


# --- straight to the plant ---------------------------------------------------------------------


@pytest.mark.parametrize("name", PLATFORMS)
@pytest.mark.parametrize("mode", [mode for mode in Mode if mode != Mode.VELOCITY])
def test_a_balanced_command_hovers_in_every_mode(hovering, name, mode):
    loop = hovering(name)
    x = command(loop, order_of(loop, mode), 1.0)
    np.testing.assert_allclose(x[:3], row_of(loop)[:3], atol=2e-3)
    assert np.abs(x[7:]).max() < 5e-3


@pytest.mark.parametrize("engine", ENGINES)
def test_thrust_and_attitude_commands_lean_every_aircraft_and_move_the_platform(hovering, engine):
    """All aircraft lean east by 3 deg with their weight's share upwards: g tan(3 deg)."""
    loop = hovering("three_star", engine)
    order, lean = order_of(loop, Mode.ATTITUDE_THRUST), math.radians(3.0)
    east = so3.quaternion_exp(np.array([0.0, lean, 0.0]))
    order.q_WB[:] = so3.multiply(east, order.q_WB)
    order.thrust /= math.cos(lean)
    early, late = command(loop, order, 0.3), command(loop, order, 0.3)
    aircraft = loop.plant.state(0)[0, 1:]
    np.testing.assert_allclose(aircraft[:, Q], order.q_WB, atol=2e-3)
    acceleration = (late[V] - early[V]) / 0.3
    np.testing.assert_allclose(acceleration, [9.81 * math.tan(lean), 0.0, 0.0], atol=0.03)


def test_thrust_and_rate_commands_spin_the_aircraft_on_their_joints(hovering):
    loop = hovering("three_star")
    order = order_of(loop, Mode.RATE_THRUST)
    order.w_WB_B[:, 2] = (0.5, -0.5, 1.0)
    x = command(loop, order, 1.5)
    np.testing.assert_allclose(loop.plant.state(0)[0, 1:, 12], [0.5, -0.5, 1.0], atol=0.01)
    assert np.abs(x[7:]).max() < 0.02  # the platform itself does not turn: the joints are smooth


def test_rotor_speed_commands_lift_the_platform(hovering):
    """One per cent more speed is two per cent more thrust."""
    loop = hovering("three_star")
    order = order_of(loop, Mode.RPM)
    order.rpm *= 1.01
    early, late = command(loop, order, 0.3), command(loop, order, 0.3)
    assert (late[9] - early[9]) / 0.3 == pytest.approx(9.81 * (1.01**2 - 1.0), rel=0.01)


def test_a_rotor_speed_of_zero_switches_the_rotors_off(hovering):
    loop = hovering("f450")
    order = order_of(loop, Mode.RPM)
    order.rpm[:] = 0.0
    early, late = command(loop, order, 0.3), command(loop, order, 0.1)
    assert loop.plant.propulsion[0].rpm.max() < 20.0
    assert (late[9] - early[9]) / 0.1 == pytest.approx(-9.81, rel=0.01)


@pytest.mark.parametrize("name", JOINTED)
def test_a_wrench_command_does_what_the_controller_s_own_allocation_does(hovering, name):
    """Flown as wrenches that the vehicle allocates, a velocity step ends where the attitude commands end."""
    ends = []
    for mode in (Mode.ATTITUDE_THRUST, Mode.WRENCH):
        loop = hovering(name)
        row = row_of(loop)
        row[7:10] = (0.3, 0.0, 0.1)
        reference = Reference(row, Level.VELOCITY)
        for _ in range(300):
            order = loop.vehicles[0].controller(base(loop), reference)
            order.mode = mode
            loop.plant.command(0, loop.vehicles[0].allocated(order, base(loop)[Q]))
            loop.plant.advance()
        ends.append(base(loop).copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


def test_a_command_counts_until_the_next_one():
    plant = plant_of("f450")
    x = resting_state(np.zeros(3), LEVEL)[None, None]
    rpm = np.full((1, 4), hover_rpm(load_platform("f450")))
    order = Command.zeros(1, Mode.RPM)
    order.rpm[:] = rpm * 1.02
    ends = []
    for repeated in (True, False):
        plant.reset(x, [rpm], np.random.default_rng(1))
        for k in range(40):
            if repeated or k == 0:
                plant.command(0, order)
            plant.advance()
        ends.append(plant.state()[0, 0].copy())
    np.testing.assert_array_equal(*ends)


def test_a_command_is_copied_when_it_is_taken():
    """The controller overwrites its command object; the plant must not see the next one early."""
    plant = plant_of("f450")
    x = resting_state(np.zeros(3), LEVEL)[None, None]
    plant.reset(x, [np.full((1, 4), 6000.0)], np.random.default_rng(1))
    order = Command.zeros(1, Mode.RPM)
    order.rpm[:] = 6000.0
    plant.command(0, order)
    order.rpm[:] = 9000.0
    plant.advance()
    np.testing.assert_allclose(plant.propulsion[0].rpm, 6000.0)


@pytest.mark.parametrize("field", ["wrench_P", "thrust", "q_WB", "w_WB_B", "rpm"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_command_that_is_not_a_number_ends_the_flight_before_it_acts(field, value):
    plant = plant_of("three_star")
    order = Command.zeros(3)
    getattr(order, field).flat[-1] = value
    before = plant.state().copy()
    with pytest.raises(FlightFailed, match="not finite") as failed:
        plant.command(0, order)
    assert failed.value.outcome == "invalid_command"
    np.testing.assert_array_equal(plant.state(), before)


@pytest.mark.slow
def test_any_whole_ratio_of_rates_flies_the_same_flight_within_a_centimetre():
    ends = []
    for physics, control in ((1000.0, 200.0), (500.0, 250.0), (2000.0, 100.0), (400.0, 400.0)):
        sets = (f"rates.physics_hz={physics}", f"rates.control_hz={control}")
        flown = Loop.of(scenario_of("three_star_spiral", *sets, duration=4.0)).fly()[0]
        assert flown.t[-1] == pytest.approx(4.0)
        assert flown.position_rmse < 0.01
        ends.append(flown.x[-1, 0, :3])
    np.testing.assert_allclose(ends, np.tile(ends[0], (4, 1)), atol=0.01)


def test_a_wrench_leans_the_aircraft_with_the_platform(hovering):
    """The same wrench in P at two attitudes."""
    vehicle = hovering("three_star").vehicles[0]
    order = Command.zeros(3, Mode.WRENCH)
    order.wrench_P[2] = vehicle.model.inertia.mass * 9.81
    tilted = so3.quaternion_exp(np.array([0.3, 0.0, 0.0]))
    for q_WP in (LEVEL, tilted):
        up = so3.rotate(vehicle.allocated(order, q_WP).q_WB, [0.0, 0.0, 1.0])
        np.testing.assert_allclose(up, np.tile(so3.rotate(q_WP, [0, 0, 1.0]), (3, 1)), atol=1e-12)


def test_the_plant_refuses_a_wrench_with_the_topic_that_takes_it():
    plant = plant_of("three_star")
    with pytest.raises(BadInput, match="publish on command/wrench"):
        plant.command(0, Command.zeros(3, Mode.WRENCH))
