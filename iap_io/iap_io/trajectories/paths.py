# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a nav_msgs/Path: the way that a body has come or shall go, each pose with its own stamp.

A path that grows is whole in its last message. Of one that shows the latest part alone, and of plans that are
made anew, counts what no later message replaces. Where poses have no stamps of their own and messages
follow each other, the last pose of each counts, by the message's stamp.
"""

from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_io.trajectories.bags import Bag
from iap_io.trajectories.bodies import BodyLabel, one_body
from iap_io.trajectories.messages import stamp_ns
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.poses import bag_summary
from iap_io.trajectories.samples import Samples, checked
from iap_io.trajectories.topics import PoseTopic

_FEWEST = 10  # messages that show a way by their last poses


class _Path(NamedTuple):
    """The poses of a message.

    Attributes:
        frame: of the poses.
        header_ns: stamp of the message [ns].
        received_ns: its time of reception.
        stamps: (K,) of the poses [ns].
        poses: (K, 7) position and quaternion.
    """

    frame: str
    header_ns: int
    received_ns: int
    stamps: Integers
    poses: Array

    @property
    def is_stamped(self) -> bool:
        """True if poses have times of their own."""
        return len(self.stamps) > 1 and self.stamps[-1] > self.stamps[0] > 0


def read_path(bag: Bag, choice: PoseTopic, reading: PoseReading) -> Samples:
    """Samples of the paths of a topic, in its own axes.

    Raises:
        BadInput: there are none, they are in several frames, or poses without any times.
    """
    source = f"{bag.path}: topic {choice.topic}"
    message = bag.last(choice.topic)
    if message is None:
        raise BadInput(f"{source}: no messages; a replay needs one")
    last = _path(*message)
    if last.is_stamped:
        header, received, poses = _stamped(bag, choice, last)
        notes: tuple[str, ...] = ()
    else:
        header, received, poses = _last_poses(source, bag, choice)
        notes = ("its poses have no stamps: the last one of each message, by the message's",)
    body = one_body(source, [BodyLabel(last.frame, "")], reading)
    about = bag_summary(bag, choice, body, [], reading).noted(*notes)
    return checked(Samples(source, about, header, received, p=poses[:, :3], q=poses[:, 3:]))


def _path(message: Any, received: int) -> _Path:  # noqa: ANN401
    places = [(each.pose.position, each.pose.orientation) for each in message.poses]
    rows = [(p.x, p.y, p.z, q.x, q.y, q.z, q.w) for p, q in places]
    stamps = np.array([stamp_ns(each.header.stamp) for each in message.poses], dtype=np.int64)
    frame = message.header.frame_id.strip("/")
    return _Path(
        frame, stamp_ns(message.header.stamp), received, stamps, np.array(rows).reshape(-1, 7)
    )


def _stamped(bag: Bag, choice: PoseTopic, last: _Path) -> tuple[Integers, Integers, Array]:
    """Stamps, the same by the receiver's clock, and poses of what no later message replaces."""
    stamps, poses = np.zeros(0, np.int64), np.zeros((0, 7))
    for message in bag.messages(choice.topic):
        path = _path(*message)
        if not len(path.stamps):
            continue
        if not len(stamps) and path.stamps[0] >= last.stamps[0]:
            break  # the last one has it all
        before = stamps < path.stamps[0]
        stamps = np.concatenate([stamps[before], path.stamps])
        poses = np.concatenate([poses[before], path.poses])
    before = stamps < last.stamps[0]
    stamps = np.concatenate([stamps[before], last.stamps])
    poses = np.concatenate([poses[before], last.poses])
    delay = last.received_ns - (last.header_ns or int(last.stamps[-1]))
    return stamps, stamps + delay, poses


def _last_poses(source: str, bag: Bag, choice: PoseTopic) -> tuple[Integers, Integers, Array]:
    """Stamps, times of reception and last poses of all messages.

    Raises:
        BadInput: there are too few for a way.
    """
    paths = [_path(*message) for message in bag.messages(choice.topic)]
    paths = [path for path in paths if len(path.poses)]
    if len(paths) < _FEWEST:
        raise BadInput(
            f"{source}: a path whose poses have no stamps says where, not when: record the poses themselves"
        )
    header, received = (
        np.array([getattr(path, key) for path in paths], dtype=np.int64)
        for key in ("header_ns", "received_ns")
    )
    return header, received, np.array([path.poses[-1] for path in paths])
