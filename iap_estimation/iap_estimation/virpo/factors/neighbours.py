# SPDX-License-Identifier: BSD-3-Clause
r"""Joints between keyframes, as one aircraft and its neighbours measure them (virpo III-C, eqs. 3, 5-8).

A row stands for one instant t_j between keyframes k and k + 1. Its columns before `MEASURED` say, with the states,
where the own joint is, as in `iap_estimation.virpo.factors.ranging`, and how fast:

.. math::
    v_W(t_j) = R_z(\psi) (v_k - g t\,e_z + R_k u_j), \quad
    u_j = \Delta v_j + \Delta R_j (\omega_j \times p_{BJ}) .

The others are what neighbours and the central body show. With s = (t_j - t_k) / T, a neighbour's drift is
(1-s) [dp, dpsi]_k + s [dp, dpsi]_{k+1}; its joint is moved by dp, its joint's velocity is turned by dpsi.
So the yaw is about the joint. That of the paper's transform (3) is about the origin of W: it would move the joint as
well, by 0.8 m at 8 m from there with its prior of 0.1 rad, so that the distances would say less of the own place, the
less the farther the origin is. The normal equations are conditioned alike.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import (
    Mat,
    Vec,
    add,
    cross,
    mv,
    put,
    quat,
    rotate,
    scale,
    sub,
    vec,
)
from iap_estimation.virpo.algebra.matrices import about_z, matrix, mm, mskew
from iap_estimation.virpo.algebra.normal_equations import run
from iap_estimation.virpo.algebra.states import AIRCRAFT, ALIGNMENT, DRIFT, States
from iap_estimation.virpo.factors.preintegration import motions_at
from iap_estimation.virpo.factors.ranging import (
    FRAME,
    SHARE,
    point_between,
    point_jacobians,
    to_world,
    waypoints,
)
from iap_estimation.virpo.messages import SharedOdometry, Tilt

Flags = Booleans

FALL, GAIN = 7, 8  # of the own joint's velocity: g t, u_j
MEASURED = 11  # first column of what others measure
CENTRE, VERTICAL, RATE = 11, 12, 15  # of the centre: whether it is known, e_z^T R_WB0, |w|
FIRST, EACH = 16, 7  # column of the first neighbour, columns of each one:
KNOWN, PLACE, VELOCITY = 0, 1, 4  # whether it is known, its joint's place and velocity in W

BIAS_SIZE = 6  # components of a keyframe that the own place does not depend on: dbg, dba
JOINT = 6  # numbers of a joint: place and velocity
BENT = 0.05  # sine between two joints as seen from a third, below which the three are taken to be on a line


class Neighbours(NamedTuple):
    """Places of the joints of the neighbours o = 0 ... O - 1 are, and how much each kind of term counts.

    Attributes:
        d_B0: (O, 3) from the own joint to each, in the axes of the centre [m].
        normals: (O, O, 3) unit vector along d_1 x d_2 for o1 < o2; zero where they are on a line with the own joint.
        is_line: whether all joints are on one line.
        deviations: (3,) of a distance [m], an angular velocity [rad/s], a cosine: TABLE IX's sigma_l, _omega, _att.
        terms: (3,) which of the terms r_kp, r_kv, r_kq there are.
    """

    d_B0: Array
    normals: Array
    is_line: bool
    deviations: Array
    terms: Flags

    @classmethod
    def of(
        cls,
        d: Array,
        aircraft: int,
        deviations: Sequence[float],
        terms: tuple[bool, bool, bool] = (True, True, True),
    ) -> Self:
        """The neighbours of one aircraft, in the order of the fleet.

        Args:
            d: (A, 3) places of all joints on the central body [m].
            aircraft: index of the aircraft.
            deviations: as `Neighbours.deviations`.
            terms: as `Neighbours.terms`.

        Raises:
            BadInput: two joints are at one place.
        """
        ways = np.delete(d, aircraft, axis=0) - d[aircraft]
        lengths = np.linalg.norm(ways, axis=1)
        if not (lengths > 0.0).all():
            raise BadInput(
                f"the joint of aircraft {aircraft} and another are at one place: {d[aircraft]}"
            )
        e = ways / lengths[:, None]
        normals = np.cross(e[:, None], e)
        sines = np.linalg.norm(normals, axis=-1, keepdims=True)
        is_bent = (sines > BENT) & np.triu(np.ones(sines.shape[:2], dtype=bool), 1)[..., None]
        normals = np.where(is_bent, normals / np.where(is_bent, sines, 1.0), 0.0)
        measured = np.array(deviations, dtype=float), np.array(terms, dtype=bool)
        is_line = not bool(is_bent.any())
        return cls(np.ascontiguousarray(ways), normals, is_line, *measured)

    @property
    def width(self) -> int:
        """Columns of a row."""
        return FIRST + EACH * len(self.d_B0)


def joint_of(shared: SharedOdometry, p_BJ_B: Array) -> Array:
    """Place and velocity (6,) of a joint in W from its aircraft's odometry (virpo eqs. 5-8).

    Args:
        shared: the odometry.
        p_BJ_B: (3,) place of the joint in the aircraft's body [m].
    """
    p = shared.p_WB_W + so3.rotate(shared.q_WB, p_BJ_B)
    v = shared.v_WB_W + so3.rotate(shared.q_WB, np.cross(shared.w_B, p_BJ_B))
    return np.concatenate([p, v])


def measured_columns(tilt: Tilt | None, joints: Sequence[Array | None]) -> Array:
    """The columns of a row from `MEASURED` on.

    Args:
        tilt: what the central autopilot says at that instant, None where it says nothing. In virpo (15), (16)
            cos(alpha) and cos(beta) are elements 2 and 0 of what is kept, the bottom row of its attitude.
        joints: of each neighbour, see `joint_of`; None where it says nothing.
    """
    row = np.zeros(FIRST - MEASURED + EACH * len(joints))
    if tilt is not None:
        bottom = so3.matrix_from_quaternion(tilt.q_WB0)[2]
        row[: FIRST - MEASURED] = [1.0, *bottom, np.linalg.norm(tilt.w_B0)]
    for columns, joint in zip(row[FIRST - MEASURED :].reshape(-1, EACH), joints, strict=True):
        if joint is not None:
            columns[KNOWN] = 1.0
            columns[PLACE:] = joint
    return row


@njit(cache=True)
def fill_waypoints(
    samples: Array, bias: Array, times: Array, joint: Array, gravity: float, rows: Array
) -> None:
    """Fill what rows say of the own joint, for instants between two keyframes.

    Args:
        samples: (S, 7) of the inertial unit from one to the other.
        bias: (6,) of the unit.
        times: (n,) ascending, since the first keyframe [s].
        joint: (3,) its place on the body [m].
        gravity: [m/s^2].
        rows: (n, >=11) changed in place.
    """
    waypoints(samples, bias, times, joint, gravity, rows)
    motions = np.empty((len(times), 10))
    motions_at(samples, bias, times, motions)
    s, end = 0, samples[0, 0]
    for n in range(len(times)):
        while end < times[n] and s + 1 < len(samples):
            s += 1
            end += samples[s, 0]
        w = sub(vec(samples[s, 1:]), vec(bias))
        swing = rotate(quat(motions[n, 3:7]), cross(w, vec(joint)))
        rows[n, FALL] = gravity * times[n]
        put(rows[n, GAIN:], add(vec(motions[n, 7:]), swing))


@njit(cache=True)
def joints_at(states: States, row: Array, joints: Array) -> None:
    """Place and velocity in W of the own joint, then of every neighbour's less its drift -> joints (1 + O, 6)."""
    k = int(row[FRAME])
    x, place = states.x[k, 0], states.alignment[0]
    put(joints[0], to_world(place, point_between(x, states.x[k + 1, 0], row)))
    gain = add(rotate(quat(x[3:7]), vec(row[GAIN:])), (0.0, 0.0, -row[FALL]))
    put(joints[0, 3:], mv(about_z(place[3]), add(vec(x[7:10]), gain)))
    for o in range(states.drift.shape[1]):
        measured = row[FIRST + EACH * o :]
        shift, turn = _drift_at(states, row, o)
        put(joints[1 + o], add(vec(measured[PLACE:]), shift))
        put(joints[1 + o, 3:], mv(turn, vec(measured[VELOCITY:])))


@njit(cache=True)
def _drift_at(states: States, row: Array, o: int) -> tuple[Vec, Mat]:
    """A neighbour's drift at a row's instant: in position and as a rotation."""
    k, s = int(row[FRAME]), row[SHARE]
    before, after = states.drift[k, o], states.drift[k + 1, o]
    yaw = (1.0 - s) * before[3] + s * after[3]
    return add(scale(1.0 - s, vec(before)), scale(s, vec(after))), about_z(yaw)


@njit(cache=True)
def columns_of(neighbours: int) -> int:
    """Number of components of a step that the joints at one instant depend on."""
    return AIRCRAFT - BIAS_SIZE + 3 + 2 * DRIFT * neighbours + ALIGNMENT


@njit(cache=True)
def joint_indices(states: States, k: int, indices: Array) -> None:
    """Places of those: [dp, dtheta, dv] and drifts of keyframe k, dp and drifts of the next, the alignment."""
    drifts = DRIFT * states.drift.shape[1]
    stride = AIRCRAFT + drifts
    run(k * stride, 9, indices, 0)
    run(k * stride + AIRCRAFT, drifts, indices, 9)
    run((k + 1) * stride, 3, indices, 9 + drifts)
    run((k + 1) * stride + AIRCRAFT, drifts, indices, 12 + drifts)
    run(len(states.x) * stride, ALIGNMENT, indices, 12 + 2 * drifts)


@njit(cache=True)
def joint_jacobians(states: States, row: Array, joints: Array, work: Array, S: Array) -> None:
    """Derivative of `joints_at`.

    Args:
        states: as there.
        row: as there.
        joints: (1 + O, 6) from there.
        work: (3, 13) scratch.
        S: (6 (1 + O), `columns_of(O)`) changed in place.
    """
    S[:] = 0.0
    _aircraft_jacobians(states, row, joints[0], work, S)
    s, count = row[SHARE], states.drift.shape[1]
    for o in range(count):
        at, first, second = JOINT * (1 + o), 9 + DRIFT * o, 12 + DRIFT * (count + o)
        for column, share in ((first, 1.0 - s), (second, s)):
            for i in range(3):
                S[at + i, column + i] = share
            S[at + 3, column + 3] = -share * joints[1 + o, 4]
            S[at + 4, column + 3] = share * joints[1 + o, 3]


@njit(cache=True)
def _aircraft_jacobians(states: States, row: Array, joint: Array, work: Array, S: Array) -> None:
    k, later = int(row[FRAME]), 9 + DRIFT * states.drift.shape[1]
    x, place, last = states.x[k, 0], states.alignment[0], S.shape[1] - ALIGNMENT
    point_jacobians(x, place, point_between(x, states.x[k + 1, 0], row), row, work)
    turn = about_z(place[3])
    by_rotation = mskew(mm(turn, matrix(quat(x[3:7]))), vec(row[GAIN:]))
    for i in range(3):
        for c in range(3):
            S[i, c] = work[i, c]
            S[i, 3 + c] = work[i, 3 + c]
            S[i, later + c] = work[i, 6 + c]
            S[3 + i, 3 + c] = -by_rotation[3 * i + c]
            S[3 + i, 6 + c] = turn[3 * i + c]
        for c in range(ALIGNMENT):
            S[i, last + c] = work[i, 9 + c]
    S[3, -1] = -joint[4]
    S[4, -1] = joint[3]
