# SPDX-License-Identifier: BSD-3-Clause
"""The motion that samples of inertial units add up to: positions, attitudes and velocities without anything else."""

from iap_description.arrays import Array
from iap_description.math import so3

Motion = tuple[Array, Array, Array]  # p (M, 3) [m], q xyzw (M, 4), v (M, 3) [m/s] in `map`


def reckon(start: Motion, w_S: Array, f_S: Array, *, dt: float, gravity: float) -> Motion:
    """Go on from a start by K samples that are means over their intervals, of M units each.

    Args:
        start: of the units.
        w_S: (K, M, 3) angular velocities [rad/s].
        f_S: (K, M, 3) specific forces [m/s^2].
        dt: between samples [s].
        gravity: along -z of `map` [m/s^2].
    """
    p, q, v = start
    for w, f in zip(w_S, f_S, strict=True):
        middle = so3.multiply(q, so3.quaternion_exp(0.5 * dt * w))
        p, q, v = _advance(p, q, v, w, so3.rotate(middle, f), dt, gravity)
    return p, q, v


def reckon_instants(start: Motion, w_S: Array, f_S: Array, *, dt: float, gravity: float) -> Motion:
    """The same from K + 1 samples of instants, the first at the start, by the trapezoidal rule."""
    p, q, v = start
    for k in range(len(w_S) - 1):
        w = 0.5 * (w_S[k] + w_S[k + 1])
        end = so3.multiply(q, so3.quaternion_exp(dt * w))
        f_W = 0.5 * (so3.rotate(q, f_S[k]) + so3.rotate(end, f_S[k + 1]))
        p, q, v = _advance(p, q, v, w, f_W, dt, gravity)
    return p, q, v


def _advance(
    p: Array, q: Array, v: Array, w: Array, f_W: Array, dt: float, gravity: float
) -> Motion:
    a = f_W - [0.0, 0.0, gravity]
    turned = so3.multiply(q, so3.quaternion_exp(dt * w))
    return p + dt * v + 0.5 * dt * dt * a, turned, v + dt * a
