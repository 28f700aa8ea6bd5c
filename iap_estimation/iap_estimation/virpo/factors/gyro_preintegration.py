# SPDX-License-Identifier: BSD-3-Clause
r"""Rotation of the central body B0: its gyroscope preintegrated between keyframes, and its autopilot's tilt.

The samples are preintegrated, as in `iap_estimation.virpo.factors.preintegration`, to a rotation that corrects for the
gyroscope's bias to first order: :math:`q_0(t_{k+1}) = q_0(t_k)\,\Delta q`. Derivatives are by
[dtheta, dbg] of a keyframe's centre, the rotation on the right.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Mat,
    dot,
    mv,
    put,
    put4,
    qconj,
    qlog,
    qmul,
    qnormalize,
    quat,
    scale,
    sub,
    unrotate,
    vec,
)
from iap_estimation.virpo.algebra.matrices import (
    IDENTITY,
    block,
    ma,
    matrix,
    mm,
    ms,
    mskew,
    mtm,
    put_block,
    qexp,
    right_jacobian,
    right_jacobian_inverse,
    transpose,
)
from iap_estimation.virpo.factors.preintegration import inverse_root

UNSEEN_RATE = 0.5  # deviation of the angular velocity where no sample shows it [rad/s]
MAX_SAMPLE_TIME = 0.1  # sample that stands for the angular velocity of all its interval [s]
TILT_WIDTH = 6  # columns of a tilt's row
FRAME, ATTITUDE, SIGMA = 0, 1, 5


class Turn(NamedTuple):
    """The preintegrated turn of B0 over one interval, its residual ordered [dtheta, dbg]; or of several: see `stack`.

    Attributes:
        delta: (4,) rotation of the end against the beginning, xyzw.
        slope: (3, 3) its derivative, on the right, by the bias.
        covariance: (6, 6) of the residual.
        root: (6, 6) lower triangular, root^T root = inverse covariance.
        bias: (3,) at which the samples were integrated [rad/s].
    """

    delta: Array
    slope: Array
    covariance: Array
    root: Array
    bias: Array

    @classmethod
    def empty(cls) -> Self:
        """No time has passed."""
        delta = np.array([0.0, 0.0, 0.0, 1.0])
        return cls(delta, np.zeros((3, 3)), np.zeros((6, 6)), np.eye(6), np.zeros(3))


def tilt_deviation(deviation: float, span: float, memory: float = 0.5) -> float:
    """Deviation that a tilt counts with, one for every `span` [s].

    Errors of an attitude filter last; those of a correlation time `memory` [s] count as white noise of equal
    power at low frequencies: ten times the variance at 10 Hz.
    """
    return deviation * math.sqrt(max(1.0, 2.0 * memory / span))


@njit(cache=True)
def preintegrate_turn(samples: Array, span: float, bias: Array, noise: Array, out: Turn) -> None:
    """Integrate samples of the central gyroscope into `out`.

    Args:
        samples: (S, 4) length [s] and angular velocity of each; they may leave out some of the interval.
        span: length of the interval [s], above 0.
        bias: (3,) of the gyroscope [rad/s].
        noise: (3,) densities: gyroscope, above 0; walk of its bias; of the gyroscope for every rad/s [1/sqrt(Hz)].
        out: overwritten.
    """
    q, left, unseen = (0.0, 0.0, 0.0, 1.0), span, 0.0
    slope, tt, tb, bb = ms(0.0, IDENTITY), ms(0.0, IDENTITY), ms(0.0, IDENTITY), 0.0
    for s in range(len(samples)):
        dt = samples[s, 0]
        w = sub(vec(samples[s, 1:4]), vec(bias))
        turn, white = scale(dt, w), noise[0] * noise[0] + noise[2] * noise[2] * dot(w, w)
        back, by_bias = matrix(qexp(scale(-1.0, turn))), ms(-dt, right_jacobian(turn))
        carried = mm(mm(back, tb), transpose(by_bias))
        fresh = ms(bb + white / dt, mm(by_bias, transpose(by_bias)))
        tt = ma(mm(mm(back, tt), transpose(back)), ma(fresh, ma(carried, transpose(carried))))
        tb = ma(mm(back, tb), ms(bb, by_bias))
        bb += noise[1] * noise[1] * dt
        slope = ma(mm(back, slope), by_bias)
        q = qnormalize(qmul(q, qexp(turn)))
        left -= dt
        if dt > MAX_SAMPLE_TIME:
            unseen += dt
    if left > 1e-9:
        unseen += left
        bb += noise[1] * noise[1] * left
    put4(out.delta, q)
    put_block(out.slope, 0, 0, slope, 1.0)
    out.bias[:] = bias
    spread = UNSEEN_RATE * unseen
    _put_covariance(ma(tt, ms(spread * spread, IDENTITY)), tb, max(bb, 1e-16), out)


@njit(cache=True)
def _put_covariance(tt: Mat, tb: Mat, bb: float, out: Turn) -> None:
    put_block(out.covariance, 0, 0, tt, 1.0)
    put_block(out.covariance, 0, 3, tb, 1.0)
    put_block(out.covariance, 3, 0, transpose(tb), 1.0)
    put_block(out.covariance, 3, 3, IDENTITY, bb)
    inverse_root(out.covariance, out.root)


@njit(cache=True)
def predict_turn(c_i: Array, z: Turn, out: Array) -> None:
    """The centre (7,) at the end of an interval; its bias stays."""
    by_bias = mv(block(z.slope, 0, 0), sub(vec(c_i[4:7]), vec(z.bias)))
    put4(out, qnormalize(qmul(quat(c_i), qmul(quat(z.delta), qexp(by_bias)))))
    out[4:] = c_i[4:]


@njit(cache=True)
def turning(c_i: Array, c_j: Array, z: Turn, r: Array, J: Array, raw: Array) -> None:
    """Whitened residual of two keyframes against the turn between them.

    Args:
        c_i: (7,) centre at the first keyframe: q_WB0 xyzw, bg.
        c_j: (7,) at the second.
        z: what lies between.
        r: (6,) result: [dtheta, dbg].
        J: (6, 12) result, by [dtheta, dbg] of i and of j.
        raw: (6, 13) scratch: both before whitening, r in the last column.
    """
    raw[:] = 0.0
    slope = block(z.slope, 0, 0)
    turn = mv(slope, sub(vec(c_i[4:7]), vec(z.bias)))
    measured = qmul(quat(z.delta), qexp(turn))
    off = qlog(qmul(qconj(measured), qmul(qconj(quat(c_i)), quat(c_j))))
    put(raw[0:3, 12], off)
    put(raw[3:6, 12], sub(vec(c_j[4:7]), vec(c_i[4:7])))
    inverse = right_jacobian_inverse(off)
    by_bias = mtm(matrix(qexp(off)), mm(right_jacobian(turn), slope))
    put_block(raw, 0, 0, mm(inverse, mtm(matrix(quat(c_j)), matrix(quat(c_i)))), -1.0)
    put_block(raw, 0, 3, mm(inverse, by_bias), -1.0)
    put_block(raw, 0, 6, inverse, 1.0)
    put_block(raw, 3, 3, IDENTITY, -1.0)
    put_block(raw, 3, 9, IDENTITY, 1.0)
    for i in range(6):
        r[i] = 0.0
        J[i] = 0.0
        for k in range(i + 1):
            r[i] += z.root[i, k] * raw[k, 12]
            for j in range(12):
                J[i, j] += z.root[i, k] * raw[k, j]


@njit(cache=True)
def tilting(c: Array, row: Array, r: Array, J: Array) -> None:
    """Whitened residual (2,) of the autopilot's roll and pitch, and its derivative (2, 3) by dtheta.

    Where the vertical of the state points in the world of its attitude: x and y of R_autopilot R_0^T e_z. What
    that attitude says of the yaw only turns these two, and their errors are alike.
    """
    up = unrotate(quat(c), (0.0, 0.0, 1.0))
    R = matrix(quat(row[ATTITUDE : ATTITUDE + 4]))
    vertical, slope, f = mv(R, up), mskew(R, up), 1.0 / row[SIGMA]
    for i in range(2):
        r[i] = f * vertical[i]
        for k in range(3):
            J[i, k] = f * slope[3 * i + k]
