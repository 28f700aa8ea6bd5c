# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are cut off at speed: every platform levels out near by and stays, whatever it was doing."""

import numpy as np
import pytest
from commanding import session_of, states_of
from flying import scenario_of

from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_physics.session.command_buffer import YAW_GAIN, YAW_RATE_GAIN, FailSafe
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.vehicles.vehicle import vehicles_of

CUTS = {  # scenario or its platform -> when commands end [s]
    "three_star_spiral": 4.5,
    "two_line_circle": 8.0,
    "two_line_figure_eight": 12.0,
    "three_line_figure_eight": 12.0,
    "figure_eight_windy": 8.0,
}
OTHERS = ("f450", "three_star_fixed", "line_4_fixed", "hexa")
PYBULLET = ("three_star_spiral", "three_line_figure_eight")


def cut_off(scenario, after, seconds=8.0):
    """State rows of the base from the last command on."""
    session = session_of(scenario)
    try:
        states_of(session, vehicles_of(scenario), round(after / session.spec.dt))
        rows = [session.plant.state(0)[0, 0].copy()]
        for _ in range(round(seconds / session.spec.dt)):
            session.advance()
            rows.append(session.plant.state(0)[0, 0].copy())
        assert session.failure is None
        assert session.command_buffers[0].counts.holds == 1
    finally:
        session.plant.engine.close()
    return np.array(rows)


def check_settled(rows, *, still=0.02):
    moved = np.abs(rows[:, P] - rows[0, P]).max(axis=1)
    assert np.linalg.norm(rows[0, V]) > 0.3  # it was cut off at speed
    assert moved.max() < 0.6
    assert moved[-1] < 0.15
    assert np.abs(rows[620:, Q][:, :2]).max() < 0.03  # level within 3 s, and to the end
    assert np.abs(rows[-1, V]).max() < still and np.abs(rows[-1, W]).max() < still


@pytest.mark.parametrize("name", CUTS)
def test_a_platform_without_commands_levels_out_and_stays(name):
    still = 0.15 if "windy" in name else 0.02
    check_settled(cut_off(scenario_of(name), CUTS[name]), still=still)


@pytest.mark.slow
@pytest.mark.parametrize("platform", OTHERS)
def test_aircraft_fixed_to_one_body_and_one_alone_do_so_too(platform):
    check_settled(cut_off(scenario_of("figure_eight", platform=platform), 8.0), still=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("name", PYBULLET)
def test_it_does_so_in_pybullet(name):
    check_settled(cut_off(scenario_of(name, engine="pybullet"), CUTS[name]))


@pytest.mark.slow
def test_a_swing_about_the_joints_line_is_damped():
    rows = cut_off(scenario_of("three_line_figure_eight"), 12.0)
    assert np.abs(rows[:200, W]).max() > 1.0
    assert np.abs(rows[-200:, W]).max() < 0.05


@pytest.mark.slow
def test_masses_and_wind_that_nobody_expected_are_carried():
    heavy = ("model_error.mass=1.1", "wind.speed=4.0", "drag='on'")
    rows = cut_off(scenario_of("three_star_spiral", *heavy), 4.5, 15.0)
    assert np.abs(rows[-1, P] - rows[0, P]).max() < 0.15
    assert np.abs(rows[-1, V]).max() < 0.02


def test_aircraft_of_one_body_turn_it_back_by_what_they_thrust_unlike():
    spec = plant_spec(scenario_of("figure_eight", platform="hexa"))
    (vehicle,) = spec.vehicles
    x, guard = np.array(vehicle.start), FailSafe(spec, vehicle)
    level = guard(x).thrust.copy()
    off, rate = 0.02, 0.01  # yaw of the base [rad], and its rate [rad/s]
    x[0, Q] = so3.multiply(so3.quaternion_exp(np.array([0.0, 0.0, off])), x[0, Q])
    x[0, W] = 0.0, 0.0, rate
    more = guard(x).thrust - level
    levers = [each.wrench_of_rotor_thrusts[5, :3].mean() for each in vehicle.platform.fleet]
    wanted = -vehicle.assembly.inertia[2, 2] * (YAW_GAIN * off + YAW_RATE_GAIN * rate)
    assert more @ levers == pytest.approx(wanted)
    assert more.sum() == pytest.approx(0.0, abs=1e-9)


def test_headings_stay_as_they_were():
    """Of two aircraft that flew headed given ways, not of a platform that would turn them to itself."""
    scenario = scenario_of("two_line_figure_eight")
    session = session_of(scenario)
    states_of(session, vehicles_of(scenario), 2400)
    before = session.plant.state(0)[0].copy()
    for _ in range(1200):
        session.advance()
    after = session.plant.state(0)[0]
    np.testing.assert_allclose(_yaw(after[1:]), _yaw(before[1:]), atol=0.02)


def _yaw(rows):
    x, y, z, w = rows[:, Q].T
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
