# SPDX-License-Identifier: BSD-3-Clause
r"""Open-loop predictions of a flight that a model was not fitted to, beside what is simpler.

From windows all along the flight the attitude is predicted by the motors alone, and beside it that it stays, and that
the rate is held. The velocity is predicted with the recorded attitude given, beside that it stays:

.. math:: \dot R = R \hat\omega, \quad \dot\omega = B s(n) - d \omega + \tau_0, \quad
          \dot v = R\,(c_x - d_x v_x,\; c_y - d_y v_y,\; T(n) / m - d_z v_z)^T - g e_3 .

The trim :math:`\tau_0` of a window is what the time before it (`TRIM`) leaves over: no model has a vehicle's centre of
mass. So is a push on the acceleration, such as wind.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.earth import GRAVITY
from iap_description.math import so3
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.input_lags import lagged_inputs

HORIZONS = (0.1, 0.25, 0.5, 1.0)  # of predictions [s]
WINDOW_SPACING = 0.2  # from one window to the next [s]
TRIM = 0.5  # before a window, from which its trim comes [s]
FEWEST = 8  # windows
RESPONSE_DELAYS = tuple(np.arange(0.0, 0.3, 0.02).tolist())  # that are tried [s]
RESPONSE_LAGS = (0.005, 0.05, 0.1, 0.15, 0.2, 0.3)  # [s]


class Horizon(NamedTuple):
    """RMS errors after one time; NaN where a log has no velocity or no position.

    Attributes:
        seconds: of the prediction.
        windows: their number.
        attitude_deg: of the model, of an attitude that stays, and of a rate that is held.
        velocity: of the model, and of a velocity that stays [m/s].
        position: of the model, and of a velocity that stays [m].
    """

    seconds: float
    windows: int
    attitude_deg: tuple[float, float, float]
    velocity: tuple[float, float]
    position: tuple[float, float]


class Predicted(NamedTuple):
    """States at the end of W windows.

    Attributes:
        q: (W, 4) attitudes, xyzw.
        v: (W, 3) velocities [m/s]; NaN where the log has none.
        displacement: (W, 3) ways since the begin [m]; NaN where the log has no velocity.
    """

    q: Array
    v: Array
    displacement: Array


@dataclass(frozen=True)
class MotionModel:
    """Accelerations by a model along a flight.

    Attributes:
        angular: (K, 3) by the inputs alone [rad/s^2].
        damping: (3,) [1/s].
        thrust: (K,) per mass [m/s^2].
        drag: (3,) per mass along the body's axes [1/s].
        constants: (2,) forces per mass along x and y [m/s^2].
    """

    angular: Array
    damping: Array
    thrust: Array
    drag: Array
    constants: Array


def predictions(table: FlightTable, motion: MotionModel) -> list[Horizon]:
    """Errors over a flight for each of `HORIZONS`; velocities and positions with the recorded attitude given."""
    horizons = []
    trim = trims(table, table.w, motion.angular - motion.damping * table.w)
    push = np.zeros_like(table.w)
    if table.v is not None:
        push = trims(table, table.v, _accelerations(motion, slice(None), table.q, table.v))
    for seconds in HORIZONS:
        starts, steps = windows(table, seconds)
        if len(starts) >= FEWEST:
            q = _attitudes(table, motion, trim, starts, steps)
            end = Predicted(q, *_velocities(table, motion, push, starts, steps))
            horizons.append(horizon(table, seconds, starts, steps, end))
    return horizons


def windows(table: FlightTable, seconds: float) -> tuple[Integers, int]:
    """First rows (W,) of windows all along a flight, and their number of rows.

    Neither a window nor the time of its trim goes across a reset.
    """
    steps = max(round(seconds / table.dt), 1)
    spacing = max(round(WINDOW_SPACING / table.dt), 1)
    starts = np.arange(round(TRIM / table.dt), len(table.t) - steps - 1, spacing)
    begin, end = table.t[starts] - TRIM, table.t[starts + steps]
    across = [(begin < reset) & (end > reset) for reset in table.resets]
    return starts[~np.any(across, axis=0)] if across else starts, steps


def horizon(
    table: FlightTable, seconds: float, starts: Integers, steps: int, predicted: Predicted
) -> Horizon:
    """Errors of predictions from rows (W,) of a flight, and of what is simpler."""
    begin, end = table.q[starts], table.q[starts + steps]
    turned = so3.multiply(begin, so3.quaternion_exp(table.w[starts] * (steps * table.dt)))
    model, stays, rate = (
        float(np.degrees(_rms(_angle(each, end)))) for each in (predicted.q, begin, turned)
    )
    none = (float("nan"), float("nan"))
    velocity, position = none, none
    if table.v is not None:
        v = table.v[starts]
        velocity = _errors(table.v[starts + steps], predicted.v, v)
        if table.p is not None:
            way = table.p[starts + steps] - table.p[starts]
            position = _errors(way, predicted.displacement, v * (steps * table.dt))
    return Horizon(seconds, len(starts), (model, stays, rate), velocity, position)


def _errors(true: Array, *others: Array) -> tuple[float, float]:
    model, simple = (_rms(np.linalg.norm(each - true, axis=1)) for each in others)
    return model, simple


def trims(table: FlightTable, measured: Array, modelled: Array) -> Array:
    """(K, 3) mean of the time before each row by which a measured rate of change is above a modelled one.

    Args:
        table: of the flight.
        measured: (K, 3) its integral, such as body rates.
        modelled: (K, 3) the rate of change by a model.
    """
    rows = round(TRIM / table.dt)
    integral = np.cumsum(0.5 * (modelled[1:] + modelled[:-1]) * table.dt, axis=0)
    left = measured - np.concatenate([np.zeros((1, 3)), integral])
    off = np.zeros_like(left)
    off[rows:] = (left[rows:] - left[:-rows]) / (rows * table.dt)
    return off


def _angle(a: Array, b: Array) -> Array:
    return np.asarray(2.0 * np.arccos(np.clip(np.abs((a * b).sum(axis=1)), 0.0, 1.0)))


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x))))


def _attitudes(
    table: FlightTable, motion: MotionModel, trim: Array, starts: Integers, steps: int
) -> Array:
    """Attitudes (W, 4) at the end of windows."""
    dt, q, w = table.dt, table.q[starts], table.w[starts]
    for k in range(steps):
        row = starts + k
        drive = 0.5 * (motion.angular[row] + motion.angular[row + 1])
        after = w + dt * (drive - motion.damping * w + trim[starts])
        q = so3.multiply(q, so3.quaternion_exp(0.5 * (w + after) * dt))
        w = after
    return q


def _accelerations(motion: MotionModel, rows: Integers | slice, q: Array, v: Array) -> Array:
    """Accelerations (W, 3) in the world by a model, at rows of a flight, of attitudes and velocities."""
    thrust = motion.thrust[rows]
    push = np.column_stack([np.tile(motion.constants, (len(thrust), 1)), thrust])
    force = push - motion.drag * so3.rotate(so3.conjugate(q), v)
    return np.asarray(so3.rotate(q, force) - np.array([0.0, 0.0, GRAVITY]))


def _velocities(
    table: FlightTable, motion: MotionModel, push: Array, starts: Integers, steps: int
) -> tuple[Array, Array]:
    """Velocities and ways (W, 3) at the end of windows."""
    if table.v is None:
        none = np.full((len(starts), 3), np.nan)
        return none, none
    v, displacement = table.v[starts], np.zeros((len(starts), 3))
    for k in range(steps):
        row = starts + k
        after = v + table.dt * (_accelerations(motion, row, table.q[row], v) + push[starts])
        displacement = displacement + 0.5 * table.dt * (v + after)
        v = after
    return v, displacement


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
    choice = [Response(delay, lag) for delay in RESPONSE_DELAYS for lag in RESPONSE_LAGS]
    return min(choice, key=lambda each: tilt_rmse(table.q, each.attitudes(table)))


def tilt_error(table: FlightTable, response: Response | None) -> TiltError | None:
    """Errors of a response over a flight; None without set-points."""
    attitudes = None if response is None else response.attitudes(table)
    if attitudes is None:
        return None
    level = np.tile(so3.IDENTITY, (len(table.t), 1))
    return TiltError(tilt_rmse(table.q, attitudes), tilt_rmse(table.q, level))


def tilt_rmse(q: Array, other: Array | None) -> float:
    """RMS of the angle between the z axes of attitudes (K, 4) [deg]."""
    if other is None:
        return float("inf")
    up = [so3.matrix_from_quaternion(each)[:, :, 2] for each in (q, other)]
    angles = np.arccos(np.clip((up[0] * up[1]).sum(axis=1), -1.0, 1.0))
    return float(np.degrees(np.sqrt(np.mean(angles**2))))
