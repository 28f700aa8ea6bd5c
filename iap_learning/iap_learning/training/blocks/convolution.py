# SPDX-License-Identifier: BSD-3-Clause
"""The convolutions of `iap_learning.policies.blocks.convolution` while they learn."""

import math

import numpy as np

from iap_learning.policies.blocks.convolution import Convolution
from iap_learning.training.blocks.block import Arrays, BlockSteps, LearningBlock
from iap_learning.training.libraries import jax, jnp
from iap_learning.training.networks import Tensor


def begin(block: Convolution, rng: np.random.Generator, inputs: int) -> Arrays:
    """Normal weights of variance 2 / n for n inputs each (He et al., ICCV 2015, arXiv:1502.01852), no biases."""
    arrays: Arrays = {}
    for name, shape in block.shapes(inputs).items():
        if len(shape) == 1:
            arrays[name] = np.zeros(shape, np.float32)
        else:
            deviation = math.sqrt(2.0 / math.prod(shape[1:]))
            arrays[name] = deviation * rng.standard_normal(shape, dtype=np.float32)
    return arrays


def run(block: Convolution, arrays: Arrays, steps: BlockSteps) -> Tensor:
    """Features (T, B, k) of inputs (T, B, n), which end with the image."""
    x, pixels = steps.x, math.prod(block.image)
    rest, image = x[..., :-pixels], x[..., -pixels:].reshape(-1, 1, *block.image)
    strides = (block.stride, block.stride)
    for i in range(len(block.channels)):
        image = jax.lax.conv(image, arrays[f"kernels_{i}"], strides, "VALID")
        image = jax.nn.relu(image + arrays[f"biases_{i}"][:, None, None])
    return jnp.concatenate([rest, image.reshape(*x.shape[:-1], -1)], axis=-1)


CONVOLUTION = LearningBlock(begin, run)
