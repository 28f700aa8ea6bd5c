# SPDX-License-Identifier: BSD-3-Clause
"""Commands on their way to aircraft, estimates that they go by, and rotors at a start."""

import numpy as np
import pytest
from flying import gains_of
from various_platforms import platform_of, various

from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health
from iap_physics.propulsion.deviation import Deviation
from iap_physics.propulsion.last_command import CommandDelay, FleetArrays
from iap_physics.propulsion.propulsion import Airframe, propulsion_of

PLATFORM = platform_of(various(heavy=1))  # a three-star whose second aircraft is another


def made(batch=3, physics_hz=1000.0, count=1, **deviation):
    assembly, gains = Assembly.of(PLATFORM), gains_of().autopilot
    airframe = Airframe(assembly, PLATFORM.fleet, gains, Deviation(**deviation))
    return propulsion_of([airframe] * count, batch, physics_hz=physics_hz)


def thrusting(value):
    command = Command.zeros(3, Mode.RATE_THRUST)
    command.thrust[:], command.w_WB_B[:] = value, value / 10.0
    command.rpm[:], command.tilt[:] = value + 1.0, value + 2.0
    return command


def test_rotors_begin_at_their_speeds_and_angles_in_the_worlds_that_begin():
    (p,) = made()
    p.set_command(thrusting(5.0))
    p.set_estimate(np.zeros((4, 13)))
    p.rotors.rpm[:], p.rotors.tilt[:] = 7.0, 8.0
    rpm = np.arange(12.0).reshape(3, 4)
    p.reset(rpm, np.array([2, 0]), 0.25)
    for world, begins in enumerate((True, False, True)):
        assert np.array_equal(p.rpm[world], rpm if begins else np.full((3, 4), 7.0))
        assert np.array_equal(p.command.rpm[world], rpm if begins else np.full((3, 4), 6.0))
        assert np.unique(p.tilt[world]).tolist() == ([0.25] if begins else [8.0])
        assert np.unique(p.command.tilt[world]).tolist() == ([0.25] if begins else [7.0])
        mode = Mode.RPM if begins else Mode.RATE_THRUST
        assert np.unique(p.command.modes[world]).tolist() == [int(mode)]
    assert p.known.is_used.tolist() == [False, True, False]


def test_autopilots_go_by_estimates_of_their_own_vehicle_or_by_the_truth():
    first, second = made(batch=2, count=2)
    assert (second.rows.start, second.rows.stop) == (4, 8)
    second.set_estimate(np.full((4, 13), 2.0))
    known = second.fleet_state.known
    assert np.all(known.x[:, 4:] == 2.0) and not known.x[:, :4].any() and known.is_used.all()
    second.set_estimate(np.stack([np.full((4, 13), 3.0), np.full((4, 13), 4.0)]))
    assert known.x[:, 4, 0].tolist() == [3.0, 4.0]
    second.set_estimate(None)
    assert not known.is_used.any()
    assert not first.fleet_state.known.is_used.any()


def test_commands_come_to_all_worlds_or_to_some():
    (p,) = made()
    p.set_command(thrusting(5.0))
    p.set_command(thrusting(9.0), np.array([False, True, False]))
    for name, values in (
        ("thrust", [5.0, 9.0, 5.0]), ("rpm", [6.0, 10.0, 6.0]), ("tilt", [7.0, 11.0, 7.0]),
        ("w_WB_B", [0.5, 0.9, 0.5]),
    ):  # fmt: skip
        array = getattr(p.command, name)
        assert array.reshape(3, -1)[:, -1].tolist() == values and np.ptp(array[1]) == 0.0
    p.stop(np.array([True, False, False]))
    assert p.command.modes[:, 0].tolist() == [int(Mode.RPM), *[int(Mode.RATE_THRUST)] * 2]
    assert p.command.rpm[:, 0, 0].tolist() == [0.0, 10.0, 6.0]
    p.command_rates(np.full((3, 3), 4.0), np.full((3, 3, 3), 0.1))
    assert np.all(p.command.modes == Mode.RATE_THRUST) and np.all(p.command.thrust == 4.0)
    assert np.all(p.command.w_WB_B == 0.1)


def test_commands_act_their_periods_late_in_each_world_and_at_once_on_board():
    (p,) = made()
    assert not p.is_delayed
    p.set_delay(1, 0)
    assert not p.is_delayed  # no world waits
    p.set_delay(1, 2)
    p.set_delay(2, 1)
    assert p.is_delayed
    seen = []
    for k in range(5):
        p.set_command(thrusting(float(k + 1)))
        p.apply_due()
        seen.append(p.command.thrust[:, 0].tolist())
    assert seen == [[1, 0, 0], [2, 0, 1], [3, 1, 2], [4, 2, 3], [5, 3, 4]]
    p.set_command(thrusting(9.0))
    p.apply_at_once()
    assert p.command.thrust[:, 0].tolist() == [9.0] * 3
    p.apply_due()
    assert p.command.thrust[:, 0].tolist() == [9.0] * 3  # nothing else is on its way


def test_a_delay_that_grows_keeps_what_is_on_its_way_and_a_reset_forgets_it():
    arrays = FleetArrays.empty(2, 1)
    delay = CommandDelay(arrays.command)
    delay.set_periods(slice(None), 1)
    seen = []
    for k in range(3):
        delay.latest.thrust[:] = k + 1.0
        delay.apply_due()
        seen.append(arrays.command.thrust[0, 0])
    assert seen == [0.0, 1.0, 2.0]
    delay.set_periods(0, 3)
    for k in range(3, 6):
        delay.latest.thrust[:] = k + 1.0
        delay.apply_due()
        seen.append(arrays.command.thrust[0, 0])
    assert seen[3:] == [2.0, 2.0, 3.0]  # the oldest that is known, until newer ones are due
    delay.reset(np.array([0]))
    assert delay.latest.thrust[:, 0].tolist() == [3.0, 6.0]
    delay.apply_due()
    assert arrays.command.thrust[:, 0].tolist() == [3.0, 6.0]


def test_orders_are_others_than_commands_once_they_are_handed_over():
    (p,) = made(batch=1)
    orders = p.hand_over()
    p.set_command(thrusting(5.0))
    assert np.all(orders.thrust == 5.0) and orders is p.orders and not p.command.thrust.any()


def test_views_of_one_aircraft_are_its_own():
    (p,) = made()
    p.command.thrust[:] = 1.0, 2.0, 3.0
    p.command.rpm[:, 2] = 4.0
    one = p.command.of_aircraft(2)
    assert one.thrust.tolist() == [[3.0]] * 3 and np.all(one.rpm == 4.0)
    assert [each.shape[:2] for each in one] == [(3, 1)] * 6
    arrays = FleetArrays.empty(2, 3)
    arrays.rpm[:, 1], arrays.target[:, 1] = 5.0, 6.0
    own = arrays.of_aircraft(1)
    assert np.all(own.rpm == 5.0) and np.all(own.target == 6.0) and own.tilt.shape == (2, 1, 4)
    assert np.all(arrays.command.modes == int(Mode.RPM))


def test_numbers_of_rotors_are_those_of_their_aircraft_with_its_deviation():
    (p,) = made(thrust=(0.5, 0.8, 1.0), rotor_lag=(2.0, 1.0, 3.0))
    for i, (thrust, lag) in enumerate(((0.5, 2.0), (0.8, 1.0), (1.0, 3.0))):
        rotor = PLATFORM.fleet[i].rotor
        expected = (
            thrust * rotor.c_f,
            lag * rotor.time_constant_up,
            lag * rotor.time_constant_down,
        )
        np.testing.assert_allclose(p.airframe.rotor_numbers[i], expected)
        assert p.rotors.records[i]["thrust_coefficient"] == pytest.approx(expected[0])
        assert p.rotors.records[i]["body"] == i + 1
    heavier = Deviation(drag=2.0).assembly(Assembly.of(PLATFORM)).bodies[0].drag
    nominal = Assembly.of(PLATFORM).bodies[0].drag
    np.testing.assert_allclose(heavier.linear, 2.0 * np.array(nominal.linear))
    np.testing.assert_allclose(heavier.quadratic, 2.0 * np.array(nominal.quadratic))


def test_what_is_left_of_rotors_is_counted_and_kept():
    (p,) = made()
    health = Health.sound(PLATFORM.fleet)
    health.thrust[1, 2], health.speed[2] = 0.5, 0.25
    p.weaken(health)
    p.weaken(health)
    assert p.weakened == 2
    np.testing.assert_array_equal(p.rotors.records["thrust_share"], health.thrust)
    np.testing.assert_array_equal(p.rotors.records["speed_share"], health.speed)


@pytest.mark.parametrize(("rate", "every"), [(None, 1), (250.0, 4), (1000.0, 1)])
def test_autopilots_run_at_their_own_rate(rate, every):
    gains = gains_of().autopilot.model_copy(update={"rate_hz": rate})
    airframe = Airframe(Assembly.of(PLATFORM), PLATFORM.fleet, gains)
    (p,) = propulsion_of([airframe], 2, physics_hz=1000.0)
    assert p.every == p.fleet_state.every == every and not p.is_tilting
    x, wrenches = np.zeros((2, 4, 13)), np.zeros((2, 4, 6))
    x[..., 6] = 1.0
    p.set_command(thrusting(5.0))
    targets = []
    for substep in range(4):
        p.rotors.target[:] = -1.0
        p.actuate(x, wrenches, np.array([0, 1]), substep, 1e-3)
        targets.append((p.rotors.target[:, 0, 0] >= 0.0).tolist())
    due = [[(k % every) == 0, ((k + 1) % every) == 0] for k in range(4)]
    assert targets == due
