# SPDX-License-Identifier: BSD-3-Clause
"""Localisation over light and weather: what is flown, and what the table says of errors and failures."""

from iap_bringup.experiments.virpo.light import (
    CONDITIONS,
    QUICK,
    light_study,
    light_tables,
)
from iap_bringup.experiments.virpo.published import published
from iap_bringup.experiments.virpo.scores import EstimateKey, FailedEstimate, TrajectoryScore
from iap_bringup.experiments.virpo.study import failures


def score(error):
    return TrajectoryScore(error, error, 0.0, (0.0, error, error, error, error), 0.1)


def test_every_condition_is_seen_by_a_real_cameras_pairs_in_its_own_light():
    seen = set()
    for case in light_study().cases:
        scenario, _ = case.resolve(1)
        cameras = scenario.vehicles[0].sensors.cameras
        assert all(each.effects is not None for each in cameras.values())
        assert (scenario.renderer == "opengl") == (case.name == "fast renderer")
        seen.add(
            (scenario.world.scene, str(scenario.world.weather), str(scenario.world.time_of_day))
        )
    assert len(seen) == len(CONDITIONS)
    assert [case.name for case in light_study(quick=True).cases] == list(QUICK)


def test_errors_stand_beside_the_published_ones_by_day_and_failures_are_counted():
    plan = light_study(quick=True)
    results = {
        EstimateKey(case.name, method, 1, body): score(0.1)
        for case in plan.cases
        for method in case.methods
        for body in case.bodies
    }
    for body in plan.cases[1].bodies:
        results[EstimateKey("rain", "joint", 1, body)] = FailedEstimate("no tracks")
    made = light_tables(results, plan, published())
    cells = {(cell.row, cell.method): cell for cell in made.cells}
    by_day = cells["day: drones", "vio"]
    errors = [published().error("scenes", "a1", f"drone_{k}", "vio") for k in (1, 2, 3)]
    assert by_day.published == by_day.bar == sum(errors) / 3
    assert by_day.passed is True and cells["day: center", "joint"].passed is True
    assert cells["rain: drones", "vio"].published is None
    assert cells["rain: drones", "joint"].passed is False
    assert failures(results) == "1 of 6 estimates failed\n- rain, joint: no tracks"
