# SPDX-License-Identifier: BSD-3-Clause
r"""The physical terms of virpo (1) in the normal equations of one aircraft: r_kp, r_kv, r_kq and r_drift.

The first three tie the aircraft to its neighbours' odometry, see `iap_estimation.virpo.factors.physical_jacobians`. In
r_drift (3)-(4) the drifts of that odometry walk at random from keyframe to keyframe. Odometry that ranges bound
does not walk away: with a time T it forgets, :math:`\delta_{k+1} = e^{-t/T} \delta_k`, and its deviation stays
at :math:`\sigma \sqrt{T / 2}` for a walk of density sigma.
"""

import math

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_estimation.virpo.algebra.normal_equations import accumulate, huber, soften
from iap_estimation.virpo.algebra.states import AIRCRAFT, DRIFT, States
from iap_estimation.virpo.factors.neighbours import (
    JOINT,
    Neighbours,
    columns_of,
    joint_indices,
    joint_jacobians,
    joints_at,
)
from iap_estimation.virpo.factors.physical_jacobians import most_residuals, residuals
from iap_estimation.virpo.factors.ranging import FRAME


@njit(cache=True)
def add_physical(
    states: States,
    rows: Array,
    neighbours: Neighbours,
    only_frame: int,
    width: float,
    H: Array,
    g: Array,
) -> float:
    """Add all terms r_kp, r_kv, r_kq, or those that follow one keyframe, to the normal equations.

    Args:
        states: of one aircraft.
        rows: (n, `Neighbours.width`), see `iap_estimation.virpo.factors.neighbours`.
        neighbours: see there.
        only_frame: the keyframe, or -1 for all.
        width: of Huber's kernel on each number; infinity for none.
        H: lower triangle, changed in place.
        g: changed in place.

    Returns:
        Their cost.
    """
    count = len(neighbours.d_B0)
    numbers, columns, cost = most_residuals(count), columns_of(count), 0.0
    joints, r = np.zeros((1 + count, JOINT)), np.zeros(numbers)
    G = np.zeros((numbers, JOINT * (1 + count)))
    S, work, J = np.zeros((G.shape[1], columns)), np.zeros((3, 13)), np.zeros((numbers, columns))
    indices = np.zeros(columns, dtype=np.int64)
    for row in rows:
        k = int(row[FRAME])
        if only_frame >= 0 and k != only_frame:
            continue
        joints_at(states, row, joints)
        n = residuals(joints, row, neighbours, r, G)
        joint_jacobians(states, row, joints, work, S)
        _chain(G[:n], S, J[:n])
        for m in range(n):
            cost += soften(r[m : m + 1], J[m : m + 1], width)
        joint_indices(states, k, indices)
        accumulate(H, g, indices, J[:n], r[:n])
    return cost


@njit(cache=True)
def physical_cost(states: States, rows: Array, neighbours: Neighbours, width: float) -> float:
    """The cost alone."""
    count = len(neighbours.d_B0)
    joints, r = np.zeros((1 + count, JOINT)), np.zeros(most_residuals(count))
    G = np.zeros((len(r), JOINT * (1 + count)))
    cost = 0.0
    for row in rows:
        joints_at(states, row, joints)
        for m in range(residuals(joints, row, neighbours, r, G)):
            cost += huber(r[m : m + 1], width)[1]
    return cost


@njit(cache=True)
def _chain(G: Array, S: Array, J: Array) -> None:
    """The product J = G S; both have many zeros."""
    J[:] = 0.0
    for m in range(G.shape[0]):
        for i in range(G.shape[1]):
            u = G[m, i]
            if u != 0.0:
                for c in range(S.shape[1]):
                    J[m, c] += u * S[i, c]


@njit(cache=True)
def add_drift(
    states: States, spans: Array, walk: Array, only_frame: int, H: Array, g: Array
) -> float:
    """Add r_drift between all successive keyframes, or after one, to the normal equations.

    Args:
        states: of one aircraft.
        spans: (F - 1,) time between the keyframes [s].
        walk: (3,) densities of the random walk: position [m/sqrt(s)], yaw [rad/sqrt(s)]; and the time [s] in which
            drift is forgotten, infinity for the paper's.
        only_frame: the keyframe, or -1 for all.
        H: lower triangle, changed in place.
        g: changed in place.

    Returns:
        Their cost.
    """
    stride, cost = AIRCRAFT + DRIFT * states.drift.shape[1], 0.0
    for k in range(len(states.drift) - 1):
        if only_frame >= 0 and k != only_frame:
            continue
        for o in range(states.drift.shape[1]):
            for i in range(DRIFT):
                weight, kept, step = _walked(states, spans, walk, k, o, i)
                at = k * stride + AIRCRAFT + DRIFT * o + i
                H[at, at] += kept * kept * weight
                H[at + stride, at + stride] += weight
                H[at + stride, at] -= kept * weight
                g[at] -= kept * weight * step
                g[at + stride] += weight * step
                cost += 0.5 * weight * step * step
    return cost


@njit(cache=True)
def drift_cost(states: States, spans: Array, walk: Array) -> float:
    """The cost alone."""
    cost = 0.0
    for k in range(len(states.drift) - 1):
        for o in range(states.drift.shape[1]):
            for i in range(DRIFT):
                weight, _, step = _walked(states, spans, walk, k, o, i)
                cost += 0.5 * weight * step * step
    return cost


@njit(cache=True)
def _walked(
    states: States, spans: Array, walk: Array, k: int, o: int, i: int
) -> tuple[float, float, float]:
    """Of one number of a drift from keyframe k to the next: weight, share that is kept, and what it is off by."""
    density = walk[0] if i < 3 else walk[1]
    kept, span = 1.0, spans[k]
    if walk[2] < math.inf:
        kept = math.exp(-spans[k] / walk[2])
        span = 0.5 * walk[2] * (1.0 - kept * kept)
    off = states.drift[k + 1, o, i] - kept * states.drift[k, o, i]
    return 1.0 / (density * density * span), kept, off


def add_drift_prior(states: States, deviations: Array, H: Array) -> None:
    """Add to H that the drifts of the first keyframe are where they are.

    Args:
        states: of one aircraft.
        deviations: (2,) position [m], yaw [rad].
        H: changed in place.
    """
    indices = np.arange(AIRCRAFT, states.stride)
    H[indices, indices] += np.tile(
        1.0 / np.square(deviations)[[0, 0, 0, 1]], len(indices) // DRIFT
    )
