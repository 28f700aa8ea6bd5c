# SPDX-License-Identifier: BSD-3-Clause
"""Reference rows (T, 19) from signals, and rows that join rest to a motion."""

from collections.abc import Sequence

import numpy as np

from iap_control.references.jet import Jet
from iap_description import frames
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V, REF_W

Jets = Sequence[Jet]  # of three axes


def rows_of(position: Jets, roll_pitch_yaw: Jets) -> Array:
    """Reference rows (T, 19) of a position [m] and Euler angles [rad], all in one world and body convention."""
    rows = np.empty((len(position[0].f), REF_FIXED))
    for columns, order in ((REF_P, "f"), (REF_V, "df"), (REF_A, "ddf")):
        rows[:, columns] = np.stack([getattr(axis, order) for axis in position], -1)
    angles = np.stack([angle.f for angle in roll_pitch_yaw], -1)
    rows[:, REF_Q] = so3.quaternion_from_matrix(so3.matrix_from_euler(angles))
    rates = body_rates(roll_pitch_yaw)
    rows[:, REF_W] = np.stack([rate.f for rate in rates], -1)
    rows[:, REF_ALPHA] = np.stack([rate.df for rate in rates], -1)
    return rows


def body_rates(roll_pitch_yaw: Jets) -> Jets:
    """Body rates of R = Rz(yaw) Ry(pitch) Rx(roll), with their first derivative (the second one is not filled)."""
    roll, pitch, _ = roll_pitch_yaw
    d_roll, d_pitch, d_yaw = (Jet(a.df, a.ddf, np.zeros_like(a.f)) for a in roll_pitch_yaw)
    return (
        d_roll - d_yaw * pitch.sin(),
        d_pitch * roll.cos() + d_yaw * (pitch.cos() * roll.sin()),
        d_yaw * (pitch.cos() * roll.cos()) - d_pitch * roll.sin(),
    )


def from_ned(rows: Array) -> Array:
    """Rows given in NED/FRD, converted to ENU/FLU."""
    out = rows.copy()
    for columns in (REF_P, REF_V, REF_A):
        out[:, columns] = frames.swap_world(rows[:, columns])
    for columns in (REF_W, REF_ALPHA):
        out[:, columns] = frames.swap_body(rows[:, columns])
    R = frames.swap_attitude(so3.matrix_from_quaternion(rows[:, REF_Q]))
    out[:, REF_Q] = so3.quaternion_from_matrix(R)
    return out


def hold(row: Array, count: int) -> Array:
    """`count` rows that stay at the pose, and with the headings, of a row (19+,)."""
    rows = np.zeros((count, len(row)))
    rows[:, : REF_Q.stop] = row[: REF_Q.stop]
    rows[:, REF_FIXED:] = row[REF_FIXED:]
    return rows


def quintic(t: Array, duration: float, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """Quintic (T, 3) between boundary values, with its first two derivatives.

    Args:
        t: (T,) times within [0, duration] [s].
        duration: length [s].
        start: (3, 3) value, first and second derivative at 0, one row each.
        end: the same at `duration`.
    """
    T = duration
    powers = np.arange(6)
    derivative = np.diag(powers[1:].astype(float), 1)  # of the monomials' coefficients

    def monomials(s: Array) -> Array:
        return np.asarray(s)[..., None] ** powers

    ends = monomials(np.array([0.0, T]))
    orders = [np.eye(6), derivative, derivative @ derivative]
    conditions = np.vstack([ends[0] @ D for D in orders] + [ends[1] @ D for D in orders])
    coefficients = np.linalg.solve(conditions, np.vstack([start, end]))
    first, second, third = (monomials(t) @ D @ coefficients for D in orders)
    return first, second, third


def approach(t: Array, duration: float, start: Array, end: Array) -> Array:
    """Rows (T, 19) from rest at the pose of row `start` to row `end`, reached with its velocity and acceleration.

    Position and the rotation vector from the start's attitude are quintics; rates follow from the right Jacobian.
    """
    rows = np.zeros((len(t), REF_FIXED))
    zero = np.zeros(3)
    rows[:, REF_P], rows[:, REF_V], rows[:, REF_A] = quintic(
        t,
        duration,
        np.array([start[REF_P], zero, zero]),
        np.array([end[REF_P], end[REF_V], end[REF_A]]),
    )
    phi_end = so3.quaternion_log(so3.multiply(so3.conjugate(start[REF_Q]), end[REF_Q]))
    J_inverse: Array = np.asarray(np.linalg.inv(so3.right_jacobian(phi_end)), dtype=np.float64)
    dphi_end: Array = J_inverse @ end[REF_W]
    ddphi_end = J_inverse @ (end[REF_ALPHA] - _jacobian_rate(phi_end, dphi_end) @ dphi_end)
    phi, dphi, ddphi = quintic(
        t, duration, np.zeros((3, 3)), np.array([phi_end, dphi_end, ddphi_end])
    )
    rows[:, REF_Q] = so3.multiply(start[REF_Q], so3.quaternion_exp(phi))
    J = so3.right_jacobian(phi)
    rows[:, REF_W] = np.einsum("tij,tj->ti", J, dphi)
    rows[:, REF_ALPHA] = np.einsum("tij,tj->ti", J, ddphi) + np.einsum(
        "tij,tj->ti", _jacobian_rate(phi, dphi), dphi
    )
    return rows


def _jacobian_rate(phi: Array, dphi: Array, h: float = 1e-5) -> Array:
    """Time derivative of the right Jacobian along dphi, by central differences of step `h` [s]."""
    return (so3.right_jacobian(phi + h * dphi) - so3.right_jacobian(phi - h * dphi)) / (2.0 * h)
