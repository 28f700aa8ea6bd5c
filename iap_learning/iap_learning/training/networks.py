# SPDX-License-Identifier: BSD-3-Clause
"""Multilayer perceptrons and Gaussian policies, for numpy and JAX alike, and Adam, which trains them."""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from iap_learning.training.libraries import jax, optax

Floats = NDArray[np.float32]
Tensor = Any  # an array of numpy or JAX, or what JAX traces in its place
HIDDEN_GAIN = math.sqrt(2.0)  # of orthogonal weights before a tanh
LOG_2_PI = math.log(2.0 * math.pi)
LearningRate = Annotated[float, Field(strict=True, ge=1e-9, le=1.0)]  # of Adam


class Layer(NamedTuple):
    """An affine layer.

    Attributes:
        weights: (in, out).
        biases: (out,).
    """

    weights: Tensor
    biases: Tensor


Network = tuple[Layer, ...]


def make_network(rng: np.random.Generator, sizes: Sequence[int], gain: float) -> Network:
    """Orthogonal weights (Saxe et al., ICLR 2014, arXiv:1312.6120), no biases.

    Args:
        rng: draws the weights.
        sizes: numbers of the input, of each hidden layer, and of the output.
        gain: of the last layer; a small one makes a policy begin at the middle of its range.
    """
    gains = [HIDDEN_GAIN] * (len(sizes) - 2) + [gain]
    shapes = zip(sizes[:-1], sizes[1:], gains, strict=True)
    return tuple(
        Layer(orthogonal(rng, rows, columns, each), np.zeros(columns, np.float32))
        for rows, columns, each in shapes
    )


def orthogonal(rng: np.random.Generator, rows: int, columns: int, gain: float) -> Floats:
    """A matrix whose rows or columns, whichever are fewer, are orthogonal and have one length."""
    tall = rng.standard_normal((max(rows, columns), min(rows, columns)))
    basis, upper = np.linalg.qr(tall)
    basis *= np.sign(np.diag(upper))  # so that it is distributed evenly
    return (gain * (basis if rows >= columns else basis.T)).astype(np.float32)


def forward(
    network: Network,
    x: Tensor,
    activation: Callable[[Tensor], Tensor] = np.tanh,
) -> Tensor:
    """Output (..., out) of a network for inputs (..., in); the last layer is linear.

    With an activation of JAX it can be differentiated.
    """
    for layer in network[:-1]:
        x = activation(x @ layer.weights + layer.biases)
    last = network[-1]
    return x @ last.weights + last.biases


def log_density(
    actions: Tensor,
    means: Tensor,
    log_sigma: Tensor,
    exp: Callable[[Tensor], Tensor] = np.exp,
) -> Tensor:
    r"""Logarithm (...,) of a Gaussian's density at actions (..., n), with a deviation for each of its n numbers.

    .. math::
        \log\pi(a) = -\tfrac12\sum_k\left(\frac{a_k-\mu_k}{\sigma_k}\right)^2
                     - \sum_k\log\sigma_k - \tfrac n2\log 2\pi
    """
    away = (actions - means) * exp(-log_sigma)
    size = actions.shape[-1]
    return -0.5 * (away * away).sum(-1) - log_sigma.sum() - 0.5 * size * LOG_2_PI


Tree = Any  # of arrays


def optimiser(largest_gradient: float) -> optax.GradientTransformation:
    """Adam (Kingma, Ba, ICLR 2015, arXiv:1412.6980) without a rate, of gradients no longer than a norm."""
    return optax.chain(optax.clip_by_global_norm(largest_gradient), optax.scale_by_adam(eps=1e-5))


def optimiser_step(
    adam: optax.GradientTransformation,
    gradient: Tree,
    state: Tree,
    parameters: Tree,
    rate: Tensor,
) -> tuple[Tree, Tree]:
    """Parameters, and the optimiser's state, after a step against a gradient."""
    direction, state = adam.update(gradient, state)
    return jax.tree.map(lambda p, d: p - rate * d, parameters, direction), state


def followed(slow: Tree, fast: Tree, tau: float) -> Tree:
    r"""Target parameters :math:`\theta' \leftarrow \theta' + \tau(\theta - \theta')`."""
    return jax.tree.map(lambda s, f: s + tau * (f - s), slow, fast)
