# SPDX-License-Identifier: BSD-3-Clause
"""Samples of one body of a topic whose messages carry whole poses, one each or an array of them."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.bags import Bag
from iap_io.trajectories.bodies import BodyLabel, one_body
from iap_io.trajectories.conventions import Convention
from iap_io.trajectories.messages import (
    BODY_LISTS,
    READINGS,
    MessageParser,
    Numbers,
    Sample,
    fields_of,
    header_ns,
)
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary, counted
from iap_io.trajectories.samples import Samples, checked
from iap_io.trajectories.topics import PoseTopic, pose_topics, short, words_of

Stamps = Integers
LOST = 10.0  # standard deviation of a position that no flight is controlled with [m]

_NED_WORDS, _ENU_WORDS = {"ned", "frd"}, {"enu", "flu", "nwu"}


def read_poses(bag: Bag, choice: PoseTopic, reading: PoseReading) -> Samples:
    """Samples of one body of a topic, in the frames of the recording.

    Raises:
        BadInput: there are fewer than two, several bodies, or one cannot be used.
    """
    source, parser = f"{bag.path}: topic {choice.topic}", READINGS[choice.msgtype]
    messages, received = bag.read(choice.topic)
    labels = [_label(message) for message in messages]
    body = one_body(source, labels, reading) if labels else BodyLabel("", "")
    index = [i for i, label in enumerate(labels) if label == body]
    index, of_lost = _not_lost(messages, index)
    per_message = [_samples(source, parser, i, messages[i]) for i in index]
    with fields_of(source):
        header = np.array([parser.stamp(messages[i]) for i in index], dtype=np.int64)
    received = received[index]
    if any(len(samples) > 1 for samples in per_message):
        per_message = _superseded(per_message, header if header.all() else received)
    others = sorted({str(label) for label in labels if label != body})
    about = bag_summary(bag, choice, body, others, reading, parser.convention).noted(*of_lost)
    if not parser.has_attitude:
        about = about.noted(f"{short(choice.msgtype)} has no attitude: level")
    raw = _stacked(source, about, per_message, header, received)
    return _in_house_axes(checked(raw), parser)


def read_body_list(bag: Bag, choice: PoseTopic, reading: PoseReading) -> Samples:
    """Samples of one body of a topic whose messages list several, in its own axes.

    Raises:
        BadInput: there are several bodies, none of the name that is asked for, or fewer than two samples of it.
    """
    source, listed = f"{bag.path}: topic {choice.topic}", BODY_LISTS[choice.msgtype]
    rows: dict[BodyLabel, list[Numbers]] = {}
    stamps: dict[BodyLabel, list[tuple[int, int]]] = {}
    for message, received in bag.messages(choice.topic):
        with fields_of(source):
            bodies = list(listed.read(message))
        for name, row in bodies:
            label = BodyLabel(message.header.frame_id.strip("/"), name)
            rows.setdefault(label, []).append(row)
            stamps.setdefault(label, []).append((header_ns(message), received))
    labels = [label for label, each in rows.items() for _ in each]
    body = one_body(source, labels, reading) if labels else BodyLabel("", "")
    others = [str(label) for label in rows if label != body]
    about = bag_summary(bag, choice, body, others, reading)
    poses = np.array(rows.get(body, [])).reshape(-1, 7)
    header, received_ns = np.array(stamps.get(body, []), dtype=np.int64).reshape(-1, 2).T
    return checked(Samples(source, about, header, received_ns, p=poses[:, :3], q=poses[:, 3:]))


def _label(message: Any) -> BodyLabel:  # noqa: ANN401
    """The frame and the body that a message names."""
    child = getattr(message, "child_frame_id", "")
    frame = message.header.frame_id if hasattr(message, "header") else ""
    return BodyLabel(frame.strip("/"), child.strip("/"))


def bag_summary(
    bag: Bag,
    choice: PoseTopic,
    body: BodyLabel,
    bodies: list[str],
    reading: PoseReading,
    defined: Convention | None = None,
) -> RecordingSummary:
    """Interpretation of a topic; the other topics with poses and the other bodies are named.

    Args:
        bag: that holds it.
        choice: the topic.
        body: the one that is read.
        bodies: others on the topic.
        reading: what the user says.
        defined: axes that the topic's type defines.
    """
    topics = (each.topic for each in pose_topics(bag.topics) if each.topic != choice.topic)
    others = (*(f"{each} on {choice.topic}" for each in bodies), *sorted(topics))
    convention, notes = (defined, ()) if defined else named_convention(choice.topic, body.frame)
    return RecordingSummary(
        kind="bag",
        topic=choice.topic,
        msgtype=short(choice.msgtype),
        body=body.name or None,
        frame=body.frame or None,
        others=others,
        convention=convention,
        notes=bag.notes if reading.convention is not None else (*bag.notes, *notes),
    )


def named_convention(topic: str, frame: str) -> tuple[Convention, tuple[str, ...]]:
    """The axes that names of a topic or frame say, ENU/FLU where they say nothing, and a note of it."""
    for name in (frame, topic):
        words = set().union(*words_of(name))
        if words & _ENU_WORDS:
            return "enu", ()
        if words & _NED_WORDS:
            return "ned", (f"NED/FRD by the name {name} (--convention enu, if it is not)",)
    return "enu", ()


def _samples(source: str, parser: MessageParser, index: int, message: Any) -> list[Sample]:  # noqa: ANN401
    with fields_of(source):
        try:
            return list(parser.samples(message))
        except BadInput as error:
            raise BadInput(f"{source}: message {index}: {error}") from error


def _not_lost(messages: list[Any], index: list[int]) -> tuple[list[int], tuple[str, ...]]:
    """The samples but those that their own covariance calls lost, and a note; all where it calls all so."""
    lost = [_deviation(messages[i]) >= LOST for i in index]
    count = sum(lost)
    if not count:
        return index, ()
    if count == len(index):
        return index, (f"its covariances say that it is off by {LOST:g} m or more throughout",)
    kept = [i for i, is_lost in zip(index, lost, strict=True) if not is_lost]
    return kept, (
        f"{counted(count, 'sample')} left out that their covariances call off by {LOST:g} m or more",
    )


def _deviation(message: Any) -> float:  # noqa: ANN401
    """Largest standard deviation of a position along x, y or z [m]; 0 of types without covariances."""
    covariance = getattr(getattr(message, "pose", None), "covariance", None)
    if covariance is None:
        return 0.0
    variances = np.nan_to_num(np.asarray(covariance, dtype=float)[[0, 7, 14]], nan=0.0)
    return float(np.sqrt(max(0.0, variances.max())))


def _superseded(per_message: list[list[Sample]], base: Stamps) -> list[list[Sample]]:
    """Of plans of several points each: what a newer plan does not replace from its start on."""
    kept: list[list[Sample]] = []
    end = np.inf
    for samples, stamp in zip(reversed(per_message), reversed(base.tolist()), strict=True):
        kept.append([sample for sample in samples if stamp + sample.later_ns < end])
        if samples:
            end = min(end, stamp + samples[0].later_ns)
    return kept[::-1]


def _stacked(
    source: str,
    about: RecordingSummary,
    per_message: list[list[Sample]],
    header: Stamps,
    received: Stamps,
) -> Samples:
    """All messages' samples as arrays."""
    counts = [len(samples) for samples in per_message]
    samples = list(chain.from_iterable(per_message))
    later = np.array([sample.later_ns for sample in samples], dtype=np.int64)
    header = np.repeat(header, counts)
    return Samples(
        source,
        about,
        header_ns=np.where(header > 0, header + later, header),  # unset ones stay recognisable
        bag_ns=np.repeat(received, counts) + later,
        p=np.array([sample.p for sample in samples]).reshape(-1, 3),
        q=np.array([sample.q for sample in samples]).reshape(-1, 4),
        v=_column(sample.v for sample in samples),
        w=_column(sample.w for sample in samples),
        a=_column(sample.a for sample in samples),
        alpha=_column(sample.alpha for sample in samples),
    )


def _column(values: Iterable[Numbers | None]) -> Array | None:
    """Vectors (K, 3), or None where a sample lacks its own."""
    listed = list(values)
    return None if None in listed or not listed else np.array(listed)


def _in_house_axes(samples: Samples, parser: MessageParser) -> Samples:
    """Linear vectors in world axes, angular ones in body axes."""
    if parser.linear_in_body and samples.v is not None:
        samples = replace(samples, v=so3.rotate(samples.q, samples.v))
    if parser.angular_in_world:
        q_PW = so3.conjugate(samples.q)
        w, alpha = (None if u is None else so3.rotate(q_PW, u) for u in (samples.w, samples.alpha))
        samples = replace(samples, w=w, alpha=alpha)
    return samples
