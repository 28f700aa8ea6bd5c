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
        judged = simulation.task.metrics(simulation.plant)
    assert judged["picked"] and judged["place_error_m"] < 0.02
    assert judged["base_rmse_m"] < 0.03 and judged["base_max_m"] < 0.06


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
