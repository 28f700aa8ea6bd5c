# SPDX-License-Identifier: BSD-3-Clause
"""The analytic reference motions that a scenario can name; each is a record whose fields are its YAML keys."""

from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from iap_control.references.jet import Jet, constant, polyline
from iap_control.references.lemniscate import Lemniscate
from iap_control.references.rows import from_ned, rows_of
from iap_control.references.velocity_steps import VelocitySteps
from iap_description.arrays import Array
from iap_description.config.plugins import load_class
from iap_description.config.record import Count, Positive, Real, Record, Vec3, validate
from iap_description.errors import BadInput


class Hover(Record):
    """Stay at a pose."""

    type: Literal["hover"]
    duration: Positive  # [s]
    position: Vec3  # [m]
    rpy_deg: Vec3

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        pose = [constant(t, value) for value in (*self.position, *np.deg2rad(self.rpy_deg))]
        return rows_of(pose[:3], pose[3:])


class Spiral(Record):
    """Spiral inwards to a fixed point while climbing and swaying, like the flight of iap_simulator VI-A."""

    type: Literal["spiral"]
    duration: Positive  # [s]
    arrival: Positive  # when the fixed point is reached [s]
    center: Vec3  # where the spiral ends, at its starting height [m]
    radius: Positive  # at the start [m]
    climb: Real  # [m]
    period: Positive  # of one turn [s]
    sway_deg: Vec3  # amplitude of roll, pitch, yaw
    sway_periods: tuple[Positive, Positive, Positive]  # [s]

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        time = Jet.time(t)
        inwards = (time * (1.0 / self.arrival)).smooth_step()
        left = 1.0 - inwards
        angle = time * (2.0 * np.pi / self.period)
        x, y, z = self.center
        position = (
            x + self.radius * (left * angle.cos()),
            y + self.radius * (left * angle.sin()),
            z + self.climb * inwards,
        )
        fade = 1.0 - ((time + (4.0 - self.arrival)) * 0.25).smooth_step()  # over the last 4 s
        angles = [
            float(np.deg2rad(a)) * (fade * (time * (2.0 * np.pi / p)).sin())
            for a, p in zip(self.sway_deg, self.sway_periods, strict=True)
        ]
        return rows_of(position, angles)


def _lap(phase: Jet, amplitude: Vec3, altitude: float) -> tuple[Jet, Jet, Jet]:
    """Position on an ellipse at a phase [rad], in NED [m]."""
    s, c = phase.sin(), phase.cos()
    a_x, a_y, a_z = amplitude
    return a_x * s, a_y * (c - 1.0), a_z * s - altitude


class Circle(Record):
    """Circle or ellipse with swaying height and attitude, in NED as in the original simulator.

    x = A_x sin, y = A_y (cos - 1), z = A_z sin - altitude; roll 0, pitch = A_pitch sin, yaw = A_yaw (cos - 1).
    """

    type: Literal["circle"]
    duration: Positive  # [s]
    period: Positive  # [s]
    altitude: Positive  # [m]
    amplitude: Vec3  # A_x, A_y, A_z [m]
    pitch_amplitude: Real  # [rad]
    yaw_amplitude: Real  # [rad]

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        phase = Jet.time(t) * (2.0 * np.pi / self.period)
        return from_ned(rows_of(*self.signals(phase)))

    def signals(self, phase: Jet) -> tuple[tuple[Jet, Jet, Jet], tuple[Jet, Jet, Jet]]:
        """Position and Euler angles in NED/FRD at a phase [rad]."""
        s, c = phase.sin(), phase.cos()
        angles = (0.0 * s, self.pitch_amplitude * s, self.yaw_amplitude * (c - 1.0))
        return _lap(phase, self.amplitude, self.altitude), angles


class Ramps(Record):
    """Abrupt attitude ramps, then a circle, then both at once, after iap_simulator VI-B; NED."""

    type: Literal["ramps"]
    rate: Positive  # of the ramps [rad/s]
    ramp: Positive  # length of a ramp [s]
    pause: Positive  # held between ramps [s]
    period: Positive  # of the circle [s]
    ease: Positive  # over which the circle starts and stops [s]
    altitude: Positive  # [m]
    amplitude: Vec3  # of the circle [m]

    @property
    def duration(self) -> float:
        """Length [s]: two ramps of one axis each, a circle, a circle with ramps."""
        return 2.0 * self._ramps + 2.0 * self._circle

    @property
    def _ramps(self) -> float:
        return 2.0 * (self.ramp + self.pause)

    @property
    def _circle(self) -> float:
        return self.period + self.ease

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        first, second = 2.0 * self._ramps, 2.0 * self._ramps + self._circle
        roll = self._ramp(t, 0.0) + self._ramp(t, second)
        pitch = self._ramp(t, self._ramps) + self._ramp(t, second)
        phase = self._turn(t, first) + self._turn(t, second)
        position = _lap(phase, self.amplitude, self.altitude)
        return from_ned(rows_of(position, (roll, pitch, 0.0 * phase.sin())))

    def _ramp(self, t: Array, start: float) -> Jet:
        times = start + np.cumsum([0.0, self.ramp, self.pause, self.ramp])
        top = self.rate * self.ramp
        return polyline(t, times, np.array([0.0, top, top, 0.0]))

    def _turn(self, t: Array, start: float) -> Jet:
        """Phase of one turn: constant speed but for a smooth start and stop of `ease` seconds each."""
        time = Jet.time(t) - start
        speed = 2.0 * np.pi / self.period
        up, down = ((time - shift).smooth_ramp(self.ease) for shift in (0.0, self.period))
        return speed * (up - down)


class FigureEight(Record):
    """Helical figure-eight with ramping attitude, the flight of iap_simulator VI-G; NED."""

    type: Literal["figure_eight"]
    half_lap: Positive  # [s]
    laps: Count
    altitude: Positive  # [m]
    amplitude: Vec3  # [m]
    ramp_deg: Vec3  # roll, pitch, yaw reached after half of a half lap

    @property
    def duration(self) -> float:
        """Length [s]."""
        return 2.0 * self.half_lap * self.laps

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        phase = Jet.time(t) * (2.0 * np.pi / self.half_lap)
        side = np.where(np.floor(t / self.half_lap) % 2 == 0, 1.0, -1.0)
        mirror = Jet(side, np.zeros_like(side), np.zeros_like(side))
        x, y, z = _lap(phase, self.amplitude, self.altitude)
        quarter = 0.5 * self.half_lap
        corners = np.arange(max(0.0, t.min() // quarter - 1.0), t.max() // quarter + 3.0)
        ramps = np.array([0.0, 1.0, 0.0, -1.0])[corners.astype(np.intp) % 4]
        zigzag = polyline(t, corners * quarter, ramps)
        angles = [float(np.deg2rad(a)) * zigzag for a in self.ramp_deg]
        return from_ned(rows_of((x, mirror * y, z), angles))


class Line(Record):
    """From one pose to another along a straight line, starting and ending at rest."""

    type: Literal["line"]
    duration: Positive  # [s]
    start: Vec3  # [m]
    end: Vec3  # [m]
    yaw_deg: Real

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        s = (Jet.time(t) * (1.0 / self.duration)).smooth_step()
        position = [a + (b - a) * s for a, b in zip(self.start, self.end, strict=True)]
        yaw = constant(t, float(np.deg2rad(self.yaw_deg)))
        return rows_of(position, (0.0 * s, 0.0 * s, yaw))


class Move(Record):
    """A straight way from wherever the platform is, at constant speed but for its ends."""

    seconds: Positive
    by: Vec3  # [m]
    turn_deg: Vec3  # added to roll, pitch, yaw


class Moves(Record):
    """One straight move after the other from a pose; a move by nothing is a pause."""

    type: Literal["moves"]
    position: Vec3  # [m] at the start
    rpy_deg: Vec3
    ease: Positive  # time to pick up or lose speed [s]
    moves: Annotated[tuple[Move, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _have_time(self) -> Self:
        for i, move in enumerate(self.moves):
            if move.seconds < 2.0 * self.ease:
                raise ValueError(
                    f"key 'moves.{i}.seconds': {move.seconds} is less than twice ease"
                )
        return self

    @property
    def duration(self) -> float:
        """Length [s]."""
        return sum(move.seconds for move in self.moves)

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        pose = [constant(t, v) for v in (*self.position, *np.deg2rad(self.rpy_deg))]
        time, begin = Jet.time(t), 0.0
        for move in self.moves:
            cruise = move.seconds - self.ease
            up, down = ((time - at).smooth_ramp(self.ease) for at in (begin, begin + cruise))
            gone = up - down
            steps = (*move.by, *np.deg2rad(move.turn_deg))
            pose = [p + (step / cruise) * gone for p, step in zip(pose, steps, strict=True)]
            begin += move.seconds
        return rows_of(pose[:3], pose[3:])


class Replay(Record):
    """A recorded command."""

    type: Literal["replay"]
    path: str
    topic: str | None
    actual_topic: str | None
    convention: Literal["enu", "ned"] | None


class CustomMotion(BaseModel):
    """A motion of the user's own: `type` is ``module:Class``, the other keys are that record's.

    The class is a `Record` like those above, with a field `type: str`, a length `duration` [s], and
    `rows(t)`, reference rows (T, 19) at times (T,) [s].
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    type: str

    @model_validator(mode="after")
    def _is_a_motion(self) -> Self:
        _ = self.motion
        return self

    @cached_property
    def motion(self) -> Any:  # noqa: ANN401 - the user's
        """The user's record.

        Raises:
            BadInput: there is no such class, or its keys are not those given.
        """
        kind = load_class(self.type, ("rows",), key="reference.type")
        if not issubclass(kind, Record):
            raise BadInput(f"key 'reference.type': class '{self.type}' is no Record of keys")
        return validate(kind, self.model_dump(), source=self.type, prefix="reference")

    @property
    def duration(self) -> float:
        """Length [s]."""
        return float(self.motion.duration)

    def rows(self, t: Array) -> Array:
        """Reference rows (T, 19) at times `t` [s]."""
        return np.asarray(self.motion.rows(t))


CUSTOM = "module:Class"  # tag of a motion of the user's own


def kind_of(tree: Any) -> str | None:  # noqa: ANN401 - YAML until it is validated, then a record
    """The tag of a tree or a record among the motions below."""
    kind = tree.get("type") if isinstance(tree, dict) else getattr(tree, "type", None)
    return CUSTOM if isinstance(kind, str) and ":" in kind else kind


Tagged = (
    Annotated[Hover, Tag("hover")]
    | Annotated[Spiral, Tag("spiral")]
    | Annotated[Circle, Tag("circle")]
    | Annotated[Ramps, Tag("ramps")]
    | Annotated[FigureEight, Tag("figure_eight")]
    | Annotated[Lemniscate, Tag("lemniscate")]
    | Annotated[Line, Tag("line")]
    | Annotated[Moves, Tag("moves")]
    | Annotated[VelocitySteps, Tag("velocity_steps")]
    | Annotated[CustomMotion, Tag(CUSTOM)]
)
KIND = Discriminator(kind_of)
Motion = Annotated[Tagged, KIND]
MotionOrReplay = Annotated[Tagged | Annotated[Replay, Tag("replay")], KIND]
