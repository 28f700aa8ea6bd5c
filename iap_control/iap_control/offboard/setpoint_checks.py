# SPDX-License-Identifier: BSD-3-Clause
"""Checks of numbers in set-points of outside controllers, which are those of PX4 for all kinds of messages."""

import math
from collections.abc import Sequence

import numpy as np

from iap_control.offboard.aircraft_setpoint import MotionSetpoint
from iap_description.arrays import Quat, Vec
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import BadInput
from iap_description.math.kernels import rotate

ODD_NORM = 0.01  # of quaternions of float32, far above what rounding leaves


def finite(name: str, numbers: Sequence[float]) -> list[float]:
    """Numbers as floats.

    Raises:
        BadInput: naming the field, one is no number or beyond all bounds.
    """
    out = [float(each) for each in numbers]
    for each in out:
        if not abs(each) <= MAX_SI_NUMBER:
            raise BadInput(f"{name}: {each:g} is no finite number below {MAX_SI_NUMBER:g}")
    return out


def unit_quaternion(name: str, numbers: Sequence[float]) -> Quat:
    """A quaternion of norm 1, in the order that it has.

    Raises:
        BadInput: naming the field, it is none.
    """
    a, b, c, d = finite(name, numbers)
    norm = math.sqrt(a * a + b * b + c * c + d * d)
    if abs(norm - 1.0) > ODD_NORM:
        raise BadInput(f"{name}: of norm {norm:g}, an attitude is a unit quaternion")
    return a / norm, b / norm, c / norm, d / norm


def about_up(q_WB: Quat, rate: float) -> Vec:
    """Body rate [rad/s] of a turn at a rate about the world's axis up, at an attitude xyzw."""
    x, y, z, w = q_WB
    return rotate((-x, -y, -z, w), (0.0, 0.0, rate))


def share_of(thrust: float) -> float:
    """A thrust that is a share of the largest, cut at 0 and 1 as autopilots cut it."""
    return min(max(thrust, 0.0), 1.0)


def motion_from(
    p_W: Sequence[float],
    v_W: Sequence[float],
    a_W: Sequence[float],
    yaw: float,
    yaw_rate: float,
) -> MotionSetpoint:
    """A point of a trajectory in `map`, NaN where something is not to be controlled.

    It obeys PX4's rules (PositionControl::_inputValid): each axis has something, and both level axes have the same.

    Raises:
        BadInput: it does not, or a number is beyond all bounds.
    """
    rows = np.array([p_W, v_W, a_W], dtype=float)
    numbers = np.array([*rows.flat, yaw, yaw_rate])
    if not (np.isnan(numbers) | (np.abs(numbers) <= MAX_SI_NUMBER)).all():
        raise BadInput(f"a number is infinite, or beyond {MAX_SI_NUMBER:g}")
    has = np.isfinite(rows)
    if not has.any(axis=0).all():
        raise BadInput("an axis has neither position, velocity nor acceleration")
    if (has[:, 0] != has[:, 1]).any():
        raise BadInput("x and y: one of them alone has a position, a velocity or an acceleration")
    p, v, a = ((x, y, z) for x, y, z in rows.tolist())
    return MotionSetpoint(p, v, a, yaw, yaw_rate)
