# SPDX-License-Identifier: BSD-3-Clause
"""Pose references that a pilot moves by joystick or keyboard; both give a `Demand`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from iap_bringup.teleop.mappings import (
    JoystickMapping,
    KeyboardMapping,
    RateAxes,
    StickLimits,
    VelocityAxes,
)
from iap_control.references.rows import hold
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V, REF_W, P, Q

UP_W: Array = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Demand:
    """A pilot's demand; `held` tells whether the dead man's button is held.

    Attributes:
        velocity_P: (3,) velocity of the platform [m/s, platform axes].
        rate_P: (3,) angular velocity of the platform [rad/s, platform axes].
        held: False holds the present pose, whatever else is asked for.
    """

    velocity_P: Array = field(default_factory=lambda: np.zeros(3))
    rate_P: Array = field(default_factory=lambda: np.zeros(3))
    held: bool = False


RELEASED = Demand()


@dataclass(frozen=True)
class StickReference:
    """The reference that a pilot moves.

    Attributes:
        row: (19 + N) reference row, see `iap_description.states`.
        mount_yaw: (N,) headings of the aircraft against the platform's [rad].
    """

    row: Array
    mount_yaw: Array

    @classmethod
    def at(cls, x: Array) -> Self:
        """Hold the pose of a platform's state rows (bodies, 13).

        The aircraft keep the headings against the platform that they have.
        """
        bodies = x[1:] if len(x) > 1 else x
        mount_yaw = _yaw(bodies[:, Q]) - _yaw(x[0, Q])
        row = np.zeros(REF_FIXED + len(bodies))
        row[REF_P], row[REF_Q] = x[0, P], x[0, Q]
        row[REF_FIXED:] = _yaw(bodies[:, Q])
        return cls(row, mount_yaw)

    def moved(self, demand: Demand, dt: float, *, limits: StickLimits, p_WP_W: Array) -> Self:
        """The reference one period later.

        Args:
            demand: of the pilot.
            dt: period [s]; 0 leaves the reference where it is.
            limits: of the reference.
            p_WP_W: (3,) where the platform is [m].
        """
        if not demand.held or dt <= 0.0:
            return type(self)(hold(self.row, 1)[0], self.mount_yaw)
        row = np.zeros_like(self.row)
        row[REF_Q], row[REF_W], row[REF_ALPHA] = _turned(self.row, demand.rate_P, dt, limits)
        row[REF_P], row[REF_V], row[REF_A] = _shifted(
            self.row, row[REF_Q], demand, dt, limits, p_WP_W
        )
        row[REF_FIXED:] = _yaw(row[REF_Q]) + self.mount_yaw
        return type(self)(row, self.mount_yaw)


def _turned(
    row: Array, rate_P: Array, dt: float, limits: StickLimits
) -> tuple[Array, Array, Array]:
    """Attitude, body rate and its derivative after a period in which the rate goes towards the one asked for."""
    w = _towards(row[REF_W], rate_P, np.deg2rad(limits.angular_acceleration_deg) * dt)
    free = so3.multiply(row[REF_Q], so3.quaternion_exp(0.5 * dt * (row[REF_W] + w)))
    q = _within_tilt(free, max(np.deg2rad(limits.tilt_deg), _tilt(row[REF_Q])))
    if q is free:
        return so3.normalized(q), w, (w - row[REF_W]) / dt
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(row[REF_Q]), q))
    return so3.normalized(q), turn / dt, np.zeros(3)


def _shifted(
    row: Array, q_WP: Array, demand: Demand, dt: float, limits: StickLimits, p_WP_W: Array
) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration after a period; on the leash, the velocity is that of the leash's end."""
    before = so3.rotate(so3.conjugate(row[REF_Q]), row[REF_V])
    v = so3.rotate(q_WP, _towards(before, demand.velocity_P, limits.acceleration * dt))
    p = row[REF_P] + 0.5 * dt * (row[REF_V] + v)
    reach = max(limits.leash, float(np.linalg.norm(row[REF_P] - p_WP_W)))
    if np.linalg.norm(p - p_WP_W) <= reach:
        return p, v, (v - row[REF_V]) / dt
    p = p_WP_W + _towards(np.zeros(3), p - p_WP_W, reach)
    return p, (p - row[REF_P]) / dt, np.zeros(3)


def _towards(now: Array, target: Array, most: float) -> Array:
    """`now` moved towards `wanted` by at most `most`."""
    gap = target - now
    size = float(np.linalg.norm(gap))
    return target if size <= most else now + gap * (most / size)


def _tilt(q: Array) -> float:
    """Angle [rad] between a frame's z axis and the vertical."""
    return float(np.arccos(np.clip(so3.rotate(q, UP_W)[2], -1.0, 1.0)))


def _within_tilt(q: Array, most: float) -> Array:
    """`q` itself where its tilt is at most `most` [rad]; otherwise turned back upright as far as needed."""
    excess = _tilt(q) - most
    if excess <= 1e-12:
        return q
    axis_W = np.cross(so3.rotate(q, UP_W), UP_W)
    upright = so3.quaternion_exp(excess * axis_W / np.linalg.norm(axis_W))
    return so3.multiply(upright, q)


def _yaw(q: Array) -> Array:
    """Yaw (...) [rad] of attitudes (..., 4)."""
    return so3.euler_from_matrix(so3.matrix_from_quaternion(q))[..., 2]


def joystick_demand(
    axes: Sequence[float], buttons: Sequence[int], mapping: JoystickMapping
) -> Demand:
    """Demand of a joystick's axes (each in [-1, 1]) and buttons.

    Raises:
        BadInput: the joystick lacks an axis or button of the mapping, or an axis is not a number.
    """
    if mapping.dead_man >= len(buttons):
        raise BadInput(
            f"joystick: key 'dead_man': button {mapping.dead_man} of only {len(buttons)}"
        )
    if not buttons[mapping.dead_man]:
        return RELEASED
    velocity = _deflections(axes, mapping.velocity, "velocity", mapping.dead_zone)
    rate_deg = _deflections(axes, mapping.rate_deg, "rate_deg", mapping.dead_zone)
    return Demand(velocity, np.deg2rad(rate_deg), held=True)


def _deflections(
    axes: Sequence[float], mapping: VelocityAxes | RateAxes, key: str, dead_zone: float
) -> Array:
    """Deflections (3,) of three axes beyond the dead zone, times what full deflection stands for."""
    out = np.zeros(3)
    for i, (name, axis) in enumerate(mapping):
        if axis.axis >= len(axes):
            raise BadInput(f"joystick: key '{key}.{name}': axis {axis.axis} of only {len(axes)}")
        raw = float(np.clip(axes[axis.axis], -1.0, 1.0))
        if not np.isfinite(raw):
            raise BadInput(f"joystick: key '{key}.{name}': axis {axis.axis} is {raw}")
        beyond = max(0.0, abs(raw) - dead_zone) / (1.0 - dead_zone)
        out[i] = np.copysign(beyond, raw) * axis.full
    return out


class Keyboard:
    """Held keys, as far as a terminal shows them: a key counts until its repeats cease.

    Args:
        mapping: what the keys ask for.
    """

    FACTOR, SLOWEST, FASTEST = 1.25, 0.2, 3.0  # of the keys that change the speed

    def __init__(self, mapping: KeyboardMapping) -> None:
        self.mapping = mapping
        self.speed = 1.0
        self._until: dict[str, float] = {}

    def press(self, key: str, now: float) -> bool:
        """Take a key at a time [s]; False when it ends the flight by hand."""
        mapping = self.mapping
        if key == mapping.quit:
            return False
        if key == mapping.stop:
            self._until.clear()
        elif key == mapping.faster:
            self.speed = min(self.FASTEST, self.speed * self.FACTOR)
        elif key == mapping.slower:
            self.speed = max(self.SLOWEST, self.speed / self.FACTOR)
        elif key in mapping.keys:
            self._until[key] = now + mapping.release
        return True

    def demand(self, now: float) -> Demand:
        """Demand of all keys held at a time [s]."""
        held = [self.mapping.keys[key] for key, until in self._until.items() if now < until]
        if not held:
            return RELEASED
        velocity = np.sum([key.velocity for key in held], axis=0)
        rate_deg = np.sum([key.rate_deg for key in held], axis=0)
        return Demand(self.speed * velocity, self.speed * np.deg2rad(rate_deg), held=True)

    def help(self) -> str:
        """The keys and what they do, one per line."""
        mapping = self.mapping
        special = {
            mapping.stop: "stop",
            mapping.faster: "faster",
            mapping.slower: "slower",
            mapping.quit: "quit",
        }
        lines = {**{key: motion.does for key, motion in mapping.keys.items()}, **special}
        return "\n".join(f"  {NAMES.get(key, key):<6} {does}" for key, does in lines.items())


NAMES = {" ": "space", "\x1b": "esc", "\t": "tab"}
