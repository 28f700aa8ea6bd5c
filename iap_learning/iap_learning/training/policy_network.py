# SPDX-License-Identifier: BSD-3-Clause
"""The network of a policy: blocks, then a perceptron."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from iap_learning.policies.layout import AnyBlock
from iap_learning.training.blocks.block import Arrays, BlockSteps
from iap_learning.training.blocks.table import BLOCKS
from iap_learning.training.libraries import jnp
from iap_learning.training.moments import Scaling
from iap_learning.training.networks import Floats, Network, Tensor, forward
from iap_learning.training.offline import NetworkShape


class PolicyNetwork(NamedTuple):
    """Weights of a policy.

    Attributes:
        layers: of its perceptron.
        blocks: arrays of each block before it.
    """

    layers: Network
    blocks: tuple[Arrays, ...] = ()


def begin(blocks: Sequence[AnyBlock], shape: NetworkShape) -> PolicyNetwork:
    """A policy of random weights that does next to nothing.

    Args:
        blocks: before its perceptron.
        shape: of the networks of a task.
    """
    inputs, arrays = shape.observed, []
    for block in blocks:
        arrays.append(BLOCKS[block.kind].begin(block, shape.rng, inputs))
        inputs = block.outputs(inputs)
    return PolicyNetwork(shape._replace(observed=inputs).actor(), tuple(arrays))


def run(blocks: Sequence[AnyBlock], network: PolicyNetwork, steps: BlockSteps) -> Tensor:
    """Actions (T, B, k), not clipped, in steps with scaled observations, for JAX."""
    x, first = steps.x, 0
    for block, arrays in zip(blocks, network.blocks, strict=True):
        memory = steps.memory[:, first : first + block.memory]
        x = BLOCKS[block.kind].run(block, arrays, BlockSteps(x, memory, steps.starts))
        first += block.memory
    return forward(network.layers, x, jnp.tanh)


def memory_size(blocks: Sequence[AnyBlock]) -> int:
    """Numbers that a policy with these blocks remembers."""
    return sum(block.memory for block in blocks)


class NetworkFlight:
    """A policy in B flights at their start, with numpy.

    Args:
        blocks: before its perceptron.
        network: its weights.
        scaling: of observations.
        worlds: B.

    Attributes:
        memory: (B, m) so far.
    """

    def __init__(
        self, blocks: Sequence[AnyBlock], network: PolicyNetwork, scaling: Scaling, worlds: int
    ) -> None:
        self._blocks, self._network, self._scaling = blocks, network, scaling
        self.memory = np.zeros((worlds, memory_size(blocks)), np.float32)

    def reset(self, worlds: ArrayLike | None = None) -> None:
        """Forget the flights of some worlds, their indices or a mask (B,); or of all."""
        self.memory[... if worlds is None else np.asarray(worlds)] = 0.0

    def __call__(self, observations: Floats) -> Floats:
        """Actions (B, m), not clipped, at observations (B, n); once in every step."""
        x, first = self._scaling(observations), 0
        for block, arrays in zip(self._blocks, self._network.blocks, strict=True):
            part = slice(first, first + block.memory)
            memory = np.ascontiguousarray(self.memory[:, part])
            x = block.run(arrays, np.ascontiguousarray(x), memory)
            self.memory[:, part], first = memory, part.stop
        return np.asarray(forward(self._network.layers, x))
