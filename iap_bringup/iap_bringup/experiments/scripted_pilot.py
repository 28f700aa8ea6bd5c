# SPDX-License-Identifier: BSD-3-Clause
"""A scripted pilot with a gamepad, who flies from waypoint to waypoint.

The pilot acts on a state that is a reaction time old; a stick follows the wanted deflection with a
second-order lag and a tremor, and joysticks report in steps. So waypoints are overshot and corrected.
"""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iap_bringup.teleop.mappings import JoystickMapping
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q, REF_V

AXES, BUTTONS = 8, 12  # of a gamepad, as joy_node counts them
STEPS = 127  # between the middle and the end of a stick
REACTION_TIME = 0.24  # [s]
STICK_RATE, STICK_DAMPING = 9.0, 0.8  # of the lag between wanted and actual deflection [rad/s]
TREMOR = 0.6  # standard deviation of the wanted deflection, before the lag
PAUSE_DURATION = (0.3, 0.9)  # with the sticks released [s]
PAUSE_PROBABILITY = 0.25  # before a waypoint
SPEED_GAIN = 1.1  # of the speed towards the goal over its distance [1/s]
GOAL_TOLERANCE, MIN_GOAL_DISTANCE = 0.7, 2.5  # [m]
TIMEOUT = (3.0, 6.0)  # after which another waypoint is drawn [s]
TILT_BAND = np.deg2rad(2.5)  # of the tilt's error, within which the cross is not pressed


class FreeVolume(NamedTuple):
    """Corners of a volume in `map` [m]."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]


@dataclass(frozen=True)
class Waypoint:
    """A goal of the pilot.

    Attributes:
        goal_W: (3,) [m].
        speed: share of the fastest.
        turn: share of the fastest turn, or NaN to turn into the direction of flight.
        tilt: (2,) roll and pitch to hold meanwhile [rad].
        start: time until which the sticks are released [s].
        deadline: time at which another waypoint is drawn at the latest [s].
    """

    goal_W: Array
    speed: float
    turn: float
    tilt: Array
    start: float
    deadline: float


class ScriptedPilot:
    """Sticks and buttons over time.

    Args:
        goals: volume of the waypoints' goals, which is left by up to 1 m on overshooting.
        mapping: of the sticks.
        rng: draws the waypoints and the tremor.
        dt: time between two calls [s].
    """

    def __init__(
        self, goals: FreeVolume, mapping: JoystickMapping, rng: np.random.Generator, dt: float
    ) -> None:
        self._goals = np.array(goals)
        self._mapping, self._rng, self._dt = mapping, rng, dt
        self._states: deque[Array] = deque(maxlen=max(1, round(REACTION_TIME / dt)))
        self._waypoint: Waypoint | None = None
        self._stick, self._speed = np.zeros(4), np.zeros(4)  # forward, left, up, turn

    def sticks(self, t: float, row: Array, *, is_done: bool) -> tuple[Array, list[int]]:
        """Axes (8,) and buttons of the joystick at a time.

        Args:
            t: [s].
            row: reference row of the platform, which is where it is.
            is_done: whether the sticks are released for good.
        """
        self._states.append(row.copy())
        delayed = self._states[0]
        waypoint = self._waypoint = self._next_waypoint(t, delayed)
        idle = is_done or t < waypoint.start
        deflections, cross = (
            (np.zeros(4), np.zeros(2)) if idle else self._deflections(waypoint, delayed)
        )
        self._move_sticks(deflections, 0.0 if is_done else TREMOR)
        return self._report(cross), [int(i == self._mapping.dead_man) for i in range(BUTTONS)]

    def _next_waypoint(self, t: float, row: Array) -> Waypoint:
        """The present waypoint, or a new one where it is reached or timed out."""
        waypoint = self._waypoint
        if waypoint is not None and t < waypoint.deadline:
            if np.linalg.norm(waypoint.goal_W - row[REF_P]) > GOAL_TOLERANCE:
                return waypoint
        rng, pause = self._rng, 0.0
        if rng.random() < PAUSE_PROBABILITY:
            pause = float(rng.uniform(*PAUSE_DURATION))
        return Waypoint(
            self._goal(row[REF_P]),
            float(rng.uniform(0.6, 1.0)),
            float(rng.choice([np.nan, np.nan, 0.0, -0.7, 0.7, 1.0, -1.0])),
            np.deg2rad(rng.choice([-10.0, -6.0, 0.0, 0.0, 6.0, 10.0], 2)),
            t + pause,
            t + pause + float(rng.uniform(*TIMEOUT)),
        )

    def _goal(self, p_WP_W: Array) -> Array:
        """A goal that is far enough away."""
        while True:
            goal = self._rng.uniform(*self._goals)
            if np.linalg.norm(goal - p_WP_W) > MIN_GOAL_DISTANCE:
                return goal

    def _deflections(self, waypoint: Waypoint, row: Array) -> tuple[Array, Array]:
        """Deflections (4,) of forward, left, up and turn that lead to the goal, and the cross (roll, pitch)."""
        full = np.array([abs(axis.full) for _, axis in self._mapping.velocity])
        v_W = SPEED_GAIN * (waypoint.goal_W - row[REF_P])
        angles = so3.euler_from_matrix(so3.matrix_from_quaternion(row[REF_Q]))
        yaw = float(angles[2])
        forward = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        left = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        move = np.array([forward @ v_W, left @ v_W, v_W[2]]) / full
        move *= min(1.0, waypoint.speed / float(np.abs(move).max()))
        turn = self._turn(row[REF_V], yaw) if np.isnan(waypoint.turn) else waypoint.turn
        off = waypoint.tilt - angles[:2]
        cross = np.where(np.abs(off) > TILT_BAND, np.sign(off), 0.0)
        return np.array([*move, turn]), cross

    def _turn(self, v_W: Array, yaw: float) -> float:
        """Turn (of 1) into the direction of flight."""
        if np.hypot(v_W[0], v_W[1]) < 0.5:
            return 0.0
        off = np.arctan2(v_W[1], v_W[0]) - yaw
        return float(np.clip(np.remainder(off + np.pi, 2.0 * np.pi) - np.pi, -1.0, 1.0))

    def _move_sticks(self, deflections: Array, tremor: float) -> None:
        shaken = deflections + tremor * self._rng.normal(size=4)
        pull = (
            STICK_RATE**2 * (shaken - self._stick) - 2.0 * STICK_DAMPING * STICK_RATE * self._speed
        )
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
