# SPDX-License-Identifier: BSD-3-Clause
"""Evaluations and their results."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from contact_engines import NAMES
from linear_policies import docking_policy, linear_policy

from iap_bringup.terminal.evaluation import histogram, success_text
from iap_description.errors import BadInput
from iap_learning.evaluation import batched
from iap_learning.evaluation.baselines import random_policy
from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.engines import fly_in_engine, record_failures
from iap_learning.evaluation.flyers import EvaluatedAgent, baseline, of_policy
from iap_learning.evaluation.results import Results
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_episodes, make_task

GAINS = {"position_error": 6.0, "velocity": -4.0}


def kept(policy: Policy, folder: Path) -> EvaluatedAgent:
    """A policy with a file, so that single runs can be flown by it."""
    path = folder / "policy.npz"
    policy.save(path)
    return of_policy(Policy.load(path))


@pytest.fixture
def docking(tmp_path: Path) -> EvaluatedAgent:
    return kept(docking_policy(make_episodes("docking", 1)), tmp_path)


@pytest.fixture
def holding(tmp_path: Path) -> EvaluatedAgent:
    return kept(linear_policy(make_episodes("hold", 1), gains=GAINS), tmp_path)


def test_a_seed_has_the_same_episode_however_many_fly_at_once(
    docking: EvaluatedAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task("docking")
    together = fly_batched(task, docking, range(5, 12))
    monkeypatch.setattr(batched, "AT_ONCE", 3)
    told: list[int] = []
    apart = fly_batched(task, docking, range(5, 12), progress=told.append)
    assert together.rows == apart.rows
    assert told == sorted(told) and {3, 6, 7} <= set(told)  # at the end of each batch
    assert together.success.all()


@pytest.mark.slow
@pytest.mark.parametrize("engine", NAMES)
def test_the_batched_contact_and_engines_agree_on_a_policy(
    docking: EvaluatedAgent, engine: str
) -> None:
    task = make_task("docking")
    many = fly_batched(task, docking, range(3)).measures
    found = fly_in_engine(task, docking, engine, range(3))
    assert found.outcomes == ["arrived"] * 3
    np.testing.assert_allclose(found.measures["time"], many["time"], rtol=0.1)
    closing = found.measures["closing_speed"]
    np.testing.assert_allclose(closing, many["closing_speed"], atol=0.02)


def test_a_policy_is_judged_in_the_closed_form_as_in_many_worlds(holding: EvaluatedAgent) -> None:
    task = make_task("hold")
    many = fly_batched(task, holding, [3, 4])
    single = fly_in_engine(task, holding, "closed_form", [3, 4])
    np.testing.assert_array_equal(single.success, many.success)
    np.testing.assert_allclose(single.measures["error"], many.measures["error"], rtol=1e-9)
    assert many.measures["error"].max() < 1e-3
    assert single.outcomes == many.outcomes == ["time", "time"]


def test_what_does_nothing_fails_and_its_random_actions_are_those_of_its_seed() -> None:
    task = make_task("hold")
    assert not fly_batched(task, baseline("zero"), range(4)).success.any()
    random = baseline("random")
    both, alone = fly_batched(task, random, [7, 8]), fly_batched(task, random, [8])
    assert both.rows[1] == alone.rows[0]
    assert not both.success.any()


@pytest.mark.slow
def test_random_actions_are_spread_evenly_over_their_range() -> None:
    many = SimpleNamespace(count=2000, size=3)
    actions = np.asarray(random_policy(4)(many))
    np.testing.assert_allclose(
        np.percentile(actions, [0, 25, 50, 75, 100]), [-1, -0.5, 0, 0.5, 1], atol=0.05
    )


def test_experts_and_the_script_fly_dockings() -> None:
    task = make_task("docking")
    assert fly_batched(task, baseline("script"), range(8)).success.all()
    with pytest.raises(BadInput, match="flies dockings, not task .hold."):
        fly_batched(make_task("hold"), baseline("noisy_script"), [0])


@pytest.mark.slow
def test_the_first_failure_of_each_cause_is_recorded(tmp_path: Path) -> None:
    task = make_task("docking", {"force": 1.0, "settings": {"docking.success.peak_force": 1.0}})
    script = baseline("script")
    results = fly_batched(task, script, range(4, 8))
    assert results.causes == {"too_forceful": 4}
    runs = record_failures(results, task, script, "mujoco", tmp_path)
    run = runs["too_forceful"]
    assert run.outcome == "not_docked"
    assert run.folder == tmp_path / "failures" / "too_forceful"
    assert (run.folder / "metrics.json").is_file()
    assert "seed: 4" in (run.folder / "config.yaml").read_text()


def test_who_flies_no_single_run_says_so() -> None:
    with pytest.raises(BadInput, match="'zero' flies episodes alone"):
        fly_in_engine(make_task("hold"), baseline("zero"), "closed_form", [0])
    with pytest.raises(BadInput, match="no baseline 'nobody'"):
        baseline("nobody")


def results() -> Results:
    """Ten episodes, of which two have been too forceful and one too slow."""
    success = np.array([True] * 7 + [False] * 3)
    outcomes = ["arrived"] * 7 + ["too_forceful", "time", "too_forceful"]
    time = np.array([2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, np.nan, np.nan, 9.0])
    force = np.arange(10.0, 110.0, 10.0)
    measures = {"time": time, "force_peak": force}
    return Results(np.arange(20, 30), success, outcomes, measures)


def test_times_are_those_of_successes_and_forces_those_of_all() -> None:
    figures = results().figures
    assert figures["successes"] == 7
    assert figures["time_mean"] == pytest.approx(2.3)
    assert figures["force_peak_mean"] == pytest.approx(55.0)
    assert figures["force_peak_95"] == pytest.approx(95.5)


def test_three_failures_of_a_thousand_keep_the_lower_bound_above_99_percent() -> None:
    for failures, is_above in ((3, True), (4, False)):
        success = np.arange(1000) >= failures
        words = ["arrived" if good else "time" for good in success]
        many = Results(np.arange(1000), success, words, {"time": np.ones(1000)})
        assert (float(many.figures["success_low"] or 0.0) >= 0.99) == is_above


def test_failures_are_sorted_by_cause_and_the_first_seed_of_each_is_known() -> None:
    assert results().causes == {"too_forceful": 2, "time": 1}
    assert results().first_failures == {"too_forceful": 27, "time": 28}


def test_what_no_episode_has_is_none() -> None:
    alone = Results(np.arange(1), np.array([False]), ["time"], {"time": np.array([np.nan])})
    assert alone.figures["time_mean"] is None
    assert alone.figures["time_95"] is None


def test_joined_parts_are_the_whole() -> None:
    whole = Results.joined([results(), results()])
    assert whole.figures["successes"] == 14
    assert len(whole.rows) == 20
    assert whole.rows[7]["outcome"] == "too_forceful"


def test_a_histogram_has_every_value_and_its_longest_bar_is_full() -> None:
    lines = histogram(np.array([1.0, 1.0, 1.0, 2.0, 3.0]), "s")
    assert sum(int(line.split()[-1]) for line in lines) == 5
    assert max(line.count("#") for line in lines) == 40
    assert histogram(np.full(9, 5.0), "s") == []
    assert success_text(results()).startswith("70.0 % (39.7 to 89.2), 7 of 10")
