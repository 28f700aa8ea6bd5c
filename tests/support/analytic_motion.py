# SPDX-License-Identifier: BSD-3-Clause
"""Motions whose velocity, acceleration, angular velocity and its derivative are known exactly at any time."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from iap_description.math import so3


class Kinematics(NamedTuple):
    """A body at n instants: all of (n, 3), but q_WB (n, 4); dw_B is the derivative of w_B in the body."""

    p_WB_W: np.ndarray
    v_WB_W: np.ndarray
    a_WB_W: np.ndarray
    q_WB: np.ndarray
    w_B: np.ndarray
    dw_B: np.ndarray


class Motion(Protocol):
    """Anything that says where a body is."""

    def at(self, t: np.ndarray) -> Kinematics:
        """At instants (n,) [s]."""
        ...


@dataclass(frozen=True)
class Waves:
    """A curve of three coordinates: middle + sum of amplitude sin(rate s + phase).

    Attributes:
        middle: three numbers.
        terms: (amplitude (3), rate [rad/s], phase (3)) of each.
    """

    middle: tuple
    terms: tuple = ()

    def at(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The curve (n, 3) and its first two derivatives by s."""
        y = np.tile(np.array(self.middle, dtype=float), (len(s), 1))
        dy, ddy = np.zeros_like(y), np.zeros_like(y)
        for amplitude, rate, phase in self.terms:
            angle = rate * s[:, None] + np.asarray(phase)
            y += amplitude * np.sin(angle)
            dy += rate * np.asarray(amplitude) * np.cos(angle)
            ddy -= rate * rate * np.asarray(amplitude) * np.sin(angle)
        return y, dy, ddy


@dataclass(frozen=True)
class AnalyticMotion:
    """A body on a curve of positions with a curve of (roll, pitch, yaw), after some time at rest.

    Attributes:
        place: [m].
        angles: roll, pitch, yaw [rad].
        rest: time at rest before it moves [s].
        ramp: time in which it then gets up to speed [s]; 0 for a motion that never rests.
    """

    place: Waves
    angles: Waves
    rest: float = 0.0
    ramp: float = 0.0

    def at(self, t: np.ndarray) -> Kinematics:
        s, ds, dds = self._warped(np.asarray(t, dtype=float))
        p, dp, ddp = self.place.at(s)
        e, de, dde = self.angles.at(s)
        q, w, dw = _spin(e, ds[:, None] * de, ds[:, None] ** 2 * dde + dds[:, None] * de)
        v, a = ds[:, None] * dp, ds[:, None] ** 2 * ddp + dds[:, None] * dp
        return Kinematics(p, v, a, q, w, dw)

    def _warped(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.ramp == 0.0:
            return t - self.rest, np.ones_like(t), np.zeros_like(t)
        u = np.clip((t - self.rest) / self.ramp, 0.0, 1.0)
        beyond = np.maximum(t - self.rest - self.ramp, 0.0)
        s = self.ramp * (u**3 - 0.5 * u**4) + beyond
        return s, 3.0 * u**2 - 2.0 * u**3, 6.0 * (u - u**2) / self.ramp


@dataclass(frozen=True)
class AircraftSensors:
    """A body whose joint is fixed to a point of another, its attitude its own.

    Attributes:
        carrier: the other.
        d: the point in the carrier [m].
        angles: roll, pitch, yaw [rad], beside the carrier's time.
        p_BJ_B: place of the joint in the body [m].
    """

    carrier: AnalyticMotion
    d: tuple
    angles: Waves
    p_BJ_B: tuple = (0.0, 0.0, 0.0)

    def at(self, t: np.ndarray) -> Kinematics:
        held = self.carrier.at(t)
        own = AnalyticMotion(
            Waves((0, 0, 0)), self.angles, self.carrier.rest, self.carrier.ramp
        ).at(t)
        arm, back = _arm(held, np.asarray(self.d)), _arm(own, np.asarray(self.p_BJ_B))
        p, v, a = (of + out - less for of, out, less in zip(held[:3], arm, back, strict=True))
        return Kinematics(p, v, a, *own[3:])


def shown(motion: Motion, t: float) -> Kinematics:
    """A motion at one instant, without the first axis."""
    return Kinematics(*(part[0] for part in motion.at(np.array([t]))))


def _arm(body: Kinematics, d: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A point of a body against its origin, in W: place, velocity and acceleration."""
    w, dw = body.w_B, body.dw_B
    v = np.cross(w, d)
    a = np.cross(dw, d) + np.cross(w, v)
    return tuple(so3.rotate(body.q_WB, one) for one in (np.broadcast_to(d, w.shape), v, a))


def _spin(
    e: np.ndarray, de: np.ndarray, dde: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Attitude, angular velocity and its derivative of R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (sr, sp), (cr, cp) = np.sin(e[:, :2]).T, np.cos(e[:, :2]).T
    r1, p1, y1 = de.T
    r2, p2, y2 = dde.T
    x, y, z = np.eye(3)
    q = so3.quaternion_exp(e[:, :1] * x)
    q = so3.multiply(so3.quaternion_exp(e[:, 1:2] * y), q)
    q = so3.multiply(so3.quaternion_exp(e[:, 2:] * z), q)
    w = np.stack([r1 - y1 * sp, p1 * cr + y1 * cp * sr, -p1 * sr + y1 * cp * cr], -1)
    dw = np.stack(
        [
            r2 - y2 * sp - y1 * p1 * cp,
            p2 * cr - p1 * r1 * sr + y2 * cp * sr + y1 * (cp * cr * r1 - sp * sr * p1),
            -p2 * sr - p1 * r1 * cr + y2 * cp * cr - y1 * (cp * sr * r1 + sp * cr * p1),
        ],
        -1,
    )
    return q, w, dw
