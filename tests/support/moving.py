# SPDX-License-Identifier: BSD-3-Clause
"""A platform and a reference that both tumble along curves known with their derivatives."""

import numpy as np
from numpy.typing import NDArray

from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly

Array = NDArray[np.float64]


class Tumble:
    """A smooth pose over time: sines for position and for the rotation vector."""

    def __init__(self, seed: int, *, turn: float = 1.0) -> None:
        rng = np.random.default_rng(seed)
        self._size = rng.normal(size=6) * np.repeat([1.0, 0.5 * turn], 3)
        self._rate = rng.uniform(0.5, 2.0, 6)
        self._phase = rng.uniform(0.0, 2.0 * np.pi, 6)

    def _signals(self, t: float) -> tuple[Array, Array, Array]:
        angle = self._rate * t + self._phase
        return (
            self._size * np.sin(angle),
            self._size * self._rate * np.cos(angle),
            -self._size * self._rate**2 * np.sin(angle),
        )

    def pose(self, t: float) -> tuple[Array, Array]:
        """Position and quaternion."""
        s = self._signals(t)[0]
        return s[:3], so3.quaternion_exp(s[3:])

    def body_rate(self, t: float) -> Array:
        """Angular velocity in body axes."""
        s, ds, _ = self._signals(t)
        return so3.right_jacobian(s[3:]) @ ds[3:]

    def row(self, t: float, headings: int = 0) -> Array:
        """The reference row (19 + headings,)."""
        p, q = self.pose(t)
        _, ds, dds = self._signals(t)
        h = 1e-5
        alpha = (self.body_rate(t + h) - self.body_rate(t - h)) / (2.0 * h)
        return np.concatenate(
            [p, q, ds[:3], self.body_rate(t), dds[:3], alpha, np.zeros(headings)]
        )

    def state(self, t: float) -> Array:
        """The state row (13,)."""
        p, q = self.pose(t)
        return np.concatenate([p, q, self._signals(t)[1][:3], so3.rotate(q, self.body_rate(t))])


def newton_euler(assembly: Assembly, row: Array, gravity: float) -> Array:
    """Wrench (6,) about P's origin, in P, that moves the platform as a reference row says.

    Summed over the bodies: the central one rigid, the aircraft as points at their joints.
    """
    R = so3.matrix_from_quaternion(row[3:7])
    w, alpha = R @ row[10:13], R @ row[16:19]
    force, torque = np.zeros(3), np.zeros(3)
    for body, p_P in zip(assembly.bodies, assembly.p_PB_P, strict=True):
        r = R @ p_P
        a = row[13:16] + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        f = body.mass * (a + [0.0, 0.0, gravity])
        force, torque = force + f, torque + np.cross(r, f)
    J = R @ assembly.bodies[0].inertia @ R.T
    torque = torque + J @ alpha + np.cross(w, J @ w)
    return np.concatenate([R.T @ force, R.T @ torque])
