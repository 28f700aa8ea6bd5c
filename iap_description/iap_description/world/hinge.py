# SPDX-License-Identifier: BSD-3-Clause
"""Axes about which objects of the world turn: doors, flaps, levers and valves."""

from collections.abc import Mapping
from typing import Self

import numpy as np
from numba import njit
from pydantic import model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Degrees, NonNegative, Positive, Vec3
from iap_description.math import so3
from iap_description.states import STATE_SIZE, P, Q, V, W


class Latch(Record):
    r"""A bolt that holds what turns about a hinge at angle 0, until a lever turns far enough.

    While the lever's angle is below the one of release, in its direction, and

    .. math::
        k\,|q| \le \tau_s, \qquad \tau = -k\,q - d\,w

    acts about the axis at angle q and rate w, with stiffness k, strength tau_s and damping d. A bolt that is pushed
    beyond its strength gives way, and one that comes back within the angle tau_s / k catches again.

    Attributes:
        lever: name of the object, with a hinge of its own, that frees the bolt.
        release_deg: angle of the lever at which the bolt is free, its sign that of the direction.
        stiffness: k [N m/rad].
        strength: tau_s [N m].
        damping: d [N m s/rad].
    """

    lever: str
    release_deg: Degrees
    stiffness: Positive
    strength: Positive
    damping: NonNegative = 0.0

    @model_validator(mode="after")
    def _has_a_direction(self) -> Self:
        if self.release_deg == 0.0:
            raise ValueError(
                "key 'release_deg': at angle 0, where it begins, the bolt would be free"
            )
        return self

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """Stiffness, strength, damping and angle of release [rad], as `latch_torque` takes them."""
        return self.stiffness, self.strength, self.damping, float(np.deg2rad(self.release_deg))


@njit(cache=True)
def latch_torque(
    numbers: tuple[float, float, float, float], angle: float, rate: float, lever: float
) -> float:
    """Torque of a latch about its hinge [N m] at an angle [rad] and rate [rad/s], and the angle of its lever [rad]."""
    stiffness, strength, damping, release = numbers
    is_free = lever >= release if release > 0.0 else lever <= release
    if is_free or abs(stiffness * angle) > strength:
        return 0.0
    return -stiffness * angle - damping * rate


class Hinge(Record):
    r"""An axis, fixed in the world or on another object that turns, about which an object turns.

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
        carrier: name of the object, with a hinge in the world, that carries the axis; None: the world does.
        latch: that holds it at angle 0.
    """

    point: Vec3 = (0.0, 0.0, 0.0)
    axis: Vec3 = (0.0, 0.0, 1.0)
    limits_deg: tuple[Degrees, Degrees]
    friction: NonNegative = 0.0
    damping: NonNegative = 0.0
    stiffness: NonNegative = 0.0
    rest_deg: Degrees = 0.0
    carrier: str | None = None
    latch: Latch | None = None

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


def check_names(hinges: Mapping[str, Hinge]) -> None:
    """Look whether the objects that hinges name are there, by the names of all objects that have one.

    Raises:
        ValueError: a carrier or lever is missing, or cannot be one.
    """
    for name, hinge in hinges.items():
        where, others = f"objects.{name}.hinge", {k: v for k, v in hinges.items() if k != name}
        standing = [key for key, other in others.items() if other.carrier is None]
        if hinge.carrier is not None and hinge.carrier not in standing:
            known = ", ".join(standing) or "none"
            why = f"'{hinge.carrier}' has no hinge in the world (such: {known})"
            raise ValueError(f"key '{where}.carrier': {why}")
        if hinge.latch is not None:
            _check_lever(hinge.latch, f"{where}.latch", others)


def _check_lever(latch: Latch, where: str, others: Mapping[str, Hinge]) -> None:
    """Look whether a latch can be freed by one of the other objects."""
    if latch.lever not in others:
        known = ", ".join(others) or "none"
        why = f"no other object '{latch.lever}' with a hinge (such: {known})"
        raise ValueError(f"key '{where}.lever': {why}")
    limits = others[latch.lever].limits_deg
    if not limits[0] <= latch.release_deg <= limits[1]:
        why = f"{latch.release_deg:g} is beyond the lever's limits_deg {list(limits)}"
        raise ValueError(f"key '{where}.release_deg': {why}")


def carried(x: Array, start: Array, now: Array) -> Array:
    """(13,) state row of what another body carries.

    Args:
        x: (13,) its row if the other body stood at its start.
        start: (13,) row of the other body at its start, at rest.
        now: (13,) at present.
    """
    turn = so3.multiply(now[Q], so3.conjugate(start[Q]))
    row, arm_W = np.zeros(STATE_SIZE), so3.rotate(turn, x[P] - start[P])
    row[P] = now[P] + arm_W
    row[Q] = so3.multiply(turn, x[Q])
    row[W] = now[W] + so3.rotate(turn, x[W])
    row[V] = now[V] + np.cross(now[W], arm_W) + so3.rotate(turn, x[V])
    return row
