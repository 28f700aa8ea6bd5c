# SPDX-License-Identifier: BSD-3-Clause
"""A policy's file computes what the network does that JAX has trained."""

import numpy as np
import pytest

pytest.importorskip("jax")

from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.training.judging import write_policy
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import forward, make_network
from iap_learning.training.policy_network import PolicyNetwork

SEEN = 1000  # observations


def test_a_policy_acts_as_the_trained_network_on_a_thousand_observations(tmp_path):
    episodes, rng = make_episodes("hold", 1), np.random.default_rng(0)
    size = episodes.observed
    network = make_network(rng, (size, 64, 64, episodes.size), 1.0)
    mean, deviation = rng.normal(size=size), rng.uniform(0.1, 2.0, size)
    seen = Scaling(mean.astype(np.float32), deviation.astype(np.float32))
    parts = (episodes, PolicyNetwork(network), seen, {"by": "nobody"})
    write_policy(tmp_path / "policy.npz", *parts, settings={}, data=None)
    observations = rng.normal(0.0, 2.0, (SEEN, size)).astype(np.float32)
    trained = jax.jit(lambda x: jnp.clip(forward(network, x, jnp.tanh), -1.0, 1.0))
    wanted = np.asarray(trained(seen(observations)))
    policy = Policy.load(tmp_path / "policy.npz")
    np.testing.assert_allclose(policy(observations), wanted, atol=1e-5)
    assert np.abs(wanted).mean() > 0.1
