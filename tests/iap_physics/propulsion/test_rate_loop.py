# SPDX-License-Identifier: BSD-3-Clause
"""An autopilot's rate loop: its low-passes, derivative, integral and delay, and what it refuses."""

import math

import numpy as np
import pytest
from flying import gains_of, hover_rpm, plant_of
from pydantic import ValidationError

from iap_description.math import so3
from iap_description.states import Command, Mode, Q, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.platform import load_platform
from iap_physics.propulsion.propulsion import Airframe, propulsion_of
from iap_physics.propulsion.rate_loop import (
    ACCELERATION,
    INTEGRAL,
    IS_AT_END,
    LATE,
    RateNumbers,
    begin,
    delayed,
    filter_rate,
    memory_size,
)

F450 = load_platform("f450")
RATE = 500.0  # of the preset's loop [Hz]
HOVER = F450.aircraft.mass * 9.81  # [N]
SPEEDS = np.array([3000.0, 3100.0, 3200.0, 3300.0])  # of rotors at the start [rpm]
NOT_WHOLE = "'rate_loop.delay': 0.003 s is no whole number of periods"


def px4(**changes):
    """Gains of an autopilot like PX4's that knows the truth, with changes of its rate loop."""
    gains = gains_of("px4").autopilot
    loop = gains.rate_loop.model_copy(update=changes)
    return gains.model_copy(update={"rate_loop": loop, "estimator": None})


def filtered_by(rates, **changes):
    """Filtered rates and accelerations (K,) of the x axis at instants of the loop."""
    gains = px4(**changes)
    numbers, memory = RateNumbers.of(gains), np.zeros(memory_size(gains))
    begin(memory, (rates[0], 0.0, 0.0), np.zeros(4), numbers.low_pass)
    out = []
    for rate in rates:
        how = (numbers.low_pass, numbers.share, numbers.rate_hz)
        w = filter_rate(memory, (float(rate), 0.0, 0.0), *how)
        out.append((w[0], memory[ACCELERATION]))
    return np.array(out).T


def response(signal, frequency):
    """Complex amplitude of a signal that has settled, against a cosine at time zero."""
    k = np.arange(len(signal))
    late = k >= len(signal) // 2
    turn = np.exp(-2j * np.pi * frequency / RATE * k)
    return 2.0 * np.mean((signal * turn)[late])


@pytest.mark.parametrize("frequency", [5.0, 20.0, 40.0, 100.0])
def test_the_body_rate_passes_a_butterworth_of_second_order(frequency):
    t = np.arange(2000) / RATE
    rates, _ = filtered_by(np.cos(2.0 * np.pi * frequency * t))
    s = 1j * math.tan(math.pi * frequency / RATE) / math.tan(math.pi * 40.0 / RATE)
    expected = 1.0 / (s * s + math.sqrt(2.0) * s + 1.0)
    measured = response(rates, frequency)
    assert measured == pytest.approx(expected, abs=1e-9)
    if frequency == 40.0:  # the cutoff: -3 dB, and a quarter of a turn late
        assert abs(measured) == pytest.approx(math.sqrt(0.5))
        assert np.angle(measured) == pytest.approx(-0.5 * math.pi)


def test_slow_rates_are_late_by_the_analog_filters_delay():
    slope = np.arange(400) / RATE
    rates, _ = filtered_by(slope)
    delay = math.sqrt(2.0) / (2.0 * math.pi * 40.0)
    assert slope[-1] - rates[-1] == pytest.approx(delay, rel=0.03)  # 5.6 ms


def test_a_step_of_the_rate_overshoots_by_exp_minus_pi():
    rates, _ = filtered_by(np.concatenate([[0.0], np.ones(200)]), gyroscope_cutoff_hz=5.0)
    assert rates.max() - 1.0 == pytest.approx(math.exp(-math.pi), rel=0.01)
    assert rates[-1] == pytest.approx(1.0, abs=1e-3)


def test_a_constant_rate_is_known_from_the_first_instant():
    rates, accelerations = filtered_by(np.full(50, 0.7))
    np.testing.assert_allclose(rates, 0.7, rtol=1e-14)
    np.testing.assert_allclose(accelerations, 0.0, atol=1e-12)


@pytest.mark.parametrize("frequency", [5.0, 30.0])
def test_the_acceleration_is_a_difference_behind_a_low_pass_of_first_order(frequency):
    t = np.arange(3000) / RATE
    rates, accelerations = filtered_by(np.cos(2.0 * np.pi * frequency * t))
    z = np.exp(-2j * np.pi * frequency / RATE)
    share = 1.0 / (1.0 + RATE / (2.0 * math.pi * 30.0))
    expected = RATE * (1.0 - z) * share / (1.0 - (1.0 - share) * z)
    measured = response(accelerations, frequency) / response(rates, frequency)
    assert measured == pytest.approx(expected, rel=1e-6)
    # an ideal derivative behind T = 1 / (2 pi 30 Hz), but for the instants between which it is not seen
    ideal = 2j * math.pi * frequency / (1.0 + 1j * frequency / 30.0)
    assert abs(measured) == pytest.approx(abs(ideal), rel=0.15)


def rolling(speeds):
    """Torque about the x axis that rotor speeds (4,) make, but for the thrust coefficient."""
    return F450.aircraft.wrench_of_rotor_thrusts[3] @ np.square(speeds)


class Bench:
    """Autopilot of an f450 that is held in place, at rest but for a body rate."""

    def __init__(self, gains, w=(0.0, 0.0, 0.0)):
        airframe = Airframe(Assembly.of(F450), F450.fleet, gains)
        (self.propulsion,) = propulsion_of([airframe], 1, physics_hz=RATE)
        self.memory = self.propulsion.fleet_state.memory[0, 0]
        self.x = np.zeros((1, 1, 13))
        self.x[0, 0, 6], self.x[0, 0, 10:] = 1.0, w
        self.start()

    def start(self):
        """Rotors at speeds of their own."""
        self.propulsion.reset(SPEEDS[None], np.array([0]))

    def order(self, w=(0.0, 0.0, 0.0), thrust=HOVER):
        """Command a body rate."""
        self.propulsion.command_rates(np.full((1, 1), thrust), np.array([[w]]))

    def instant(self):
        """Rotor speeds (4,) that are commanded at the next instant [rpm]."""
        wrenches = np.zeros((1, 1, 6))
        self.propulsion.actuate(self.x, wrenches, np.array([0]), 0, 1.0 / RATE)
        return self.propulsion.rotors.target[0, 0].copy()


@pytest.mark.parametrize("periods", [0, 1, 3])
def test_rotors_are_commanded_so_many_periods_late(periods):
    bench = Bench(px4(delay=periods / RATE, integral=(0.0, 0.0, 0.0)))
    bench.order()
    early = [bench.instant() for _ in range(5)]
    assert all((speeds == SPEEDS).all() for speeds in early[:periods])
    hovering = early[-1]
    np.testing.assert_array_equal(early[periods], hovering)
    bench.order((1.0, 0.0, 0.0))
    changed = [not np.array_equal(bench.instant(), hovering) for _ in range(5)]
    assert changed == [k >= periods for k in range(5)]


def test_the_derivative_brakes_an_angular_acceleration():
    quiet = {"integral": (0.0, 0.0, 0.0), "delay": 0.0}
    speeds = []
    for derivative in (0.0, 0.4):
        bench = Bench(px4(derivative=(derivative, 0.0, 0.0), **quiet))
        bench.order()
        bench.instant()
        bench.x[0, 0, 10] = 0.5
        speeds.append(bench.instant())
    roll = [rolling(each) for each in speeds]
    assert roll[1] < roll[0] < 0.0


def test_the_integral_grows_with_the_error_up_to_its_limit():
    bench = Bench(px4(integral_limit=(0.1, 40.0, 15.0)))
    bench.order((0.05, -0.02, 0.0))
    for _ in range(10):
        bench.instant()
    feedback = -20.0 * np.array([0.05, -0.02])
    np.testing.assert_allclose(bench.memory[INTEGRAL], 1.33 * 10.0 / RATE * feedback[0])
    np.testing.assert_allclose(bench.memory[INTEGRAL + 1], 1.33 * 10.0 / RATE * feedback[1])
    for w, limited in ((0.05, -0.1), (-0.05, 0.1)):
        bench.order((w, 0.0, 0.0))
        for _ in range(200):
            bench.instant()
        assert bench.memory[INTEGRAL] == limited


def test_the_integral_turns_the_aircraft_towards_its_order():
    roll = []
    for integral in (0.0, 1.33):
        bench = Bench(px4(integral=(integral, 0.0, 0.0), delay=0.0))
        bench.order((0.05, 0.0, 0.0))
        speeds = [bench.instant() for _ in range(10)][-1]
        roll.append(rolling(speeds))
    share = 1.33 * 9.0 / RATE
    assert roll[1] / roll[0] == pytest.approx(1.0 + share, rel=1e-6)


@pytest.mark.parametrize(
    ("speeds", "lift", "is_at_end"),
    [
        ((5000.0, 5000.0, 5000.0, 5000.0), (0.25, 0.25, 0.25, 0.25), False),
        ((5000.0, 5000.0, 5000.0, 9000.0), (0.25, 0.25, 0.25, 0.25), True),
        ((1000.0, 5000.0, 5000.0, 5000.0), (0.25, 0.25, 0.25, 0.25), True),
        ((0.0, 5000.0, 5000.0, 5000.0), (0.0, 0.25, 0.25, 0.25), False),
    ],
)
def test_rotors_that_an_aircraft_has_are_at_an_end_of_their_speeds(speeds, lift, is_at_end):
    memory = np.zeros(LATE)
    assert delayed(memory, speeds, lift, 1000.0, 9000.0) == speeds
    assert memory[IS_AT_END] == is_at_end


def test_the_integral_stands_still_while_a_rotor_is_at_an_end():
    bench = Bench(px4())
    bench.order((0.05, 0.0, 0.0), thrust=0.0)  # rotors at their slowest
    for _ in range(10):
        bench.instant()
    grown = bench.memory[INTEGRAL]
    for _ in range(10):
        bench.instant()
    assert bench.memory[INTEGRAL] == grown
    bench.order((0.05, 0.0, 0.0))
    for _ in range(10):
        bench.instant()
    assert abs(bench.memory[INTEGRAL]) > abs(grown)


@pytest.mark.parametrize("how", ["reset", "rotor speeds"])
def test_a_loop_forgets_where_its_world_begins_anew_and_where_speeds_are_commanded(how):
    fresh, used = Bench(px4()), Bench(px4(), w=(0.4, -0.2, 0.1))
    used.order((1.0, 0.0, 0.0))
    for _ in range(20):
        used.instant()
    if how == "reset":
        used.start()
    else:
        command = Command.zeros(1, Mode.RPM)
        command.rpm[:] = SPEEDS
        used.propulsion.set_command(command)
        assert (used.instant() == SPEEDS).all()
        used.propulsion.rotors.rpm[:] = SPEEDS
    used.x[:] = fresh.x
    for bench in (fresh, used):
        bench.order((0.3, 0.0, 0.0))
    for _ in range(5):
        np.testing.assert_array_equal(used.instant(), fresh.instant())


@pytest.mark.parametrize("name", ["default", "paper"])
def test_other_presets_remember_nothing_and_say_nothing_of_it(name):
    gains = gains_of(name).autopilot
    assert gains.rate_loop is None and "rate_loop" not in gains.model_dump()
    assert memory_size(gains) == 0 and memory_size(px4()) == LATE + 4


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rate_hz": None}, "'rate_hz': the filters of a rate_loop need a rate, not null"),
        ({"rate_loop.gyroscope_cutoff_hz": 250.0}, "below half of rate_hz 500"),
        ({"rate_loop.derivative_cutoff_hz": 251.0}, "below half of rate_hz 500"),
        ({"rate_loop.delay": 0.003}, NOT_WHOLE),
    ],
)
def test_a_loop_that_cannot_be_sampled_is_refused(changes, why):
    tree = gains_of("px4").autopilot.model_dump()
    for key, value in changes.items():
        *path, last = key.split(".")
        (tree[path[0]] if path else tree)[last] = value
    with pytest.raises(ValidationError, match=why):
        AutopilotGains.model_validate(tree)


@pytest.mark.parametrize(
    ("preset", "rise", "most"), [("default", 0.08, 0.03), ("px4", 0.175, 0.1)]
)
def test_a_step_of_the_attitude_rises_as_the_preset_has_it(preset, rise, most):
    plant = plant_of("f450", gains_of(preset))
    x = resting_state(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    plant.reset(x[None, None], [np.full((1, 4), hover_rpm(F450))], np.random.default_rng(1))
    command = Command.zeros(1, Mode.ATTITUDE_THRUST)
    command.q_WB[0] = so3.quaternion_exp(np.array([0.1, 0.0, 0.0]))
    command.thrust[:] = HOVER
    plant.command(0, command)
    roll = []
    for _ in range(120):
        plant.advance()
        roll.append(so3.quaternion_log(plant.state()[0, 0, Q])[0])
    first = 1 + int(np.argmax(np.array(roll) > 0.063))
    assert first * plant.dt * plant.substeps == pytest.approx(rise, abs=0.012)
    assert max(roll) / 0.1 - 1.0 < most
