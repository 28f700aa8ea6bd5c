# SPDX-License-Identifier: BSD-3-Clause
"""Samples of one body of a geometry_msgs/PoseArray, whose bodies have no names: they are told apart by their places."""

import numpy as np

from iap_io.trajectories.bags import Bag
from iap_io.trajectories.bodies import BodyLabel, one_body
from iap_io.trajectories.messages import header_ns
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.poses import bag_summary
from iap_io.trajectories.samples import Samples, checked
from iap_io.trajectories.topics import PoseTopic


def read_pose_array(bag: Bag, choice: PoseTopic, reading: PoseReading) -> Samples:
    """Samples of the poses at one place, from 0, of a topic's messages, in its own axes.

    Raises:
        BadInput: there are several bodies, none at the place that is asked for, or fewer than two samples of it.
    """
    source = f"{bag.path}: topic {choice.topic}"
    rows: dict[BodyLabel, list[tuple[float, ...]]] = {}
    stamps: dict[BodyLabel, list[tuple[int, int]]] = {}
    for message, received in bag.messages(choice.topic):
        for place, pose in enumerate(message.poses):
            label = BodyLabel(message.header.frame_id.strip("/"), str(place))
            p, q = pose.position, pose.orientation
            rows.setdefault(label, []).append((p.x, p.y, p.z, q.x, q.y, q.z, q.w))
            stamps.setdefault(label, []).append((header_ns(message), received))
    labels = [label for label, each in rows.items() for _ in each]
    body = one_body(source, labels, reading) if labels else BodyLabel("", "")
    others = [str(label) for label in rows if label != body]
    about = bag_summary(bag, choice, body, others, reading)
    poses = np.array(rows.get(body, [])).reshape(-1, 7)
    header, received_ns = np.array(stamps.get(body, []), dtype=np.int64).reshape(-1, 2).T
    return checked(Samples(source, about, header, received_ns, p=poses[:, :3], q=poses[:, 3:]))
