# SPDX-License-Identifier: BSD-3-Clause
r"""Recorded wrenches over time: those that were commanded, or measured on a real aircraft.

Every type of message has a row of `READERS`. Clock, gaps and axes are checked as those of poses. A wrench is about
the body's origin. With W the map of world axes to ENU and B that of body axes to FLU, and M the one of them that a
wrench is in:

.. math:: f' = M f, \quad \tau' = \det(M) \, M \tau .
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_io.trajectories.axes import CONVENTIONS, is_fixed
from iap_io.trajectories.bags import Bag, is_bag, opened
from iap_io.trajectories.clocks import delay_of, timed
from iap_io.trajectories.conventions import WrenchFrame
from iap_io.trajectories.gaps import check_gaps, cut
from iap_io.trajectories.messages import header_ns
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary, WrenchSummary, counted
from iap_io.trajectories.poses import named_convention
from iap_io.trajectories.recorded import Clock
from iap_io.trajectories.samples import MAX_LEFT_OUT, StampedSamples, check_finite, is_usable
from iap_io.trajectories.topics import listing, short, words_of

NAMES = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")
MAX_WRENCH = 1e6  # of numbers that are forces or torques [N, N m]
_BODY = set("base body fcu cog com frd flu".split())  # words of frames that go with the body


class WrenchParser(NamedTuple):
    """A type of message with a wrench.

    Attributes:
        wrench: its forces and torques.
        stamp: its stamp [ns], 0 where it has none.
        frame: its frame_id.
        axes: those that the type defines; None where the frame says them.
    """

    wrench: Callable[[Any], Any]
    stamp: Callable[[Any], int] = header_ns
    frame: Callable[[Any], str] = lambda message: str(message.header.frame_id).strip("/")
    axes: WrenchFrame | None = None


READERS: Mapping[str, WrenchParser] = {
    "geometry_msgs/msg/WrenchStamped": WrenchParser(lambda message: message.wrench),
    "geometry_msgs/msg/Wrench": WrenchParser(
        lambda message: message, stamp=lambda _: 0, frame=lambda _: ""
    ),
    "iap_msgs/msg/PlatformCommand": WrenchParser(
        lambda message: message.wrench, frame=lambda _: "base_link", axes="body"
    ),
}


@dataclass(frozen=True)
class WrenchSamples(StampedSamples):
    """Stamped wrenches (K, 6) [N, N m]."""

    wrenches: Array


@dataclass(frozen=True)
class RecordedWrench:
    """A recorded wrench about the body's origin.

    Attributes:
        t: (K,) time since the first sample, strictly increasing [s].
        wrenches: (K, 6) in ENU or FLU axes [N, N m].
        frame: whether these are the world's or the body's.
        source: file and topic.
        clock: as of `RecordedTrajectory`; likewise below.
        start_ns: stamp of the first sample [ns].
        delay_ns: usual time of reception behind the stamps [ns].
        about: what it was read as.
        notes: what was mended, left out or noticed.
    """

    t: Array
    wrenches: Array
    frame: WrenchFrame
    source: str
    clock: Clock
    start_ns: int
    delay_ns: int | None
    about: WrenchSummary
    notes: tuple[str, ...]

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.t[-1])


def read_wrench(
    path: Path | str, topic: str, reading: PoseReading, frame: WrenchFrame | None, *, option: str
) -> RecordedWrench:
    """Read the wrenches of a topic of a bag.

    Args:
        path: of the bag.
        topic: of the wrenches.
        reading: clock, axes, times and gaps, as of poses.
        frame: whose axes they are in; None as frame_id says.
        option: that has named the topic, for errors.

    Raises:
        BadInput: there are none, their axes are not known, or there is a gap.
    """
    path = Path(path)
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder")
    if not is_bag(path):
        raise BadInput(f"{path}: {option} {topic}: a {path.suffix[1:].upper()} file has no topics")
    with opened(path) as bag:
        read, frame, summary = _samples(bag, topic, frame, reading, option)
    samples, stamps = cut(*timed(_usable(read), reading), reading)
    if len(stamps) < 2:
        raise BadInput(f"{samples.source}: all samples have one stamp; a replay needs at least 2")
    t = (stamps - stamps[0]) * 1e-9
    notes = (
        *samples.about.notes,
        *check_gaps(samples.source, t, reading.bridge, samples.about.notes),
    )
    clock: Clock = "bag" if samples.header_ns is None else "header"
    sizes = np.linalg.norm(samples.wrenches.reshape(-1, 2, 3), axis=2).max(axis=0).tolist()
    return RecordedWrench(
        t=t,
        wrenches=_turned(samples.wrenches, frame, summary),
        frame=frame,
        source=samples.source,
        clock=clock,
        start_ns=int(stamps[0]),
        delay_ns=0 if clock == "bag" else delay_of(samples),
        about=replace(
            summary, clock=clock, samples=len(t), duration_s=float(t[-1]), largest=tuple(sizes)
        ),
        notes=notes,
    )


def _samples(
    bag: Bag, topic: str, frame: WrenchFrame | None, reading: PoseReading, option: str
) -> tuple[WrenchSamples, WrenchFrame, WrenchSummary]:
    """The samples of a topic as they stand there, whose axes they are in, and what is known of them.

    Raises:
        BadInput: there is no such topic, it holds no wrenches, or the axes are not known.
    """
    name = topic if topic in bag.topics else f"/{topic}"
    if name not in bag.topics:
        raise BadInput(
            f"{bag.path}: {option} {topic}: no such topic; it holds {listing(bag.topics)}"
        )
    source, msgtype = f"{bag.path}: topic {name}", bag.topics[name].msgtype
    parser = READERS.get(msgtype)
    if parser is None:
        usable = ", ".join(map(short, READERS))
        raise BadInput(f"{source} is of type {short(msgtype)}; wrenches are read of {usable}")
    messages, received = bag.read(name)
    if len(messages) < 2:
        raise BadInput(f"{source}: {counted(len(messages), 'sample')}; a replay needs at least 2")
    frames = sorted({parser.frame(message) for message in messages})
    if len(frames) > 1:
        raise BadInput(f"{source}: its wrenches are in several frames: {', '.join(frames)}")
    axes = frame or parser.axes or _axes(source, frames[0])
    convention, notes = ("enu", ()) if parser.axes else named_convention(name, frames[0])
    if reading.convention is not None:
        convention, notes = reading.convention, ()
    header = np.array([parser.stamp(message) for message in messages], dtype=np.int64)
    samples = WrenchSamples(
        source,
        RecordingSummary("bag", notes=notes),
        header if header.any() else None,
        received,
        np.array([list(_numbers(parser.wrench(message))) for message in messages]),
    )
    return samples, axes, WrenchSummary(name, short(msgtype), frames[0], axes, convention)


def _numbers(wrench: Any) -> Iterator[float]:  # noqa: ANN401 - of rosbags
    for part in (wrench.force, wrench.torque):
        yield from (part.x, part.y, part.z)


def _axes(source: str, frame: str) -> WrenchFrame:
    """The axes that the name of a frame says.

    Raises:
        BadInput: it says none.
    """
    parts = words_of(frame)
    if parts and parts[-1] & _BODY:
        return "body"
    if is_fixed(frame):
        return "world"
    named = f"frame {frame} is no known one" if frame else "it names no frame"
    raise BadInput(
        f"{source}: {named}: --wrench-frame body or world says whose axes its wrenches are in"
    )


def _usable(samples: WrenchSamples) -> WrenchSamples:
    """The samples that are numbers.

    Raises:
        BadInput: many are none; the first one is named.
    """
    usable = is_usable(samples.wrenches, MAX_WRENCH)
    out = int((~usable).sum())
    if not out:
        return samples
    if out > MAX_LEFT_OUT * len(usable):
        check_finite(samples.source, samples.wrenches, NAMES, MAX_WRENCH)
    return samples.at(usable).noted(
        f"{counted(out, 'sample')} without a wrench left out, the first is number {int(np.argmin(usable))}"
    )


def _turned(wrenches: Array, frame: WrenchFrame, about: WrenchSummary) -> Array:
    """Wrenches (K, 6) in ENU or FLU."""
    axes = CONVENTIONS[about.convention]
    linear = axes.positions if frame == "world" else axes.body
    turn = float(round(np.linalg.det(linear))) * linear
    return np.hstack([wrenches[:, :3] @ linear.T, wrenches[:, 3:] @ turn.T])
