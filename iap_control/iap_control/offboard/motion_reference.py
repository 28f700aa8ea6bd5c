# SPDX-License-Identifier: BSD-3-Clause
"""References of a platform that follow the points of an outside controller's trajectory, as PX4 would track them."""

import math

import numpy as np

from iap_control.offboard.aircraft_setpoint import MotionSetpoint
from iap_control.responders.inputs import SimpleInputs, at_rest
from iap_control.responders.pose_stream import InputLimits
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.states import REF_A, REF_FIXED, REF_P, REF_Q, REF_V, REF_W, P, Q, V


class MotionReference:
    """Reference rows of points, each level.

    What a point does not control is what the platform does: there is no error of it. That is PX4's rule, where a NaN
    has no influence (PositionControl::_positionControl, _velocityControl). A velocity or an acceleration of NaN adds
    nothing where something further out is controlled.

    A point that rests is approached smoothly, as poses on `reference/pose` are: by steps of it no rotor is saturated.

    Args:
        count: number of aircraft, whose headings follow the platform.
    """

    def __init__(self, count: int) -> None:
        self._row = np.zeros(REF_FIXED + count)
        self._row[REF_FIXED:] = math.nan
        self._points = SimpleInputs(count, InputLimits())
        self._followed: MotionSetpoint | None = None  # the point at rest that was taken last

    def reset(self) -> None:
        """Nothing has been followed."""
        self._points.reset()
        self._followed = None

    def row(self, motion: MotionSetpoint, t: float, x: Array) -> Array:
        """The reference row (19 + N) of a point at a time [s], at the state row `x` (13,); overwritten."""
        if _rests(motion):
            self._row[:REF_FIXED] = self._approach(motion, t, x)[:REF_FIXED]
            return self._row
        self.reset()
        p, v, a = (np.array(each) for each in motion[:3])
        row, has_p, has_v = self._row, np.isfinite(p), np.isfinite(v)
        row[REF_P] = np.where(has_p, p, x[P])
        row[REF_V] = np.where(has_v, v, np.where(has_p, 0.0, x[V]))
        row[REF_A] = np.nan_to_num(a)
        row[REF_Q] = _turn(motion, x)
        row[REF_W.start : REF_A.start], row[REF_A.stop : REF_FIXED] = 0.0, 0.0
        row[REF_W.stop - 1] = _or_zero(motion.yaw_rate)
        return row

    def at_rest(self, x: Array) -> Array:
        """The row of a rest at the position and yaw of a state row `x` (13,); overwritten."""
        self.reset()
        at_rest(x, self._row)
        return self._row

    def _approach(self, motion: MotionSetpoint, t: float, x: Array) -> Array:
        """The row on a smooth way to a point at rest; one that comes anew is a pose of a stream."""
        if motion is not self._followed:
            self._points.take_pose(t, 0.0, np.concatenate([motion.p_W, _turn(motion, x)]))
            self._followed = motion
        return self._points.row(t, x)


def _rests(motion: MotionSetpoint) -> bool:
    """True if a point has a position, and nothing else but that it stays there."""
    rates = (*motion.v_W, *motion.a_W, motion.yaw_rate)
    return all(map(math.isfinite, motion.p_W)) and not any(map(_or_zero, rates))


def _turn(motion: MotionSetpoint, x: Array) -> Array:
    """The level attitude (4,) of a point's heading, or of the state's where it controls none."""
    yaw = yaw_of(x[Q]) if math.isnan(motion.yaw) else motion.yaw
    return so3.quaternion_exp(np.array([0.0, 0.0, yaw]))


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
