# SPDX-License-Identifier: BSD-3-Clause
"""The gated recurrent unit of `iap_learning.policies.blocks.gru` while it learns: by all steps of an episode."""

import numpy as np

from iap_learning.policies.blocks.gru import GATES, Gru
from iap_learning.training.blocks.block import Arrays, BlockSteps, LearningBlock
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.networks import Tensor, orthogonal


def begin(block: Gru, rng: np.random.Generator, inputs: int) -> Arrays:
    """Orthogonal weights of every gate, no biases."""
    parts = {"inputs": inputs, "memory": block.size}
    weights = {
        name: np.hstack([orthogonal(rng, rows, block.size, 1.0) for _ in range(GATES)])
        for name, rows in parts.items()
    }
    return {**weights, "biases": np.zeros((2, GATES * block.size), np.float32)}


def run(block: Gru, arrays: Arrays, steps: BlockSteps) -> Tensor:
    """Memories (T, B, size) after each step."""
    size, (before, behind) = block.size, arrays["biases"]
    products, remembered = steps.x @ arrays["inputs"] + before, 1.0 - steps.starts

    def step(memory: Tensor, inputs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        of_x, is_kept = inputs
        memory = memory * is_kept[:, None]
        of_h = memory @ arrays["memory"] + behind
        gates = jax.nn.sigmoid(of_x[:, : 2 * size] + of_h[:, : 2 * size])
        reset, update = gates[:, :size], gates[:, size:]
        new = jnp.tanh(of_x[:, 2 * size :] + reset * of_h[:, 2 * size :])
        memory = new + update * (memory - new)
        return memory, memory

    _, memories = jax.lax.scan(step, steps.memory, (products, remembered))
    return memories


GRU = LearningBlock(begin, run)
