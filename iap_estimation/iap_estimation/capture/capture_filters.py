# SPDX-License-Identifier: BSD-3-Clause
"""The filter of capture and inertial unit of B bodies, of each the numbers of `CaptureFilter`, bit for bit."""

import math

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_estimation.capture import kernel
from iap_estimation.capture.capture_filter import FilterConstants, starting_state
from iap_estimation.capture.kernel import TOLERANCE, Rings, Waiting


class CaptureFilters:
    """Filters of bodies that are alike, each on a time of its own.

    Poses may come before the samples of their times, one of each body at once.

    Args:
        constants: of all of them.
        batch: how many, B.
    """

    def __init__(self, constants: FilterConstants, batch: int) -> None:
        self._constants = constants
        self._rings = kernel.empty_rings(batch)
        self._newest, self._newest_pose = np.full((2, batch), -math.inf)
        self._waiting = Waiting(np.full(batch, math.inf), np.zeros((batch, 7)))

    def begin(self, which: Integers, x: Array) -> None:
        """Begin some filters (n,) at time 0 at their bodies' state rows (n, 13)."""
        times, samples, states, ring = self._rings
        for b, row in zip(which.tolist(), x, strict=True):
            times[b], samples[b], states[b], ring[b] = 0.0, 0.0, 0.0, 0
            states[b, 0] = starting_state(row, self._constants)
            ring[b, kernel.COUNT] = 1
        self._newest[which], self._newest_pose[which] = 0.0, -math.inf
        self._waiting.times[which] = math.inf

    def take_samples(self, which: Integers, t: Array, w_S: Array, f_S: Array) -> None:
        """Take samples of the units of some bodies.

        Args:
            which: (n,) their numbers.
            t: (B, S) times of the samples [s].
            w_S: (B, S, 3) angular velocities [rad/s].
            f_S: (B, S, 3) specific forces [m/s^2].
        """
        gains = self._constants.gains
        _take_samples(
            which, stamped(t), w_S, f_S, self._rings, self._newest, self._waiting, *gains
        )

    def take_poses(self, which: Integers, t: Array, p_WS_W: Array, q_WS: Array) -> None:
        """Take a pose of the markers of some bodies, which may be late.

        Args:
            which: (n,) their numbers.
            t: (n,) times of the poses [s].
            p_WS_W: (n, 3) places [m].
            q_WS: (n, 4) attitudes, xyzw.
        """
        constants, newest = self._constants, (self._newest, self._newest_pose)
        poses = (stamped(t), p_WS_W, q_WS, constants.p_SI_S, constants.q_SI)
        _take_poses(which, *poses, self._rings, *newest, self._waiting, *constants.gains)

    def put_rows(self, which: Integers, t: Array, out: Array) -> None:
        """Write the state rows (B, 13) of some bodies (n,) at times (B,) [s], no earlier than their newest samples."""
        constants = self._constants
        _put_rows(which, t, self._rings, self._newest, constants.p_IB_I, constants.q_IB, out)


def stamped(t: Array) -> Array:
    """Times [s] as their stamps have them, see `Reading.stamp`."""
    rounded: Array = np.rint(t * 1e9) / 1e9
    return rounded


@njit(cache=True)
def _take_samples(
    which: Integers,
    t: Array,
    w_S: Array,
    f_S: Array,
    rings: Rings,
    newest: Array,
    waiting: Waiting,
    place: Array,
    angle: Array,
    gravity: float,
) -> None:
    times, samples, states, ring = rings
    sample = np.empty(6)
    for b in which:
        for s in range(t.shape[1]):
            if t[b, s] <= newest[b] + TOLERANCE:
                continue
            sample[:3], sample[3:] = w_S[b, s], f_S[b, s]
            kernel.predict(times[b], samples[b], states[b], ring[b], t[b, s], sample, gravity)
            newest[b] = t[b, s]
            if waiting.times[b] <= newest[b] + TOLERANCE:
                one = (
                    times[b],
                    samples[b],
                    states[b],
                    ring[b],
                    waiting.times[b],
                    waiting.poses[b],
                )
                kernel.correct(*one, place, angle, gravity)
                waiting.times[b] = math.inf


@njit(cache=True)
def _take_poses(
    which: Integers,
    t: Array,
    p_WS_W: Array,
    q_WS: Array,
    p_SI_S: Array,
    q_SI: Array,
    rings: Rings,
    newest: Array,
    newest_pose: Array,
    waiting: Waiting,
    place: Array,
    angle: Array,
    gravity: float,
) -> None:
    times, samples, states, ring = rings
    pose = np.empty(7)
    for i in range(len(which)):
        b = which[i]
        if t[i] <= newest_pose[b] + TOLERANCE:
            continue
        newest_pose[b] = t[i]
        kernel.unit_pose(p_WS_W[i], q_WS[i], p_SI_S, q_SI, pose)
        if t[i] <= newest[b] + TOLERANCE:
            one = (times[b], samples[b], states[b], ring[b], t[i], pose)
            kernel.correct(*one, place, angle, gravity)
        else:
            waiting.times[b], waiting.poses[b] = t[i], pose


@njit(cache=True)
def _put_rows(
    which: Integers,
    t: Array,
    rings: Rings,
    newest: Array,
    p_IB_I: Array,
    q_IB: Array,
    out: Array,
) -> None:
    _, samples, states, ring = rings
    for b in which:
        i, span = ring[b, kernel.NEWEST], t[b] - newest[b]
        ahead = span if span > TOLERANCE else 0.0
        kernel.body_row(states[b, i], samples[b, i], ahead, p_IB_I, q_IB, out[b])
