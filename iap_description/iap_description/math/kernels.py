# SPDX-License-Identifier: BSD-3-Clause
"""Vectors and unit quaternions as tuples of floats, compiled: what the loops at 200 Hz and 1 kHz are written in.

Tuples live in registers, so no kernel allocates. A vector is (x, y, z); a quaternion is (x, y, z, w).
`iap_description.math.so3` is the readable twin on arrays.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.arrays import Quat as Quat  # where formulas take them from
from iap_description.arrays import Vec as Vec
from iap_description.math.single_precision import FormulaCompiler
from iap_description.process.compiling import announce_compiling

Formula = TypeVar("Formula", bound=Callable[..., Any])
Mat = tuple[float, float, float, float, float, float, float, float, float]  # row by row
Six = tuple[float, float, float, float, float, float]  # linear, then angular
Mat6 = tuple[Six, Six, Six, Six, Six, Six]  # row by row
Packed = NDArray[np.void]  # (1,), see `packed`; (N,), see `stacked`
MIN_HALF_ANGLE_SINE = 1e-9  # sine of half an angle below which it is the angle's half

announce_compiling()


def formula(function: Formula) -> Formula:
    """Compile a formula on tuples of floats, for one body here and for many worlds side by side.

    It is inlined where it is called and divides as IEEE 754 has it, without an exception, so that a loop over worlds
    becomes vector instructions. Nothing is reordered or contracted: a world of many has the bits of one alone. On
    single numbers it computes in single precision.
    """
    how = {"cache": True, "forceinline": True, "error_model": "numpy"}
    compiled: Formula = njit(**how, pipeline_class=FormulaCompiler)(function)
    return compiled


def packed(parameters: tuple[Any, ...]) -> Packed:
    """A record array (1,) of a named tuple's numbers and arrays, which a call hands over ten times faster.

    A kernel that takes it reads its record ``[0]``, whose fields have the tuple's names.
    """
    values = [np.asarray(value) for value in parameters]
    names = parameters._fields  # type: ignore[attr-defined]
    fields = [(name, v.dtype, v.shape) for name, v in zip(names, values, strict=True)]
    return np.array([tuple(values)], np.dtype(fields, align=True))


def stacked(parameters: Sequence[tuple[Any, ...]]) -> Packed:
    """A record array (N,) of named tuples of one type, see `packed`; a kernel reads the record ``[n]``."""
    records = [packed(each) for each in parameters]
    out = np.empty(len(records), records[0].dtype)
    for n, record in enumerate(records):
        out[n] = record[0]
    return out


@formula
def vec(a: Array) -> Vec:
    """The first three elements of an array."""
    return (a[0], a[1], a[2])


@formula
def quat(a: Array) -> Quat:
    """The first four elements of an array, xyzw."""
    return (a[0], a[1], a[2], a[3])


@formula
def vec_at(a: Array, k: int) -> Vec:
    """Three elements of an array from k on; without the view that a slice makes."""
    return (a[k], a[k + 1], a[k + 2])


@formula
def quat_at(a: Array, k: int) -> Quat:
    """Four elements of an array from k on, xyzw."""
    return (a[k], a[k + 1], a[k + 2], a[k + 3])


@formula
def put_at(out: Array, k: int, v: Vec) -> None:
    """Write a vector into three elements of `out` from k on."""
    out[k] = v[0]
    out[k + 1] = v[1]
    out[k + 2] = v[2]


@formula
def six_at(a: Array, k: int) -> Six:
    """Six elements of an array from k on."""
    return (a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5])


@formula
def put_six(out: Array, k: int, a: Six) -> None:
    """Write six numbers into `out` from k on."""
    for i in range(6):
        out[k + i] = a[i]


@formula
def six(linear: Vec, angular: Vec) -> Six:
    """Six numbers of two vectors."""
    return (linear[0], linear[1], linear[2], angular[0], angular[1], angular[2])


@formula
def linear(a: Six) -> Vec:
    """The first three of six numbers."""
    return (a[0], a[1], a[2])


@formula
def angular(a: Six) -> Vec:
    """The last three of six numbers."""
    return (a[3], a[4], a[5])


@formula
def combined6(a: float, u: Six, b: float, v: Six) -> Six:
    """The sum a u + b v."""
    return (
        a * u[0] + b * v[0],
        a * u[1] + b * v[1],
        a * u[2] + b * v[2],
        a * u[3] + b * v[3],
        a * u[4] + b * v[4],
        a * u[5] + b * v[5],
    )


@formula
def scale6(s: float, a: Six) -> Six:
    """Six numbers times a factor."""
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5])


@formula
def add6(a: Six, b: Six) -> Six:
    """Sum a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@formula
def sub6(a: Six, b: Six) -> Six:
    """Difference a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5])


@formula
def times6(a: Six, b: Six) -> Six:
    """Elementwise product."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3], a[4] * b[4], a[5] * b[5])


@formula
def select6(condition: bool, a: Six, b: Six) -> Six:
    """The numbers a where the condition holds, else b."""
    first = select3(condition, linear(a), linear(b))
    return six(first, select3(condition, angular(a), angular(b)))


@formula
def dot6(a: Six, b: Six) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@formula
def mv6(M: Mat6, a: Six) -> Six:
    """Product M a."""
    first = (dot6(M[0], a), dot6(M[1], a), dot6(M[2], a))
    return six(first, (dot6(M[3], a), dot6(M[4], a), dot6(M[5], a)))


@formula
def six_of_row(a: Array, i: int) -> Six:
    """The first six elements of row i."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])


@formula
def mat6(M: Array) -> Mat6:
    """A (6, 6) array."""
    return (
        six_of_row(M, 0),
        six_of_row(M, 1),
        six_of_row(M, 2),
        six_of_row(M, 3),
        six_of_row(M, 4),
        six_of_row(M, 5),
    )


@formula
def vec_of_row(a: Array, i: int) -> Vec:
    """The first three elements of row i."""
    return (a[i, 0], a[i, 1], a[i, 2])


@formula
def quat_of_row(a: Array, i: int) -> Quat:
    """The first four elements of row i, xyzw."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@formula
def put_row(out: Array, i: int, v: Vec) -> None:
    """Write a vector into the first three elements of row i."""
    out[i, 0] = v[0]
    out[i, 1] = v[1]
    out[i, 2] = v[2]


@formula
def put_row4(out: Array, i: int, q: Quat) -> None:
    """Write a quaternion into the first four elements of row i."""
    out[i, 0] = q[0]
    out[i, 1] = q[1]
    out[i, 2] = q[2]
    out[i, 3] = q[3]


@njit(cache=True)
def put(out: Array, v: Vec) -> None:
    """Write a vector into the first three elements of `out`."""
    out[0] = v[0]
    out[1] = v[1]
    out[2] = v[2]


@njit(cache=True)
def put4(out: Array, q: Quat) -> None:
    """Write a quaternion into the first four elements of `out`."""
    out[0] = q[0]
    out[1] = q[1]
    out[2] = q[2]
    out[3] = q[3]


@formula
def add(a: Vec, b: Vec) -> Vec:
    """Sum a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@formula
def sub(a: Vec, b: Vec) -> Vec:
    """Difference a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@formula
def scale(s: float, a: Vec) -> Vec:
    """Product s a."""
    return (s * a[0], s * a[1], s * a[2])


@formula
def times(a: Vec, b: Vec) -> Vec:
    """Elementwise product, i.e. diag(a) b."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@formula
def dot(a: Vec, b: Vec) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@formula
def cross(a: Vec, b: Vec) -> Vec:
    """Vector product a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@formula
def norm(a: Vec) -> float:
    """Length."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@formula
def choose(condition: bool, a: float, b: float) -> float:
    """The number a where the condition holds, else b; both are computed, so that nothing branches."""
    return a if condition else b


@formula
def select3(condition: bool, a: Vec, b: Vec) -> Vec:
    """The vector a where the condition holds, else b."""
    return (
        choose(condition, a[0], b[0]),
        choose(condition, a[1], b[1]),
        choose(condition, a[2], b[2]),
    )


@formula
def select4(condition: bool, a: Quat, b: Quat) -> Quat:
    """The quaternion a where the condition holds, else b."""
    x, y, z = select3(condition, (a[0], a[1], a[2]), (b[0], b[1], b[2]))
    return (x, y, z, choose(condition, a[3], b[3]))


@formula
def least(a: float, b: float) -> float:
    """The smaller of two numbers, as `min` has it."""
    return b if b < a else a


@formula
def most(a: float, b: float) -> float:
    """The larger of two numbers, as `max` has it."""
    return b if b > a else a


@formula
def mat(M: Array) -> Mat:
    """A (3, 3) array."""
    return (M[0, 0], M[0, 1], M[0, 2], M[1, 0], M[1, 1], M[1, 2], M[2, 0], M[2, 1], M[2, 2])


@formula
def mv(M: Mat, a: Vec) -> Vec:
    """Product M a."""
    return (
        M[0] * a[0] + M[1] * a[1] + M[2] * a[2],
        M[3] * a[0] + M[4] * a[1] + M[5] * a[2],
        M[6] * a[0] + M[7] * a[1] + M[8] * a[2],
    )


@formula
def mul(M: Array, a: Vec) -> Vec:
    """Product of a (3, 3) array and a vector."""
    return mv(mat(M), a)


@formula
def rotate(q: Quat, v: Vec) -> Vec:
    """R(q) v."""
    u = (q[0], q[1], q[2])
    t = scale(2.0, cross(u, v))
    return add(add(v, scale(q[3], t)), cross(u, t))


@formula
def unrotate(q: Quat, v: Vec) -> Vec:
    """R(q)^T v."""
    return rotate((-q[0], -q[1], -q[2], q[3]), v)


@formula
def qconj(q: Quat) -> Quat:
    """Inverse of a unit quaternion."""
    return (-q[0], -q[1], -q[2], q[3])


@formula
def qmul(q: Quat, r: Quat) -> Quat:
    """Hamilton product: `r` first, then `q`."""
    return (
        q[3] * r[0] + q[0] * r[3] + q[1] * r[2] - q[2] * r[1],
        q[3] * r[1] - q[0] * r[2] + q[1] * r[3] + q[2] * r[0],
        q[3] * r[2] + q[0] * r[1] - q[1] * r[0] + q[2] * r[3],
        q[3] * r[3] - q[0] * r[0] - q[1] * r[1] - q[2] * r[2],
    )


@formula
def qnormalize(q: Quat) -> Quat:
    """The quaternion scaled to unit length."""
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@formula
def halfway(a: Quat, b: Quat) -> Quat:
    """The attitude half-way between two that are close."""
    s = choose(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] >= 0.0, 1.0, -1.0)
    return qnormalize((a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3]))


@formula
def half_turn(q: Quat) -> tuple[float, float]:
    """Sine and cosine of half the angle that a quaternion turns by, the shorter way round."""
    s = choose(q[3] < 0.0, -1.0, 1.0)
    return norm((s * q[0], s * q[1], s * q[2])), s * q[3]


@formula
def rotation_vector(q: Quat, half_angle: float) -> Vec:
    """Rotation vector [rad] of a quaternion, at most pi long, of half its angle as `half_turn` has it [rad]."""
    s = choose(q[3] < 0.0, -1.0, 1.0)
    u = (s * q[0], s * q[1], s * q[2])
    n = norm(u)
    return scale(
        choose(n < MIN_HALF_ANGLE_SINE, 2.0, 2.0 * half_angle / most(n, MIN_HALF_ANGLE_SINE)), u
    )


@formula
def qlog(q: Quat) -> Vec:
    """Rotation vector [rad], at most pi long."""
    sine, cosine = half_turn(q)
    return rotation_vector(q, math.atan2(sine, cosine))


@formula
def qrate(q: Quat, w_B: Vec) -> Quat:
    """Time derivative of q_WB at body rate w_B [rad/s]: q * (w_B, 0) / 2."""
    return (
        0.5 * (q[3] * w_B[0] + q[1] * w_B[2] - q[2] * w_B[1]),
        0.5 * (q[3] * w_B[1] - q[0] * w_B[2] + q[2] * w_B[0]),
        0.5 * (q[3] * w_B[2] + q[0] * w_B[1] - q[1] * w_B[0]),
        -0.5 * (q[0] * w_B[0] + q[1] * w_B[1] + q[2] * w_B[2]),
    )


@formula
def quat_from_axes(x: Vec, y: Vec, z: Vec) -> Quat:
    """Quaternion of the rotation matrix whose columns are the orthonormal x, y, z; the largest element is positive."""
    trace = x[0] + y[1] + z[2]
    by_w = trace > 0.0
    by_x = (not by_w) & (x[0] > y[1]) & (x[0] > z[2])
    by_y = (not (by_w | by_x)) & (y[1] > z[2])
    along_x, along_y = 1.0 + x[0] - y[1] - z[2], 1.0 + y[1] - x[0] - z[2]
    square = choose(by_x, along_x, choose(by_y, along_y, 1.0 + z[2] - x[0] - y[1]))
    s = 2.0 * math.sqrt(choose(by_w, 1.0 + trace, square))
    xy, xz, yz = y[0] + x[1], z[0] + x[2], z[1] + y[2]
    about_x, about_y, about_z = y[2] - z[1], z[0] - x[2], x[1] - y[0]
    of_x = choose(by_w, about_x, choose(by_y, xy, xz)) / s
    of_y = choose(by_w, about_y, choose(by_x, xy, yz)) / s
    of_z = choose(by_w, about_z, choose(by_x, xz, yz)) / s
    of_w = choose(by_x, about_x, choose(by_y, about_y, about_z)) / s
    quarter = 0.25 * s
    return (
        choose(by_x, quarter, of_x),
        choose(by_y, quarter, of_y),
        choose(by_w | by_x | by_y, of_z, quarter),
        choose(by_w, quarter, of_w),
    )


@formula
def yaw_parts(q: Quat) -> tuple[float, float]:
    """Sine and cosine, times a positive number, of the yaw of R = Rz(yaw) Ry(pitch) Rx(roll)."""
    return 2.0 * (q[3] * q[2] + q[0] * q[1]), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2])


@formula
def yaw_of(q: Array) -> float:
    """Yaw [rad] of R = Rz(yaw) Ry(pitch) Rx(roll), of a quaternion, also as an array (4,)."""
    sine, cosine = yaw_parts((q[0], q[1], q[2], q[3]))
    return math.atan2(sine, cosine)


@njit(cache=True)
def all_finite(a: Array) -> bool:
    """True if every element is a number."""
    for value in a.flat:  # noqa: SIM110 - compiled, a loop is faster
        if not math.isfinite(value):
            return False
    return True


@njit(cache=True)
def matvec(A: Array, x: Array, out: Array) -> None:
    """Write out = A x without allocating."""
    for i in range(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        out[i] = s
