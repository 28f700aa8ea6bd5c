# SPDX-License-Identifier: BSD-3-Clause
"""What is shown of a vehicle in RViz: its path, the thrust of every aircraft, and how its rotors turn."""

import math

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.aircraft import Aircraft
from iap_description.assembly import Assembly
from iap_description.states import P, Q

Array = NDArray[np.float64]
METRES_PER_NEWTON = 0.02  # of a thrust arrow
PATH_STEP = 0.05  # between points of the path [m]
PATH_POINTS = 1000


class Trace:
    """The way that a body took, as points some way apart; the oldest are forgotten."""

    def __init__(self) -> None:
        self._points = np.empty((PATH_POINTS, 3))
        self._count = 0

    def reset(self) -> None:
        """Forget the way."""
        self._count = 0

    def add(self, p: Array) -> None:
        """Note a position (3,) [m] if it is far enough from the last one."""
        points, n = self._points, self._count
        if n and np.linalg.norm(p - points[n - 1]) < PATH_STEP:
            return
        if n == PATH_POINTS:
            points[:-1] = points[1:].copy()
            n -= 1
        points[n] = p
        self._count = n + 1

    @property
    def points(self) -> Array:
        """(n, 3) the way so far [m]."""
        return self._points[: self._count]


class Rotors:
    """Angles and thrusts of a vehicle's rotors.

    Args:
        assembly: the vehicle.
        aircraft: its rotors' numbers.
    """

    def __init__(self, assembly: Assembly, aircraft: Aircraft) -> None:
        self._bodies = list(assembly.aircraft)
        spins = [1.0 if rotor.spin == "ccw" else -1.0 for rotor in aircraft.rotors]
        self._rad_per_second = np.array(spins) * 2.0 * math.pi / 60.0  # per rpm
        self._coefficient = aircraft.rotor.thrust_coefficient
        self.angle = np.zeros((len(self._bodies), 4))
        self.speed = np.zeros_like(self.angle)

    def turn(self, rpm: Array, dt: float) -> None:
        """Turn with speeds (N, 4) [rpm] for `dt` [s]; `angle` [rad] and `speed` [rad/s] are about +z."""
        np.multiply(rpm, self._rad_per_second, out=self.speed)
        self.angle += dt * self.speed
        np.remainder(self.angle, 2.0 * math.pi, out=self.angle)

    def thrust_arrows(self, x: Array, rpm: Array) -> Array:
        """Feet and heads (N, 2, 3) [m] of arrows along the thrust of every aircraft, of state rows (bodies, 13)."""
        rows = x[self._bodies]
        thrust = self._coefficient * np.square(rpm).sum(axis=1)
        along = so3.rotate(rows[:, Q], np.array([0.0, 0.0, 1.0])) * thrust[:, None]
        return np.stack([rows[:, P], rows[:, P] + METRES_PER_NEWTON * along], axis=1)
