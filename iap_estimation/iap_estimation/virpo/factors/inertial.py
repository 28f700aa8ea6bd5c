# SPDX-License-Identifier: BSD-3-Clause
r"""r_inertial of iap_simulator eq. (22): two keyframes against the preintegrated samples between them.

Derivatives are by [dp, dtheta, dv, dbg, dba] of each keyframe: positions and velocities in the frame of
the state, rotations on the right, R exp(dtheta).
"""

from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Vec,
    add,
    mv,
    put,
    qconj,
    qlog,
    qmul,
    quat,
    scale,
    sub,
    vec,
)
from iap_estimation.virpo.algebra.matrices import (
    IDENTITY,
    block,
    matrix,
    mm,
    mtm,
    mtv,
    put_block,
    qexp,
    right_jacobian,
    right_jacobian_inverse,
    skew,
    transpose,
)
from iap_estimation.virpo.factors.preintegration import ImuInterval


@njit(cache=True)
def inertial(
    x_i: Array, x_j: Array, gravity: float, z: ImuInterval, r: Array, J: Array, raw: Array
) -> None:
    """Whitened residual and derivatives.

    Args:
        x_i: (16,) state at the first keyframe: p, q xyzw, v, bg, ba.
        x_j: (16,) at the second.
        gravity: its strength along -z [m/s^2].
        z: what lies between.
        r: (15,) result: [dp, dtheta, dv, dbg, dba].
        J: (15, 30) result.
        raw: (15, 31) scratch: both before whitening, r in the last column.
    """
    raw[:] = 0.0
    off = _residual(x_i, x_j, gravity, z, raw)
    _jacobian(x_i, x_j, gravity, z, off, raw)
    for i in range(15):
        r[i] = 0.0
        J[i] = 0.0
        for k in range(i + 1):
            s = z.root[i, k]
            r[i] += s * raw[k, 30]
            for j in range(30):
                J[i, j] += s * raw[k, j]


@njit(cache=True)
def inertial_cost(x_i: Array, x_j: Array, gravity: float, z: ImuInterval, raw: Array) -> float:
    """Half the squared length of the whitened residual."""
    _residual(x_i, x_j, gravity, z, raw)
    total = 0.0
    for i in range(15):
        one = 0.0
        for k in range(i + 1):
            one += z.root[i, k] * raw[k, 30]
        total += one * one
    return 0.5 * total


@njit(cache=True)
def _way_and_gain(x_i: Array, x_j: Array, gravity: float, T: float) -> tuple[Vec, Vec]:
    """Motion that the samples must explain, in the first body's axes: position [m] and velocity [m/s]."""
    R_i, v_i = matrix(quat(x_i[3:7])), vec(x_i[7:10])
    fall = (0.0, 0.0, gravity * T)
    way = add(sub(vec(x_j), vec(x_i)), sub(scale(0.5 * T, fall), scale(T, v_i)))
    return mtv(R_i, way), mtv(R_i, add(sub(vec(x_j[7:10]), v_i), fall))


@njit(cache=True)
def _turn(x_i: Array, z: ImuInterval) -> Vec:
    """Correction of the preintegrated rotation for the gyroscope's bias [rad]."""
    return mv(block(z.slope, 3, 0), sub(vec(x_i[10:13]), vec(z.bias)))


@njit(cache=True)
def _residual(x_i: Array, x_j: Array, gravity: float, z: ImuInterval, raw: Array) -> Vec:
    """Write the residual before whitening; returns its part of rotation."""
    bg, ba = sub(vec(x_i[10:13]), vec(z.bias)), sub(vec(x_i[13:16]), vec(z.bias[3:6]))
    way, gain = _way_and_gain(x_i, x_j, gravity, z.span[0])
    shift = add(mv(block(z.slope, 0, 0), bg), mv(block(z.slope, 0, 3), ba))
    speed = add(mv(block(z.slope, 6, 0), bg), mv(block(z.slope, 6, 3), ba))
    measured = qmul(quat(z.delta[3:7]), qexp(_turn(x_i, z)))
    relative = qmul(qconj(quat(x_i[3:7])), quat(x_j[3:7]))
    off = qlog(qmul(qconj(measured), relative))
    put(raw[0:3, 30], sub(way, add(vec(z.delta), shift)))
    put(raw[3:6, 30], off)
    put(raw[6:9, 30], sub(gain, add(vec(z.delta[7:10]), speed)))
    put(raw[9:12, 30], sub(vec(x_j[10:13]), vec(x_i[10:13])))
    put(raw[12:15, 30], sub(vec(x_j[13:16]), vec(x_i[13:16])))
    return off


@njit(cache=True)
def _jacobian(
    x_i: Array, x_j: Array, gravity: float, z: ImuInterval, off: Vec, raw: Array
) -> None:
    """Write the derivatives before whitening."""
    T = z.span[0]
    R_i, R_j = matrix(quat(x_i[3:7])), matrix(quat(x_j[3:7]))
    way, gain = _way_and_gain(x_i, x_j, gravity, T)
    back = transpose(R_i)
    put_block(raw, 0, 0, back, -1.0)
    put_block(raw, 0, 3, skew(way), 1.0)
    put_block(raw, 0, 6, back, -T)
    put_block(raw, 0, 15, back, 1.0)
    put_block(raw, 6, 3, skew(gain), 1.0)
    put_block(raw, 6, 6, back, -1.0)
    put_block(raw, 6, 21, back, 1.0)
    for row in (0, 6):
        for col in (0, 3):
            put_block(raw, row, 9 + col, block(z.slope, row, col), -1.0)
    inverse = right_jacobian_inverse(off)
    by_bias = mm(right_jacobian(_turn(x_i, z)), block(z.slope, 3, 0))
    put_block(raw, 3, 3, mm(inverse, mtm(R_j, R_i)), -1.0)
    put_block(raw, 3, 9, mm(inverse, mtm(matrix(qexp(off)), by_bias)), -1.0)
    put_block(raw, 3, 18, inverse, 1.0)
    put_block(raw, 9, 9, IDENTITY, -1.0)
    put_block(raw, 9, 24, IDENTITY, 1.0)
    put_block(raw, 12, 12, IDENTITY, -1.0)
    put_block(raw, 12, 27, IDENTITY, 1.0)
