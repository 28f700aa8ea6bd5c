# SPDX-License-Identifier: BSD-3-Clause
r"""Reprojection of a landmark in a stereo pair: iap_simulator's r_visual (virpo eq. 2) in normalised coordinates.

A landmark is (a, b, rho): its bearing m = (a, b, 1) and inverse depth in the left camera of its first
keyframe i. Scaled by rho, the point in camera c of keyframe j is

.. math::
    s = R_{CB} \left( R_j^T \left( R_i (R_{BC_0} m + \rho\,p_{BC_0}) + \rho\,(p_i - p_j) \right)
        - \rho\,p_{BC} \right) ,

finite for any distance; the residual is (s_x / s_z, s_y / s_z) less what was seen. The bearing is part of
the landmark, unlike in the paper, because the first view has noise as every other has.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import Mat, Vec, add, mv, quat, scale, sub, vec
from iap_estimation.virpo.algebra.matrices import block, matrix, mm, mskew, mtv, transpose


class StereoRig(NamedTuple):
    """Two cameras on a body.

    Attributes:
        R_BC: (2, 3, 3) from left and right camera (x right, y down, z forward) to the body.
        p_BC_B: (2, 3) their places [m].
        deviation: of a coordinate, in units of the focal length: pixels / fx.
        focal: fx [px], which turns normalised coordinates into pixels.
    """

    R_BC: Array
    p_BC_B: Array
    deviation: float
    focal: float

    @classmethod
    def of(cls, q_BC: Array, p_BC_B: Array, *, focal: float, pixels: float) -> Self:
        """A rig.

        Args:
            q_BC: (2, 4) attitudes of the left and the right camera, xyzw.
            p_BC_B: (2, 3) their places [m].
            focal: fx [px].
            pixels: standard deviation of a tracked coordinate [px].
        """
        R_BC = np.ascontiguousarray(so3.matrix_from_quaternion(np.asarray(q_BC, dtype=float)))
        return cls(R_BC, np.array(p_BC_B, dtype=float), pixels / focal, float(focal))


@njit(cache=True)
def ray(landmark: Array, rig: StereoRig) -> Vec:
    """R_BC0 m + rho p_BC0: the scaled landmark in the body of its first keyframe."""
    m = (landmark[0], landmark[1], 1.0)
    return add(mv(block(rig.R_BC[0], 0, 0), m), scale(landmark[2], vec(rig.p_BC_B[0])))


@njit(cache=True)
def scaled_point(x_i: Array, x_j: Array, landmark: Array, rig: StereoRig, side: int) -> Vec:
    """The landmark in a camera of keyframe j, times its inverse depth in its first view.

    Args:
        x_i: (16,) state at the landmark's first keyframe.
        x_j: (16,) state at the keyframe that sees it.
        landmark: (3,) a, b, rho [1/m].
        rig: the cameras.
        side: 0 left, 1 right.
    """
    rho = landmark[2]
    way = scale(rho, sub(vec(x_i), vec(x_j)))
    R_i, R_j = matrix(quat(x_i[3:7])), matrix(quat(x_j[3:7]))
    body = mtv(R_j, add(mv(R_i, ray(landmark, rig)), way))
    return mtv(block(rig.R_BC[side], 0, 0), sub(body, scale(rho, vec(rig.p_BC_B[side]))))


@njit(cache=True)
def project(s: Vec, view: Array, sigma: float, r: Array) -> None:
    """Whitened residual (2,) of a scaled point against what was seen (2,)."""
    r[0] = (s[0] / s[2] - view[0]) / sigma
    r[1] = (s[1] / s[2] - view[1]) / sigma


@njit(cache=True)
def project_jacobians(
    x_i: Array, x_j: Array, landmark: Array, rig: StereoRig, side: int, s: Vec, J: Array
) -> None:
    """Derivatives of the whitened residual -> J (2, 15): by [dp, dtheta] of i and of j, and the landmark."""
    rho = landmark[2]
    R_i, R_j = matrix(quat(x_i[3:7])), matrix(quat(x_j[3:7]))
    R_CB = transpose(block(rig.R_BC[side], 0, 0))
    h = ray(landmark, rig)
    body = mtv(R_j, add(mv(R_i, h), scale(rho, sub(vec(x_i), vec(x_j)))))
    to_camera = mm(R_CB, transpose(R_j))
    from_host = mm(to_camera, R_i)
    arm = add(mv(R_i, vec(rig.p_BC_B[0])), sub(vec(x_i), vec(x_j)))
    by_rho = sub(mv(to_camera, arm), mv(R_CB, vec(rig.p_BC_B[side])))
    u, v, w = s[0] / s[2], s[1] / s[2], 1.0 / (s[2] * rig.deviation)
    _put_row(J, 0, u, v, w, to_camera, rho)
    _put_row(J, 3, u, v, w, mskew(from_host, h), -1.0)
    _put_row(J, 6, u, v, w, to_camera, -rho)
    _put_row(J, 9, u, v, w, mskew(R_CB, body), 1.0)
    _put_row(J, 12, u, v, w, mm(from_host, block(rig.R_BC[0], 0, 0)), 1.0)
    J[0, 14] = w * (by_rho[0] - u * by_rho[2])
    J[1, 14] = w * (by_rho[1] - v * by_rho[2])


@njit(cache=True)
def _put_row(J: Array, col: int, u: float, v: float, w: float, M: Mat, s: float) -> None:
    """Write the derivative of (s_x / s_z, s_y / s_z) where that of the scaled point is s M."""
    for k in range(3):
        J[0, col + k] = s * w * (M[k] - u * M[6 + k])
        J[1, col + k] = s * w * (M[3 + k] - v * M[6 + k])
