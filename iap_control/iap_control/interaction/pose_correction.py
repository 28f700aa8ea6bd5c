# SPDX-License-Identifier: BSD-3-Clause
r"""A correction of the pose command that moves, and the reference that comes of it with its twist and acceleration.

The position moves by e in world axes. The attitude is turned by a rotation vector rho in world
axes, R' = Exp(rho) R, or the correction is added to its Euler angles.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Vec,
    add,
    cross,
    dot,
    norm,
    put,
    put4,
    qmul,
    qnormalize,
    quat,
    scale,
    sub,
    unrotate,
    vec,
)

MIN_PITCH_COSINE = 0.02  # of the pitch, below which Euler rates are not followed further


class Correction(NamedTuple):
    """An addition to a pose, [position; turn], in world axes [m], [rad]; or [position; Euler angles].

    Attributes:
        e: (6,) the correction.
        de: (6,) its time derivative.
        dde: (6,) the second one.
    """

    e: Array
    de: Array
    dde: Array

    @classmethod
    def none(cls) -> "Correction":
        """A correction at rest that changes nothing."""
        return cls(np.zeros(6), np.zeros(6), np.zeros(6))


@njit(cache=True)
def revise(row: Array, c: Correction, out: Array) -> None:
    r"""Write a reference row (19+) with position and attitude moved by a correction.

    With J_r the right Jacobian of SO(3), the body rate grows by R^T J_r(rho) drho, since Exp(-rho) times the left
    Jacobian is the right one; differentiating it gives the angular acceleration.
    """
    out[:] = row
    _shift(c, out)
    q, w = quat(row[3:7]), vec(row[10:13])
    rho = vec(c.e[3:])
    rate, acceleration = _turn(rho, vec(c.de[3:]), vec(c.dde[3:]))
    rate, acceleration = unrotate(q, rate), unrotate(q, acceleration)
    put4(out[3:7], qnormalize(qmul(_exp(rho), q)))
    put(out[10:13], add(w, rate))
    put(out[16:19], add(vec(row[16:19]), sub(acceleration, cross(w, rate))))


@njit(cache=True)
def _shift(c: Correction, out: Array) -> None:
    for i in range(3):
        out[i] += c.e[i]
        out[7 + i] += c.de[i]
        out[13 + i] += c.dde[i]


@njit(cache=True)
def _exp(rho: Vec) -> tuple[float, float, float, float]:
    """Quaternion of a rotation vector [rad]."""
    half = 0.5 * norm(rho)
    s = 0.5 if half < 1e-9 else 0.5 * math.sin(half) / half
    return (s * rho[0], s * rho[1], s * rho[2], math.cos(half))


@njit(cache=True)
def _turn(rho: Vec, drho: Vec, ddrho: Vec) -> tuple[Vec, Vec]:
    r"""J_r(rho) drho and its time derivative.

    J_r(rho) v = v - a rho x v + b rho x (rho x v) with a = (1 - cos t) / t^2, b = (t - sin t) / t^3, t = |rho|; with
    p = rho . drho, the factors change at the rates p (sin t / t - 2 a) / t^2 and p (a - 3 b) / t^2.
    """
    square = dot(rho, rho)
    if square < 1e-4:
        a, b = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
        a_rate, b_rate = -1.0 / 12.0 + square / 180.0, -1.0 / 60.0 + square / 1260.0
    else:
        t = math.sqrt(square)
        a, b = (1.0 - math.cos(t)) / square, (t - math.sin(t)) / (square * t)
        a_rate, b_rate = (math.sin(t) / t - 2.0 * a) / square, (a - 3.0 * b) / square
    p = dot(rho, drho)
    once, again = cross(rho, drho), cross(rho, ddrho)
    twice = cross(rho, once)
    rate = add(sub(drho, scale(a, once)), scale(b, twice))
    acceleration = add(sub(ddrho, scale(a, again)), scale(b, cross(rho, again)))
    change = add(scale(-p * a_rate, once), scale(p * b_rate, twice))
    return rate, add(add(acceleration, change), scale(b, cross(drho, once)))


@njit(cache=True)
def revise_euler(row: Array, c: Correction, out: Array) -> None:
    """Write a reference row (19+) whose Euler angles and position are moved by a correction, iap_simulator eq. (20).

    Where the pitch is upright, Euler angles have no rates; there those of 1 deg beside are taken.
    """
    out[:] = row
    _shift(c, out)
    g = _euler(row[3:7])
    rate = _euler_rate(g, vec(row[10:13]))
    acceleration = _euler_rate(g, sub(vec(row[16:19]), _body_drift(g, rate)))
    g = add(g, vec(c.e[3:]))
    rate = add(rate, vec(c.de[3:]))
    put4(out[3:7], _quat_of_euler(g))
    put(out[10:13], _body_rate(g, rate))
    alpha = _body_rate(g, add(acceleration, vec(c.dde[3:])))
    put(out[16:19], add(alpha, _body_drift(g, rate)))


@njit(cache=True)
def _euler(q: Array) -> Vec:
    """Roll, pitch, yaw [rad] of R = Rz(yaw) Ry(pitch) Rx(roll)."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    sine = min(max(2.0 * (w * y - z * x), -1.0), 1.0)
    return (
        math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        math.asin(sine),
        math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )


@njit(cache=True)
def _quat_of_euler(g: Vec) -> tuple[float, float, float, float]:
    yaw = (0.0, 0.0, math.sin(0.5 * g[2]), math.cos(0.5 * g[2]))
    pitch = (0.0, math.sin(0.5 * g[1]), 0.0, math.cos(0.5 * g[1]))
    roll = (math.sin(0.5 * g[0]), 0.0, 0.0, math.cos(0.5 * g[0]))
    return qmul(qmul(yaw, pitch), roll)


@njit(cache=True)
def _euler_rate(g: Vec, w_B: Vec) -> Vec:
    """Rates of the Euler angles `g` at a body rate."""
    cosine = math.cos(g[1])
    if abs(cosine) < MIN_PITCH_COSINE:
        cosine = math.copysign(MIN_PITCH_COSINE, cosine)
    yaw = (w_B[1] * math.sin(g[0]) + w_B[2] * math.cos(g[0])) / cosine
    pitch = w_B[1] * math.cos(g[0]) - w_B[2] * math.sin(g[0])
    return (w_B[0] + yaw * math.sin(g[1]), pitch, yaw)


@njit(cache=True)
def _body_rate(g: Vec, dg: Vec) -> Vec:
    """Body rate of Euler angles `g` that change at the rates `dg`."""
    c, s = math.cos(g[0]), math.sin(g[0])
    cp, sp = math.cos(g[1]), math.sin(g[1])
    return (dg[0] - dg[2] * sp, dg[1] * c + dg[2] * cp * s, -dg[1] * s + dg[2] * cp * c)


@njit(cache=True)
def _body_drift(g: Vec, dg: Vec) -> Vec:
    """Angular acceleration, body axes, of Euler angles `g` that change at constant rates `dg`."""
    c, s = math.cos(g[0]), math.sin(g[0])
    cp, sp = math.cos(g[1]), math.sin(g[1])
    along, across = dg[0] * dg[1], dg[2] * dg[1] * sp
    turn = dg[2] * dg[0] * cp
    return (
        -dg[2] * dg[1] * cp,
        -along * s - across * s + turn * c,
        -along * c - across * c - turn * s,
    )
