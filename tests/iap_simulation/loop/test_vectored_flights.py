# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from flying import fly_scenario, scenario_of

from iap_description.errors import BadInput
from iap_simulation.flights.flight import Flight

SHORT = "reference.duration=4.0"
ENGINES = ["closed_form", "pybullet", "mujoco"]


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
