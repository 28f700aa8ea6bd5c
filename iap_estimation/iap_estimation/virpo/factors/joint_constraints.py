# SPDX-License-Identifier: BSD-3-Clause
r"""Joint constraints between the aircraft of one window: their joints on the central body B0.

The joints J_i are at known places d_i of B0, up to errors of one deviation, independent of each other. Of
:math:`y_i = p_{WJ_i} - R_0 d_i`, which is the place of B0, only differences are measured, since that place is
no state. All pairs would count them N times, so that these N - 1 orthonormal contrasts are taken, whose errors
are independent and whose squares add up to those of the y_i about their mean:

.. math::
    r_m = (y_0 + \dots + y_{m-1} - m\,y_m) / (\sigma \sqrt{m (m + 1)}), \quad m = 1 \dots N - 1 .

Joints on a line say nothing of the rotation about it; the central gyroscope
and the tilt of its autopilot do: see `iap_estimation.virpo.factors.gyro_preintegration`.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import Vec, add, mv, put, quat, rotate, scale, sub, vec
from iap_estimation.virpo.algebra.matrices import about_z, matrix, mm, mskew
from iap_estimation.virpo.algebra.normal_equations import (
    accumulate,
    half_square,
    huber,
    run,
    soften,
)
from iap_estimation.virpo.algebra.states import AIRCRAFT, ALIGNMENT, CENTRE, DRIFT, States
from iap_estimation.virpo.factors.gyro_preintegration import FRAME, Turn, tilting, turning
from iap_estimation.virpo.factors.ranging import to_world


class JointPositions(NamedTuple):
    """Places of the joints.

    Attributes:
        d: (A, 3) places on B0 [m].
        p_BJ_B: (A, 3) places in each aircraft's body [m].
        deviation: of each joint's place, each axis [m].
    """

    d: Array
    p_BJ_B: Array
    deviation: float = 0.003


def attitude_of_joints(p_WJ_W: Array, d: Array, q_WB0: Array) -> Array:
    """Attitude (4,) of B0 whose roll and pitch are measured, its yaw from where the joints are.

    Args:
        p_WJ_W: (n, 3) two joints or more [m].
        d: (n, 3) their places on B0 [m].
        q_WB0: (4,) the measured one.
    """
    measured = so3.rotate(q_WB0, d - d.mean(axis=0))
    estimated = p_WJ_W - p_WJ_W.mean(axis=0)
    across = np.sum(measured[:, 0] * estimated[:, 1] - measured[:, 1] * estimated[:, 0])
    yaw = math.atan2(across, np.sum(measured[:, :2] * estimated[:, :2]))
    return so3.multiply(so3.quaternion_exp(np.array([0.0, 0.0, yaw])), q_WB0)


@njit(cache=True)
def centre_from(x: Array, alignment: Array, q_0: Array, p_BJ_B: Array, d: Array) -> Vec:
    """Place of B0 in W as an aircraft's state (16,) gives it."""
    tip = add(vec(x), rotate(quat(x[3:7]), vec(p_BJ_B)))
    return sub(to_world(alignment, tip), rotate(quat(q_0), vec(d)))


@njit(cache=True)
def _add_jacobians(
    states: States, k: int, i: int, joints: JointPositions, factor: float, first: int, J: Array
) -> None:
    """Add factor times the derivative of y_i to the three rows of J from `first`."""
    x, place, b = states.x[k, i], states.alignment[i], vec(joints.p_BJ_B[i])
    aircraft = states.x.shape[1]
    q, about = quat(x[3:7]), about_z(place[3])
    by_rotation = mskew(mm(about, matrix(q)), b)
    by_centre = mskew(matrix(quat(states.centre[k, 0])), vec(joints.d[i]))
    turned = mv(about, add(vec(x), rotate(q, b)))
    at, centre, place_at = 6 * i, 6 * aircraft, 6 * aircraft + 3 + ALIGNMENT * i
    for row in range(3):
        out = J[first + row]
        for c in range(3):
            out[at + c] += factor * about[3 * row + c]
            out[at + 3 + c] -= factor * by_rotation[3 * row + c]
            out[centre + c] += factor * by_centre[3 * row + c]
        out[place_at + row] += factor
    J[first, place_at + 3] -= factor * turned[1]
    J[first + 1, place_at + 3] += factor * turned[0]


@njit(cache=True)
def contrasts(states: States, k: int, joints: JointPositions, r: Array) -> None:
    """Write the whitened contrasts of keyframe k of states with a centre into r (3 (A - 1),)."""
    total = (0.0, 0.0, 0.0)
    for i in range(len(joints.d)):
        d, b = joints.d[i], joints.p_BJ_B[i]
        y = centre_from(states.x[k, i], states.alignment[i], states.centre[k, 0], b, d)
        if i > 0:
            f = 1.0 / (joints.deviation * math.sqrt(i * (i + 1.0)))
            put(r[3 * i - 3 :], scale(f, sub(total, scale(i, y))))
        total = add(total, y)


@njit(cache=True)
def contrast_jacobians(states: States, k: int, joints: JointPositions, J: Array) -> None:
    """Derivative of `contrasts` by [dp, dtheta] of every aircraft, dtheta of the centre, every alignment.

    Args:
        states: with a centre.
        k: keyframe.
        joints: see there.
        J: (3 (A - 1), 10 A + 3), changed in place.
    """
    J[:] = 0.0
    for i in range(len(joints.d)):
        for later in range(max(i, 1), len(joints.d)):
            f = 1.0 / (joints.deviation * math.sqrt(later * (later + 1.0)))
            _add_jacobians(states, k, i, joints, -i * f if later == i else f, 3 * later - 3, J)


@njit(cache=True)
def add_rigid(
    states: States,
    joints: JointPositions,
    turns: Turn,
    tilts: Array,
    width: float,
    only_frame: int,
    H: Array,
    g: Array,
) -> float:
    """Add all that ties the aircraft to the centre, or what a keyframe takes along, to the normal equations.

    Args:
        states: with a centre.
        joints: see there.
        turns: of the centre; interval k belongs to keyframe k.
        tilts: (n, 6) keyframe, attitude xyzw, deviation [rad] of each.
        width: of Huber's kernel on all contrasts of a keyframe; infinity for none.
        only_frame: the keyframe, or -1 for all.
        H: lower triangle, changed in place.
        g: changed in place.

    Returns:
        Their cost.
    """
    cost = _add_joints(states, joints, width, only_frame, H, g)
    cost += _add_turns(states, turns, only_frame, H, g)
    return cost + _add_tilts(states, tilts, only_frame, H, g)


@njit(cache=True)
def rigid_cost(
    states: States, joints: JointPositions, turns: Turn, tilts: Array, width: float
) -> float:
    """The cost alone."""
    n = 3 * (len(joints.d) - 1)
    r, J, raw = np.zeros(max(6, n)), np.zeros((6, 12)), np.zeros((6, 13))
    cost = 0.0
    for k in range(len(states.x)):
        contrasts(states, k, joints, r)
        cost += huber(r[:n], width)[1]
    for k in range(len(states.x) - 1):
        turning(states.centre[k, 0], states.centre[k + 1, 0], _turn(turns, k), r[:6], J, raw)
        cost += half_square(r[:6])
    for n in range(len(tilts)):
        tilting(states.centre[int(tilts[n, FRAME]), 0], tilts[n], r[:2], J)
        cost += half_square(r[:2])
    return cost


@njit(cache=True)
def _stride(states: States) -> int:
    """Places of one keyframe in a step."""
    return AIRCRAFT * states.x.shape[1] + DRIFT * states.drift.shape[1] + CENTRE


@njit(cache=True)
def _add_joints(
    states: States,
    joints: JointPositions,
    width: float,
    only_frame: int,
    H: Array,
    g: Array,
) -> float:
    aircraft, stride = states.x.shape[1], _stride(states)
    n, columns, cost = 3 * (aircraft - 1), 10 * aircraft + 3, 0.0
    r, J = np.zeros(n), np.zeros((n, columns))
    indices = np.zeros(columns, dtype=np.int64)
    run(len(states.x) * stride, ALIGNMENT * aircraft, indices, 6 * aircraft + 3)
    for k in range(len(states.x)):
        if only_frame >= 0 and k != only_frame:
            continue
        contrasts(states, k, joints, r)
        contrast_jacobians(states, k, joints, J)
        cost += soften(r, J, width)
        for i in range(aircraft):
            run(k * stride + AIRCRAFT * i, 6, indices, 6 * i)
        run((k + 1) * stride - CENTRE, 3, indices, 6 * aircraft)
        accumulate(H, g, indices, J, r)
    return cost


@njit(cache=True)
def _add_turns(states: States, turns: Turn, only_frame: int, H: Array, g: Array) -> float:
    stride, cost = _stride(states), 0.0
    r, J, raw = np.zeros(6), np.zeros((6, 12)), np.zeros((6, 13))
    indices = np.zeros(12, dtype=np.int64)
    for k in range(len(states.x) - 1):
        if only_frame >= 0 and k != only_frame:
            continue
        turning(states.centre[k, 0], states.centre[k + 1, 0], _turn(turns, k), r, J, raw)
        run((k + 1) * stride - CENTRE, 6, indices, 0)
        run((k + 2) * stride - CENTRE, 6, indices, 6)
        accumulate(H, g, indices, J, r)
        cost += half_square(r)
    return cost


@njit(cache=True)
def _add_tilts(states: States, tilts: Array, only_frame: int, H: Array, g: Array) -> float:
    stride, cost = _stride(states), 0.0
    r, J, indices = np.zeros(2), np.zeros((2, 3)), np.zeros(3, dtype=np.int64)
    for n in range(len(tilts)):
        k = int(tilts[n, FRAME])
        if only_frame >= 0 and k != only_frame:
            continue
        tilting(states.centre[k, 0], tilts[n], r, J)
        run((k + 1) * stride - CENTRE, 3, indices, 0)
        accumulate(H, g, indices, J, r)
        cost += half_square(r)
    return cost


@njit(cache=True)
def _turn(turns: Turn, k: int) -> Turn:
    return Turn(turns.delta[k], turns.slope[k], turns.covariance[k], turns.root[k], turns.bias[k])
