# SPDX-License-Identifier: BSD-3-Clause
"""Policies of vehicles that fly on estimates: they observe what the vehicle's own controller would."""

import numpy as np
import pytest

from iap_description.states import P
from iap_learning.tasks.kinds.platform.platform_policy import PlatformPolicy
from iap_simulation.simulation.simulation import Simulation

FLIGHT = {"platform": "f450", "sensors": "capture", "duration": 1.0}
POLICY = ["policy=hold", "platform.name=f450"]


@pytest.mark.parametrize("source", ["truth", "capture_inertial"])
def test_a_policy_observes_the_state_that_its_vehicle_flies_on(source, monkeypatch):
    observed = []
    fly = PlatformPolicy.__call__

    def watch(policy, k, x, *others):
        observed.append(x[0].copy())
        return fly(policy, k, x, *others)

    monkeypatch.setattr(PlatformPolicy, "__call__", watch)
    simulation = Simulation.of("hover", sensors="capture", state_source=source, policy="hold")
    true = []
    for _ in range(100):
        true.append(simulation.plant.state(0)[0, 0].copy())
        simulation.step()
    off = np.linalg.norm(np.array(observed)[:, P] - np.array(true)[: len(observed), P], axis=1)
    if source == "truth":
        assert off.max() == 0.0
    else:
        assert 1e-5 < off[50:].mean() < 0.05
