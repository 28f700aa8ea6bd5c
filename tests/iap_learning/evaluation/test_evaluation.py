# SPDX-License-Identifier: BSD-3-Clause
"""Episodes that are judged: one of each seed however many fly at once, by the same words in every engine."""

from pathlib import Path

import numpy as np
import pytest
from contact_engines import NAMES
from linear_policies import docking_policy, linear_policy

from iap_description.errors import BadInput
from iap_learning.evaluation import batched
from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.engines import fly_in_engine, record_failures
from iap_learning.evaluation.flyers import EvaluatedAgent, baseline, of_policy
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
    apart = fly_batched(task, docking, range(5, 12))
    assert together.rows == apart.rows
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
def test_experts_and_the_script_fly_dockings() -> None:
    task = make_task("docking")
    assert fly_batched(task, baseline("script"), range(8)).success.all()
    worse = fly_batched(task, baseline("noisy_script"), range(64)).figures["success_rate"]
    assert 0.1 < float(worse or 0.0) < 0.7
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
