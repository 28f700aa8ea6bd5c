# SPDX-License-Identifier: BSD-3-Clause
r"""States of a window (iap_simulator eq. 22, without the landmarks), and steps in it.

A step has `stride` places for each keyframe: 15 for every aircraft, [dp, dtheta, dv, dbg, dba]; 4 for the
drift of every neighbour, [dp, dpsi] (eq. 3); 6 for the centre, [dtheta, dbg]. The alignments, [dt, dpsi]
for every aircraft, are last. Rotations change on the right, R exp(dtheta); all else adds.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import (
    add,
    mv,
    put,
    put4,
    qconj,
    qlog,
    qmul,
    qnormalize,
    quat,
    rotate,
    vec,
)
from iap_estimation.virpo.algebra.matrices import about_z, qexp

AIRCRAFT, DRIFT, CENTRE, ALIGNMENT = 15, 4, 6, 4  # places of each in a step
MOTION = 6  # of an aircraft's places, the first of velocity and biases
UP = np.array([0.0, 0.0, 1.0])


class States(NamedTuple):
    """The states of F keyframes; views of these arrays are states too.

    Attributes:
        x: (F, A, 16) each aircraft in its frame L: p [m], q xyzw, v [m/s], bg [rad/s], ba [m/s^2].
        drift: (F, O, 4) of each neighbour's odometry: position in W [m], yaw [rad].
        centre: (F, 0 or 1, 7) the central body: q_WB0 xyzw, its gyroscope's bias [rad/s].
        alignment: (A, 4) of each L in W: position [m], yaw [rad].
    """

    x: Array
    drift: Array
    centre: Array
    alignment: Array

    @classmethod
    def empty(cls, frames: int, aircraft: int, neighbours: int = 0, centre: bool = False) -> Self:
        """Room for states, all at rest at the origin."""
        x = np.zeros((frames, aircraft, 16))
        x[..., 6] = 1.0
        middle = np.zeros((frames, int(centre), 7))
        middle[..., 3] = 1.0
        return cls(x, np.zeros((frames, neighbours, 4)), middle, np.zeros((aircraft, 4)))

    @property
    def stride(self) -> int:
        """Places of one keyframe in a step."""
        aircraft, neighbours, centre = (part.shape[1] for part in self[:3])
        return AIRCRAFT * aircraft + DRIFT * neighbours + CENTRE * centre

    @property
    def size(self) -> int:
        """Places of a whole step."""
        return len(self.x) * self.stride + ALIGNMENT * len(self.alignment)

    def inner_motions(self) -> Integers:
        """Places (B, 9) of velocities and biases between the first and the newest keyframe, by aircraft."""
        k, a = np.arange(1, len(self.x) - 1), np.arange(self.x.shape[1])
        begin = (AIRCRAFT * a[:, None] + self.stride * k).reshape(-1, 1)
        return np.asarray(begin + np.arange(MOTION, AIRCRAFT))

    def rotations(self) -> Integers:
        """First of the three places of every rotation, ascending."""
        of_aircraft = AIRCRAFT * np.arange(self.x.shape[1]) + 3
        of_centre = self.stride - CENTRE * np.arange(self.centre.shape[1], 0, -1)
        k = self.stride * np.arange(len(self.x))
        return np.asarray((k[:, None] + np.concatenate([of_aircraft, of_centre])).ravel())

    def first(self, frames: int) -> "States":
        """Views of the first keyframes."""
        return States(self.x[:frames], self.drift[:frames], self.centre[:frames], self.alignment)

    def copy(self) -> "States":
        """Arrays of their own."""
        return States(*(part.copy() for part in self))

    def assign(self, other: "States") -> None:
        """Take the values of others of the same shape."""
        for mine, theirs in zip(self, other, strict=True):
            mine[:] = theirs

    def extended(self) -> "States":
        """A copy with one more keyframe, a copy of the last."""
        x, drift, centre = (np.concatenate([part, part[-1:]]) for part in self[:3])
        return States(x, drift, centre, self.alignment.copy())

    def without(self, frame: int) -> "States":
        """A copy without one keyframe."""
        x, drift, centre = (np.delete(part, frame, axis=0) for part in self[:3])
        return States(x, drift, centre, self.alignment.copy())


def vertical(q: Array) -> Array:
    """The world's z axis (3,) in the axes of a body of attitude (4,)."""
    x, y, z, w = q
    return np.array([2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)])


@njit(cache=True)
def turn_right(q: Array, step: Array) -> None:
    """Apply q <- q exp(step)."""
    put4(q, qnormalize(qmul(quat(q), qexp(vec(step)))))


@njit(cache=True)
def _retract_aircraft(row: Array, step: Array) -> None:
    """Move one aircraft's state (16,)."""
    for i in range(3):
        row[i] += step[i]
    turn_right(row[3:7], step[3:6])
    for i in range(9):
        row[7 + i] += step[6 + i]


@njit(cache=True)
def retract(states: States, step: Array) -> None:
    """Move states by a step."""
    frames, aircraft = states.x.shape[0], states.x.shape[1]
    at = 0
    for k in range(frames):
        for a in range(aircraft):
            _retract_aircraft(states.x[k, a], step[at : at + AIRCRAFT])
            at += AIRCRAFT
        for o in range(states.drift.shape[1]):
            for i in range(DRIFT):
                states.drift[k, o, i] += step[at + i]
            at += DRIFT
        for c in range(states.centre.shape[1]):
            turn_right(states.centre[k, c, :4], step[at : at + 3])
            for i in range(3):
                states.centre[k, c, 4 + i] += step[at + 3 + i]
            at += CENTRE
    for a in range(aircraft):
        for i in range(ALIGNMENT):
            states.alignment[a, i] += step[at + i]
        at += ALIGNMENT


@njit(cache=True)
def _difference_aircraft(row: Array, old: Array, out: Array) -> None:
    """The step (15,) from one state of an aircraft to another."""
    for i in range(3):
        out[i] = row[i] - old[i]
    put(out[3:], qlog(qmul(qconj(quat(old[3:7])), quat(row[3:7]))))
    for i in range(9):
        out[6 + i] = row[7 + i] - old[7 + i]


@njit(cache=True)
def difference(states: States, base: States, out: Array) -> None:
    """The step that leads from `base` to `states`, which may have more keyframes than that."""
    frames, aircraft = base.x.shape[0], base.x.shape[1]
    at = 0
    for k in range(frames):
        for a in range(aircraft):
            _difference_aircraft(states.x[k, a], base.x[k, a], out[at : at + AIRCRAFT])
            at += AIRCRAFT
        for o in range(base.drift.shape[1]):
            for i in range(DRIFT):
                out[at + i] = states.drift[k, o, i] - base.drift[k, o, i]
            at += DRIFT
        for c in range(base.centre.shape[1]):
            row, old = states.centre[k, c], base.centre[k, c]
            put(out[at:], qlog(qmul(qconj(quat(old)), quat(row))))
            for i in range(3):
                out[at + 3 + i] = row[4 + i] - old[4 + i]
            at += CENTRE
    for a in range(aircraft):
        for i in range(ALIGNMENT):
            out[at + i] = states.alignment[a, i] - base.alignment[a, i]
        at += ALIGNMENT


@njit(cache=True)
def in_world(x: Array, place: Array) -> Array:
    """The state (16,) in `map` of one in L, whose place and yaw there are (4,)."""
    turn = qexp((0.0, 0.0, place[3]))
    out = x.copy()
    put(out, add(rotate(turn, vec(x)), vec(place)))
    put4(out[3:7], qmul(turn, quat(x[3:7])))
    put(out[7:10], rotate(turn, vec(x[7:10])))
    return out


def covariance_in_world(C: Array, a: int, x: Array, place: Array) -> Array:
    """Covariance (15, 15) of an aircraft's newest state in `map`.

    Args:
        C: of the newest keyframe and the alignments, in the order of a step.
        a: index of the aircraft.
        x: (A, 16) newest states.
        place: (4,) its alignment.
    """
    out = np.empty((AIRCRAFT, AIRCRAFT))
    _covariance_in_world(C, a, x[a], len(x), place[3], out)
    return out


@njit(cache=True)
def _covariance_in_world(
    C: Array, a: int, row: Array, aircraft: int, yaw: float, out: Array
) -> None:
    """J C J^T, with J the derivative of `in_world` by an aircraft's state (16,) and its alignment."""
    at, n = len(C) - ALIGNMENT * (aircraft - a), AIRCRAFT + ALIGNMENT
    indices, J = np.empty(n, dtype=np.int64), np.zeros((AIRCRAFT, n))
    for i in range(AIRCRAFT):
        indices[i] = AIRCRAFT * a + i
        J[i, i] = 1.0
    for i in range(ALIGNMENT):
        indices[AIRCRAFT + i] = at + i
    turn = about_z(yaw)
    for i in range(3):
        J[i, AIRCRAFT + i] = 1.0
        for k in range(3):
            J[i, k] = J[6 + i, 6 + k] = turn[3 * i + k]
    up = rotate(qconj(quat(row[3:7])), (0.0, 0.0, 1.0))
    for begin, turned in ((0, mv(turn, vec(row))), (6, mv(turn, vec(row[7:10])))):
        J[begin, n - 1] = -turned[1]
        J[begin + 1, n - 1] = turned[0]
    put(J[3:6, n - 1], up)
    _propagate(J, C, indices, out)


@njit(cache=True)
def _propagate(J: Array, C: Array, indices: Integers, out: Array) -> None:
    """Covariance J C J^T of what depends by J (m, n) on n places."""
    half = np.zeros(J.shape)
    for i in range(len(J)):
        for k in range(len(indices)):
            for m in range(len(indices)):
                half[i, k] += J[i, m] * C[indices[m], indices[k]]
    for i in range(len(J)):
        for k in range(len(J)):
            out[i, k] = 0.0
            for m in range(len(indices)):
                out[i, k] += half[i, m] * J[k, m]
