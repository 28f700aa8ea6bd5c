# SPDX-License-Identifier: BSD-3-Clause
"""A kind of blocks while it learns; `iap_learning.training.blocks.table` has them all."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from iap_learning.training.networks import Tensor

Arrays = dict[str, Tensor]  # of one block, by the names in its `shapes`


class LearningBlock(NamedTuple):
    """Functions of a kind of blocks, which take its record first.

    Attributes:
        begin: arrays of random weights: record, generator, numbers before it.
        run: outputs (T, B, k) of the inputs of T steps: record, arrays, steps.
    """

    begin: Callable[[Any, np.random.Generator, int], Arrays]
    run: Callable[[Any, Arrays, "BlockSteps"], Tensor]


class BlockSteps(NamedTuple):
    """T steps of B flights, as a block takes them.

    Attributes:
        x: (T, B, n) its inputs.
        memory: (B, m) before the first step.
        starts: (T, B) 1 where a flight begins with the step, which then remembers nothing; else 0.
    """

    x: Tensor
    memory: Tensor
    starts: Tensor
