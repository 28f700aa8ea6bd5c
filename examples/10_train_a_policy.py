# SPDX-License-Identifier: BSD-3-Clause
"""Training: a linear policy learns to hold its place, by random search over many worlds at once.

You see its return rise. It needs numpy alone; `iap train hold_velocity` trains a network by PPO (extra: training).
Run it with: python examples/10_train_a_policy.py
"""

import sys

import numpy as np

from iap_learning.tasks.kinds.registry import make_episodes

ROUNDS, WORLDS = (12, 32) if "--quick" in sys.argv else (60, 64)
STEP, SPREAD, STEPS = 0.2, 0.2, 100  # size of an update, of a change, and length of an episode
rng = np.random.default_rng(1)

# A task in many worlds: observations (worlds, n), actions (worlds, m) between -1 and 1.
episodes = make_episodes("hold_velocity", WORLDS)
inputs, outputs = episodes.observed, episodes.size


def returns(weights, seed):
    """Sum of rewards of one episode in each world; world i flies by weights[i]."""
    observation = episodes.reset(seeds=range(seed, seed + WORLDS))
    total = np.zeros(WORLDS)
    for _ in range(STEPS):
        actions = np.einsum("bmn,bn->bm", weights, observation)
        step = episodes.step(np.clip(actions, -1.0, 1.0))
        observation = step.observation
        total += step.reward
    return total


# Augmented random search: half of the worlds fly changed weights, half the opposite changes.
weights = np.zeros((outputs, inputs))
for number in range(ROUNDS):
    changes = rng.standard_normal((WORLDS // 2, outputs, inputs))
    both = np.concatenate([weights + SPREAD * changes, weights - SPREAD * changes])
    score = returns(both, seed=1000 * number)
    gain = score[: WORLDS // 2] - score[WORLDS // 2 :]
    weights += STEP / (score.std() + 1e-9) * np.mean(gain[:, None, None] * changes, axis=0)
    if number % max(1, ROUNDS // 10) == 0:
        print(f"round {number:3}: mean return {score.mean():6.2f}")

final = returns(np.broadcast_to(weights, (WORLDS, outputs, inputs)), seed=10**6).mean()
still = returns(np.zeros((WORLDS, outputs, inputs)), seed=10**6).mean()
print(f"on new starts: {final:.2f}; without any action: {still:.2f}")
