# SPDX-License-Identifier: BSD-3-Clause
"""Joints that a coordinator in another process opens and closes."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.latching import Hold
from iap_description.states import P
from iap_physics.engines.make import make_engine
from iap_physics.plant_spec import Disturbance, PlantSpec
from iap_physics.session import Session
from iap_simulation.scenario.plant_spec import plant_spec
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
