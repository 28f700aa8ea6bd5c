# SPDX-License-Identifier: BSD-3-Clause
"""Samples of the central body's gyroscope on a flight, and attitudes to try."""

import numpy as np
from synthetic import Flight
from synthetic_fleet import NONE, fleet_of

from iap_description.math import so3

NOISE = np.array([0.0015, 0.0002, 0.0])  # as of `Fleet.turn_noise`


def rng():
    return np.random.default_rng(5)


def turned(n):
    """Random attitudes (n, 4)."""
    return so3.quaternion_exp(rng().normal(size=(n, 3)))


def measured(begin, span, bias):
    """Samples of the centre's gyroscope on a flight, with a bias, and its attitude at both ends."""
    flight = Flight.of(duration=2.0, fleet=fleet_of(1), noise=NONE, points=1)
    told = [t for t in flight.tilt() if begin + 1e-9 < t.t <= begin + span + 1e-9]
    samples = np.array([[0.005, *(t.w_B0 + bias)] for t in told])
    return samples, flight.truth(-1, begin).q_WB, flight.truth(-1, begin + span).q_WB
