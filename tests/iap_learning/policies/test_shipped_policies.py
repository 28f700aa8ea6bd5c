# SPDX-License-Identifier: BSD-3-Clause
"""The policies that ship do what README says of them."""

from functools import cache

import numpy as np
import pytest

from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.flyers import baseline, of_policy
from iap_learning.evaluation.results import Results
from iap_learning.policies.policy import Policy, policy_file, shipped_policies
from iap_learning.tasks.kinds.registry import task_of_policy
from iap_physics.engines.make import is_installed
from iap_simulation.runs.run import record

FRESH = 500_000_000  # seed of the first episode
LARGEST = 500_000  # [bytes], of three images


@cache
def flown(name: str, episodes: int) -> Results:
    policy = Policy.load(name)
    return fly_batched(task_of_policy(policy), of_policy(policy), range(FRESH, FRESH + episodes))


@pytest.mark.parametrize("name", shipped_policies())
def test_a_shipped_policy_is_small_and_of_its_task_as_it_is(name: str) -> None:
    policy = Policy.load(name)
    assert policy_file(name).stat().st_size < LARGEST
    assert policy.header.hashes.task == task_of_policy(policy).digest


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seconds"), [("docking_nominal", 1.5), ("docking_hard", 2.3)])
def test_a_shipped_policy_docks_gently(name: str, seconds: float) -> None:
    results = flown(name, 200)
    assert results.success.mean() >= 0.98
    assert results.measures["time"][results.success].mean() <= seconds
    assert np.quantile(results.measures["force_peak"], 0.95) <= 40.0
    assert np.nanquantile(results.measures["closing_speed"], 0.95) <= 0.5


@pytest.mark.slow
def test_hard_dockings_are_flown_faster_than_by_the_script_and_nearly_as_often() -> None:
    """The script, which predicts over late commands, too, and backs off where it jams, fails least."""
    task, seeds = task_of_policy(Policy.load("docking_hard")), range(FRESH, FRESH + 200)
    script = fly_batched(task, baseline("script"), seeds)
    learned = flown("docking_hard", 200)
    assert learned.success.mean() >= script.success.mean() - 0.03
    assert np.nanmean(learned.measures["time"]) < 0.8 * np.nanmean(script.measures["time"])


def test_hold_is_held() -> None:
    results = flown("hold", 100)
    assert results.success.all()
    assert results.measures["error"].mean() <= 0.05


@pytest.mark.slow
def test_images_lead_further_than_a_potential_field_and_that_further_than_a_straight_line() -> (
    None
):
    task, seeds = task_of_policy(Policy.load("navigate")), range(FRESH, FRESH + 50)
    assert flown("navigate", 50).success.mean() >= 0.9
    field, straight = (
        fly_batched(task, baseline(name), seeds[:40]).success.mean()
        for name in ("potential_field", "controller")
    )
    assert 0.8 >= field > 0.5
    assert straight < 0.35


@pytest.mark.slow
def test_images_of_earlier_instants_lead_through_what_moves() -> None:
    """The policy that was trained among standing obstacles, by one image, crosses 37 % of such fields."""
    assert flown("navigate_moving", 96).success.mean() >= 0.5


@pytest.mark.slow
@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_walls_that_are_hard_and_not_where_they_are_believed_are_pushed_softly_and_soon() -> None:
    results = flown("wall_push", 48)
    assert results.success.mean() >= 0.95
    assert np.quantile(results.measures["force_peak"], 0.9) <= 15.0
    assert np.nanmean(results.measures["settling_time"]) <= 3.7


def test_iap_run_docking_flies_the_policy_that_ships(tmp_path) -> None:
    result = record("docking", folder=tmp_path / "run", engine="mujoco", seed=1)
    assert result.metrics["docking"]["success"]
    assert result.metrics["policy"]["sha256"] == Policy.load("docking_nominal").digest
    assert result.metrics["docking"]["lock_time_s"] < 1.6
    assert result.metrics["docking"]["docking_time_s"] < 7.5


@pytest.mark.slow
@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("push_door", 4.9),
        ("open_door", 10.5),
        ("perch_on_wall", 3.5),
        ("peg_in_hole", 12.0),
        ("turn_valve", 7.5),
        ("push_object", 12.0),
    ],
)
def test_what_is_touched_yields_soon_and_nearly_always(name: str, seconds: float) -> None:
    results = flown(name, 16)
    assert results.success.sum() >= 15
    assert results.measures["time"][results.success].mean() <= seconds


@pytest.mark.slow
@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_a_policy_goes_into_a_bore_more_softly_than_the_agent_that_it_learned_from() -> None:
    task, seeds = task_of_policy(Policy.load("peg_in_hole")), range(FRESH, FRESH + 16)
    agent = fly_batched(task, baseline("insert"), seeds)
    learned = flown("peg_in_hole", 16)
    assert learned.measures["force_peak"].mean() < agent.measures["force_peak"].mean()


@pytest.mark.slow
def test_a_policy_with_a_memory_docks_by_depth_images_alone() -> None:
    results = flown("docking_depth", 64)
    assert Policy.load("docking_depth").memory == 64
    assert results.success.mean() >= 0.93
    assert np.quantile(results.measures["force_peak"], 0.95) <= 45.0
    assert np.nanmean(results.measures["time"]) <= 3.0
    task = task_of_policy(Policy.load("docking_depth"))
    still = fly_batched(task, baseline("zero"), range(FRESH, FRESH + 16))
    assert not still.success.any()


@pytest.mark.slow
@pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
def test_a_policy_slides_along_walls_as_the_agent_that_it_imitates() -> None:
    results = flown("slide_along_wall", 32)
    assert results.success.mean() >= 0.95
    assert np.quantile(results.measures["force_peak"], 0.9) <= 15.0
