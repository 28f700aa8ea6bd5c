# SPDX-License-Identifier: BSD-3-Clause
"""A motion capture of the same body in each of many worlds: of each the poses of its single run, bit for bit."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.sensors.mounts import mounts_on_aircraft, poses_on
from iap_description.vehicles.assembly import Assembly
from iap_sensors.mounted.motion_capture import (
    KEY,
    POSES_DRAWN_AT_ONCE,
    MotionCaptureSpec,
    capture_bias,
    drawn_errors,
)
from iap_sensors.mounted.mounted_sensors import Displacement
from iap_sensors.mounted.sampling import Sampling


class Poses(NamedTuple):
    """Poses of the markers that have come in some worlds.

    Attributes:
        worlds: (n,) numbers of these worlds.
        t: (n,) when they were [s].
        p_WS_W: (n, 3) places [m].
        q_WS: (n, 4) attitudes, xyzw.
    """

    worlds: Integers
    t: Array
    p_WS_W: Array
    q_WS: Array


class WorldCaptures:
    """Markers on the first aircraft of a vehicle in B worlds, each with errors, a bias and a mount of its own.

    Args:
        spec: of the capture.
        assembly: of the vehicle.
        displaced: how far off their mounts markers may be.
        control_hz: rate of control instants [Hz].
        batch: number of worlds.
    """

    def __init__(
        self,
        spec: MotionCaptureSpec,
        assembly: Assembly,
        displaced: Displacement,
        control_hz: float,
        batch: int,
    ) -> None:
        self._spec, self._displaced = spec, displaced
        self._mount = mounts_on_aircraft(assembly, spec.mount, KEY)[0]
        self._p_BS_B = np.tile(self._mount.p_BS_B, (batch, 1))
        self._q_BS = np.tile(self._mount.q_BS, (batch, 1))
        self._every = Sampling.of(spec.rate, control_hz, KEY).every
        self._late = round(spec.latency * control_hz)  # control periods
        self._rngs = [np.random.default_rng(0)] * batch  # until the first reset
        self._bias_W = np.zeros((batch, 3))
        self._shifts = np.zeros((batch, POSES_DRAWN_AT_ONCE, 3))
        self._turns = np.zeros((batch, POSES_DRAWN_AT_ONCE, 4))
        self._next = np.zeros(batch, dtype=np.int64)  # of these
        slots = self._late // self._every + 1  # poses that are on their way
        self._t, self._poses = np.zeros((batch, slots)), np.zeros((batch, slots, 7))

    def reset(self, worlds: Integers, seeds: Sequence[int]) -> None:
        """Start all errors of some worlds (n,) anew."""
        topic = self._mount.source.topic
        for b, seed in zip(worlds.tolist(), seeds, strict=True):
            placed = self._displaced(self._mount, seed)
            self._p_BS_B[b], self._q_BS[b] = placed.p_BS_B, placed.q_BS
            self._rngs[b] = stream(seed, topic)
            self._bias_W[b] = capture_bias(self._spec, topic, seed)
        self._next[worlds] = POSES_DRAWN_AT_ONCE

    def sample(self, worlds: Integers, k: Integers, t: Array, x: Array) -> Poses:
        """Look at some worlds, and return the poses that are there.

        Args:
            worlds: (n,) their numbers.
            k: (n,) numbers of their control instants; each comes once, in order.
            t: (n,) times of these [s].
            x: (n, bodies, 13) states of the vehicle.
        """
        due = np.flatnonzero(k % self._every == 0)
        if len(due):
            self._look(worlds[due], k[due] // self._every, t[due], x[due])
        taken = k - self._late
        there = np.flatnonzero((taken >= 0) & (taken % self._every == 0))
        which, slot = worlds[there], (taken[there] // self._every) % self._t.shape[1]
        poses = self._poses[which, slot]
        return Poses(which, self._t[which, slot], poses[:, :3], poses[:, 3:])

    def _look(self, worlds: Integers, number: Integers, t: Array, x: Array) -> None:
        """Keep the poses of some worlds (n,), whose numbers (n,) since the start they are."""
        for b in worlds[self._next[worlds] == POSES_DRAWN_AT_ONCE].tolist():
            self._shifts[b], self._turns[b] = drawn_errors(self._spec, self._rngs[b])
            self._next[b] = 0
        at = self._next[worlds]
        self._next[worlds] += 1
        rows = np.ascontiguousarray(x[:, self._mount.body])
        p_WS_W, q_WS = poses_on(rows, self._p_BS_B[worlds], self._q_BS[worlds])
        slot = number % self._t.shape[1]
        self._t[worlds, slot] = t
        self._poses[worlds, slot, :3] = p_WS_W + self._bias_W[worlds] + self._shifts[worlds, at]
        self._poses[worlds, slot, 3:] = so3.multiply(q_WS, self._turns[worlds, at])
