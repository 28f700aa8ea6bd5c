# SPDX-License-Identifier: BSD-3-Clause
"""Response of the attitude to its set-points: a delay and a lag, by which set-points alone are replayed."""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.rotation import lagged_inputs

DELAYS = tuple(np.arange(0.0, 0.3, 0.02).tolist())  # that are tried [s]
LAGS = (0.005, 0.05, 0.1, 0.15, 0.2, 0.3)  # [s]


class Response(NamedTuple):
    """Delay and lag behind attitude set-points.

    Attributes:
        delay: [s].
        lag: [s].
    """

    delay: float
    lag: float

    def attitudes(self, table: FlightTable) -> Array | None:
        """(K, 4) attitudes by set-points alone; None where the log has none."""
        if table.q_setpoint is None:
            return None
        times = (self.lag, self.lag, self.delay)
        return so3.normalized(lagged_inputs(table, table.q_setpoint, times))


class TiltError(NamedTuple):
    """RMS over a flight [deg].

    Attributes:
        response: between the tilts by set-points and those of the flight.
        tilt: of the flight's tilt itself.
    """

    response: float
    tilt: float


def setpoint_response(table: FlightTable) -> Response | None:
    """The response with the least error of the tilt over a flight; None where the log has no set-points."""
    if table.q_setpoint is None:
        return None
    choice = [Response(delay, lag) for delay in DELAYS for lag in LAGS]
    return min(choice, key=lambda each: _tilt_rmse(table.q, each.attitudes(table)))


def tilt_error(table: FlightTable, response: Response | None) -> TiltError | None:
    """Errors of a response over a flight; None without set-points."""
    attitudes = None if response is None else response.attitudes(table)
    if attitudes is None:
        return None
    level = np.tile([0.0, 0.0, 0.0, 1.0], (len(table.t), 1))
    return TiltError(_tilt_rmse(table.q, attitudes), _tilt_rmse(table.q, level))


def _tilt_rmse(q: Array, other: Array | None) -> float:
    """RMS of the angle between the z axes of attitudes (K, 4) [deg]."""
    if other is None:
        return float("inf")
    up = [so3.matrix_from_quaternion(each)[:, :, 2] for each in (q, other)]
    angles = np.arccos(np.clip((up[0] * up[1]).sum(axis=1), -1.0, 1.0))
    return float(np.degrees(np.sqrt(np.mean(angles**2))))
