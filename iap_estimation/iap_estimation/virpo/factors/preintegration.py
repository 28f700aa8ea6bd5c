# SPDX-License-Identifier: BSD-3-Clause
r"""Samples of an inertial unit between two keyframes as one relative motion.

Forster et al., "On-manifold preintegration for real-time visual-inertial odometry", 2017. In the body at
the first keyframe, :math:`\Delta p, \Delta R, \Delta v` are what the samples alone say of the motion:

.. math::
    p_j = p_i + v_i T + g T^2 / 2 + R_i \Delta p, \quad v_j = v_i + g T + R_i \Delta v, \quad R_j = R_i \Delta R .

A sample is a mean over its interval, so that each step turns the specific force by the rotation in the
middle of it. Errors are ordered [dp, dtheta, dv, dbg, dba], the rotation's on the right.

A gyroscope's errors of scale and alignment, e relative to what is measured, put it off by e |w| for as long as a
motion lasts. With that time tau they count as white noise of equal power at low frequencies, which adds
:math:`2 \tau e^2 |w|^2` to the square of its density. Those of an accelerometer are taken up by its bias, since
most of what it measures is gravity.
"""

import math
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import add, put, put4, qmul, qnormalize, quat, rotate, scale, vec
from iap_estimation.virpo.algebra.matrices import (
    matrix,
    mm,
    ms,
    mskew,
    put_block,
    qexp,
    right_jacobian,
    transpose,
)

SAMPLE = 7  # columns of a sample: its length [s], w (3) [rad/s], f (3) [m/s^2]


Interval = TypeVar("Interval", bound=tuple[Array, ...])


class ImuInterval(NamedTuple):
    """One preintegrated interval; or several, the fields behind more axes: see `stack`.

    Attributes:
        span: (1,) its length T [s].
        delta: (10,) dp [m], dq xyzw, dv [m/s].
        slope: (9, 6) derivative of [dp, dtheta, dv] by [bg, ba].
        root: (15, 15) lower triangular, root^T root = inverse covariance of the residual.
        bias: (6,) at which the samples were integrated: bg [rad/s], ba [m/s^2].
    """

    span: Array
    delta: Array
    slope: Array
    root: Array
    bias: Array

    @classmethod
    def empty(cls) -> Self:
        """No time has passed."""
        delta = np.zeros(10)
        delta[6] = 1.0
        return cls(np.zeros(1), delta, np.zeros((9, 6)), np.eye(15), np.zeros(6))


def stack(one: Interval, *sizes: int) -> Interval:
    """Room for intervals like one, behind axes of these sizes."""
    return type(one)(*(np.tile(part, sizes + (1,) * part.ndim) for part in one))


def interval_at(many: Interval, *index: int) -> Interval:
    """Views of one interval of a stack."""
    return type(many)(*(part[index] for part in many))


def drop_first(many: Interval) -> None:
    """Forget the first interval of a stack; those behind it move up."""
    for part in many:
        part[:-1] = part[1:].copy()


@njit(cache=True)
def preintegrate(samples: Array, bias: Array, noise: Array, out: ImuInterval) -> None:
    """Integrate samples into `out`.

    Args:
        samples: (S, 7) length, angular velocity and specific force of each.
        bias: (6,) bg [rad/s], ba [m/s^2].
        noise: (5,) densities: gyroscope, accelerometer, walks of their biases; of the gyroscope for every rad/s
            [1/sqrt(Hz)].
        out: overwritten.
    """
    phi = np.eye(15)
    cov = np.zeros((15, 15))
    work = np.zeros((15, 15))
    F = np.zeros((9, 15))
    out.span[0] = 0.0
    out.delta[:] = 0.0
    out.delta[6] = 1.0
    out.bias[:] = bias
    for s in range(len(samples)):
        dt = samples[s, 0]
        _transition(samples[s], bias, out.delta, F)
        _spread(F, phi, cov, work)
        _add_noise(samples[s], bias, F, noise, cov)
        advance(samples[s], dt, bias, out.delta)
        out.span[0] += dt
    out.slope[:] = phi[:9, 9:]
    inverse_root(cov, out.root)


@njit(cache=True)
def advance(sample: Array, dt: float, bias: Array, delta: Array) -> None:
    """Carry a motion (10,) on by the first `dt` seconds of a sample (7,)."""
    turn = scale(dt, (sample[1] - bias[0], sample[2] - bias[1], sample[3] - bias[2]))
    force = (sample[4] - bias[3], sample[5] - bias[4], sample[6] - bias[5])
    q = quat(delta[3:7])
    gain = rotate(qmul(q, qexp(scale(0.5, turn))), scale(dt, force))
    v = vec(delta[7:10])
    put(delta, add(vec(delta), add(scale(dt, v), scale(0.5 * dt, gain))))
    put(delta[7:], add(v, gain))
    put4(delta[3:], qnormalize(qmul(q, qexp(turn))))


@njit(cache=True)
def motions_at(samples: Array, bias: Array, times: Array, out: Array) -> None:
    """The motion since the first sample's start at each of the ascending times (n,) [s] -> out (n, 10)."""
    delta = np.zeros(10)
    delta[6] = 1.0
    s, begun = 0, 0.0
    for i in range(len(times)):
        while s < len(samples) and begun + samples[s, 0] <= times[i]:
            advance(samples[s], samples[s, 0], bias, delta)
            begun += samples[s, 0]
            s += 1
        out[i] = delta
        if s < len(samples) and times[i] > begun:
            advance(samples[s], times[i] - begun, bias, out[i])


@njit(cache=True)
def _transition(sample: Array, bias: Array, delta: Array, F: Array) -> None:
    """Derivative F (9, 15) of [dp, dtheta, dv] after a sample by the errors before it."""
    dt = sample[0]
    turn = scale(dt, (sample[1] - bias[0], sample[2] - bias[1], sample[3] - bias[2]))
    force = (sample[4] - bias[3], sample[5] - bias[4], sample[6] - bias[5])
    half = scale(0.5, turn)
    R_mid = matrix(qmul(quat(delta[3:7]), qexp(half)))
    push = mskew(R_mid, force)
    by_turn = mm(push, transpose(matrix(qexp(half))))
    by_rate = ms(0.5 * dt, mm(push, right_jacobian(half)))
    for i in range(3):
        F[i, i] = 1.0
        F[i, 6 + i] = dt
        F[6 + i, 6 + i] = 1.0
    put_block(F, 0, 3, by_turn, -0.5 * dt * dt)
    put_block(F, 0, 9, by_rate, 0.5 * dt * dt)
    put_block(F, 0, 12, R_mid, -0.5 * dt * dt)
    put_block(F, 3, 3, transpose(matrix(qexp(turn))), 1.0)
    put_block(F, 3, 9, right_jacobian(turn), -dt)
    put_block(F, 6, 3, by_turn, -dt)
    put_block(F, 6, 9, by_rate, dt)
    put_block(F, 6, 12, R_mid, -dt)


@njit(cache=True)
def _spread(F: Array, phi: Array, cov: Array, work: Array) -> None:
    """Apply phi <- A phi and cov <- A cov A^T with A = [F; 0 I]."""
    _times(F, phi, work)
    phi[:9] = work[:9]
    _times(F, cov, work)
    for i in range(9):
        for j in range(9, 15):
            cov[i, j] = work[i, j]
            cov[j, i] = work[i, j]
        for j in range(i + 1):
            total = 0.0
            for k in range(15):
                total += work[i, k] * F[j, k]
            cov[i, j] = total
            cov[j, i] = total


@njit(cache=True)
def _times(F: Array, M: Array, out: Array) -> None:
    """F M into the first nine rows of `out`; F is sparse."""
    for i in range(9):
        out[i] = 0.0
        for k in range(15):
            f = F[i, k]
            if f != 0.0:
                for j in range(15):
                    out[i, j] += f * M[k, j]


@njit(cache=True)
def _add_noise(sample: Array, bias: Array, F: Array, noise: Array, cov: Array) -> None:
    """Add the noise of one sample: white noise enters as the biases do."""
    dt, rate = sample[0], 0.0
    for i in range(3):
        rate += (sample[1 + i] - bias[i]) ** 2
    gyro = (noise[0] * noise[0] + noise[4] * noise[4] * rate) / dt
    accel = noise[1] * noise[1] / dt
    for i in range(9):
        for j in range(9):
            total = 0.0
            for k in range(3):
                total += gyro * F[i, 9 + k] * F[j, 9 + k] + accel * F[i, 12 + k] * F[j, 12 + k]
            cov[i, j] += total
    for i in range(3):
        cov[9 + i, 9 + i] += noise[2] * noise[2] * dt
        cov[12 + i, 12 + i] += noise[3] * noise[3] * dt


@njit(cache=True)
def inverse_root(cov: Array, root: Array) -> None:
    """Lower triangular root with root^T root = cov^-1: the inverse of the Cholesky factor of cov."""
    n = len(cov)
    root[:] = 0.0
    for i in range(n):
        for j in range(i + 1):
            total = cov[i, j]
            for k in range(j):
                total -= root[i, k] * root[j, k]
            root[i, j] = math.sqrt(total) if i == j else total / root[j, j]
    for i in range(n):  # invert the factor in place, row by row
        d = 1.0 / root[i, i]
        for j in range(i):
            total = 0.0
            for k in range(j, i):
                total -= root[i, k] * root[k, j]
            root[i, j] = total * d
        root[i, i] = d
