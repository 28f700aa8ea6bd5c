# SPDX-License-Identifier: BSD-3-Clause
"""A pen at the end of an arm pushes against a wall with what the arm's tip feels, while it moves along it."""

import pytest

from iap_simulation.runs.run import record

STILL = {"by": [0.0, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
STROKE = {"seconds": 2.0, "by": [0.0, 0.1, 0.0], "turn_deg": [0.0, 0.0, 0.0]}
SHORT = {  # from 15 mm before the wall
    "reference.position": [-2.22, 0.0, 2.3],
    "reference.moves": [{"seconds": 2.5, **STILL}, STROKE],
    "start.lead_in": 0.0,
    "push.at": 0.2,
    "push.ramp": 0.2,
    "metrics.after_contact": 1.5,
}


@pytest.mark.slow
def test_the_tip_of_an_arm_holds_its_force_and_its_path_on_a_wall(tmp_path):
    """Bars: 0.2 N, 3 mm."""
    metrics = record("arm_write_tip", folder=tmp_path / "run", settings=SHORT).metrics
    assert metrics["contact_losses"] == 0 and metrics["outcome"] == "completed"
    assert metrics["force_rmse_n"][0] < 0.2
    assert 0.0 < metrics["tip_path_rmse_m"] < 3e-3
