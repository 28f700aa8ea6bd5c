# SPDX-License-Identifier: BSD-3-Clause
"""A recorded command made ready to fly: its smooth copy to track, itself to score."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from iap_control.references.motions import Replay
from iap_control.references.rows import hold
from iap_control.references.smoothing import CUTOFF_HZ, smoothed
from iap_control.references.splines import NUMBERS, intervals_in
from iap_control.references.wrench_replay import (
    WrenchCommand,
    commanded_wrench,
    has_poses,
    measured_wrench,
)
from iap_description.arrays import Array
from iap_description.config.bounds import check_size
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_FIXED, REF_P, REF_Q
from iap_io.runs.run_meta import Track, WrenchTrack
from iap_io.trajectories.frame_comparison import frame_doubts
from iap_io.trajectories.headings import with_heading_alone
from iap_io.trajectories.mounting import START_HEIGHT
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.recorded import RecordedTrajectory, time_offset
from iap_io.trajectories.text_poses import TIMES
from iap_io.trajectories.wrenches import RecordedWrench

CUTOFFS_HZ = (
    CUTOFF_HZ,
    1.4,
    1.0,
    0.7,
    0.5,
    0.35,
)  # that are tried for a command that turns too fast
MAX_TURNING = math.radians(350.0)  # of thrust [rad/s]; flights of data sets come to 300
MAX_OFF = 0.6  # of a smooth copy from what was recorded [m]
MAX_STEP_TURNING = math.radians(90.0)  # the same where set-points step [rad/s]
COVERED = 0.9  # part of a command that its flight covers, below which a note is made
HEADING_ALONE = (
    "it tilts beyond a right angle, which the platform does not follow: its heading goes on"
)
_CHECKED = 0.01  # between the times at which it is looked at [s]


@dataclass(frozen=True)
class RecordedCommand:
    """A recorded command, on the time since its first sample.

    Attributes:
        rows: the rows (T, 19) to track at times (T,), a smooth copy.
        duration: [s].
        commanded: the command as recorded.
        actual: what the real aircraft did, if it was asked for.
        source: file and topic.
        about: what they were read as.
        wrench: the wrenches that were commanded, if they were asked for.
        measured: those of the environment, as they were measured.
        has_poses: whether poses were recorded, against which a flight can be judged.
    """

    rows: Callable[[Array], Array]
    duration: float
    commanded: Track
    actual: Track | None
    source: str
    about: RecordingSummary
    wrench: WrenchCommand | None = None
    measured: WrenchTrack | None = None
    has_poses: bool = True


def commanded(replay: Replay) -> RecordedCommand:
    """Read a replay's recordings, once for as long as their files do not change.

    Raises:
        BadInput: they cannot be used.
    """
    return _commanded(replay, _stamps(Path(replay.path)))


def _stamps(path: Path) -> tuple[tuple[int, int], ...]:
    """Times of change [ns] and sizes of a recording's files, with that of KITTI's times beside a file."""
    files = sorted(path.iterdir()) if path.is_dir() else [path, path.with_name(TIMES)]
    stats = [each.stat() for each in files if each.exists()]
    return tuple((each.st_mtime_ns, each.st_size) for each in stats)


@lru_cache(maxsize=4)
def _commanded(replay: Replay, _: tuple[tuple[int, int], ...]) -> RecordedCommand:
    reading = PoseReading(**{key: getattr(replay, key) for key in PoseReading.model_fields})
    if not has_poses(replay):
        return _of_wrenches(replay, reading)
    command = read_recorded(replay.path, reading)
    about, actual = command.about, None
    if replay.actual_topic is not None:
        actual, notes = _actual(replay, reading, command)
        about = about.noted(*notes)
    if replay.attitude == "heading":
        command, about = with_heading_alone(command), about.noted(HEADING_ALONE)
    if replay.attitude == "level":
        command, about = _level(command), about.noted("its attitudes do not count: level")
    if replay.lift:
        command, actual = _raised(command, replay.lift), _raised_track(actual, replay.lift)
        about = about.noted(f"it starts on the ground: raised by {replay.lift:.2f} m")
    rows, notes = _followable(command, replay.smooth, steps=replay.max_speed is not None)
    about, track = about.noted(*notes), _track(command, 0.0)
    flight = RecordedCommand(rows, command.duration, track, actual, command.source, about)
    return _with_wrenches(flight, replay, reading, command)


def _of_wrenches(replay: Replay, reading: PoseReading) -> RecordedCommand:
    """The command of a bag that has wrenches alone: they begin level and at rest.

    Raises:
        BadInput: they cannot be used.
    """
    wrench, recorded = commanded_wrench(replay, reading, None)
    pose = np.array([[0.0, 0.0, START_HEIGHT, 0.0, 0.0, 0.0, 1.0]])
    rest = np.zeros((1, REF_FIXED))
    rest[:, REF_P], rest[:, REF_Q] = pose[:, :3], pose[:, 3:]
    flight = RecordedCommand(
        lambda t: hold(rest[0], len(t)),
        recorded.duration,
        Track(np.array([0.0, recorded.duration]), np.vstack([pose, pose])),
        None,
        recorded.source,
        RecordingSummary("bag"),
        has_poses=False,
    )
    return _with_wrenches(flight, replay, reading, None, (wrench, recorded))


def _with_wrenches(
    flight: RecordedCommand,
    replay: Replay,
    reading: PoseReading,
    poses: RecordedTrajectory | None,
    known: tuple[WrenchCommand, RecordedWrench] | None = None,
) -> RecordedCommand:
    """The command with the wrenches that are asked for.

    Raises:
        BadInput: they cannot be used.
    """
    wrench, measured, read = None, None, list[RecordedWrench]()
    if replay.wrench_topic is not None:
        wrench, recorded = known or commanded_wrench(replay, reading, poses)
        read.append(recorded)
    if replay.actual_wrench_topic is not None:
        measured, recorded = measured_wrench(replay, reading, poses, flight.commanded)
        read.append(recorded)
    notes = (f"{each.about.topic}: {note}" for each in read for note in each.notes)
    about = replace(flight.about.noted(*notes), wrenches=tuple(each.about for each in read))
    return replace(flight, about=about, wrench=wrench, measured=measured)


def _level(recorded: RecordedTrajectory) -> RecordedTrajectory:
    """The recording level and without yaw."""
    q = np.tile(so3.IDENTITY, (len(recorded.t), 1))
    return replace(recorded, q_WP=q, w_WP_P=None, alpha_WP_P=None)


def _raised(recorded: RecordedTrajectory, height: float) -> RecordedTrajectory:
    """The recording higher up [m]."""
    return replace(recorded, p_WP_W=recorded.p_WP_W + [0.0, 0.0, height])


def _raised_track(track: Track | None, height: float) -> Track | None:
    """The track higher up [m]."""
    return None if track is None else Track(track.t, track.poses + np.eye(7)[2] * height)


def _actual(
    replay: Replay, reading: PoseReading, command: RecordedTrajectory
) -> tuple[Track, tuple[str, ...]]:
    """Motion of the real aircraft on the command's time, and remarks on it.

    Raises:
        BadInput: it was not at the command's times.
    """
    keys = {"topic": replay.actual_topic, "bridge": math.inf}
    keys |= dict.fromkeys(("body", "frame", "clock", "begin", "end", "max_speed"))
    changed = reading.model_copy(update=keys)
    actual = read_recorded(replay.path, changed, follows=False)
    offset, note = time_offset(command, actual)
    if not -actual.duration < offset < command.duration:
        raise BadInput(
            f"{actual.source}: from {offset:.3f} to {offset + actual.duration:.3f} s of the command, which lasts"
            f" {command.duration:.3f} s: they do not overlap"
        )
    notes = (
        *((note,) if note else ()),
        *_uncovered(command, actual, offset),
        *actual.about.notes,
        *frame_doubts(command, actual, offset),
    )
    return _track(actual, offset), tuple(f"{replay.actual_topic}: {each}" for each in notes)


def _uncovered(
    command: RecordedTrajectory, actual: RecordedTrajectory, offset: float
) -> tuple[str, ...]:
    """A note where a flight was recorded for a part of its command alone."""
    begin, end = max(0.0, offset), min(command.duration, offset + actual.duration)
    if end - begin > COVERED * command.duration:
        return ()
    return (
        f"it was recorded from {begin:.2f} to {end:.2f} s of the command's {command.duration:.2f} s: errors against it"
        " are of that part",
    )


def _followable(
    command: RecordedTrajectory, cutoff_hz: float | None, *, steps: bool
) -> tuple[Callable[[Array], Array], tuple[str, ...]]:
    """A command's smooth copy that a vehicle can follow, and a note where that is smoother than usual.

    Thrust has to turn with the acceleration that is asked for. Steps of set-points turn it faster than aircraft turn,
    so that they are smoothed at lower cut-off frequencies.

    Args:
        command: as recorded.
        cutoff_hz: that is asked for; None tries `CUTOFFS_HZ`.
        steps: whether it is known to be of set-points that step.

    Raises:
        BadInput: none is low enough, naming where it asks for most.
    """
    cutoffs = CUTOFFS_HZ if cutoff_hz is None else (cutoff_hz,)
    check_size("smooth", intervals_in(command.duration, cutoffs[0]), NUMBERS)
    for cutoff in cutoffs:
        rows = smoothed(command, cutoff_hz=cutoff)
        t = np.arange(0.0, command.duration, _CHECKED)
        a = rows(t)[:, REF_A]
        turning = thrust_rate(a, _CHECKED)
        most = MAX_TURNING if cutoff == CUTOFF_HZ and not steps else MAX_STEP_TURNING
        if cutoff == cutoff_hz or turning <= most:
            break
    else:
        worst = int(np.argmax(np.linalg.norm(a, axis=1)))
        raise BadInput(
            f"{command.source}: asks for {np.linalg.norm(a[worst]):.0f} m/s^2 at t = {t[worst]:.3f} s even"
            f" smoothed: are the"
            " set-points too far apart (--max-speed V follows them at V m/s), or is the unit another (--scale)? --from"
            " and --to cut it out"
        )
    if cutoff in (cutoff_hz, CUTOFF_HZ):
        return rows, ()
    off = np.linalg.norm(rows(command.t)[:, REF_P] - command.p_WP_W, axis=1)
    worst = int(np.argmax(off))
    if off[worst] > MAX_OFF and not steps:
        raise BadInput(
            f"{command.source}: it turns faster than a vehicle: smooth enough, its copy is {off[worst]:.2f} m off at"
            f" t = {command.t[worst]:.3f} s: --max-speed V follows set-points at V m/s, --scale reads another unit,"
            " --from and --to cut it out, --smooth HZ flies it as it is"
        )
    return rows, (
        f"smoothed at {cutoff:g} Hz instead of {CUTOFF_HZ:g}, up to {off[worst]:.2f} m off, since it turns faster than"
        f" a vehicle"
        " (--smooth HZ)",
    )


def thrust_rate(a_W: Array, dt: float) -> float:
    """The fastest turning [rad/s] of the thrust that accelerations (T, 3) ask for, [m/s^2] and `dt` [s] apart."""
    u = a_W + [0.0, 0.0, GRAVITY]
    u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-9)
    return float(np.linalg.norm(np.diff(u, axis=0), axis=1).max(initial=0.0)) / dt


def _track(recorded: RecordedTrajectory, offset: float) -> Track:
    return Track(recorded.t + offset, np.hstack([recorded.p_WP_W, recorded.q_WP]))
