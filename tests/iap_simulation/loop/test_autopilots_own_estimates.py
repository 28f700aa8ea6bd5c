# SPDX-License-Identifier: BSD-3-Clause
"""Flights by autopilots that estimate their attitudes themselves: they arrive, and the estimates stay within bounds.

A bound is three deviations of what the accelerometers' biases tilt, 0.03 m/s^2 over gravity per axis, and of what
gyroscopes' biases of 0.0017 rad/s tilt before they are found, their half over the weight 0.2 1/s.
"""

import math

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.states import Command, Mode, P, Q
from iap_physics.build import build_plant
from iap_physics.engines.make import make_engine
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.propulsion.attitude_estimator import ATTITUDE, BIAS, GYROSCOPE_BIAS, KEY
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.simulation.simulation import Simulation

TILT = 3.0 * math.hypot(0.03 / 9.81, 0.5 * 0.0017 / 0.2)  # 0.9 deg
ESTIMATOR = "control.gains.autopilot.estimator"
MULTIROTOR = {"engine.name": "closed_form", "control.law": "attitude"}


def flown(scenario, seconds, seed=1, settings=MULTIROTOR, **options):
    """Tilts' errors (steps, aircraft) [rad], errors of the biases at the end [rad/s], and places (steps, 3) [m]."""
    tilts, places = [], []
    with Simulation.of(
        scenario, settings=settings, gains="px4", seed=seed, **options
    ) as simulation:
        state = simulation.plant.propulsion[0].fleet_state
        for _ in range(round(seconds / simulation.plant.substeps / simulation.plant.dt)):
            places.append(simulation.step()[0, P].copy())
            memory, true = state.own.memory[0], simulation.plant.engine.state()[0][state.bodies]
            error = so3.multiply(so3.conjugate(true[:, Q]), memory[:, ATTITUDE : ATTITUDE + 4])
            tilts.append(np.linalg.norm(so3.quaternion_log(error)[:, :2], axis=1))
        left = memory[:, BIAS : BIAS + 3] - memory[:, GYROSCOPE_BIAS : GYROSCOPE_BIAS + 3]
        first = memory[:, GYROSCOPE_BIAS : GYROSCOPE_BIAS + 3].copy()
    return np.array(tilts), (first, left), np.array(places)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_multirotor_hovers_by_its_own_estimate_and_finds_its_biases(seed):
    tilts, (first, left), places = flown("hover", 40.0, seed, platform="f450")
    assert tilts.max() < TILT
    assert np.abs(places[2000:] - [0.0, 0.0, 1.5]).max() < 0.05
    assert np.abs(left[:, :2]).max() < 0.4 * np.abs(first[:, :2]).max()


@pytest.mark.slow
def test_three_aircraft_on_a_platform_hover_by_estimates_of_their_own():
    tilts, _, places = flown("hover", 15.0, settings={})
    assert tilts.shape[1] == 3 and tilts.max() < TILT
    assert np.abs(places[1000:] - [0.0, 0.0, 1.5]).max() < 0.01
    assert (np.ptp(tilts, axis=1) > 0.0)[10:].all()  # each has sensors of its own


def test_a_figure_eight_tilts_an_estimate_that_knows_no_velocities():
    """Accelerations of 0.3 m/s^2 in its curves tilt the thrust, and so the estimate, see the filter's own tests."""
    with_velocities, _, places = flown("figure_eight", 20.0, platform="f450")
    without, _, _ = flown(
        "figure_eight",
        20.0,
        settings={**MULTIROTOR, f"{ESTIMATOR}.velocity_hz": None},
        platform="f450",
    )
    assert np.sqrt((with_velocities**2).mean()) < math.radians(0.4) < TILT
    assert np.sqrt((without**2).mean()) > math.radians(1.0)
    assert np.isfinite(places).all()


def test_an_estimate_from_outside_counts_before_the_autopilots_own():
    commands = []
    for is_told in (False, True):
        with Simulation.of(
            "hover", settings=MULTIROTOR, gains="px4", platform="f450"
        ) as simulation:
            plant = simulation.plant
            if is_told:
                tilted = plant.state()[0].copy()
                tilted[:, Q] = so3.quaternion_exp(np.array([0.2, 0.0, 0.0]))
                plant.set_estimate(0, tilted)
            command = Command.zeros(1, Mode.ATTITUDE_THRUST)
            command.q_WB[:, 3] = 1.0
            command.thrust[:] = plant.propulsion[0].airframe.assembly.mass * 9.81
            plant.command(0, command)
            plant.advance()
            commands.append(plant.propulsion[0].rotors.target[0, 0].copy())
    assert np.abs(commands[0] - commands[1]).max() > 100.0


def test_the_plant_of_a_node_flies_as_the_simulation_does():
    with Simulation.of(
        "hover", settings=MULTIROTOR, gains="px4", platform="f450", seed=4
    ) as simulation:
        spec = plant_spec(simulation.scenario)
        sensors = simulation.plant.propulsion[0].fleet_state.own
        again = build_plant(PlantSpec.read(spec.yaml(), source=""), make_engine("closed_form"))
        np.testing.assert_array_equal(again.propulsion[0].fleet_state.own.memory, sensors.memory)
        assert sensors.memory[0, 0, KEY] > 0.0
