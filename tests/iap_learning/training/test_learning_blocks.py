# SPDX-License-Identifier: BSD-3-Clause
"""Blocks that learn: over whole episodes they give what policies give step by step; weights begin evenly."""

import numpy as np
import pytest

pytest.importorskip("jax")

from iap_description.errors import BadInput
from iap_learning.policies.blocks.convolution import Convolution
from iap_learning.policies.blocks.gru import Gru
from iap_learning.training import policy_network
from iap_learning.training.blocks.block import BlockSteps
from iap_learning.training.blocks.table import BLOCKS
from iap_learning.training.experiment import Choice, make_experiment
from iap_learning.training.libraries import jax
from iap_learning.training.moments import Scaling
from iap_learning.training.offline import NetworkShape
from iap_learning.training.policy_network import NetworkFlight, PolicyNetwork, memory_size

IMAGE = Convolution(kind="convolution", image=(7, 9), channels=(3, 4), kernel=3, stride=2)
GRU, NEXT = Gru(kind="gru", size=6), Gru(kind="gru", size=5)
OBSERVED = 4 + 63
STEPS, WORLDS = 11, 3


def drawn(blocks: tuple[Convolution | Gru, ...], seed: int = 0) -> PolicyNetwork:
    """A network whose biases are drawn, too."""
    rng = np.random.default_rng(seed)
    shape = NetworkShape(rng, OBSERVED, 2, (8,), (8,))
    network = policy_network.begin(blocks, shape)
    return jax.tree.map(
        lambda each: each + rng.normal(0.0, 0.1, each.shape).astype(np.float32), network
    )


@pytest.mark.parametrize("blocks", [(), (GRU,), (IMAGE,), (IMAGE, GRU), (GRU, NEXT)])
def test_over_a_whole_flight_actions_are_those_of_its_steps(blocks) -> None:
    network, rng = drawn(blocks), np.random.default_rng(1)
    scaling = Scaling(np.full(OBSERVED, 0.3, np.float32), np.full(OBSERVED, 2.0, np.float32))
    observations = rng.normal(size=(STEPS, WORLDS, OBSERVED)).astype(np.float32)
    starts = np.zeros((STEPS, WORLDS), np.float32)
    starts[4, 1] = starts[9, 0] = 1.0
    flight = NetworkFlight(blocks, network, scaling, WORLDS)
    first = rng.normal(0.0, 0.5, flight.memory.shape).astype(np.float32)
    flight.memory[:] = first
    step_by_step = []
    for t in range(STEPS):
        flight.reset(starts[t] > 0.0)
        step_by_step.append(flight(observations[t]))
    steps = BlockSteps(scaling(observations), first, starts)
    np.testing.assert_allclose(
        policy_network.run(blocks, network, steps), step_by_step, rtol=1e-4, atol=1e-5
    )
    assert memory_size(blocks) == first.shape[1]


def test_the_weights_of_every_gate_begin_orthogonal() -> None:
    arrays = BLOCKS["gru"].begin(GRU, np.random.default_rng(2), 9)
    assert {name: each.shape for name, each in arrays.items()} == GRU.shapes(9)
    for gate in np.split(arrays["memory"], 3, axis=1):
        np.testing.assert_allclose(gate.T @ gate, np.eye(6), atol=1e-6)
    for gate in np.split(arrays["inputs"], 3, axis=1):
        np.testing.assert_allclose(gate.T @ gate, np.eye(6), atol=1e-6)
    assert not arrays["biases"].any()


def test_kernels_begin_with_two_over_the_inputs_of_a_number() -> None:
    wide = Convolution(kind="convolution", image=(9, 9), channels=(64, 64), kernel=3, stride=2)
    arrays = BLOCKS["convolution"].begin(wide, np.random.default_rng(3), 81)
    assert {name: each.shape for name, each in arrays.items()} == wide.shapes(81)
    assert arrays["kernels_0"].var() == pytest.approx(2.0 / 9.0, rel=0.15)
    assert arrays["kernels_1"].var() == pytest.approx(2.0 / 576.0, rel=0.05)
    assert not arrays["biases_0"].any()


def test_blocks_are_not_cloned_offline() -> None:
    sets = ("networks.blocks=[{kind: gru, size: 8}]",)
    with pytest.raises(BadInput, match=r"key 'networks.blocks': stage 'offline' trains percep.*"):
        make_experiment("docking", Choice(assignments=sets))
