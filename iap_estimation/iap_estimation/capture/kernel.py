# SPDX-License-Identifier: BSD-3-Clause
r"""Compiled steps of the filter of capture and inertial unit, on a ring of its last states and samples.

The state x (16,) is that of the unit I: p_WI, q_WI, v_WI, offsets b_f and b_w of its readings. A sample (w, f), the
mean over the dt up to its time, moves it on (Titterton and Weston, "Strapdown Inertial Navigation Technology", 2004):

.. math::
    a = R(q \otimes e^{(w - b_w) dt / 2}) (f - b_f) + g, \quad
    p \mathrel{+}= v\,dt + a\,dt^2 / 2, \quad v \mathrel{+}= a\,dt, \quad q \leftarrow q \otimes e^{(w - b_w) dt}.

A pose (z_p, z_q) of a time that has passed corrects the state of that time, with constant gains (`gains`):

.. math::
    e = z_p - p, \quad p \mathrel{+}= k_p e, \quad v \mathrel{+}= k_v e, \quad b_f \mathrel{+}= k_b R(q)^T e, \quad
    \theta = 2\,\mathrm{vec}(q^* \otimes z_q), \quad q \leftarrow q \otimes e^{k_\theta \theta}, \quad
    b_w \mathrel{+}= k_w \theta,

and the samples since then are taken again: the exact answer to a measurement that comes late (Larsen et al.,
"Incorporation of Time Delayed Measurements in a Discrete-time Kalman Filter", CDC 1998, sec. 2), and one by which it
makes no difference in which order samples and poses of the same times arrive.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    cross,
    put_at,
    qconj,
    qmul,
    qnormalize,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec_at,
)

SIZE = 16  # of a state
KEPT = 128  # states and samples that are kept, 0.64 s at 200 Hz
TOLERANCE = 1e-6  # between stamps of one time [s]
NEWEST, COUNT = 0, 1  # of the ring: index of the newest entry, and how many are filled


@njit(cache=True)
def turned(q: Quat, phi: Vec) -> Quat:
    """Q times the turn of a rotation vector [rad]."""
    angle = math.sqrt(phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2])
    s = 0.5 if angle < 1e-12 else math.sin(0.5 * angle) / angle
    return qnormalize(qmul(q, (s * phi[0], s * phi[1], s * phi[2], math.cos(0.5 * angle))))


@njit(cache=True)
def _put4(out: Array, k: int, q: Quat) -> None:
    for i in range(4):
        out[k + i] = q[i]


@njit(cache=True)
def _move_on(x: Array, sample: Array, dt: float, gravity: float, out: Array) -> None:
    """Write the state that a sample (6,) over a time dt [s] makes of another."""
    q, v = quat_at(x, 3), vec_at(x, 7)
    phi = scale(dt, sub(vec_at(sample, 0), vec_at(x, 13)))
    middle = turned(q, scale(0.5, phi))
    f = rotate(middle, sub(vec_at(sample, 3), vec_at(x, 10)))
    a = (f[0], f[1], f[2] - gravity)
    put_at(out, 0, add(vec_at(x, 0), add(scale(dt, v), scale(0.5 * dt * dt, a))))
    _put4(out, 3, turned(q, phi))
    put_at(out, 7, add(v, scale(dt, a)))
    for i in range(10, SIZE):
        out[i] = x[i]


@njit(cache=True)
def predict(
    times: Array, samples: Array, states: Array, ring: Integers, t: float, sample: Array, g: float
) -> None:
    """Take a sample (6,) of a time [s] that is newer than the ring's newest entry."""
    i = ring[NEWEST]
    j = (i + 1) % KEPT
    times[j], samples[j] = t, sample
    _move_on(states[i], sample, t - times[i], g, states[j])
    ring[NEWEST], ring[COUNT] = j, min(ring[COUNT] + 1, KEPT)


@njit(cache=True)
def correct(
    times: Array,
    samples: Array,
    states: Array,
    ring: Integers,
    t: float,
    pose: Array,
    place: Array,
    angle: Array,
    g: float,
) -> bool:
    """Take a pose (7,) of a time [s] that is no newer than the newest entry; False if it is older than all.

    Args:
        times: (KEPT,) of the entries [s].
        samples: (KEPT, 6) that led to them.
        states: (KEPT + 1, SIZE) then, and one row to work in.
        ring: (2,) NEWEST, COUNT.
        t: of the pose [s].
        pose: (7,) of the unit.
        place: (3,) gains, see `CaptureGains`.
        angle: (2,) gains.
        g: gravity [m/s^2].
    """
    back = 0
    while back < ring[COUNT] and times[(ring[NEWEST] - back) % KEPT] > t + TOLERANCE:
        back += 1
    if back == ring[COUNT]:
        return False
    i = (ring[NEWEST] - back) % KEPT
    then = states[KEPT]
    then[:] = states[i]
    if back > 0 and t - times[i] > TOLERANCE:  # between two entries
        _move_on(states[i], samples[(i + 1) % KEPT], t - times[i], g, then)
    _add(states[i], then, pose, place, angle)
    for n in range(back):
        a, b = (i + n) % KEPT, (i + n + 1) % KEPT
        _move_on(states[a], samples[b], times[b] - times[a], g, states[b])
    return True


@njit(cache=True)
def _add(x: Array, then: Array, pose: Array, place: Array, angle: Array) -> None:
    """Add to a state what a pose is off another, which is the same or a little later."""
    q = quat_at(then, 3)
    e = sub(vec_at(pose, 0), vec_at(then, 0))
    put_at(x, 0, add(vec_at(x, 0), scale(place[0], e)))
    put_at(x, 7, add(vec_at(x, 7), scale(place[1], e)))
    put_at(x, 10, add(vec_at(x, 10), scale(place[2], unrotate(q, e))))
    d = qmul(qconj(q), quat_at(pose, 3))
    theta = scale(2.0 if d[3] >= 0.0 else -2.0, (d[0], d[1], d[2]))
    _put4(x, 3, turned(quat_at(x, 3), scale(angle[0], theta)))
    put_at(x, 13, add(vec_at(x, 13), scale(angle[1], theta)))


@njit(cache=True)
def body_row(x: Array, sample: Array, span: float, p_IB_I: Array, q_IB: Array, out: Array) -> None:
    """Write the state row (13,) of the body that carries the unit, a time after the state [s], at its twist."""
    q = quat_at(x, 3)
    w = rotate(q, sub(vec_at(sample, 0), vec_at(x, 13)))
    arm = rotate(q, vec_at(p_IB_I, 0))
    v = add(vec_at(x, 7), cross(w, arm))
    put_at(out, 0, add(add(vec_at(x, 0), arm), scale(span, v)))
    q_WB = qmul(q, quat_at(q_IB, 0))
    if span > 0.0:
        q_WB = turned(q_WB, scale(span, unrotate(q_WB, w)))
    _put4(out, 3, q_WB)
    put_at(out, 7, v)
    put_at(out, 10, w)


@njit(cache=True)
def unit_pose(p_WS_W: Array, q_WS: Array, p_SI_S: Array, q_SI: Array, out: Array) -> None:
    """Write the pose (7,) of the unit that a pose of the markers makes."""
    q = quat_at(q_WS, 0)
    put_at(out, 0, add(vec_at(p_WS_W, 0), rotate(q, vec_at(p_SI_S, 0))))
    _put4(out, 3, qmul(q, quat_at(q_SI, 0)))


class Rings(NamedTuple):
    """Rings of B filters, or of one without the first axis; see `correct`.

    Attributes:
        times: (B, KEPT) of the entries [s].
        samples: (B, KEPT, 6) that led to them.
        states: (B, KEPT + 1, SIZE) then, and one row to work in.
        ring: (B, 2) NEWEST, COUNT.
    """

    times: Array
    samples: Array
    states: Array
    ring: Integers


class Waiting(NamedTuple):
    """A pose of each of B filters that waits for its sample: times (B,) [s], infinite without one, and poses (B, 7)."""

    times: Array
    poses: Array


def empty_rings(batch: int) -> Rings:
    """Rings of B filters that hold nothing."""
    return Rings(
        np.zeros((batch, KEPT)),
        np.zeros((batch, KEPT, 6)),
        np.zeros((batch, KEPT + 1, SIZE)),
        np.zeros((batch, 2), dtype=np.int64),
    )


def empty_ring() -> Rings:
    """A ring that holds nothing."""
    return Rings(*(each[0] for each in empty_rings(1)))
