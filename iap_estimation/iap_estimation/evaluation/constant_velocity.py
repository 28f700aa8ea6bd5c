# SPDX-License-Identifier: BSD-3-Clause
r"""Places from ranges alone, of a tag that goes on as it went: what an inertial unit has to be better than.

An extended Kalman filter of :math:`[p, v]` with white acceleration of density q,
:math:`Q = q^2 \begin{bmatrix} \Delta^3/3 & \Delta^2/2 \\ \Delta^2/2 & \Delta \end{bmatrix} \otimes I`
(Bar-Shalom, Li and Kirubarajan, "Estimation with Applications to Tracking and Navigation", 6.2.2).
"""

from collections.abc import Iterable

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.messages import Ranges

ACCELERATION = 1.0  # density of what a hand or an aircraft does [m/s^2/sqrt(Hz)]
SPEED = 1.0  # deviation of the first velocity [m/s]
GATE = 4.0  # deviations beyond which a range does not count


def constant_velocity(rounds: Iterable[Ranges], start: Array) -> tuple[Array, Array]:
    """Times (K,) [s] and places (K, 3) [m] of a tag after every round of ranges, from a place (3,) on."""
    x = np.concatenate([start, np.zeros(3)])
    P = np.diag([1.0] * 3 + [SPEED**2] * 3)
    last, t, positions = None, [], []
    for measured in rounds:
        if last is not None:
            x, P = _predicted(x, P, measured.t - last)
        last = measured.t
        for a_W, d, sigma in zip(measured.p_W, measured.ranges, measured.deviations, strict=True):
            x, P = _corrected(x, P, a_W, float(d), float(sigma))
        t.append(measured.t)
        positions.append(x[:3])
    return np.array(t), np.array(positions).reshape(-1, 3)


def _predicted(x: Array, P: Array, dt: float) -> tuple[Array, Array]:
    step = np.array([[1.0, dt], [0.0, 1.0]])
    walk = ACCELERATION**2 * np.array([[dt**3 / 3.0, dt**2 / 2.0], [dt**2 / 2.0, dt]])
    F = np.kron(step, np.eye(3))
    return F @ x, F @ P @ F.T + np.kron(walk, np.eye(3))


def _corrected(x: Array, P: Array, a_W: Array, d: float, sigma: float) -> tuple[Array, Array]:
    way = x[:3] - a_W
    length = max(float(np.linalg.norm(way)), 1e-6)
    h = np.concatenate([way / length, np.zeros(3)])
    spread = float(h @ P @ h) + sigma**2
    if (d - length) ** 2 > GATE**2 * spread:
        return x, P
    gain = P @ h / spread
    P = P - np.outer(gain, h @ P)
    return x + gain * (d - length), 0.5 * (P + P.T)
