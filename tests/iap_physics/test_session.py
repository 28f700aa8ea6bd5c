# SPDX-License-Identifier: BSD-3-Clause
"""The plant under commands from outside: what is late, lost or held, what breaks, and what a reset brings back."""

from types import SimpleNamespace

import numpy as np
import pytest
from commanding import answer, command_of, copies, session_of, states_of
from flying import fly_scenario, scenario_of

from iap_description.errors import BadInput, FlightFailed
from iap_description.states import Command, Mode
from iap_physics.engines.engine import WORLD, Contact
from iap_physics.session.pushes import pushes
from iap_simulation.vehicles.vehicle import vehicles_of

DT = 0.005


WINDY = (
    "state_noise.position=0.005",
    "state_noise.latency=0.01",
    "wind.speed=3.0",
    "wind.turbulence=5.0",
)


def test_it_flies_what_the_loop_flies_and_again_after_a_reset():
    scenario = scenario_of("three_star_spiral", *WINDY, duration=1.0)
    loop = fly_scenario("three_star_spiral", *WINDY, duration=1.0)[0].x
    session = session_of(scenario)
    for _ in range(2):
        rows = states_of(session, vehicles_of(scenario), len(loop))
        np.testing.assert_array_equal(rows, loop)
        session.reset()
        assert session.k == 0


def test_commands_are_counted_by_what_became_of_them():
    scenario = scenario_of("hover")
    session, vehicles = session_of(scenario), vehicles_of(scenario)
    counts = session.command_buffers[0].counts
    states_of(session, vehicles, 10)
    session.advance()  # 10 never comes
    session.advance()  # 11 comes late
    session.offer(0, 11 * DT, copies(command_of(session, vehicles, 0)))
    answer(session, vehicles)
    assert (counts.taken, counts.late, counts.lost) == (11, 2, 0)
    session.offer(0, 11 * DT, copies(command_of(session, vehicles, 0)))  # again
    assert counts.late == 2


def test_without_commands_it_holds_and_what_never_came_is_lost():
    scenario = scenario_of("three_star_spiral")
    session, vehicles = session_of(scenario), vehicles_of(scenario)
    states_of(session, vehicles, 900)
    there = session.plant.state(0)[0, 0, :3].copy()
    for _ in range(600):
        session.advance()
    command_buffer = session.command_buffers[0]
    base = session.plant.state(0)[0, 0]
    assert command_buffer.is_holding and command_buffer.counts.holds == 1
    assert np.abs(base[:3] - there).max() < 0.6
    assert np.abs(base[3:5]).max() < 0.02
    assert np.abs(base[7:13]).max() < 0.1
    answer(session, vehicles)
    session.advance()
    assert not command_buffer.is_holding
    assert command_buffer.counts.lost == 600


def test_a_command_that_cannot_be_used_changes_nothing():
    scenario = scenario_of("hover")
    session, vehicles = session_of(scenario, timeout=None), vehicles_of(scenario)
    states_of(session, vehicles, 5)

    def refuse(out):
        raise BadInput("command: not finite")

    with pytest.raises(BadInput):
        session.offer(0, session.t, refuse)
    with pytest.raises(BadInput, match="later than the present state"):
        session.offer(0, session.t + DT, copies(command_of(session, vehicles, 0)))
    assert not session.is_answered
    assert session.missing == ["iap"]
    answer(session, vehicles)
    assert session.is_answered


def test_estimates_of_the_future_and_of_before_the_last_one_are_left_out(monkeypatch):
    scenario = scenario_of("hover")
    session, vehicles = session_of(scenario, timeout=None), vehicles_of(scenario)
    states_of(session, vehicles, 5)
    taken, x = [], session.plant.state(0)[0].copy()
    monkeypatch.setattr(session.plant, "set_estimate", lambda _, rows: taken.append(rows[0, 0]))
    for k in (3, 9, 2, 6, session.k + 1, session.k, 4, session.k):
        x[0, 0] = k
        session.set_estimate(0, k * DT, x.copy())
    assert session.k == 5
    assert taken == [3.0, 5.0, 5.0]


def test_a_velocity_is_refused_at_once_by_a_plant_that_takes_none():
    """A command of another kind of plant must not end the session in its next period."""
    scenario = scenario_of("hover")
    session, vehicles = session_of(scenario), vehicles_of(scenario)
    with pytest.raises(BadInput, match="velocities are for a plant identified from logs"):
        session.offer(0, 0.0, copies(Command.zeros(3, Mode.VELOCITY)))
    answer(session, vehicles)
    session.advance()
    assert session.failure is None


def test_a_platform_wrench_is_refused_with_the_topic_that_takes_it():
    session = session_of(scenario_of("hover"))
    order = Command.zeros(3, Mode.WRENCH)
    with pytest.raises(BadInput, match="publish on command/wrench"):
        session.offer(0, 0.0, copies(order))


def test_a_state_that_breaks_stays_and_only_a_reset_helps(monkeypatch):
    scenario = scenario_of("hover")
    session, vehicles = session_of(scenario), vehicles_of(scenario)
    states_of(session, vehicles, 5)

    def diverge():
        raise FlightFailed("diverged", session.t, "not a number")

    with monkeypatch.context() as broken:
        broken.setattr(session.plant, "advance", diverge)
        answer(session, vehicles)
        session.advance()
    assert session.is_broken
    assert session.failure.outcome == "diverged"
    assert session.k == 5
    session.reset()
    assert not session.is_broken


def test_a_crash_is_noted_and_the_flight_goes_on():
    scenario = scenario_of("hover", engine="pybullet")
    session = session_of(scenario)
    try:
        fall = command_of(session, vehicles_of(scenario), 0)
        fall.thrust[:] = 0.0
        for _ in range(300):
            session.offer(0, session.t, copies(fall))
            session.advance()
        assert session.failure.outcome == "crashed"
        assert not session.is_broken
        assert session.k == 300
    finally:
        session.plant.engine.close()


def test_two_bodies_of_a_vehicle_that_keep_touching_have_collided_once(monkeypatch):
    scenario = scenario_of("hover")
    session, vehicles = session_of(scenario), vehicles_of(scenario)
    touch = Contact(1, 2, (0.0, 0.0, 1.5), (1.0, 0.0, 0.0), -1e-4, (0.0, 0.0, 0.0))
    monkeypatch.setattr(session.plant.engine, "contacts", lambda: [touch])
    states_of(session, vehicles, 20)
    assert [pair[1:] for pair in session.monitor.collisions] == [("iap/drone_1", "iap/drone_2")]
    assert session.failure is not None and session.failure.outcome == "crashed"


def test_a_contact_pushes_both_bodies_the_opposite_way_and_no_other_vehicle():
    place, force = (1.0, 2.0, 3.0), (4.0, 6.0, -5.0)
    between = Contact(1, 6, place, (1.0, 0.0, 0.0), -1e-4, force)
    on_world = Contact(7, WORLD, place, (0.0, 0.0, 1.0), -1e-4, force)
    engine = SimpleNamespace(contacts=lambda: [between, on_world])
    vehicles = [SimpleNamespace(rows=slice(4 * i, 4 * i + 4)) for i in range(3)]
    plant = SimpleNamespace(engine=engine, propulsion=vehicles)
    np.testing.assert_array_equal(pushes(plant, 0), [[place, force]])
    opposite = [-each for each in force]
    np.testing.assert_array_equal(pushes(plant, 1), [[place, opposite], [place, force]])
    assert pushes(plant, 2).shape == (0, 2, 3)
