# SPDX-License-Identifier: BSD-3-Clause
"""Faults in the plant: rotors give what the factor says in both engines, motors run down, commands act late."""

import numpy as np
import pytest
from flying import DT, gains_of, hover_rpm

from iap_description.math.random_streams import stream
from iap_description.states import Command, Mode, P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import BatteryFault, LateCommands, MotorFault, RotorFault
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.air.batch_air import Air
from iap_physics.air.wind import Wind
from iap_physics.engines.joints import joined_rows
from iap_physics.engines.make import make_engine
from iap_physics.plant.period_flight import DEFAULT_OPTIONS, PlantOptions
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_faults import PlantFaults
from iap_physics.plant.rates import LoopRates
from iap_physics.propulsion.propulsion import Airframe, propulsion_of

STAR = load_platform("three_star")
ROTOR = STAR.aircraft.rotor
HOVER = hover_rpm(STAR)
HIGH = np.array([0.0, 0.0, 50.0, 0.0, 0.0, 0.0, 1.0, *[0.0] * 6])
ENGINES = ["closed_form", "pybullet"]


@pytest.fixture
def plant_of():
    """A three-star that hovers high up on an engine, with faults."""
    engines = []

    def make(*faults, engine="closed_form", physics_hz=1000.0):
        assembly = Assembly.of(STAR)
        engines.append(make_engine(engine))
        engines[-1].load(World(), [assembly])
        airframe = Airframe(assembly, STAR.fleet, gains_of().autopilot)
        propulsion = propulsion_of([airframe], 1, physics_hz=physics_hz)
        plant = Plant(
            engines[-1],
            propulsion,
            Air(Wind(), [stream(1, "gusts")]),
            LoopRates(physics_hz=physics_hz, control_hz=200.0),
            [PlantFaults(0, faults, propulsion[0], 200.0)] if faults else [],
        )
        plant.reset(
            joined_rows(assembly, HIGH)[None], [np.full((3, 4), HOVER)], stream(1, "gusts")
        )
        return plant

    yield make
    for engine in engines:
        engine.close()


def turning(rpm):
    """A command of rotor speeds."""
    command = Command.zeros(3, Mode.RPM)
    command.rpm[:] = rpm
    return command


def wrench_of(plant):
    """(bodies, 6) that the rotors of a hovering plant put on its bodies in a physics step."""
    wrenches = np.zeros((1, 4, 6))
    plant.propulsion[0].actuate(plant.engine.state(), wrenches, plant.ticks, 0, plant.dt)
    return wrenches[0]


def flown(plant, seconds):
    for _ in range(round(seconds / DT)):
        plant.advance()
    return plant.state()[0].copy()


def momentum(x):
    """Of the whole platform [N s]."""
    masses = np.array([body.mass for body in Assembly.of(STAR).bodies])
    return masses @ x[:, V]


@pytest.mark.parametrize("factor", [0.0, 0.6])
def test_a_rotors_thrust_and_drag_torque_are_the_factor_times_what_they_were(plant_of, factor):
    fault = RotorFault(at=0.0, aircraft=2, rotor=3, thrust=factor)
    sound, weak = plant_of(), plant_of(fault)
    for plant in (sound, weak):
        plant.command(0, turning(HOVER))
        plant.advance()
        plant.reset(
            joined_rows(Assembly.of(STAR), HIGH)[None], [np.full((3, 4), HOVER)], stream(1, "g")
        )
    lost = wrench_of(sound) - wrench_of(weak)
    thrust = ROTOR.thrust_coefficient * HOVER**2
    x, y, _ = STAR.aircraft.rotors[2].position
    spin = -1.0 if STAR.aircraft.rotors[2].spin == "ccw" else 1.0
    wanted_B = np.array([y, -x, spin * ROTOR.torque_ratio]) * thrust * (1.0 - factor)
    np.testing.assert_allclose(lost[2, :3], [0.0, 0.0, (1.0 - factor) * thrust], atol=1e-12)
    turned = STAR.joints[1].yaw_deg
    c, s = np.cos(np.deg2rad(turned)), np.sin(np.deg2rad(turned))
    wanted = [c * wanted_B[0] - s * wanted_B[1], s * wanted_B[0] + c * wanted_B[1], wanted_B[2]]
    np.testing.assert_allclose(lost[2, 3:], wanted, atol=1e-12)
    assert not lost[[0, 1, 3]].any()


def test_both_engines_fly_a_weak_rotor_alike(plant_of):
    fault = RotorFault(at=0.1, aircraft=1, rotor=1, thrust=0.6)
    ends = []
    for engine in ENGINES:
        plant = plant_of(fault, engine=engine, physics_hz=4000.0)
        plant.command(0, turning(HOVER))
        ends.append(flown(plant, 0.3))
    closed, bullet = ends
    assert np.linalg.norm(closed[1, W]) > 1.0  # the aircraft tumbles [rad/s]
    np.testing.assert_allclose(bullet[:, P], closed[:, P], atol=1e-3)
    np.testing.assert_allclose(bullet[:, V], closed[:, V], atol=1e-2)
    np.testing.assert_allclose(bullet[:, W], closed[:, W], atol=0.1)
    np.testing.assert_allclose(np.abs((bullet[:, Q] * closed[:, Q]).sum(1)), 1.0, atol=1e-3)


@pytest.mark.parametrize("engine", ENGINES)
def test_momentum_without_motors_is_the_weights_less_what_rotors_give_as_they_run_down(
    plant_of, engine
):
    """Thrust falls with (n / n_0)^2 = exp(-2 t / T): its impulse is m g T / 2 (1 - exp(-2 t / T))."""
    plant = plant_of(
        *(MotorFault(at=0.0, aircraft=i, motors="off") for i in (1, 2, 3)), engine=engine
    )
    plant.command(0, turning(HOVER))
    t, T = 0.2, ROTOR.time_constant_down
    p = momentum(flown(plant, t))
    weight = Assembly.of(STAR).mass * 9.81
    wanted = weight * (0.5 * T * (1.0 - np.exp(-2.0 * t / T)) - t)
    np.testing.assert_allclose(p, [0.0, 0.0, wanted], atol=1e-6 * weight)


def test_motors_that_stopped_obey_no_command(plant_of):
    plant = plant_of(MotorFault(at=0.05, aircraft=3, motors="off"))
    plant.command(0, turning(8000.0))
    flown(plant, 1.0)
    rpm = plant.propulsion[0].rpm[0]
    np.testing.assert_allclose(rpm[:2], 8000.0, rtol=1e-9)
    assert rpm[2].max() < 1e-2


def test_a_sagging_battery_caps_the_speed_and_leaves_slower_rotors_alone(plant_of):
    plant = plant_of(BatteryFault(at=0.5, aircraft=1, battery=0.8, over=1.0))
    command = turning(ROTOR.rpm_max)
    command.rpm[1:] = 5000.0
    plant.command(0, command)
    flown(plant, 0.5)
    np.testing.assert_allclose(plant.propulsion[0].rpm[0, 0], ROTOR.rpm_max, rtol=1e-4)
    flown(plant, 0.5)
    halfway = plant.propulsion[0].rpm[0, 0]  # follows the cap with the rotors' lag
    slope = 0.2 * ROTOR.rpm_max
    np.testing.assert_allclose(
        halfway, 0.9 * ROTOR.rpm_max + slope * ROTOR.time_constant_down, rtol=1e-3
    )
    flown(plant, 2.0)
    np.testing.assert_allclose(plant.propulsion[0].rpm[0, 0], 0.8 * ROTOR.rpm_max, rtol=1e-9)
    np.testing.assert_allclose(plant.propulsion[0].rpm[0, 1:], 5000.0, rtol=1e-9)


def commanded(plant, steps):
    """The speeds that count in each control period, where period k is commanded 1000 + k."""
    out = []
    for k in range(steps):
        plant.command(0, turning(1000.0 + k))
        plant.advance()
        out.append(round(float(plant.propulsion[0].command.rpm[0, 0, 0]) - 1000.0))
    return out


def test_late_commands_act_whole_periods_later_and_on_time_again_afterwards(plant_of):
    plant = plant_of(LateCommands(at=0.02, commands_late=0.01, **{"for": 0.03}))
    wanted = [0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 10, 11, 12]
    assert commanded(plant, 13) == wanted
    plant.reset(
        joined_rows(Assembly.of(STAR), HIGH)[None], [np.full((3, 4), HOVER)], stream(1, "g")
    )
    assert commanded(plant, 13) == wanted  # nothing of the first flight is on its way


def test_what_the_aircraft_do_on_their_own_is_never_late(plant_of):
    plant = plant_of(LateCommands(at=0.0, commands_late=0.05))
    plant.command(0, turning(7000.0))
    plant.command(0, turning(3000.0), on_board=True)
    flown(plant, 0.2)
    assert plant.propulsion[0].command.rpm[0, 0, 0] == 3000.0


def test_the_end_of_the_only_world_is_an_exception_unless_another_way_is_asked_for(plant_of):
    """Programs that step one flight need not look at its status to notice a fall."""
    assert DEFAULT_OPTIONS.raises and PlantOptions() == DEFAULT_OPTIONS
    assert plant_of().engine.raises
