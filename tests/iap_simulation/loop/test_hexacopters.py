# SPDX-License-Identifier: BSD-3-Clause
"""Hexacopters, and flights on tilting rotors."""

import numpy as np
import pytest
from flying import GRAVITY, Loop, fly_scenario, model_of, scenario_of

from iap_control.actuation.kinds import platform_model
from iap_control.controllers.known_faults import RemainingThrust
from iap_description.errors import BadInput
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import RotorFault
from iap_description.vehicles.platform import Platform, load_platform
from iap_description.vehicles.urdf import urdf_text
from iap_simulation.flights.flight import Flight

ENGINES = ["closed_form", "pybullet", "mujoco"]
WEIGHT = Assembly.of(load_platform("hexa")).mass * GRAVITY
SHORT = "reference.duration=4.0"


def changed(name: str, change) -> Platform:
    """A shipped platform whose plain tree has been changed."""
    tree = load_platform(name).model_dump()
    change(tree)
    return Platform.model_validate(tree)


def test_its_rotors_reach_what_upright_and_leaning_ones_can():
    upright, leaning = model_of("hexa"), model_of("hexa_tilted")
    assert (upright.actuation.name, leaning.actuation.name) == ("rigid", "vectored")
    assert np.linalg.matrix_rank(upright.B, tol=1e-6) == 4
    assert np.linalg.matrix_rank(leaning.B, tol=1e-6) == 6


def test_six_rotors_carry_it_alike_and_the_others_are_none():
    (vehicle,) = Flight.of(scenario_of("hover", platform="hexa")).vehicles
    rotor, rpm = load_platform("hexa").aircraft.rotor, vehicle.start_rpm
    np.testing.assert_allclose(rotor.c_f * rpm[:, :3] ** 2, WEIGHT / 6.0, rtol=1e-9)
    np.testing.assert_array_equal(rpm[:, 3], 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_it_flies_a_figure_of_eight(engine):
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    (flight,) = fly_scenario("figure_eight", platform="hexa", engine=engine, duration=16.0)
    assert np.sqrt(np.square(flight.position_error).mean(axis=0)).max() < 3e-3


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_with_leaning_rotors_it_rests_aslant(engine):
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    aslant = ("reference.rpy_deg=[8.0, 0.0, 0.0]", "draw.position=0.05", "draw.attitude_deg=3.0")
    (flight,) = fly_scenario("hover", *aslant, engine=engine, platform="hexa_tilted", duration=5.0)
    assert np.abs(flight.position_error[-100:]).max() < 5e-3
    assert np.abs(flight.attitude_error_deg[-100:]).max() < 0.1


def test_it_comes_back_from_aside():
    aside = ("draw.position=0.05", "draw.attitude_deg=3.0")
    (flight,) = fly_scenario("hover", *aside, platform="hexa", duration=6.0)
    assert np.abs(flight.position_error[0]).max() > 0.02
    assert np.abs(flight.position_error[-100:]).max() < 3e-3


@pytest.mark.slow
def test_a_rotor_at_sixty_percent_that_is_known_changes_little():
    weak = "faults=[{at: 1.0, aircraft: 2, rotor: 1, thrust: 0.6, known: true}]"
    (flight,) = fly_scenario("hover", weak, platform="hexa", duration=5.0)
    assert np.abs(flight.position_error).max() < 0.03
    assert np.abs(flight.x[-1, 0, 7:]).max() < 0.02


def test_the_rotor_across_from_a_lost_one_would_have_to_stop():
    lost = RotorFault(at=1.0, aircraft=1, rotor=1, thrust=0.0, known=True)
    loss = RemainingThrust.of(1.0, model_of("hexa"), [lost], "test")
    assert not loss.can_carry
    assert "rotor 1 of aircraft 2 would have to push less than idle" in loss.text


def test_a_command_to_a_rotor_that_is_not_there_does_nothing():
    loop = Loop.of(scenario_of("hover", platform="hexa"))
    command = Command.zeros(2, Mode.RPM)
    command.rpm[:] = loop.vehicles[0].start_rpm
    command.rpm[:, 3] = 9000.0
    loop.plant.command(0, command)
    for _ in range(100):
        loop.plant.advance()
    np.testing.assert_array_equal(loop.plant.propulsion[0].rpm[0, :, 3], 0.0)
    np.testing.assert_allclose(loop.plant.state(0)[0, :, 7:], 0.0, atol=1e-9)


def test_its_urdf_has_six_rotors():
    text = urdf_text(Assembly.of(load_platform("hexa")), target="ros")
    assert text.count("<joint name=") == text.count("</joint>")
    assert sum(text.count(f'joint name="drone_{i}_rotor_') for i in (1, 2)) == 6


def test_aircraft_that_cannot_turn_themselves_need_a_fixed_joint():
    def freed(tree):
        tree["joints"][1].update(type="spherical", position=[0.5, 0.0, 0.0])

    with pytest.raises(ValueError, match=r"key 'joints\.1': an aircraft of 3 rotors cannot turn"):
        changed("hexa", freed)

    def alone(tree):
        tree["center"], tree["joints"] = None, []

    with pytest.raises(ValueError, match=r"key 'aircraft\.rotors': an aircraft of 3 rotors"):
        changed("hexa", alone)


def test_rotors_that_all_turn_one_way_are_refused():
    def one_way(tree):
        tree["joints"][1]["aircraft"] = None

    platform = changed("hexa", one_way)
    with pytest.raises(BadInput, match="do not lift the platform and turn it about every axis"):
        platform_model(Assembly.of(platform), platform.fleet, gravity=9.81, com_coupling=True)


def flown(engine, *assignments):
    """A module's flight of some seconds."""
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    (flight,) = fly_scenario("beetle_hover", SHORT, *assignments, engine=engine)
    return flight


@pytest.mark.parametrize("engine", ENGINES)
def test_a_module_hovers_to_a_millimetre(engine):
    flight = flown(engine, "start.mode=hover")
    assert np.abs(flight.position_error).max() < 1e-3
    assert np.abs(flight.attitude_error_deg).max() < 0.01


@pytest.mark.parametrize("engine", ENGINES)
def test_a_module_holds_pitch_70_and_arrives_there_from_aside(engine):
    aslant = ("start.mode=hover", "reference.rpy_deg=[0.0, 70.0, 0.0]", "draw.position=0.05")
    flight = flown(engine, *aslant, "draw.attitude_deg=3.0", "reference.duration=8.0")
    start, end = flight.position_error[0], flight.position_error[-200:]
    assert np.linalg.norm(start) > 0.01
    assert np.abs(end).max() < 5e-3
    assert np.abs(flight.attitude_error_deg[-200:]).max() < 0.1


def test_engines_agree_on_where_it_flies():
    pytest.importorskip("mujoco")
    aside = ("start.mode=hover", "draw.position=0.05", "draw.attitude_deg=10.0")
    paths = [flown(engine, *aside).x[:, 0, :3] for engine in ENGINES]
    for path in paths[1:]:
        np.testing.assert_allclose(path, paths[0], atol=1e-3)


@pytest.mark.slow
def test_a_module_takes_off_and_lands():
    flight = flown("pybullet")
    assert flight.x[0, 0, 2] == pytest.approx(0.1352)
    hovers = np.abs(flight.reference[:, 2] - 1.0) < 1e-9
    assert np.abs(flight.position_error[hovers]).max() < 0.02
    assert np.abs(flight.position_error[hovers][-1]).max() < 2e-3
    assert flight.x[-1, 0, 2] == pytest.approx(0.1352, abs=5e-3)


def test_an_attitude_beyond_the_tilts_is_refused():
    scenario = scenario_of(
        "beetle_hover", "start.mode=hover", "reference.rpy_deg=[0.0, 80.0, 0.0]"
    )
    with pytest.raises(BadInput, match="91.5 deg, its limit is 90.0"):
        Flight.of(scenario)


def test_a_payload_beyond_the_thrust_is_refused():
    with pytest.raises(BadInput, match="would have to push 19.62 N"):
        Flight.of(scenario_of("beetle_hover", "platform.aircraft.mass=8.0"))


def test_an_estimate_that_takes_rotors_for_upright_is_not_acted_upon():
    acts = ("control.wrench_source=estimated", "control.admittance=true")
    with pytest.raises(BadInput, match="takes rotors for upright"):
        Flight.of(scenario_of("beetle_hover", *acts))


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "roll"), [("tilt_3", 20.0), ("octo_full", 8.0)])
@pytest.mark.parametrize("engine", ENGINES)
def test_one_body_with_leaning_or_tilting_rotors_rests_aslant(engine, platform, roll):
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    aslant = (
        f"reference.rpy_deg=[{roll}, 0.0, 0.0]",
        "draw.position=0.05",
        "draw.attitude_deg=3.0",
    )
    (flight,) = fly_scenario(
        "hover", *aslant, "reference.duration=5.0", engine=engine, platform=platform
    )
    assert np.abs(flight.position_error[-100:]).max() < 5e-3
    assert np.abs(flight.attitude_error_deg[-100:]).max() < 0.1
    q = flight.x[-1, 0, 3:7]
    assert 2.0 * np.rad2deg(np.arcsin(abs(q[0]))) == pytest.approx(roll, abs=0.1)


def test_a_rotor_that_would_have_to_pull_is_named():
    with pytest.raises(BadInput, match=r"rotor \d of aircraft \d would have to (pull|push)"):
        Flight.of(scenario_of("hover", "reference.rpy_deg=[60.0, 0.0, 0.0]", platform="octo_full"))
