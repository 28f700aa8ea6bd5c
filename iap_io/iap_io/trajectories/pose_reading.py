# SPDX-License-Identifier: BSD-3-Clause
"""The options of how poses are read, and what was understood of a recording."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from iap_description.config.record import Record
from iap_description.config.values import Positive, Real
from iap_io.trajectories.conventions import (
    AngleUnit,
    AxesEvidence,
    Convention,
    QuaternionOrder,
    TimeUnit,
    WrenchFrame,
)

MAX_GAP = 1.0  # longest time without a sample that is bridged unless asked for [s]

Scale = float | tuple[float, float, float]
Reach = Annotated[float, Field(strict=True, ge=0.0)]  # may be infinite
CutoffFrequency = Annotated[float, Field(strict=True, ge=0.01, le=1000.0)]  # [Hz]


class PoseReading(Record):
    """Settings of the user for a recording; None, or ``auto``, leaves a setting to the reader.

    Attributes:
        topic: of the poses in a bag, for a pair of Points that of the positions; ``TOPIC:BODY`` names a body, too.
        body: child_frame_id of the body, where a topic has several.
        frame: frame_id of the poses, where a topic has several.
        convention: axes of the numbers, see `iap_io.trajectories.axes`.
        quaternion: order of a quaternion's numbers, ``inverse`` where they turn the world into the body, or
            ``inverse-pose`` where positions are those of the world in the body, too.
        scale: metres in one of its units of length; three numbers where x, y and z have units of their own.
        origin: ``first`` where positions count from the first one.
        time_unit: of a text file's times.
        columns: of a table with a pose a line: names or numbers, from 1, of TIME,X,Y,Z and the attitude, with commas.
        angles: unit of Euler angles, of a table or a pair of Points.
        clock: whose times count in a bag: header stamps, or the times of reception.
        rate: of the lines of a file, in place of its times [Hz].
        mounting: turn of the recorded body in the platform: ``auto``; ``none``; ``rest``: from its first attitude; or
            its roll, pitch and yaw there [deg], with commas.
        begin: first time that counts, since the first sample [s].
        end: last one [s].
        bridge: longest time without a sample that is crossed in a straight line [s].
        max_speed: speed [m/s] at which leaps of set-points are followed; None refuses leaps.
        attitude: whether attitudes count, their heading alone, or neither: level, and without yaw.
        smooth: cut-off frequency of the command's smooth copy; None takes one that a vehicle can follow [Hz].
        lift: added to heights, so that a flight from the ground clears it [m].
    """

    topic: str | None = None
    body: str | None = None
    frame: str | None = None
    convention: Convention | None = None
    quaternion: QuaternionOrder | None = None
    scale: Positive | tuple[Positive, Positive, Positive] | None = None
    origin: Literal["first"] | None = None
    time_unit: TimeUnit | None = None
    columns: str | None = None
    angles: AngleUnit | None = None
    clock: Literal["header", "bag"] | None = None
    rate: Positive | None = None
    mounting: str = "auto"
    begin: Real | None = None
    end: Real | None = None
    bridge: Reach = MAX_GAP
    max_speed: Positive | None = None
    attitude: Literal["full", "heading", "level"] | None = None
    smooth: CutoffFrequency | None = None
    lift: Real | None = None


def counted(number: int, noun: str) -> str:
    """A number of things in words."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass(frozen=True)
class WrenchSummary:
    """Topic, axes and use of a recording's wrenches.

    Attributes:
        topic: that was read.
        msgtype: its type.
        frame: frame_id of its messages.
        axes: the body's or the world's.
        convention: of these axes.
        use: what is done with them, in words.
        clock: whose times count.
        samples: how many there are.
        duration_s: from the first to the last.
        largest: size of the largest force [N] and torque [N m].
    """

    topic: str
    msgtype: str
    frame: str
    axes: WrenchFrame
    convention: Convention
    use: str = ""
    clock: str = "header"
    samples: int = 0
    duration_s: float = 0.0
    largest: tuple[float, ...] = (0.0, 0.0)

    @property
    def line(self) -> str:
        """One line for the user."""
        rate = (self.samples - 1) / self.duration_s
        force, torque = self.largest
        return (
            f"wrench: topic {self.topic} ({self.msgtype}), in {self.axes} axes (frame {self.frame or '(no name)'}),"
            f" {AXES[self.convention]}, by {CLOCKS[self.clock]}, {self.samples} samples in {self.duration_s:.2f} s"
            f" ({rate:.1f} Hz), up to {force:.3g} N and {torque:.3g} N m, {self.use}"
        )


@dataclass(frozen=True)
class RecordingSummary:
    """Interpretation with which a recording was read.

    Attributes:
        kind: of the file.
        topic: that was read; None in a file without topics.
        msgtype: its type.
        body: child_frame_id of its messages.
        frame: frame_id of its messages.
        others: topics with poses and bodies that were not read.
        convention: axes of its numbers.
        quaternion: order of its quaternions' numbers.
        angles: unit of its Euler angles; None without any, or with units of their own.
        scale: metres in one of its units of length.
        mounting: turn of the recorded body in the platform, in words.
        clock: whose times count.
        samples: how many there are.
        duration_s: from the first to the last.
        speed_max_mps: largest speed.
        bounds_m: the least and the greatest x, y and z.
        notes: what was mended, left out or noticed.
        wrenches: what recorded wrenches beside the poses were read as.
        axes_evidence: what confirms axes and unit, or why nothing can, see `EVIDENCE`.
    """

    kind: str
    topic: str | None = None
    msgtype: str | None = None
    body: str | None = None
    frame: str | None = None
    others: tuple[str, ...] = ()
    convention: Convention = "enu"
    quaternion: QuaternionOrder = "xyzw"
    angles: AngleUnit | None = None
    scale: Scale = 1.0
    mounting: str = "none"
    clock: str = "file"
    samples: int = 0
    duration_s: float = 0.0
    speed_max_mps: float = 0.0
    bounds_m: tuple[tuple[float, float], ...] = ()
    notes: tuple[str, ...] = ()
    wrenches: tuple[WrenchSummary, ...] = ()
    axes_evidence: AxesEvidence = "none"

    def noted(self, *notes: str) -> Self:
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    def in_units_of(self, scale: Scale) -> Self:
        """The same with a note of the unit of positions [m] that a header says, unless they are metres."""
        if scale == 1.0:
            return self
        sizes = scale if isinstance(scale, tuple) else (scale,)
        listed = ", ".join(f"{each:g}" for each in sizes)
        return self.noted(f"positions in units of {listed} m, as the header says")

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of `PoseReading` that were left to the reading, with what it took."""
        values = {"topic": self.topic, "body": self.body, "frame": self.frame}
        clock = self.clock if self.clock in ("header", "bag") else None
        return values | {"convention": self.convention, "clock": clock}

    def lines(self) -> list[str]:
        """Five lines, and one for each wrench and each note; of wrenches alone without the five."""
        others = [*(each.line for each in self.wrenches), *self.notes]
        return others if self.samples == 0 else [*self._pose_lines(), *others]

    def _pose_lines(self) -> list[str]:
        what = f"topic {self.topic} ({self.msgtype})" if self.topic else self.kind
        rate = (self.samples - 1) / self.duration_s if self.duration_s > 0.0 else 0.0
        body = f"body {self.body or '(no name)'} in frame {self.frame or '(no name)'}"
        axes = zip("xyz", self.bounds_m, strict=False)
        space = ", ".join(f"{axis} {low:.2f} to {high:.2f}" for axis, (low, high) in axes)
        others = f"; not read: {', '.join(self.others)}" if self.others else ""
        return [
            f"read: {what}{others}",
            f"{body}, mounting {self.mounting}",
            f"axes {AXES[self.convention]}, unit {unit_text(self.scale)}{EVIDENCE[self.axes_evidence]}",
            f"clock: {CLOCKS[self.clock]}",
            f"{self.samples} samples in {self.duration_s:.2f} s ({rate:.1f} Hz), up to {self.speed_max_mps:.2f} m/s"
            f"{f', {space} m' if space else ''}",
        ]


AXES: dict[Convention, str] = {
    "enu": "ENU/FLU",
    "ned": "NED/FRD",
    "camera": "of a camera (x right, y down, z forward)",
    "y-up": "with y up",
    "unity": "Unity's, left-handed",
    "unreal": "Unreal's, left-handed",
    "ned-attitudes": "ENU of positions, NED/FRD of attitudes",
    "ned-positions": "NED of positions, ENU/FLU of attitudes",
}
EVIDENCE: dict[AxesEvidence, str] = {
    "none": "",
    "accelerometer": ", as an accelerometer beside it confirms",
    "tilts": ", as it tilts where it accelerates",
    "option": ", as asked for",
    "type": ", as the type says",
    "sparse": "; cannot be checked: it is too short, or its samples are too far apart",
    "still": "; cannot be checked: it hardly accelerates",
    "level": "; cannot be checked: it does not tilt where it accelerates",
}
UNITS = {1.0: "m", 0.01: "cm", 0.001: "mm"}


def unit_text(scale: Scale) -> str:
    """A unit of length, or those of x, y and z."""
    if isinstance(scale, tuple):
        return ", ".join(unit_text(each) for each in scale)
    return UNITS.get(scale, f"{scale:g} m")


CLOCKS = {"header": "header stamps", "bag": "times of reception", "file": "the file's times"}
