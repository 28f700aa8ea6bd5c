# SPDX-License-Identifier: BSD-3-Clause
"""A quadrotor with an arm takes a box from a table and sets it down elsewhere."""

import pytest
from contact_engines import NAMES

from iap_description.errors import BadInput
from iap_simulation import Simulation


@pytest.mark.slow
@pytest.mark.parametrize("engine", NAMES[:1])
def test_a_box_is_taken_carried_and_set_down(engine):
    with Simulation.of("arm_pick", settings={"engine.name": engine}, seed=4) as simulation:
        simulation.fly()
        metrics = simulation.task.metrics(simulation.plant)
    assert metrics["picked"] and metrics["place_error_m"] < 0.02
    assert metrics["base_rmse_m"] < 0.03 and metrics["base_max_m"] < 0.06


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"gripper.object": "table"}, "no object 'table' of the world that moves freely"),
        ({"gripper.open": 3.0}, "key 'open': must be later than 'close'"),
        ({"engine.name": "closed_form"}, "engine 'closed_form': cannot build arms"),
    ],
)
def test_what_a_gripper_cannot_do_is_refused(settings, said):
    with pytest.raises(BadInput, match=said):
        Simulation.of("arm_pick", settings=settings)
