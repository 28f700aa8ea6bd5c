# SPDX-License-Identifier: BSD-3-Clause
"""Prescribed motions of objects of the world, of one object or of those of many worlds in compiled loops."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from numba import njit
from pydantic import Field, model_validator

from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import Degrees, Length, Positive, Real, Seed, Vec3
from iap_description.math.random_streams import stream

COLUMNS = 13  # numbers of a motion besides its path
SCALE, SHIFT, COSINE, SINE, AMPLITUDE, RATE, PHASE, VELOCITY, BEGIN = 0, 1, 2, 3, 4, 7, 8, 9, 12
KNOT = 4  # numbers of a knot of a path: time and displacement


class ObjectMotion(Record):
    r"""The displacement of an object from its `position`, a function of time.

    Every kind is a swing, a drift and a path of straight legs, of which most are zero. At time t the displacement is

    .. math::
        r(t) = R_z(\psi)\,\bigl(a\,\sin(\omega t' + \varphi) + v\,\max(t' - t_0, 0) + c(t')\bigr),
        \qquad t' = s\,(t + \tau)

    Attributes:
        time_scale: s, how many times as fast it goes.
        time_shift: tau, by which it is ahead of time [s].
        turn_deg: psi, by which it is turned about z of `map`.
    """

    time_scale: Positive = 1.0
    time_shift: Real = 0.0
    turn_deg: Degrees = 0.0

    def terms(self) -> Array:
        """(9,) amplitude a (3) [m], rate omega [rad/s], phase phi [rad], velocity v (3) [m/s] and its begin t_0 [s]."""
        return np.zeros(COLUMNS - AMPLITUDE)

    def path(self) -> tuple[Array, float]:
        """Knots (K, 4) of the path, times [s] and displacements [m], and its period [s]; 0 of one that ends."""
        return np.zeros((0, KNOT)), 0.0

    def changed(self, **keys: float) -> Self:
        """The motion with some of its numbers changed."""
        return self.model_validate({**self.model_dump(), **keys})

    @cached_property
    def compiled(self) -> "MotionTerms":
        """The motion as compiled loops take it."""
        psi = math.radians(self.turn_deg)
        numbers = [self.time_scale, self.time_shift, math.cos(psi), math.sin(psi), *self.terms()]
        return MotionTerms(np.array(numbers), *self.path())

    def at(self, t: float) -> tuple[Array, Array]:
        """Displacement (3,) [m] and velocity (3,) [m/s] at time t [s]."""
        out = np.empty((2, 3))
        displace(self.compiled.numbers, self.compiled.knots, self.compiled.period, t, out)
        return out[0], out[1]


class Drift(ObjectMotion):
    """Constant velocity from a time on."""

    type: Literal["velocity"]
    velocity: Vec3  # [m/s] in map
    start: Real = 0.0  # [s]

    def terms(self) -> Array:
        """See `ObjectMotion`."""
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, *self.velocity, self.start])


class Sine(ObjectMotion):
    """Swinging about the place where the object stands."""

    type: Literal["sine"]
    amplitude: Vec3  # [m] in map
    period: Positive  # [s]
    phase_deg: Degrees = 0.0

    def terms(self) -> Array:
        """See `ObjectMotion`."""
        rate = 2.0 * math.pi / self.period
        return np.array([*self.amplitude, rate, math.radians(self.phase_deg), 0.0, 0.0, 0.0, 0.0])


class Waypoints(ObjectMotion):
    """Straight legs at constant speed, from the place where the object stands from one point to the next."""

    type: Literal["waypoints"]
    points: Annotated[tuple[Vec3, ...], Field(min_length=1)]  # from its place [m], axes of map
    speed: Positive  # [m/s]
    then: Literal["stop", "return", "loop"] = (
        "stop"  # at the last point: rest | the way back | on to the first place
    )

    @model_validator(mode="after")
    def _has_legs(self) -> Self:
        if not np.all(np.linalg.norm(np.diff(self._stops(), axis=0), axis=1) > 0.0):
            raise ValueError("key 'points': two points in succession are the same")
        return self

    def _stops(self) -> Array:
        """(K, 3) points of one round [m]."""
        out = [(0.0, 0.0, 0.0), *self.points]
        tail = {"stop": [], "return": out[-2::-1], "loop": out[:1]}[self.then]
        return np.array([*out, *tail])

    def path(self) -> tuple[Array, float]:
        """See `ObjectMotion`."""
        knots = _knots(self._stops(), self.speed)
        return knots, 0.0 if self.then == "stop" else float(knots[-1, 0])


class Walk(ObjectMotion):
    """A person's walk: straight legs at constant speed between places that a seed draws, and back to the first.

    Places are spread evenly over a level rectangle, in whose middle the object stands at first. People walk at 1.3 m/s.
    """

    type: Literal["walk"]
    area: tuple[Length, Length]  # sides of the rectangle along x and y of map [m]
    speed: Positive  # [m/s]
    legs: Annotated[int, Field(strict=True, ge=2, le=1000)] = 20  # of a round
    seed: Seed = 0  # of the places

    def path(self) -> tuple[Array, float]:
        """See `ObjectMotion`."""
        stops = np.zeros((self.legs + 1, 3))
        half = 0.5 * np.array(self.area)
        stops[1:-1, :2] = stream(self.seed, "walk").uniform(-half, half, (self.legs - 1, 2))
        knots = _knots(stops, self.speed)
        return knots, float(knots[-1, 0])


def _knots(stops: Array, speed: float) -> Array:
    """(K, 4) times [s] and displacements [m] of straight legs between stops (K, 3) at a speed [m/s]."""
    times = np.cumsum(np.linalg.norm(np.diff(stops, axis=0), axis=1)) / speed
    return np.column_stack([np.insert(times, 0, 0.0), stops])


AnyObjectMotion = Annotated[Drift | Sine | Waypoints | Walk, Field(discriminator="type")]


class MotionTerms(NamedTuple):
    """A motion as compiled loops take it.

    Attributes:
        numbers: (COLUMNS,) of `ObjectMotion`.
        knots: (K, 4) times [s] and displacements [m] of its path.
        period: of the path [s]; 0 of one that ends, or of none.
    """

    numbers: Array
    knots: Array
    period: float


STILL = MotionTerms(np.array([1.0, 0.0, 1.0, *[0.0] * (COLUMNS - 3)]), np.zeros((0, KNOT)), 0.0)


class MotionTable(NamedTuple):
    """Motions of the n objects of B worlds, whose paths are alike but for scale, shift and turn.

    Attributes:
        rows: (B, n, 13) states of the objects where their motions have displaced them by nothing.
        numbers: (B, n, COLUMNS) of `ObjectMotion`.
        knots: (M, 4) of all paths, one after the other.
        ends: (n + 1,) first knot of each object's path, and the number of all.
        periods: (n,) of the paths [s].
    """

    rows: Array
    numbers: Array
    knots: Array
    ends: Integers
    periods: Array

    @classmethod
    def of(cls, rows: Array, motions: Sequence[ObjectMotion | None], worlds: int) -> Self:
        """Equal ones in so many worlds, of objects with rows (n, 13) at rest and such motions."""
        tracks = [STILL if motion is None else motion.compiled for motion in motions]
        return cls(
            np.repeat(rows[None], worlds, axis=0),
            np.repeat(_numbers(tracks)[None], worlds, axis=0),
            np.concatenate([np.zeros((0, KNOT)), *(each.knots for each in tracks)]),
            np.cumsum([0, *(len(each.knots) for each in tracks)]),
            np.array([each.period for each in tracks], np.float64),
        )

    def put(self, world: int, rows: Array, motions: Sequence[ObjectMotion | None]) -> None:
        """Let one world have objects of its own, whose paths are alike."""
        self.rows[world] = rows
        self.numbers[world] = _numbers(
            [STILL if motion is None else motion.compiled for motion in motions]
        )

    def states(self, worlds: Integers, times: Array) -> Array:
        """(len(worlds), n, 13) state rows of some worlds at times of their own [s]."""
        out = self.rows[worlds]
        _move(self, worlds, times, out)
        return out


def _numbers(tracks: Sequence[MotionTerms]) -> Array:
    return np.array([each.numbers for each in tracks]).reshape(-1, COLUMNS)


@njit(cache=True, nogil=True)
def _move(tracks: MotionTable, worlds: Integers, times: Array, out: Array) -> None:
    """Displace the objects of some worlds in their rows, and write their velocities."""
    moved = np.empty((2, 3))
    for i in range(len(worlds)):
        for j in range(out.shape[1]):
            knots = tracks.knots[tracks.ends[j] : tracks.ends[j + 1]]
            numbers = tracks.numbers[worlds[i], j]
            displace(numbers, knots, tracks.periods[j], times[i], moved)
            for k in range(3):
                out[i, j, k] += moved[0, k]
                out[i, j, 7 + k] += moved[1, k]


@njit(cache=True, nogil=True)
def displace(numbers: Array, knots: Array, period: float, t: float, out: Array) -> None:
    """Write displacement [m] and velocity [m/s], (2, 3), of a `MotionTerms` at a time [s]."""
    scale, c, s = numbers[SCALE], numbers[COSINE], numbers[SINE]
    now = scale * (t + numbers[SHIFT])
    since = now - numbers[BEGIN]
    phase, rate = numbers[RATE] * now + numbers[PHASE], numbers[RATE]
    swing, swinging = math.sin(phase), rate * math.cos(phase)
    for k in range(3):
        a, v = numbers[AMPLITUDE + k], numbers[VELOCITY + k]
        out[0, k] = a * swing + (v * since if since >= 0.0 else 0.0)
        out[1, k] = a * swinging + (v if since >= 0.0 else 0.0)
    if len(knots):
        _add_path(knots, period, now, out)
    for i in range(2):
        x, y = out[i, 0], out[i, 1]
        out[i, 0], out[i, 1] = c * x - s * y, s * x + c * y
    for k in range(3):
        out[1, k] *= scale


@njit(cache=True, nogil=True)
def _add_path(knots: Array, period: float, now: float, out: Array) -> None:
    """Add the displacement along a path and its velocity."""
    if period > 0.0:
        now = now % period
    leg = 1
    while leg < len(knots) - 1 and now >= knots[leg, 0]:
        leg += 1
    before, after = knots[leg - 1], knots[leg]
    length = after[0] - before[0]
    share = min(max((now - before[0]) / length, 0.0), 1.0)
    moves = 0.0 <= now < knots[len(knots) - 1, 0]
    for k in range(3):
        way = after[1 + k] - before[1 + k]
        out[0, k] += before[1 + k] + share * way
        out[1, k] += way / length if moves else 0.0
