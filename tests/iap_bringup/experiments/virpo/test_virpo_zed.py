# SPDX-License-Identifier: BSD-3-Clause
"""Localisation with the sensors of virpo's data set: what is flown, and the figures that stand beside it."""

import pytest

from iap_bringup.experiments.virpo.published import published
from iap_bringup.experiments.virpo.scores import EstimateKey, TrajectoryScore
from iap_bringup.experiments.virpo.zed import SEQUENCES, zed_study, zed_tables


def score(error):
    return TrajectoryScore(error, error, 0.0, (0.0, error, error, error, error), 0.1)


def test_every_aircraft_carries_what_the_paper_says_of_its_sensors():
    """Virpo II-B and IV-A: an autopilot's unit on every body, a ZED's pair (0.12 m), ranges of 0.05 m at 40 Hz."""
    for case in zed_study().cases:
        sensors = case.resolve(1)[0].vehicles[0].sensors
        assert (sensors.uwb.rate, sensors.uwb.noise) == (40.0, 0.05)
        left, right = sensors.cameras["left"], sensors.cameras["right"]
        assert right.right_of == "left" and left.effects.rolling_shutter is not None
        mounts = case.resolve(1)[0].vehicles[0].platform.aircraft.mounts
        y = [mounts[each.mount].position[1] for each in (left, right)]
        assert y[0] - y[1] == pytest.approx(0.12)
        assert len(case.drones) == (2 if case.name == "LIAP-2" else 3)
    assert [case.name for case in zed_study(quick=True).cases] == ["SIAP"]


def test_errors_stand_beside_the_means_of_the_sequences_and_a_failed_one_is_left_out_of_them():
    plan = zed_study()
    results = {
        EstimateKey(case.name, method, 1, body): score(0.15)
        for case in plan.cases
        for method in case.methods
        for body in case.bodies
    }
    cells = {
        (cell.row, cell.method): cell for cell in zed_tables(results, plan, published()).cells
    }
    rows = [published().neighbours[name] for name in SEQUENCES["SIAP"]]
    full = [drones[f"drone_{k}"][3] for drones in rows for k in (1, 2, 3)]
    star = cells["SIAP: drones", "virpo"]
    assert star.published == star.bar == pytest.approx(sum(full) / 12)
    assert star.passed is (sum(full) / 12 >= 0.15)
    assert cells["LIAP-2: drones", "vio"].published == pytest.approx(0.399)  # drone_1's failed
    assert cells["LIAP-2: drones", "vio"].bar is None
    assert cells["SIAP: center", "joint"].published is None
