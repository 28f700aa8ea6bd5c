# SPDX-License-Identifier: BSD-3-Clause
r"""Levenberg-Marquardt over a whole recording of one aircraft, and the marginal covariances of what it finds.

Marginal covariances of all keyframes of a graph.

gtsam eliminates the landmarks; what is left of the information H is banded, since a track joins only keyframes that
it lasts for. Block by block, with the rest of the band R_k after keyframe k, H = L D L^T by

.. math::
    D_k = S_k, \quad U_k = S_{Rk} S_k^{-1}, \quad S_{RR} \leftarrow H_{RR} - U_k S_{Rk}^T ,

and the blocks of the inverse in the band, from the last to the first (Takahashi, Fagan and Chen, 1973), by

.. math::
    \Sigma_{Rk} = -\Sigma_{RR} U_k, \quad \Sigma_{kk} = S_k^{-1} - U_k^T \Sigma_{Rk} .

gtsam's own joint marginals eliminate the whole graph anew for every keyframe.
"""

from collections.abc import Sequence

import gtsam
import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.virpo.batch.factors import state
from iap_estimation.virpo.batch.graph import AircraftGraph
from iap_estimation.virpo.batch.keyframes import Keyframe
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate
from iap_estimation.virpo.spec import VirpoSpec
from iap_estimation.virpo.window.window import EstimateLost

BLOCK = 15  # of a keyframe: gtsam's step of X, V and B
COLUMNS = {"x": range(6), "v": range(6, 9), "b": range(9, 15)}
TOLERANCE = 1e-6  # relative fall of the cost below which it has come to rest
UNDETERMINED = "what was measured does not determine a batch"


def covariances(graph: gtsam.GaussianFactorGraph, keyframes: int, landmarks: list[int]) -> Array:
    """Covariance (K, 15, 15) of the step [dtheta, R^T dp, dv, dba, dbg] of every keyframe.

    Args:
        graph: the linearised factors.
        keyframes: their number K; all of their variables have factors.
        landmarks: all other variables.

    Raises:
        numpy.linalg.LinAlgError: a keyframe is not determined.
    """
    if landmarks:
        _, graph = graph.eliminatePartialMultifrontal(landmarks)
    return inverse_blocks(_banded(graph, keyframes))


def _banded(graph: gtsam.GaussianFactorGraph, keyframes: int) -> Array:
    """The information, its lower band: (K, (1 + width) 15, 15) of each keyframe's columns from its own rows on."""
    factors = [graph.at(i) for i in range(graph.size())]
    blocks = [(_columns(one.keys()), one.information()) for one in factors if one is not None]
    blocks = [(at, information) for at, information in blocks if len(at)]
    width = max(at.max() // BLOCK - at.min() // BLOCK for at, _ in blocks)
    band = np.zeros((keyframes, (1 + width) * BLOCK, BLOCK))
    for at, information in blocks:
        column, row = np.broadcast_arrays(at // BLOCK, at[:, None])
        row = row - BLOCK * column
        below = row >= 0
        within = np.broadcast_to(at % BLOCK, row.shape)
        band[column[below], row[below], within[below]] += information[below]
    return band


def _columns(keys: list[int]) -> Array:
    """Places of variables in the step of all keyframes, one behind the other."""
    parts = [gtsam.Symbol(key) for key in keys]
    steps = [
        BLOCK * one.index() + np.array(COLUMNS[chr(one.chr())])
        for one in parts
    ]  # fmt: skip
    return np.concatenate([np.zeros(0, dtype=np.int64), *steps])


def inverse_blocks(band: Array) -> Array:
    """Diagonal blocks (K, n, n) of the inverse of a banded matrix: (K, (1 + width) n, n), see `_banded`."""
    keyframes, rows, n = band.shape
    inverses, coupled = np.empty((keyframes, n, n)), np.empty((keyframes, rows - n, n))
    S = np.zeros((rows, rows))  # of keyframe k and those behind it
    for k in range(keyframes):
        S[:, :n] += band[k]
        root = np.linalg.inv(np.linalg.cholesky(_mirrored(S[:n, :n])))
        inverses[k] = root.T @ root
        coupled[k] = S[n:, :n] @ inverses[k]
        rest = S[n:, n:] - coupled[k] @ S[n:, :n].T
        S[:] = 0.0
        S[:-n, :-n] = rest
    return _backwards(inverses, coupled)


def _backwards(inverses: Array, coupled: Array) -> Array:
    keyframes, rows, n = coupled.shape
    covariances_of, sigma = np.empty_like(inverses), np.zeros((rows + n, rows + n))
    for k in reversed(range(keyframes)):
        across = -sigma[:rows, :rows] @ coupled[k]
        covariances_of[k] = inverses[k] - coupled[k].T @ across
        wider = np.empty_like(sigma)
        wider[:n, :n], wider[n:, :n], wider[:n, n:] = covariances_of[k], across, across.T
        wider[n:, n:] = sigma[:rows, :rows]
        sigma = wider
    return covariances_of


def _mirrored(lower: Array) -> Array:
    """A symmetric matrix of its lower triangle."""
    return np.tril(lower) + np.tril(lower, -1).T


def smooth(keyframes: Sequence[Keyframe], fleet: Fleet, spec: VirpoSpec) -> list[Estimate]:
    """The most likely states at all keyframes, given everything, with their covariances.

    Twice: the second time with samples integrated at the biases found, and without views that are too far from
    their landmarks (`VirpoSpec.cull`).

    Args:
        keyframes: of the aircraft, at least one; the search begins at their estimates.
        fleet: the aircraft alone, which has cameras.
        spec: see `VirpoSpec`.

    Raises:
        EstimateLost: the cost does not come to rest, or does not determine the states.
    """
    x, recorded = np.array([one.x for one in keyframes]), AircraftGraph(keyframes, fleet, spec)
    recorded.begin_landmarks(x)
    x, _ = _descend(recorded, x, spec)
    recorded.cull(x)
    x, linear = _descend(recorded, x, spec)
    try:
        C = covariances(linear, len(x), recorded.landmarks())
    except np.linalg.LinAlgError as error:
        raise EstimateLost(UNDETERMINED) from error
    estimates = zip(keyframes, x, map(_in_map, C, x), strict=True)
    return [_estimate(*each) for each in estimates]


def _descend(
    recorded: AircraftGraph, x: Array, spec: VirpoSpec
) -> tuple[Array, gtsam.GaussianFactorGraph]:
    """States (K, 16) of least cost near those given, and all factors as they are there.

    Raises:
        EstimateLost: there is no such place.
    """
    graph, iterations = recorded.graph(x), spec.batch.iterations
    params = gtsam.LevenbergMarquardtParams.CeresDefaults()
    params.setMaxIterations(iterations)
    params.setRelativeErrorTol(TOLERANCE)
    params.setAbsoluteErrorTol(0.0)
    try:
        optimizer = gtsam.LevenbergMarquardtOptimizer(graph, recorded.values(x), params)
        values = optimizer.optimize()
    except RuntimeError as error:  # an indeterminate system, which gtsam describes on many lines
        raise EstimateLost(UNDETERMINED) from error
    if optimizer.iterations() >= iterations:
        raise EstimateLost(f"the batch did not come to rest in {iterations} iterations")
    recorded.take_positions(values)
    x = np.array([state(values, k) for k in range(len(x))])
    return x, graph.linearize(values)


def _in_map(C: Array, x: Array) -> Array:
    """Covariance (15, 15) as in `Estimate` of one of gtsam's step [dtheta, R^T dp, dv, dba, dbg]."""
    J = np.zeros((15, 15))
    J[0:3, 3:6] = so3.matrix_from_quaternion(x[3:7])
    J[3:6, 0:3] = J[6:9, 6:9] = J[9:12, 12:15] = J[12:15, 9:12] = np.eye(3)
    return J @ C @ J.T


def _estimate(keyframe: Keyframe, x: Array, covariance: Array) -> Estimate:
    p, q, v, gyro_bias, accel_bias = np.split(x, [3, 7, 10, 13])
    before = keyframe.estimate
    w_B = before.w_B + before.gyro_bias - gyro_bias
    return Estimate(before.t, p, q, v, gyro_bias, accel_bias, covariance, w_B)
