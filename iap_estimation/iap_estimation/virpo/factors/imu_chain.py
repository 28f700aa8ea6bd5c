# SPDX-License-Identifier: BSD-3-Clause
"""The preintegrated intervals between the keyframes of a window, and their part of the normal equations.

A chain is an `ImuInterval` of every interval k and aircraft a, the fields as there behind two more axes.
"""

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import add, put, put4, qmul, qnormalize, quat, rotate, scale, vec
from iap_estimation.virpo.algebra.normal_equations import accumulate, half_square, run
from iap_estimation.virpo.factors.inertial import inertial, inertial_cost
from iap_estimation.virpo.factors.preintegration import ImuInterval, advance


@njit(cache=True)
def add_chain(
    x: Array, gravity: float, chain: ImuInterval, only_frame: int, H: Array, g: Array, stride: int
) -> float:
    """Add all intervals, or the one that follows a keyframe, to the normal equations; returns their cost."""
    r, J, raw = np.zeros(15), np.zeros((15, 30)), np.zeros((15, 31))
    indices = np.zeros(30, dtype=np.int64)
    cost = 0.0
    for k in range(x.shape[0] - 1):
        if only_frame >= 0 and k != only_frame:
            continue
        for a in range(x.shape[1]):
            inertial(x[k, a], x[k + 1, a], gravity, _interval(chain, k, a), r, J, raw)
            cost += half_square(r)
            run(k * stride + 15 * a, 15, indices, 0)
            run((k + 1) * stride + 15 * a, 15, indices, 15)
            accumulate(H, g, indices, J, r)
    return cost


@njit(cache=True)
def chain_cost(x: Array, gravity: float, chain: ImuInterval) -> float:
    """The cost alone."""
    raw = np.zeros((15, 31))
    cost = 0.0
    for k in range(x.shape[0] - 1):
        for a in range(x.shape[1]):
            cost += inertial_cost(x[k, a], x[k + 1, a], gravity, _interval(chain, k, a), raw)
    return cost


@njit(cache=True)
def predict(x: Array, gravity: float, span: float, delta: Array, out: Array) -> None:
    """The state (16,) after a preintegrated motion (10,) of a span [s]; biases stay."""
    q = quat(x[3:7])
    v = vec(x[7:10])
    fall = (0.0, 0.0, -gravity * span)
    way = add(scale(span, v), scale(0.5 * span, fall))
    put(out, add(add(vec(x), way), rotate(q, vec(delta))))
    put4(out[3:], qnormalize(qmul(q, quat(delta[3:7]))))
    put(out[7:], add(add(v, fall), rotate(q, vec(delta[7:10]))))
    out[10:] = x[10:]


@njit(cache=True)
def propagate(x: Array, gravity: float, samples: Array) -> None:
    """Carry a state (16,) on by samples (S, 7), in place."""
    delta = np.zeros(10)
    delta[6] = 1.0
    span = 0.0
    for s in range(len(samples)):
        advance(samples[s], samples[s, 0], x[10:16], delta)
        span += samples[s, 0]
    predict(x.copy(), gravity, span, delta, x)


@njit(cache=True)
def _interval(chain: ImuInterval, k: int, a: int) -> ImuInterval:
    return ImuInterval(
        chain.span[k, a], chain.delta[k, a], chain.slope[k, a], chain.root[k, a], chain.bias[k, a]
    )
