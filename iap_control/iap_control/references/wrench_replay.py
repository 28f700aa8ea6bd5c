# SPDX-License-Identifier: BSD-3-Clause
"""Recorded wrenches on the time of the recorded motion: those to fly, and those that were measured."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from iap_control.references.motions import Replay
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.runs.run_meta import Track, WrenchTrack
from iap_io.trajectories.bags import is_bag, opened
from iap_io.trajectories.conventions import WrenchFrame, WrenchUse
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.recorded import RecordedTrajectory, time_offset
from iap_io.trajectories.topics import pose_topics
from iap_io.trajectories.wrenches import RecordedWrench, read_wrench

EARLY = 1e-6  # by which a wrench counts before its stamp, which is rounded to nanoseconds [s]
USES: dict[WrenchUse, str] = {"feed_forward": "fed forward", "open_loop": "flown open loop"}


@dataclass(frozen=True)
class WrenchCommand:
    """Recorded commands of wrenches on the time of the recorded motion.

    Attributes:
        t: (K,) increasing times [s].
        wrenches: (K, 6) about P's origin [N, N m].
        frame: whose axes these are in.
        use: of them.
        source: file and topic, for errors.
    """

    t: Array
    wrenches: Array
    frame: WrenchFrame
    use: WrenchUse
    source: str

    def at(self, t: float) -> Array | None:
        """The wrench (6,) that holds at a time [s]; None before the first, and after the last has held its time."""
        last = self.t[-1] + float(np.median(np.diff(self.t)))
        if not self.t[0] - EARLY <= t < last - EARLY:
            return None
        return np.asarray(self.wrenches[np.searchsorted(self.t, t + EARLY, side="right") - 1])


def has_poses(replay: Replay) -> bool:
    """True if a recording has poses to fly; a bag that is read for its wrenches may have none."""
    if (
        replay.wrench_topic is None
        or replay.topic is not None
        or not is_bag(path := Path(replay.path))
    ):
        return True
    with opened(path) as bag:
        return bool(pose_topics(bag.topics))


def commanded_wrench(
    replay: Replay, reading: PoseReading, poses: RecordedTrajectory | None
) -> tuple[WrenchCommand, RecordedWrench]:
    """The wrenches that were commanded, on the time of the poses or their own, and what they were read as.

    Raises:
        BadInput: they cannot be read, or were at other times.
    """
    use = replay.wrench_use or ("feed_forward" if poses is not None else "open_loop")
    if use == "feed_forward" and poses is None:
        raise BadInput(
            f"{replay.path}: wrench_use feed_forward: it has no poses for the feedback; open_loop flies wrenches alone"
        )
    changed = reading if poses is None else _without_times(reading)
    recorded = read_wrench(
        replay.path,
        str(replay.wrench_topic),
        changed,
        replay.wrench_frame,
        option="--wrench-topic",
    )
    recorded, offset = _timed(recorded, poses)
    about = replace(recorded.about, use=USES[use])
    values = recorded.wrenches
    command = WrenchCommand(recorded.t + offset, values, recorded.frame, use, recorded.source)
    return command, replace(recorded, about=about)


def measured_wrench(
    replay: Replay, reading: PoseReading, poses: RecordedTrajectory | None, commanded: Track
) -> tuple[WrenchTrack, RecordedWrench]:
    """The wrenches of the environment as they were measured, in the body's axes, and what they were read as.

    Raises:
        BadInput: they cannot be read, were at other times, or are in the world's axes without attitudes beside them.
    """
    changed = _without_times(reading).model_copy(update={"bridge": np.inf})
    topic = str(replay.actual_wrench_topic)
    recorded = read_wrench(
        replay.path, topic, changed, replay.wrench_frame, option="--actual-wrench-topic"
    )
    recorded, offset = _timed(recorded, poses)
    t, wrenches = recorded.t + offset, recorded.wrenches
    if recorded.frame == "world":
        if poses is None:
            raise BadInput(
                f"{recorded.source}: in world axes, and the bag has no attitudes that turn them to the body's"
            )
        nearest = np.clip(np.searchsorted(commanded.t, t), 0, len(commanded.t) - 1)
        wrenches = to_body(commanded.poses[nearest, 3:], wrenches)
    about = replace(recorded.about, use="compared with the simulated ones")
    return WrenchTrack(t, wrenches), replace(recorded, about=about)


def _without_times(reading: PoseReading) -> PoseReading:
    """The reading of another topic: parts of the time are those of the poses."""
    return reading.model_copy(update=dict.fromkeys(("begin", "end", "clock")))


def _timed(
    recorded: RecordedWrench, poses: RecordedTrajectory | None
) -> tuple[RecordedWrench, float]:
    """Wrenches of a recording, and the seconds from the first pose to the first wrench.

    Raises:
        BadInput: they do not overlap.
    """
    if poses is None:
        return recorded, 0.0
    offset, note = time_offset(poses, recorded)
    if not -recorded.duration < offset < poses.duration:
        raise BadInput(
            f"{recorded.source}: from {offset:.3f} to {offset + recorded.duration:.3f} s of the poses, which last"
            f" {poses.duration:.3f} s: they do not overlap"
        )
    return replace(recorded, notes=(*((note,) if note else ()), *recorded.notes)), offset


def to_body(q_WP: Array, wrenches: Array) -> Array:
    """Wrenches (..., 6) of world axes in those of bodies at attitudes (..., 4)."""
    q_PW = so3.conjugate(q_WP)
    return np.concatenate(
        [so3.rotate(q_PW, wrenches[..., :3]), so3.rotate(q_PW, wrenches[..., 3:])], axis=-1
    )
