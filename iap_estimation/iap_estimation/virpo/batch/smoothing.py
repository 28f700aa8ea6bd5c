# SPDX-License-Identifier: BSD-3-Clause
"""Levenberg-Marquardt over a whole recording of one aircraft, and the marginal covariances of what it finds."""

from collections.abc import Sequence

import gtsam
import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.virpo.batch.factors import state
from iap_estimation.virpo.batch.graph import AircraftGraph
from iap_estimation.virpo.batch.keyframes import Keyframe
from iap_estimation.virpo.batch.marginals import covariances
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate
from iap_estimation.virpo.spec import VirpoSpec
from iap_estimation.virpo.window.window import EstimateLost

TOLERANCE = 1e-6  # relative fall of the cost below which it has come to rest
UNDETERMINED = "what was measured does not determine a batch"


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
