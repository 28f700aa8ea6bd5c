# SPDX-License-Identifier: BSD-3-Clause
"""A firmware in the plant that physics_node holds: it flies by messages' commands, and begins anew with a reset."""

import numpy as np
import pytest
from firmwares import fake_betaflight

from iap_bringup.launching.node_parameters import controller_parameters
from iap_description.math import so3
from iap_description.states import Command, P, Q, V
from iap_physics.build import engine_of
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.session.session import Session
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import resolved

STEPS = 40
TIMEOUT, LEANING, SILENT = 0.1, 100, 1200  # [s], periods with and without commands


@pytest.fixture
def scenario():
    """An f450 that hovers by a fake Betaflight."""
    settings = {"firmware": fake_betaflight(), "engine.name": "closed_form"}
    return resolved("hover", settings, {"platform": "f450"})[0]


def hover(command):
    held = Command.zeros(1)
    command.mode = held.mode
    command.thrust[:] = 1.6 * 9.81
    command.q_WB[:] = held.q_WB


def moved_hover(command):
    """A hover that leans, so that the aircraft has a speed where commands end."""
    hover(command)
    command.q_WB[:] = so3.quaternion_exp(np.array([0.0, 0.1, 0.0]))


def states(session):
    out = []
    for _ in range(STEPS):
        session.offer(0, session.t, hover)
        session.advance()
        assert session.failure is None
        out.append(session.plant.state()[0, 0].copy())
    return np.array(out)


def test_a_session_flies_by_it_and_repeats_the_flight_after_a_reset(scenario):
    text = plant_spec(scenario).yaml()
    session = Session(
        PlantSpec.read(text, source="test"), engine_of(plant_spec(scenario)), timeout=1.0
    )
    try:
        first = states(session)
        session.reset()
        assert np.array_equal(states(session), first)
    finally:
        session.close()
    assert np.abs(first[:, P] - first[0, P]).max() < 0.02


def test_sticks_that_stop_become_those_of_a_level_hold(scenario):
    spec = plant_spec(scenario)
    session = Session(spec, engine_of(spec), timeout=TIMEOUT)
    try:
        for _ in range(LEANING):
            session.offer(0, session.t, moved_hover)
            session.advance()
        assert np.linalg.norm(session.plant.state()[0, 0, V]) > 0.3
        for _ in range(SILENT):
            session.advance()
        x = session.plant.state()[0, 0]
        assert session.failure is None and session.command_buffers[0].counts.holds == 1
        assert session.without_commands(0) == "levels out and holds"
        assert np.linalg.norm(x[V]) < 0.05
        assert np.degrees(np.linalg.norm(so3.quaternion_log(x[Q]))) < 1.0
        session.offer(0, session.t, hover)
        session.advance()
        assert not session.is_holding
    finally:
        session.close()


def test_its_failure_ends_the_session_by_its_name(scenario):
    spec = plant_spec(scenario)
    vehicle = spec.vehicles[0]
    firmware = vehicle.firmware.model_copy(update={"command": ("false",)})
    broken = vehicle.model_copy(update={"firmware": firmware})
    session = Session(
        spec.model_copy(update={"vehicles": (broken,)}), engine_of(spec), timeout=1.0
    )
    session.offer(0, session.t, hover)
    session.advance()
    session.close()
    assert session.is_broken
    assert session.failure.outcome == "firmware_not_started"


def test_the_controllers_node_commands_attitudes_for_it(scenario):
    parameters = controller_parameters(scenario, scenario.vehicles[0])
    assert parameters["law"] == "attitude"
