# SPDX-License-Identifier: BSD-3-Clause
"""Training by images: an expert that knows the field teaches a policy that sees a part of it."""

import pytest

pytest.importorskip("jax")

from iap_learning.evaluation.batched import fly_each
from iap_learning.evaluation.flyers import of_policy
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.training.experiment import Choice, make_experiment
from iap_learning.training.log import read_progress
from iap_learning.training.training import begin

SMALL = (
    "worlds=16",
    "threads=1",
    "settings={seconds: 4.0}",
    "offline.data.episodes=16",
    "offline.data.keep=all",
    "offline.bc.updates=100",
    "offline.together=50",
    "online.together=1",
    "online.ppo.horizon=8",
    "online.ppo.minibatches=2",
    "online.ppo.critic_first=0",
)


@pytest.mark.slow
def test_both_stages_learn_from_images(tmp_path):
    """Cloning comes closer to the expert, and the policy's file sees terms and blocks of pixels."""
    begin(make_experiment("navigate", Choice(steps=128, assignments=SMALL)), tmp_path)
    rows = read_progress(tmp_path / "progress.csv")
    errors = [row["error"] for row in rows if row["stage"] == "offline" and "error" in row]
    assert errors[-1] < 0.7 * errors[0]
    assert rows[-1]["stage"] == "online"
    observation = Policy.load(tmp_path / "policy.npz").header.observation
    assert observation[-1] == ("inverse_depth", 96, 2.5)


@pytest.mark.slow
def test_a_policy_that_was_cloned_looks_where_it_flies(tmp_path):
    """From 120 flights it has learned far more than a straight line passes, which is 14 %."""
    sets = ("threads=1", "worlds=64", "offline.data.episodes=120", "offline.bc.updates=1000")
    begin(make_experiment("navigate", Choice(online="none", assignments=sets)), tmp_path)
    flyer = of_policy(Policy.load(tmp_path / "policy.npz"))
    cloned = fly_each(make_episodes("navigate", 48), flyer, range(48)).success.mean()
    assert cloned > 0.35
