# SPDX-License-Identifier: BSD-3-Clause
"""Adam, with a rate that is given in each update."""

from typing import Any

from iap_learning.training.libraries import jax, optax
from iap_learning.training.networks import Tensor

Tree = Any  # of arrays


def optimiser(largest_gradient: float) -> optax.GradientTransformation:
    """Adam (Kingma, Ba, ICLR 2015, arXiv:1412.6980) without a rate, of gradients no longer than a norm."""
    return optax.chain(optax.clip_by_global_norm(largest_gradient), optax.scale_by_adam(eps=1e-5))


def moved(
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
