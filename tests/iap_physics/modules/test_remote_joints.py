# SPDX-License-Identifier: BSD-3-Clause
"""Joints that a coordinator in another process opens and closes."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import Command, Mode, P
from iap_description.vehicles.latching import Hold
from iap_physics.engines.make import make_engine
from iap_physics.plant.disturbances import Disturbance
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.session.session import Session
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import Options, resolve


@pytest.fixture(scope="module")
def spec() -> PlantSpec:
    """Of two modules that are joined from the start, one of which is pulled away."""
    given = ("modules.count=2", "vehicles.0.start.mode=hover")
    spec = plant_spec(resolve("module_hover", Options(assignments=given))[0])
    pull = Disturbance(at=0.0, until=1.0, force=(-20.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0))
    pulled = spec.vehicles[0].model_copy(update={"disturbances": (pull,)})
    return spec.model_copy(update={"vehicles": (pulled, spec.vehicles[1])})


def fly(session: Session, hold: Hold, periods: int) -> float:
    """Change of the modules' distance over some periods without thrust [m]."""
    before = distance(session)
    for _ in range(periods):
        session.offer_joints(session.t, {"j1": hold})
        session.advance()
    return abs(distance(session) - before)


def distance(session: Session) -> float:
    return float(np.linalg.norm(session.plant.state(1)[0, 0, P] - session.plant.state(0)[0, 0, P]))


def test_what_is_locked_stays_together_and_what_is_open_parts(spec: PlantSpec) -> None:
    session = Session(spec, make_engine(spec.engine), timeout=None)
    assert fly(session, Hold.LOCKED, 40) < 1e-3
    session.reset()
    assert fly(session, Hold.OPEN, 40) > 5e-3
    session.reset()  # joined again
    assert fly(session, Hold.LOCKED, 40) < 1e-3


def test_a_session_waits_for_its_joints(spec: PlantSpec) -> None:
    session = Session(spec, make_engine(spec.engine), timeout=None)
    for buffer in session.command_buffers:
        buffer.newest = 0
    assert not session.is_answered
    session.offer_joints(0.0, {"j1": Hold.LOCKED})
    assert session.is_answered


def offer(session: Session, vehicle: int) -> None:
    """Command a vehicle's rotors at the present state."""

    def fill(command: Command) -> None:
        command.mode, command.rpm[:] = Mode.RPM, 9000.0

    session.offer(vehicle, session.t, fill)


def fly_alone(session: Session, hold: Hold) -> None:
    """Fly for longer than the timeout, under commands to the second vehicle alone."""
    offer(session, 0)
    for _ in range(30):
        offer(session, 1)
        session.offer_joints(session.t, {"j1": hold})
        assert session.is_answered == (session.k == 0 or session.without_commands(0) != "")
        session.advance()


def test_who_falls_silent_keeps_its_last_command_while_it_is_joined(spec: PlantSpec) -> None:
    session = Session(spec, make_engine(spec.engine), timeout=0.1)
    fly_alone(session, Hold.LOCKED)
    assert session.without_commands(0) == "its rotors hold the last one"
    assert not session.is_holding
    assert session.plant.propulsion[0].rpm[0, 0, 0] == pytest.approx(9000.0, rel=0.02)
    for _ in range(30):  # now both are silent
        session.advance()
    assert [buffer.is_holding for buffer in session.command_buffers] == [True, True]


def test_who_falls_silent_alone_levels_out(spec: PlantSpec) -> None:
    session = Session(spec, make_engine(spec.engine), timeout=0.1)
    offer(session, 0)
    for _ in range(30):
        offer(session, 1)
        session.offer_joints(session.t, {"j1": Hold.OPEN})
        session.advance()
    assert [buffer.is_holding for buffer in session.command_buffers] == [True, False]
    assert not session.is_answered


def test_joints_of_vehicles_that_are_not_there_are_refused(spec: PlantSpec) -> None:
    given = spec.model_dump(mode="json")
    given["modules"]["joints"]["j1"]["follower"] = "m9"
    with pytest.raises(BadInput, match="there is no vehicle 'm9'"):
        Session(PlantSpec(**given), make_engine(spec.engine), timeout=None)


def test_other_joints_and_other_times_are_refused(spec: PlantSpec) -> None:
    session = Session(spec, make_engine(spec.engine), timeout=None)
    with pytest.raises(BadInput, match="the joints are j1"):
        session.offer_joints(0.0, {"k": Hold.OPEN})
    with pytest.raises(BadInput, match="later"):
        session.offer_joints(1.0, {"j1": Hold.OPEN})
