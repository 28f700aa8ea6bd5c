# SPDX-License-Identifier: BSD-3-Clause
"""The description of a run in its recording, so that metrics and plots need nothing else."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import FileName, Flag, Hertz, NonNegative, Positive, Vec3
from iap_description.earth import GRAVITY
from iap_description.sensors.sensor_info import AnySensor
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.transports.compressed_jpeg import QUALITY
from iap_io.transports.table import Compression

COMPLETED = "completed"  # outcome of a flight that went to its end
LOST = "lost"  # outcome of a flight that lost the estimate it was flown on
DIVERGED = "diverged"  # outcome of a flight whose state is no longer a number


class RecordingSettings(Record):
    """Settings of a recording.

    Attributes:
        compression: of the images in the bag, see `iap_io.transports.table.transports_of`.
        euroc: whether the run folder gets a data set in EuRoC's layout as well.
        jpeg_quality: of images in JPEG, from 1 to 100.
    """

    compression: Compression
    euroc: Flag
    jpeg_quality: Annotated[int, Field(strict=True, ge=1, le=100)] = QUALITY


PLAIN = RecordingSettings(compression="none", euroc=False)


class Bore(Record):
    """The hole that a tool goes into."""

    start: Vec3  # on its axis [m] in map
    axis: Vec3  # inwards
    length: Positive  # [m]


class RunMeta(Record):
    """A run and its vehicles.

    Attributes:
        after_contact: figures of contact count from so long after the first contact [s].
        steady: the steady ones over so long at the end [s].
        force_band: that a controlled force shall keep to [N].
        bore: of the world's first funnel; None without one.
        sensors: those whose readings are recorded.
        gravity: along -z of map [m/s^2].
        latches: names of those between vehicles.
        joints: names of those between modules.
        objects: names of the world's objects where one of them moves freely; their states are recorded then.
    """

    scenario: FileName
    seed: int
    physics_hz: Hertz
    control_hz: Hertz
    vehicles: tuple[VehicleMeta, ...]
    after_contact: NonNegative = 0.0
    steady: Positive = 5.0
    force_band: Positive = 0.5
    bore: Bore | None = None
    sensors: tuple[AnySensor, ...] = ()
    gravity: NonNegative = GRAVITY
    latches: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunStats:
    """Results of a run that only the loop has.

    Attributes:
        outcome: `COMPLETED`, or why the flight ended.
        duration_s: simulated time.
        wall_s: wall time of the loop until the bag was closed.
        control_step_us: mean wall time of one control step of one vehicle.
        images: rendered.
        render_s: wall time that they took.
        faults: of the estimators on which vehicles flew, by their names: times [s] and reasons.
        losses: times [s] at which these lost and regained vision, began anew or were lost, by the vehicles' names.
        health: the worst that these said of themselves, by the vehicles' names.
        tasks: how they went, by their keys in metrics.json, such as ``docking``.
        policy: what flew in place of the vehicles' controllers; None where these did.
        unfollowed: names of the vehicles whose references nobody follows.
        compiled_fraction: share of the control periods that the compiled run has flown.
        recordings: what the recorded commands were read as, by the vehicles' names.
        landings: of the vehicles that have come down, by their names.
    """

    outcome: str
    duration_s: float
    wall_s: float
    control_step_us: float
    images: int = 0
    render_s: float = 0.0
    faults: dict[str, tuple[tuple[float, str], ...]] = field(default_factory=dict)
    losses: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    health: dict[str, dict[str, float]] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    policy: dict[str, Any] | None = None
    unfollowed: tuple[str, ...] = ()
    compiled_fraction: float = 0.0
    recordings: dict[str, dict[str, Any]] = field(default_factory=dict)
    landings: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class WrenchTrack:
    """Wrenches of the environment with their own times, as they were measured on a real aircraft.

    Attributes:
        t: (M,) increasing times [s].
        wrenches: (M, 6) about the origin of P, in P [N, N m].
    """

    t: Array
    wrenches: Array


@dataclass(frozen=True)
class Track:
    """Poses with their own times: a replay's commands as given, or what the real aircraft did.

    Attributes:
        t: (M,) increasing times [s].
        poses: (M, 7) position [m] and quaternion xyzw.
    """

    t: Array
    poses: Array
