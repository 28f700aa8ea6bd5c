# SPDX-License-Identifier: BSD-3-Clause
"""States of a session: missing and holding vehicles, collisions, and commands that are too old."""

import numpy as np
import pytest
from commanding import answer, copies, session_of
from flying import scenario_of

from iap_description.errors import BadInput
from iap_description.states import Command
from iap_physics.session.placement import place
from iap_simulation.vehicles.vehicle import vehicles_of

DT = 0.005


@pytest.fixture(scope="module")
def scenario():
    return scenario_of("hover", "faults=[{at: 0.02, aircraft: 1, rotor: 2, thrust: 0.9}]")


def silent(session, steps):
    for _ in range(steps):
        session.advance()
    return session.is_holding


def test_a_vehicle_holds_once_its_newest_command_is_older_than_the_timeout(scenario):
    """At 200 Hz, 0.02 s are four periods; before the first command the newest has the number -1."""
    session = session_of(scenario, timeout=0.02)
    held = [silent(session, 1) for _ in range(6)]
    assert held == [False, False, False, False, True, True]
    assert session.without_commands(0) == "levels out and holds" and not session.has_begun
    assert session.missing == ["iap"]
    answer(session, vehicles_of(scenario))
    assert session.has_begun and session.is_answered and session.missing == []
    assert not silent(session, 5) and session.without_commands(0) == ""
    assert silent(session, 1)
    session.reset()
    assert not session.is_holding and not session.has_begun and session.k == 0 == session.t
    patient = session_of(scenario, timeout=None)
    assert not silent(patient, 60)


def test_estimates_count_from_the_first_state_on_and_are_dropped_while_it_holds(
    scenario, monkeypatch
):
    session, taken = session_of(scenario, timeout=0.01), []
    monkeypatch.setattr(session.plant, "set_estimate", lambda i, x: taken.append(x))
    session.set_estimate(0, 0.0, "first")
    assert taken == ["first"]
    silent(session, 2)
    assert taken == ["first"]
    silent(session, 1)
    assert taken == ["first", None]
    session.set_estimate(0, 2 * DT + 1e-9, "second")  # by rounding down
    assert taken[-1] == "second"
    session.reset()
    assert taken[-1] is None


def test_faults_that_have_struck_are_told_with_their_time(scenario):
    session = session_of(scenario)
    silent(session, 3)
    assert session.struck == []
    silent(session, 2)
    (line,) = session.struck
    assert line.startswith("t = 0.020 s: iap: ") and "rotor" in line


def test_joints_are_refused_where_there_are_none(scenario):
    session = session_of(scenario)
    with pytest.raises(BadInput, match="^there are no joints$"):
        session.offer_joints(0.0, {})
    assert session.joints is None and session.arms == {}


def test_what_is_measured_is_the_present_state_of_the_central_body(scenario):
    session = session_of(scenario)
    np.testing.assert_array_equal(session.measured[0], session.plant.state(0)[0, 0])
    command = Command.zeros(3)
    session.offer(0, 0.0, copies(command))
    for _ in range(3):
        session.advance()
    np.testing.assert_array_equal(session.measured[0], session.plant.state(0)[0, 0])
    assert session.samples == [None] and session.sensors == [None]


def test_a_vehicle_is_put_elsewhere_at_the_present_time_with_its_rotors_turning(scenario):
    session = session_of(scenario)
    silent(session, 7)
    plant = session.plant
    plant.propulsion[0].rpm[0, 1, 2] = 4321.0
    rpm, ticks = plant.propulsion[0].rpm.copy(), plant.ticks.copy()
    rows = plant.engine.state()[0].copy()
    rows[:, 0] += 2.0
    session.set_estimate(0, session.t, rows)
    place(session, rows)
    np.testing.assert_allclose(plant.engine.state()[0], rows, atol=1e-12)
    np.testing.assert_array_equal(plant.propulsion[0].rpm, rpm)
    assert plant.ticks.tolist() == ticks.tolist() == [35] and session.t == pytest.approx(7 * DT)
    np.testing.assert_allclose(session.measured[0], rows[0], atol=1e-12)
    assert not plant.propulsion[0].known.is_used.any()  # estimates of before are of elsewhere
    torn = rows.copy()
    torn[1, 0] += 0.5
    with pytest.raises(BadInput):
        place(session, torn)
    np.testing.assert_allclose(plant.engine.state()[0], rows, atol=1e-12)
    assert plant.ticks.tolist() == [35]
    session.is_broken = True
    with pytest.raises(BadInput, match="^the flight is over: None$"):
        place(session, rows)
