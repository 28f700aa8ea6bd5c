# SPDX-License-Identifier: BSD-3-Clause
"""Steps of commanded velocity, drawn at random: what a vehicle is identified with."""

from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from iap_control.references.jet import Jet
from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import Degrees, NonNegative, Position, Positive, Seed
from iap_description.math import so3
from iap_description.states import REF_FIXED, REF_P, REF_Q, REF_V, REF_W, Level

MAX_STEPS = 100_000
SERIES_ANGLE = 1e-3  # half of a turn that is taken by its series [rad]


class Steps(NamedTuple):
    """Steps one after the other, of which the first stands still.

    Attributes:
        begins: (S,) [s].
        lengths: (S,) [s].
        velocities: (S, 3) along the axes of the heading [m/s].
        yaw_rates: (S,) [rad/s].
        places: (S, 3) where each begins [m].
        yaws: (S,) with which heading [rad].
    """

    begins: Array
    lengths: Array
    velocities: Array
    yaw_rates: Array
    places: Array
    yaws: Array


class VelocitySteps(Record):
    """Velocities along the heading's axes and a yaw rate, each held for a while, then their opposites for as long.

    So every second step ends where all began. Velocities alone are commanded: accelerations are zero, as in a Twist,
    and the places of rows are those of a vehicle that follows without delay.
    """

    LEVEL: ClassVar[Level] = Level.VELOCITY

    type: Literal["velocity_steps"]
    duration: Positive  # [s]
    position: Position  # [m] at the start
    yaw_deg: Degrees
    pause: Positive  # without motion at the start [s]
    speeds: tuple[NonNegative, NonNegative, NonNegative]  # largest forwards, to the left, up [m/s]
    yaw_rate: NonNegative  # largest [rad/s]
    holds: tuple[Positive, Positive]  # shortest and longest step, both eases within [s]
    ease: Positive  # time to pick up or lose speed [s]
    seed: Seed  # of what is drawn

    @model_validator(mode="after")
    def _holds_are_a_range(self) -> Self:
        shortest, longest = self.holds
        if shortest > longest:
            raise ValueError(f"key 'holds': {shortest} is longer than {longest}")
        if shortest < 2.0 * self.ease:
            raise ValueError(f"key 'holds.0': {shortest} is less than twice ease")
        if self.duration > MAX_STEPS * shortest:
            raise ValueError(f"key 'duration': more than {MAX_STEPS} steps of {shortest} s")
        return self

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        steps = self._steps
        i = np.clip(np.searchsorted(steps.begins, t, side="right") - 1, 0, None)
        gone, velocity, yaw_rate = self._gone(t, i), steps.velocities[i], steps.yaw_rates[i]
        turn = yaw_rate * gone.f
        full = _turned(velocity, steps.yaws[i] + turn)
        rows = np.zeros((len(t), REF_FIXED))
        rows[:, REF_P] = steps.places[i] + _way(velocity, steps.yaws[i], turn, gone.f)
        angles = np.zeros((len(t), 3))
        angles[:, 2] = steps.yaws[i] + turn
        rows[:, REF_Q] = so3.quaternion_from_matrix(so3.matrix_from_euler(angles))
        rows[:, REF_V] = gone.df[:, None] * full
        rows[:, REF_W.stop - 1] = yaw_rate * gone.df
        return rows

    def _gone(self, t: Array, i: Integers) -> Jet:
        """For how long steps i (T,) would have had their full velocities by times (T,) [s]."""
        since = t - self._steps.begins[i]
        up, down = Jet.time(since), Jet.time(since - self._steps.lengths[i] + self.ease)
        return up.smooth_ramp(self.ease) - down.smooth_ramp(self.ease)

    @cached_property
    def _steps(self) -> Steps:
        """All steps of the motion."""
        rng = np.random.default_rng(self.seed)
        pairs = int(np.ceil(self.duration / (2.0 * self.holds[0])))
        lengths = rng.uniform(*self.holds, pairs)
        twists = rng.uniform(-1.0, 1.0, (pairs, 4)) * [*self.speeds, self.yaw_rate]
        home, yaw = np.tile(self.position, (pairs, 1)), np.full(pairs, np.deg2rad(self.yaw_deg))
        at_speed = lengths - self.ease
        turns = twists[:, 3] * at_speed
        ends = home + _way(twists[:, :3], yaw, turns, at_speed)
        both = _in_turn(twists, -twists)
        lengths = np.append(self.pause, np.repeat(lengths, 2))
        return Steps(
            begins=np.append(0.0, np.cumsum(lengths[:-1])),
            lengths=lengths,
            velocities=np.vstack([np.zeros(3), both[:, :3]]),
            yaw_rates=np.append(0.0, both[:, 3]),
            places=np.vstack([home[:1], _in_turn(home, ends)]),
            yaws=np.append(yaw[:1], _in_turn(yaw, yaw + turns)),
        )


def _in_turn(a: Array, b: Array) -> Array:
    """Rows of a and b, (n, ...) each, one of each at a time."""
    return np.stack([a, b], axis=1).reshape(-1, *a.shape[1:])


def _way(velocities: Array, yaws: Array, turns: Array, times: Array) -> Array:
    """(T, 3) how far one comes in times (T,) with velocities (T, 3) along axes that turn evenly from yaws (T,)."""
    half = 0.5 * turns
    is_small = np.abs(half) < SERIES_ANGLE
    chord = np.where(is_small, 1.0 - half**2 / 6.0, np.sin(half) / np.where(is_small, 1.0, half))
    ways = _turned(velocities, yaws + half) * times[:, None]
    ways[:, :2] *= chord[:, None]
    return ways


def _turned(vectors: Array, yaws: Array) -> Array:
    """Vectors (T, 3) along axes of headings (T,), in `map`."""
    c, s = np.cos(yaws), np.sin(yaws)
    x, y, z = vectors.T
    return np.stack([c * x - s * y, s * x + c * y, z], axis=-1)
