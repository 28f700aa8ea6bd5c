# SPDX-License-Identifier: BSD-3-Clause
"""A scripted pilot at a gamepad: picks ways to go, sees late, moves the sticks as hands do.

What it sees is old by a reaction time; a stick follows what it wants like a second-order lag, with
a tremor on top, and joysticks report in steps. So ways overshoot and are corrected.
"""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_bringup.teleop.mappings import JoystickMapping
from iap_description import so3
from iap_description.states import REF_P, REF_Q, REF_V

Array = NDArray[np.float64]

AXES, BUTTONS = 8, 12  # of a gamepad, as joy_node counts them
STEPS = 127  # between the middle and the end of a stick
REACTION = 0.24  # [s]
HAND_RATE, HAND_DAMPING = 9.0, 0.8  # of the lag between will and stick [rad/s]
TREMOR = 0.6  # that the hand wants beside what it should, before the lag
PAUSE, PAUSES = (0.3, 0.9), 0.25  # [s] with the sticks let go, and how often a way begins so
GAIN = 1.1  # of the speed towards the goal over its distance [1/s]
NEAR, FAR = 0.7, 2.5  # [m] at which a way is done, and what is worth a way
BORED = (3.0, 6.0)  # [s] after which another goal is found
TILT_BAND = np.deg2rad(2.5)  # that the cross is not pressed for


class Room(NamedTuple):
    """Where a pilot stays: corners of a box in `map` [m]."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]


@dataclass(frozen=True)
class Way:
    """What the pilot is up to.

    Attributes:
        goal_W: (3,) [m].
        speed: share of the fastest.
        turn: share of the fastest turn, or NaN to look where it goes.
        tilt: (2,) roll and pitch to hold meanwhile [rad].
        begins: when the sticks are touched [s].
        ends: when another way is found at the latest [s].
    """

    goal_W: Array
    speed: float
    turn: float
    tilt: Array
    begins: float
    ends: float


class HandPilot:
    """Sticks and buttons over time.

    Args:
        room: where its goals are; overshooting, it leaves that by up to 1 m.
        mapping: what the sticks do, which it knows.
        rng: draws the ways and the tremor.
        dt: time between two calls [s].
    """

    def __init__(
        self, room: Room, mapping: JoystickMapping, rng: np.random.Generator, dt: float
    ) -> None:
        self._room = np.array(room)
        self._mapping, self._rng, self._dt = mapping, rng, dt
        self._seen: deque[Array] = deque(maxlen=max(1, round(REACTION / dt)))
        self._way: Way | None = None
        self._stick, self._speed = np.zeros(4), np.zeros(4)  # forward, left, up, turn

    def sticks(self, t: float, row: Array, *, is_done: bool) -> tuple[Array, list[int]]:
        """Axes (8,) and buttons of the joystick at a time.

        Args:
            t: [s].
            row: reference row of the platform, which is where it is.
            is_done: whether the sticks are let go, for good.
        """
        self._seen.append(row.copy())
        seen = self._seen[0]
        way = self._way = self._going(t, seen)
        idle = is_done or t < way.begins
        wanted, cross = (np.zeros(4), np.zeros(2)) if idle else self._wanted(way, seen)
        self._move_hand(wanted, 0.0 if is_done else TREMOR)
        return self._report(cross), [int(i == self._mapping.dead_man) for i in range(BUTTONS)]

    def _going(self, t: float, seen: Array) -> Way:
        way = self._way
        if way is not None and t < way.ends:
            if np.linalg.norm(way.goal_W - seen[REF_P]) > NEAR:
                return way
        rng, pause = self._rng, 0.0
        if rng.random() < PAUSES:
            pause = float(rng.uniform(*PAUSE))
        return Way(
            self._goal(seen[REF_P]),
            float(rng.uniform(0.6, 1.0)),
            float(rng.choice([np.nan, np.nan, 0.0, -0.7, 0.7, 1.0, -1.0])),
            np.deg2rad(rng.choice([-10.0, -6.0, 0.0, 0.0, 6.0, 10.0], 2)),
            t + pause,
            t + pause + float(rng.uniform(*BORED)),
        )

    def _goal(self, p_WP_W: Array) -> Array:
        """A place in the room that is worth going to."""
        while True:
            goal = self._rng.uniform(*self._room)
            if np.linalg.norm(goal - p_WP_W) > FAR:
                return goal

    def _wanted(self, way: Way, seen: Array) -> tuple[Array, Array]:
        """Deflections (4,) of forward, left, up and turn that lead to the goal, and the cross (roll, pitch)."""
        full = np.array([abs(axis.full) for _, axis in self._mapping.velocity])
        v_W = GAIN * (way.goal_W - seen[REF_P])
        angles = so3.euler_from_matrix(so3.matrix_from_quaternion(seen[REF_Q]))
        yaw = float(angles[2])
        forward = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        left = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        move = np.array([forward @ v_W, left @ v_W, v_W[2]]) / full
        move *= min(1.0, way.speed / float(np.abs(move).max()))
        turn = self._look(seen[REF_V], yaw) if np.isnan(way.turn) else way.turn
        off = way.tilt - angles[:2]
        cross = np.where(np.abs(off) > TILT_BAND, np.sign(off), 0.0)
        return np.array([*move, turn]), cross

    def _look(self, v_W: Array, yaw: float) -> float:
        """Turn (of 1) towards where it goes."""
        if np.hypot(v_W[0], v_W[1]) < 0.5:
            return 0.0
        off = np.arctan2(v_W[1], v_W[0]) - yaw
        return float(np.clip(np.remainder(off + np.pi, 2.0 * np.pi) - np.pi, -1.0, 1.0))

    def _move_hand(self, wanted: Array, tremor: float) -> None:
        shaken = wanted + tremor * self._rng.normal(size=4)
        pull = HAND_RATE**2 * (shaken - self._stick) - 2.0 * HAND_DAMPING * HAND_RATE * self._speed
        self._speed = self._speed + self._dt * pull
        self._stick = np.clip(self._stick + self._dt * self._speed, -1.0, 1.0)

    def _report(self, cross: Array) -> Array:
        """The axes as a joystick reports them."""
        axes, mapping = np.zeros(AXES), self._mapping
        moves = (*(axis for _, axis in mapping.velocity), mapping.rate_deg.yaw)
        for axis, value in zip(moves, self._stick, strict=True):
            axes[axis.axis] = np.copysign(1.0, axis.full) * np.round(STEPS * value) / STEPS
        tilts = (mapping.rate_deg.roll, mapping.rate_deg.pitch)
        for axis, value in zip(tilts, cross, strict=True):
            axes[axis.axis] = np.copysign(1.0, axis.full) * value
        return axes
