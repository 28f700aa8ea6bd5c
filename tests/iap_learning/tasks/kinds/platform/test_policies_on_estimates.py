# SPDX-License-Identifier: BSD-3-Clause
"""Policies of vehicles that fly on estimates: they observe what the vehicle's own controller would."""

import numpy as np
import pytest

from iap_description.states import P
from iap_learning.tasks.kinds.platform.platform_policy import PlatformPolicy
from iap_simulation.simulation.simulation import Simulation


@pytest.mark.parametrize(
    ("source", "least", "most"), [("truth", 0.0, 0.0), ("capture_inertial", 1e-5, 0.02)]
)
def test_a_policy_observes_the_state_that_its_vehicle_flies_on(source, least, most, monkeypatch):
    keys = {"policy": "hold_rotor_thrust", "start.lead_in": 0.0}
    how = {"platform": "f450", "sensors": "capture", "state_source": source, "duration": 1.0}
    simulation, errors = Simulation.of("hover", settings=keys, **how), []
    fly = PlatformPolicy.__call__

    def watch(policy, k, x, *others):
        errors.append(np.linalg.norm(x[0, P] - simulation.plant.state(0)[0, 0, P]))
        return fly(policy, k, x, *others)

    monkeypatch.setattr(PlatformPolicy, "__call__", watch)
    simulation.fly()
    assert len(errors) >= 200
    assert least <= np.mean(errors) <= most
    assert simulation.plant.state(0)[0, 0, 2] > 1.0
