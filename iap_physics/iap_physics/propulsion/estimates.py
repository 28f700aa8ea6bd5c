# SPDX-License-Identifier: BSD-3-Clause
"""Estimates that autopilots go by in place of the truth: from outside, and their own."""

from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.math.kernels import Packed, stacked
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_physics.propulsion.attitude_estimator import EstimatorNumbers, memory_size


class AutopilotEstimates(NamedTuple):
    """Estimates from outside that autopilots go by.

    Attributes:
        is_used: (B,) whether they do.
        x: (B, rows, 13) estimated state rows.
    """

    is_used: Booleans
    x: Array


class OwnEstimates(NamedTuple):
    """Estimates of the autopilots' own of N aircraft in B worlds, see `iap_physics.propulsion.attitude_estimator`.

    Attributes:
        records: (N,) `EstimatorNumbers` records.
        memory: (B, N, K) of the filters and their sensors; K is 0 without.
    """

    records: Packed
    memory: Array

    @classmethod
    def of(cls, gains: AutopilotGains, shape: tuple[int, int], gravity: float) -> Self:
        """Of (B, N) aircraft under a gravity [m/s^2]."""
        numbers = EstimatorNumbers.of(gains, gravity)
        return cls(stacked([numbers] * shape[1]), np.zeros((*shape, memory_size(gains))))
