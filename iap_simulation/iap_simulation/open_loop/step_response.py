# SPDX-License-Identifier: BSD-3-Clause
"""Step responses of roll and pitch that a flight's set-points and attitudes have in them.

The attitude is taken for the set-points through a finite impulse response, y_k = c + sum_j h_j u_{k-j}, whose taps are
found by least squares with a small weight on their second differences. Their sums are the response to a step of 1.
Deviations are those of the jackknife over blocks of the flight.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3

RATE, SPAN = 50.0, 0.8  # of taps [Hz], and of the response [s]
BEYOND = 0.2  # of taps that take what comes after the response that is kept [s]
BLOCKS = 8  # of the jackknife
SMOOTHNESS = 1e-3  # weight of squared second differences, relative to that of the set-points
LEAST_MOTION = 0.3  # standard deviation of set-points that say anything [deg]
MOST_DEVIATION = 0.2  # of a response that says anything
RISEN = 1.0 - 1.0 / np.e  # of the final value, where a first-order lag is after its time constant


@dataclass(frozen=True, eq=False)
class StepResponse:
    """Response of an angle to a step of its set-point by 1.

    Attributes:
        t: (n,) time after the step [s].
        values: (n,) response.
        deviations: (n,) standard deviations of `values`.
    """

    t: Array
    values: Array
    deviations: Array

    @classmethod
    def of(cls, u: Array, y: Array, dt: float) -> Self | None:
        """Find the response in a flight.

        Args:
            u: (K,) set-points [deg].
            y: (K,) angles [deg].
            dt: their period [s].

        Returns:
            The response; None where set-points hardly move, or the flight is too short to tell.
        """
        step = max(1, round(1.0 / (RATE * dt)))
        u, y = u[::step], y[::step]
        count, kept = (round(each / (step * dt)) for each in (SPAN + BEYOND, SPAN))
        if len(u) < BLOCKS * count or np.std(u) < LEAST_MOTION:
            return None
        normals, moments = _blocks(u, y, count)
        weight = SMOOTHNESS * np.trace(normals.sum(axis=0)) / count
        whole = _steps(normals.sum(axis=0), moments.sum(axis=0), weight)
        without = np.array(
            [
                _steps(normals.sum(axis=0) - N, moments.sum(axis=0) - m, weight)
                for N, m in zip(normals, moments, strict=True)
            ]
        )
        spread = np.sqrt((BLOCKS - 1) * np.mean((without - without.mean(axis=0)) ** 2, axis=0))
        if not spread[:kept].max() < MOST_DEVIATION:
            return None
        # Set-points run straight between their samples, so that a step is half over where a tap begins.
        middle = np.array([step * dt * (k + 0.5) for k in range(kept)])
        return cls(middle, whole[:kept], np.asarray(spread[:kept], float))

    @property
    def rise_time(self) -> float | None:
        """Time to 63 % of the step [s], which is the lag of a first-order system; None where it does not get there."""
        above = np.flatnonzero(self.values >= RISEN)
        if not len(above):
            return None
        k = int(above[0])
        if k == 0:
            return 0.0
        return float(np.interp(RISEN, self.values[k - 1 : k + 1], self.t[k - 1 : k + 1]))

    @property
    def overshoot(self) -> float:
        """Share of the step by which the response goes beyond it."""
        return float(max(self.values.max() - 1.0, 0.0))


class AxisResponses(NamedTuple):
    """Responses of an axis as recorded and as simulated; None where there is none to be found."""

    recorded: StepResponse | None
    simulated: StepResponse | None


def axis_responses(
    q_setpoint: Array, q: Array, q_simulated: Array, dt: float
) -> dict[str, AxisResponses]:
    """Responses of roll and pitch to set-points.

    Args:
        q_setpoint: (K, 4) attitudes that were asked for.
        q: (K, 4) attitudes as recorded.
        q_simulated: (K, 4) attitudes as simulated.
        dt: their period [s].
    """
    asked, recorded, simulated = (roll_and_pitch(each) for each in (q_setpoint, q, q_simulated))
    return {
        axis: AxisResponses(
            StepResponse.of(asked[:, i], recorded[:, i], dt),
            StepResponse.of(asked[:, i], simulated[:, i], dt),
        )
        for i, axis in enumerate(("roll", "pitch"))
    }


def roll_and_pitch(q: Array) -> Array:
    """Roll and pitch (K, 2) of attitudes (K, 4) [deg]."""
    R = so3.matrix_from_quaternion(so3.normalized(q))
    roll = np.arctan2(R[:, 2, 1], R[:, 2, 2])
    pitch = np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0))
    return np.degrees(np.column_stack([roll, pitch]))


def _blocks(u: Array, y: Array, count: int) -> tuple[Array, Array]:
    """Normal matrices (BLOCKS, n + 1, n + 1) and moments (BLOCKS, n + 1); the last unknown is the constant."""
    lagged = np.lib.stride_tricks.sliding_window_view(u, count)[:, ::-1]
    normals, moments = [], []
    for rows in np.array_split(np.arange(len(lagged)), BLOCKS):
        A = np.column_stack([lagged[rows], np.ones(len(rows))])
        normals.append(A.T @ A)
        moments.append(A.T @ y[rows + count - 1])
    return np.array(normals), np.array(moments)


def _steps(normal: Array, moment: Array, weight: float) -> Array:
    """(n,) sums of the taps."""
    count = len(moment) - 1
    bends = np.diff(np.eye(count), 2, axis=0)
    regular = normal.copy()
    regular[:count, :count] += weight * bends.T @ bends
    return np.cumsum(np.linalg.solve(regular, moment)[:count])
