# SPDX-License-Identifier: BSD-3-Clause
"""Joined modules follow a pilot who moves their leader's reference, as one body and without pushing each other."""

import numpy as np
import pytest

from iap_bringup.teleop.mappings import JoystickMapping, load_mapping
from iap_bringup.teleop.stick_reference import Demand, StickReference
from iap_description.signals import Reference
from iap_description.states import REF_P, REF_Q, Level, P, Q
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.simulation.simulation import Simulation

SIZE = 0.52
FORWARD = Demand(np.array([0.3, 0.0, 0.1]), np.array([0.0, 0.0, 0.3]), held=True)
SETTINGS = {
    "modules.count": 3,
    "vehicles.0.start.mode": "hover",
    "vehicles.0.start.lead_in": 0.0,
    "vehicles.0.state_noise": {
        "position": 0.0,
        "attitude_deg": 0.0,
        "velocity": 0.0,
        "rate_deg": 0.0,
    },
}


@pytest.mark.slow
def test_a_structure_follows_the_stick_of_its_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = load_mapping(JoystickMapping, "gamepad").limits
    with Simulation.of("module_hover", settings=SETTINGS) as simulation:
        leader = simulation.loop.vehicles[1]
        stick = StickReference.at(simulation.state_of("m2"))
        monkeypatch.setattr(leader, "reference", lambda _: Reference(stick.row, Level.POSE))
        off = []
        while simulation.t < 8.0:
            demand = FORWARD if simulation.t < 5.0 else Demand()
            at = simulation.state_of("m2")[0, P]
            stick = stick.moved(demand, simulation.scenario.dt, limits=limits, p_WP_W=at)
            simulation.step()
            x = [simulation.state_of(name)[0] for name in ("m1", "m2", "m3")]
            off.append(x[1][P] - stick.row[REF_P])
        modules = simulation.modules
        assert isinstance(modules, ModulesInFlight)
        wrench = modules.joints.wrenches_S()["j1"]
    assert np.linalg.norm(stick.row[REF_P] - [0.0, 0.0, 1.0]) > 0.8
    assert 2.0 * np.arcsin(stick.row[REF_Q][2]) == pytest.approx(1.4, abs=0.15)  # yaw
    assert np.abs(off).max() < 0.06
    assert np.linalg.norm(off[-1]) < 0.02
    for a, b in ((0, 1), (1, 2)):
        assert np.linalg.norm(x[b][P] - x[a][P]) == pytest.approx(SIZE, abs=1e-3)
        assert abs(x[a][Q] @ x[b][Q]) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(wrench[:3]) < 0.5
