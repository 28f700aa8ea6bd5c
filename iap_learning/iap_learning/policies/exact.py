# SPDX-License-Identifier: BSD-3-Clause
"""Actions of policies in double precision, against which exports are checked."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_learning.policies.policy import Policy

Exact = NDArray[np.float64]


def exact_actions(policy: Policy, observations: ArrayLike) -> Exact:
    """Actions (B, size) of flights at their start, at observations (B, n)."""
    rows = np.atleast_2d(np.asarray(observations, np.float64))
    return _acted(policy, rows, np.zeros((len(rows), policy.memory)))


def exact_flight(policy: Policy, observations: ArrayLike) -> Exact:
    """Actions (T, size) of one flight, at its observations (T, n) one after the other."""
    memory = np.zeros((1, policy.memory))
    rows = np.asarray(observations, np.float64)
    return np.concatenate([_acted(policy, row[None], memory) for row in rows])


def _acted(policy: Policy, rows: Exact, memory: Exact) -> Exact:
    """Actions (B, size), with memories (B, m) that are written."""
    h, first = (rows - policy.mean) / policy.deviation, 0
    for block, arrays in zip(policy.header.blocks, policy.blocks, strict=True):
        wide = {name: each.astype(np.float64) for name, each in arrays.items()}
        end = first + block.memory
        kept = np.ascontiguousarray(memory[:, first:end])
        h = block.run(wide, np.ascontiguousarray(h), kept)
        memory[:, first:end], first = kept, end
    last = len(policy.weights) - 1
    for layer, (weights, biases) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        h = h @ weights.astype(np.float64) + biases
        h = np.tanh(h) if layer < last else np.clip(h, -1.0, 1.0)
    return np.asarray(h)
