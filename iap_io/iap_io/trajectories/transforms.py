# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a body in a tree of frames, from tf2_msgs/TFMessage.

A body's pose is that in its parent, at the times of its own transforms. In a frame further up, the transforms between
are taken there at the same times, on great circles between theirs. A body that is fixed on another moves with it:
fixed ones are those of topics called ``tf_static``, and those that never change.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.bags import Bag
from iap_io.trajectories.bodies import BodyLabel, one_body
from iap_io.trajectories.messages import TRANSFORMS, stamp_ns
from iap_io.trajectories.points import slerp
from iap_io.trajectories.pose_reading import PoseReading, counted
from iap_io.trajectories.poses import bag_summary
from iap_io.trajectories.samples import Samples, check_finite, checked
from iap_io.trajectories.topics import TF_STATIC, PoseTopic

_NAMES = tuple(f"translation.{axis}" for axis in "xyz") + tuple(f"rotation.{a}" for a in "xyzw")
_STILL = 1e-3  # change of a fixed transform: metres, and of a quaternion's numbers
_REACH_NS = 100_000_000  # beyond the times of a transform, within which its nearest one holds


@dataclass(frozen=True)
class _Edge:
    """The transforms of one child frame in one parent.

    Attributes:
        header_ns: (K,) stamps.
        received_ns: (K,) times of reception.
        poses: (K, 7) translation and quaternion.
        is_static: whether they are said to be fixed.
    """

    header_ns: Integers
    received_ns: Integers
    poses: Array
    is_static: bool

    @property
    def is_fixed(self) -> bool:
        """True if it does not change."""
        return self.is_static or bool((np.ptp(self.poses, axis=0) < _STILL).all())

    @property
    def stamps(self) -> Integers:
        """Its times: header stamps if all are set."""
        return self.header_ns if (self.header_ns > 0).all() else self.received_ns


Tree = dict[BodyLabel, _Edge]


def read_transforms(bag: Bag, choice: PoseTopic, reading: PoseReading) -> Samples:
    """Samples of one body of a tree of frames, in the axes of the recording.

    Raises:
        BadInput: several bodies move, the one that is asked for does not, or its frames are not connected.
    """
    source = f"{bag.path}: topic {choice.topic}"
    tree = _tree(bag, choice)
    chain = _chain(source, tree, reading)
    moving = next(edge for edge in map(tree.__getitem__, chain) if not edge.is_fixed)
    poses, inside = _composed(source, [tree[each] for each in chain], moving)
    others = [str(each) for each in _moving(tree) if each not in chain]
    others += [f"{each.name} (fixed on {each.frame})" for each in _fixed_on(tree, chain[0].name)]
    body = BodyLabel(chain[-1].frame, chain[0].name)
    about = bag_summary(bag, choice, body, others, reading)
    if not inside.all():
        out = counted(int((~inside).sum()), "sample")
        about = about.noted(f"{out} at times without a transform to {body.frame} left out")
    above = next((each for each in _moving(tree) if each.name == body.frame), None)
    if above is not None and reading.frame is None:
        about = about.noted(
            f"{above.name} itself moves in {above.frame}: --frame {above.frame} reads it there"
        )
    header, received = moving.header_ns[inside], moving.received_ns[inside]
    poses = poses[inside]
    return checked(Samples(source, about, header, received, p=poses[:, :3], q=poses[:, 3:]))


def _tree(bag: Bag, choice: PoseTopic) -> Tree:
    """The transforms of a topic, and the fixed ones of the bag, by frame and child."""
    fixed = [
        name
        for name, topic in bag.topics.items()
        if topic.msgtype in TRANSFORMS and name.rsplit("/", 1)[-1] == TF_STATIC
    ]
    rows: dict[BodyLabel, list[tuple[int, int, tuple[float, ...]]]] = {}
    static = set()
    for name in (*fixed, choice.topic):
        for label, row in _transforms(bag, name):
            rows.setdefault(label, []).append(row)
            if name in fixed:
                static.add(label)
    return {label: _edge(bag, label, each, label in static) for label, each in rows.items()}


def _transforms(
    bag: Bag, topic: str
) -> Iterator[tuple[BodyLabel, tuple[int, int, tuple[float, ...]]]]:
    for message, received in bag.messages(topic):
        for each in message.transforms:
            place, turn = each.transform.translation, each.transform.rotation
            row = (place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w)
            label = BodyLabel(each.header.frame_id.strip("/"), each.child_frame_id.strip("/"))
            yield label, (stamp_ns(each.header.stamp), received, row)


def _edge(
    bag: Bag, label: BodyLabel, rows: list[tuple[int, int, tuple[float, ...]]], is_static: bool
) -> _Edge:
    header, received, poses = zip(*rows, strict=True)
    values = np.array(poses)
    check_finite(f"{bag.path}: transform of {label}", values, _NAMES)
    norms = np.linalg.norm(values[:, 3:], axis=1, keepdims=True)
    values[:, 3:] /= np.where(norms > 0.0, norms, 1.0)
    return _Edge(
        np.array(header, dtype=np.int64), np.array(received, dtype=np.int64), values, is_static
    )


def _moving(tree: Tree) -> list[BodyLabel]:
    return [label for label, edge in tree.items() if not edge.is_fixed]


def _fixed_on(tree: Tree, body: str) -> list[BodyLabel]:
    return [label for label, edge in tree.items() if label.frame == body and edge.is_fixed]


def _chain(source: str, tree: Tree, reading: PoseReading) -> list[BodyLabel]:
    """The transforms from a body up to a frame; one of them moves.

    Raises:
        BadInput: see `read_transforms`.
    """
    frame, start = (reading.frame or "").strip("/"), _start(source, tree, reading)
    parents = {label.name: label for label in tree} | {start.name: start}
    chain, body = [start], start.frame
    while body in parents and parents[body] not in chain:
        if body == frame or (not frame and not tree[chain[-1]].is_fixed):
            break
        chain.append(parents[body])
        body = chain[-1].frame
    if frame and body != frame:
        up = " in ".join([chain[0].name, *(each.frame for each in chain)])
        raise BadInput(f"{source}: no transforms lead from {chain[0].name} to {frame}: {up}")
    if all(tree[label].is_fixed for label in chain):
        raise BadInput(f"{source}: {chain[0].name} does not move in {body}")
    return chain


def _start(source: str, tree: Tree, reading: PoseReading) -> BodyLabel:
    """The lowest transform: of the body that is asked for, or of the only one that moves.

    Raises:
        BadInput: several move, or the body has several parents or none.
    """
    asked = [label for label in tree if label.name == (reading.body or "").strip("/")]
    labels = [label for label in asked or _moving(tree) for _ in tree[label].poses]
    if not labels:
        raise BadInput(f"{source}: none of its {counted(len(tree), 'frame')} moves")
    if reading.frame is not None and reading.frame.strip("/") not in {x.frame for x in labels}:
        reading = reading.model_copy(update={"frame": None})
    return one_body(source, labels, reading)


def _composed(source: str, edges: list[_Edge], moving: _Edge) -> tuple[Array, Booleans]:
    """Poses (K, 7) at the moving edge's times along a chain of edges, and which of them all edges cover."""
    t, inside = moving.stamps, np.ones(len(moving.stamps), np.bool_)
    p, q = np.zeros((len(t), 3)), np.tile(so3.IDENTITY, (len(t), 1))
    for edge in edges:
        poses, covered = (edge.poses, inside) if edge is moving else _at(edge, t)
        p, q = poses[:, :3] + so3.rotate(poses[:, 3:], p), so3.multiply(poses[:, 3:], q)
        inside = inside & covered
    if not inside.any():
        raise BadInput(f"{source}: the times of its transforms do not overlap")
    return np.hstack([p, q]), inside


def _at(edge: _Edge, t: Integers) -> tuple[Array, Booleans]:
    """Poses (K, 7) of an edge at times (K,) [ns], and which of them lie within its own times."""
    if edge.is_fixed:
        return np.tile(edge.poses[-1], (len(t), 1)), np.ones(len(t), np.bool_)
    stamps, first = np.unique(edge.stamps, return_index=True)
    poses = edge.poses[first]
    known, asked = (stamps - stamps[0]) * 1e-9, (t - stamps[0]) * 1e-9
    p = np.stack([np.interp(asked, known, poses[:, k]) for k in range(3)], axis=1)
    covered = (t >= stamps[0] - _REACH_NS) & (t <= stamps[-1] + _REACH_NS)
    return np.hstack([p, slerp(asked, known, poses[:, 3:])]), covered
