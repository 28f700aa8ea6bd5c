# SPDX-License-Identifier: BSD-3-Clause
"""The rows and errors of a vehicle's flight that metrics and plots are made of, and sums of errors piece by piece."""

import math

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.math import so3
from iap_description.states import Mode
from iap_description.vehicles.faults import RotorFault
from iap_estimation.evaluation import trajectory_errors
from iap_io.runs.column_messages import recorded_rows
from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import VehicleRun
from iap_io.runs.run_meta import Track
from iap_io.runs.vehicle_meta import VehicleMeta

TOLERANCE = 1e-9  # of times [s]
_AT_LIMIT = 1e-6  # share of a limit within which a command or a rotor is at it


def finite(c: Columns) -> Columns:
    """The rows up to the first state that is not a number, or none of a flight."""
    return c.rows(slice(recorded_rows(c)))


def inside(t: Array, window: tuple[float, float]) -> Booleans:
    """Mask of the times (K,) [s] within a window."""
    return (t >= window[0] - TOLERANCE) & (t <= window[1] + TOLERANCE)


def tracked(vehicle: VehicleRun) -> tuple[Array, Array, Array]:
    """Times (K,), and the commanded and the flown poses (K, 7) at these times."""
    if vehicle.commanded is not None:
        return against(vehicle, vehicle.commanded)
    c = vehicle.columns
    return c.t, c.reference[:, :7], c.x[:, 0, :7]


def against(vehicle: VehicleRun, track: Track) -> tuple[Array, Array, Array]:
    """Times (M,) of a track within the flight, its poses, and the flown poses (M, 7) there."""
    c = vehicle.columns
    if not len(c.t):
        return np.zeros(0), np.zeros((0, 7)), np.zeros((0, 7))
    mask = inside(track.t, (float(c.t[0]), float(c.t[-1])))
    t = track.t[mask]
    return t, track.poses[mask], trajectory_errors.poses_at(t, c.t, c.x[:, 0, :7])


def pose_errors(
    reference: Array, poses: Array, vehicle: VehicleMeta
) -> tuple[Array, Array, Array | None]:
    """Errors of poses (K, 7) against a reference (K, 7).

    Returns:
        Position errors (K, 3) [m], attitude errors (K, 3) [rad] and, for an under-actuated
        platform, the errors (K, 3) [rad] of its axis.
    """
    R_ref = so3.matrix_from_quaternion(so3.normalized(reference[:, 3:]))
    R = so3.matrix_from_quaternion(so3.normalized(poses[:, 3:]))
    attitude = trajectory_errors.controlled_error(R_ref, R, vehicle.controlled)
    axis = (
        None
        if vehicle.free_axis is None
        else trajectory_errors.axis_error(R_ref, R, vehicle.free_axis)
    )
    return poses[:, :3] - reference[:, :3], attitude, axis


def thrusts(vehicle: VehicleMeta, c: Columns) -> Array:
    """Thrust (K, N) [N] that each aircraft's rotors produce."""
    per_square = np.array([each.thrust_coefficient for each in vehicle.limits])
    if vehicle.thrust_factors:
        per_square *= vehicle.thrust_factors
    squares = np.square(c.rpm)
    for fault in vehicle.faults:
        if isinstance(fault, RotorFault):
            since = c.t >= fault.at - TOLERANCE
            squares[since, fault.aircraft - 1, fault.rotor - 1] *= fault.thrust
    return per_square * squares.sum(axis=-1)


def saturated(vehicle: VehicleMeta, c: Columns) -> Booleans:
    """Ticks (K,) in which an aircraft's thrust command or one of its rotors is at a limit."""
    speeds = np.array([each.rpm for each in vehicle.limits]).T[..., None]  # (2, N, 1)
    thrust = np.array([each.thrust for each in vehicle.limits]).T  # (2, N)
    rotor = _at_limit(c.rpm, *speeds).any(axis=(1, 2)) & (c.mode != Mode.VELOCITY)
    by_thrust = (c.mode == Mode.ATTITUDE_THRUST) | (c.mode == Mode.RATE_THRUST)
    return rotor | (by_thrust & _at_limit(c.aircraft[..., 0], *thrust).any(axis=1))


def _at_limit(values: Array, low: Array, high: Array) -> Booleans:
    return (values <= low + _AT_LIMIT * high) | (values >= high - _AT_LIMIT * high)


class ErrorSums:
    """Root mean squares and largest values of error vectors (K, n); NaN where there are none.

    Args:
        size: n.

    Attributes:
        count: how many vectors there were.
    """

    def __init__(self, size: int = 3) -> None:
        self.count = 0
        self._squares, self._largest, self._lengths = np.zeros(size), np.zeros(size), 0.0

    def add(self, errors: Array) -> None:
        """Take vectors (K, n); none are fine."""
        if not len(errors):
            return
        squares = np.square(errors)
        self.count += len(errors)
        self._squares = self._squares + squares.sum(axis=0)
        self._lengths += float(squares.sum(axis=1).sum())
        self._largest = np.maximum(self._largest, np.abs(errors).max(axis=0))

    @property
    def rmse(self) -> Array:
        """Root mean square (n,) per axis."""
        if not self.count:
            return np.full(len(self._squares), math.nan)
        return np.asarray(np.sqrt(self._squares / self.count))

    @property
    def rmse_of_vectors(self) -> float:
        """Root mean square length."""
        return math.sqrt(self._lengths / self.count) if self.count else math.nan

    @property
    def maximum(self) -> Array:
        """Largest absolute value (n,) per axis."""
        return self._largest if self.count else np.full(len(self._largest), math.nan)


class Mean:
    """The mean of numbers; None where there are none."""

    def __init__(self) -> None:
        self._sum, self._count = 0.0, 0

    def add(self, values: Array | Booleans) -> None:
        """Take numbers (K,), or whether something was so."""
        self._sum += float(values.sum())
        self._count += len(values)

    @property
    def value(self) -> float | None:
        """The mean."""
        return self._sum / self._count if self._count else None
