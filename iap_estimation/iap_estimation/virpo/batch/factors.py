# SPDX-License-Identifier: BSD-3-Clause
r"""The window's residuals as factors of gtsam.

A keyframe k is three variables: X(k) its pose in `map`, V(k) its velocity there [m/s], B(k) its biases. Our step
of them is [dp, dtheta, dv, dbg, dba], p in `map`; gtsam's is [dtheta, R^T dp] of a pose and [dba, dbg] of biases.
"""

from collections.abc import Callable, Sequence

import gtsam
import numpy as np
from gtsam.symbol_shorthand import B, V, X

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import quat
from iap_estimation.virpo.algebra.matrices import matrix, right_jacobian_inverse
from iap_estimation.virpo.factors.inertial import inertial
from iap_estimation.virpo.factors.preintegration import ImuInterval
from iap_estimation.virpo.factors.ranging import ranging

NOT_TURNED = np.zeros(4)  # `map` is the frame of the states
Slopes = (
    list[Array] | None
)  # to be filled, one matrix for each variable, where gtsam asks for them


def pose(x: Array) -> gtsam.Pose3:
    """Pose of a state (16,)."""
    return gtsam.Pose3(gtsam.Rot3(so3.matrix_from_quaternion(x[3:7])), x[:3])


def biases(x: Array) -> gtsam.imuBias.ConstantBias:
    """Biases of a state (16,)."""
    return gtsam.imuBias.ConstantBias(x[13:16], x[10:13])


def state(values: gtsam.Values, k: int) -> Array:
    """State (16,) of a keyframe, as a row of `States.x`."""
    at, bias = values.atPose3(X(k)), values.atConstantBias(B(k))
    q = at.rotation().toQuaternion()
    xyzw = np.array([getattr(q, axis)() for axis in "xyzw"])  # of which gtsam's stubs know nothing
    parts = at.translation(), xyzw, values.atVector(V(k)), bias.gyroscope(), bias.accelerometer()
    return np.concatenate(parts)


def keys(k: int) -> list[int]:
    """The variables of a keyframe."""
    return [X(k), V(k), B(k)]


def prior_factor(x: Array, covariance: Array) -> gtsam.CustomFactor:
    """Factor of the first keyframe: its step from the state (16,), of covariance (15, 15)."""

    def error(_: gtsam.CustomFactor, values: gtsam.Values, slopes: Slopes) -> Array:
        there = state(values, 0)
        turn = so3.quaternion_log(so3.multiply(so3.conjugate(x[3:7]), there[3:7]))
        if slopes is not None:
            J = np.eye(15)
            J[3:6, 3:6] = np.reshape(right_jacobian_inverse(tuple(turn)), (3, 3))
            _fill(slopes, _by_variables(J, there))
        return np.concatenate([there[:3] - x[:3], turn, there[7:] - x[7:]])

    return gtsam.CustomFactor(gtsam.noiseModel.Gaussian.Covariance(covariance), keys(0), error)


def motion_factor(k: int, z: ImuInterval, gravity: float) -> gtsam.CustomFactor:
    """Factor of preintegrated samples from keyframe k to the next: `inertial`."""

    def error(_: gtsam.CustomFactor, values: gtsam.Values, slopes: Slopes) -> Array:
        x_i, x_j = state(values, k), state(values, k + 1)
        r, J = np.empty(15), np.empty((15, 30))
        inertial(x_i, x_j, gravity, z, r, J, np.empty((15, 31)))
        if slopes is not None:
            _fill(slopes, _by_variables(J[:, :15], x_i) + _by_variables(J[:, 15:], x_j))
        return r

    return _factor([*keys(k), *keys(k + 1)], 15, error)


def ranges_factor(k: int, rows: Array, width: float) -> gtsam.CustomFactor:
    """Factor of all ranges (n, 13) between keyframe k and the next: `ranging`, each under Huber's kernel.

    Half the square of each residual is its cost under the kernel of this width: s = sign(r) sqrt(2 rho(r)).
    """

    def error(_: gtsam.CustomFactor, values: gtsam.Values, slopes: Slopes) -> Array:
        x_i, x_j = state(values, k), state(values, k + 1)
        r, J, work = np.empty((len(rows), 1)), np.empty((len(rows), 1, 13)), np.empty((3, 13))
        for n, row in enumerate(rows):
            ranging(x_i, x_j, NOT_TURNED, row, r[n], J[n], work)
        softened, by_r = soften(r[:, 0], width)
        if slopes is not None:
            J = by_r[:, None] * J[:, 0]
            none = np.zeros((len(rows), 3))
            _fill(slopes, [_by_pose(J[:, :6], x_i), _by_pose(np.hstack([J[:, 6:9], none]), x_j)])
        return softened

    return _factor([X(k), X(k + 1)], len(rows), error)


def soften(r: Array, width: float) -> tuple[Array, Array]:
    """Residuals (n,) whose half squares are Huber's costs of those given, and their derivatives by these."""
    size = np.abs(r)
    far = size > width
    root = np.where(far, np.sqrt(width * np.maximum(2.0 * size - width, width)), size)
    return np.sign(r) * root, np.where(far, width / np.maximum(root, width), 1.0)


def _factor(
    of: Sequence[int],
    size: int,
    error: Callable[[gtsam.CustomFactor, gtsam.Values, Slopes], Array],
) -> gtsam.CustomFactor:
    """A factor of whitened residuals."""
    return gtsam.CustomFactor(gtsam.noiseModel.Unit.Create(size), list(of), error)


def _fill(slopes: list[Array], derivatives: Sequence[Array]) -> None:
    """Hand derivatives over to gtsam, whose list takes one at a time."""
    for i, J in enumerate(derivatives):
        slopes[i] = J


def _by_variables(J: Array, x: Array) -> list[Array]:
    """A derivative (m, 15) by our step of a state as those by gtsam's variables."""
    return [_by_pose(J[:, :6], x), J[:, 6:9], np.hstack([J[:, 12:15], J[:, 9:12]])]


def _by_pose(J: Array, x: Array) -> Array:
    """A derivative (m, 6) by [dp, dtheta] of a state as one by gtsam's step of its pose."""
    R = np.reshape(matrix(quat(x[3:7])), (3, 3))
    return np.hstack([J[:, 3:], J[:, :3] @ R])
