# SPDX-License-Identifier: BSD-3-Clause
"""Axes about which objects of the world turn: doors, flaps, levers and valves."""

from typing import Self

import numpy as np
from pydantic import model_validator

from iap_description.arrays import Array
from iap_description.config.record import Degrees, NonNegative, Record, Vec3
from iap_description.math import so3
from iap_description.states import STATE_SIZE, P, Q, V, W


class Hinge(Record):
    r"""An axis, fixed in the world, about which an object turns.

    At angle 0 the object stands as its `position` and `rpy_deg` say. Rate w and angle q meet the torque

    .. math::
        \tau = -k\,(q - q_0) - d\,w - \tau_c\,\mathrm{sign}(w)

    about the axis, with stiffness k, rest angle q_0, damping d and Coulomb friction tau_c. At rest the friction is
    what keeps it there, up to tau_c. A closer of a door is a spring that rests beyond the stop.

    Attributes:
        point: of the axis, in O [m].
        axis: along which it turns by the right hand, in O; of any length.
        limits_deg: least and largest angle, where hard stops are.
        friction: Coulomb's torque tau_c [N m].
        damping: d [N m s/rad].
        stiffness: k of the spring [N m/rad].
        rest_deg: q_0, at which the spring is relaxed.
    """

    point: Vec3 = (0.0, 0.0, 0.0)
    axis: Vec3 = (0.0, 0.0, 1.0)
    limits_deg: tuple[Degrees, Degrees]
    friction: NonNegative = 0.0
    damping: NonNegative = 0.0
    stiffness: NonNegative = 0.0
    rest_deg: Degrees = 0.0

    @model_validator(mode="after")
    def _turns(self) -> Self:
        if not any(self.axis):
            raise ValueError("key 'axis': it has no direction")
        least, largest = self.limits_deg
        if not least <= 0.0 <= largest or least == largest:
            raise ValueError(
                f"key 'limits_deg': {list(self.limits_deg)} do not hold the angle 0, at which it begins"
            )
        return self

    @property
    def direction(self) -> Array:
        """(3,) unit vector along the axis, in O."""
        axis = np.array(self.axis)
        return np.asarray(axis / np.linalg.norm(axis))

    def resistance(self, angle: float, rate: float) -> float:
        """Torque of spring and damper about the axis [N m] at an angle [rad] and a rate [rad/s]."""
        return -self.stiffness * (angle - np.deg2rad(self.rest_deg)) - self.damping * rate

    def angle(self, q_WO: Array, q: Array) -> float:
        """Angle [rad] at which O has the attitude q (4,), and q_WO (4,) at angle 0."""
        turn = so3.multiply(so3.conjugate(q_WO), q)
        return float(2.0 * np.arctan2(turn[:3] @ self.direction, turn[3]))

    def row(self, position: Array, q_WO: Array, angle: float, rate: float) -> Array:
        """(13,) state row of O, which stands at a position [m] and attitude when the angle is 0."""
        x, point = np.zeros(STATE_SIZE), np.array(self.point)
        x[Q] = so3.multiply(q_WO, so3.quaternion_exp(angle * self.direction))
        arm_W = -so3.rotate(x[Q], point)
        x[P] = position + so3.rotate(q_WO, point) + arm_W
        x[W] = rate * so3.rotate(q_WO, self.direction)
        x[V] = np.cross(x[W], arm_W)
        return x
