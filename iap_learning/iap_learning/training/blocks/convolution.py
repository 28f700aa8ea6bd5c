# SPDX-License-Identifier: BSD-3-Clause
"""The convolutions of `iap_learning.policies.blocks.convolution` while they learn, as products of matrices.

Within a loop that XLA compiles for a CPU, its own convolutions take six times as long.
"""

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
    rest, image = x[..., :-pixels], x[..., -pixels:].reshape(-1, *block.image, 1)
    for i in range(len(block.channels)):
        kernels = jnp.moveaxis(arrays[f"kernels_{i}"], (2, 3), (0, 1))  # rows, columns, out, in
        weights = jnp.swapaxes(kernels, 2, 3).reshape(-1, kernels.shape[2])
        image = jax.nn.relu(_patches(block, image) @ weights + arrays[f"biases_{i}"])
    features = jnp.moveaxis(image, -1, 1).reshape(*x.shape[:-1], -1)
    return jnp.concatenate([rest, features], axis=-1)


def _patches(block: Convolution, image: Tensor) -> Tensor:
    """Numbers that a kernel covers at each place, in images (N, rows, columns, channels): row by row, by channels."""
    rows, columns = ((each - block.kernel) // block.stride for each in image.shape[1:3])
    return jnp.concatenate(
        [
            image[:, i : i + block.stride * rows + 1 : block.stride][
                :, :, j : j + block.stride * columns + 1 : block.stride
            ]
            for i in range(block.kernel)
            for j in range(block.kernel)
        ],
        axis=-1,
    )


CONVOLUTION = LearningBlock(begin, run)
