# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a topic whose messages carry whole poses, or of the original simulator's pair of topics.

The original simulator's commands are one topic of Points for the position, one for Euler angles. They have no headers,
so the times of reception count, and nothing ties two messages together: the angles are interpolated to the positions'
times.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.bags import Bag
from iap_io.trajectories.messages import READINGS, MessageParser, Numbers, Sample, xyz
from iap_io.trajectories.samples import Samples, check_finite, check_gaps, checked
from iap_io.trajectories.topics import PoseTopic

Stamps = Integers

# A position this far outside the angles' times takes the nearest angles; others are dropped.
_REACH_NS = 100_000_000


def read_poses(bag: Bag, choice: PoseTopic) -> Samples:
    """Samples of a topic, in the frames of the recording.

    Raises:
        BadInput: there are fewer than two, or one cannot be used.
    """
    source, reading = f"{bag.path}: topic {choice.topic}", READINGS[choice.msgtype]
    messages, received = bag.read(choice.topic)
    per_message = [_samples(source, reading, i, message) for i, message in enumerate(messages)]
    header = np.array([_stamp_ns(message.header.stamp) for message in messages], dtype=np.int64)
    if any(len(samples) > 1 for samples in per_message):
        per_message = _superseded(per_message, header if header.all() else received)
    raw = _stacked(source, per_message, header, received)
    return _in_house_axes(checked(raw), reading)


def _samples(source: str, reading: MessageParser, index: int, message: Any) -> list[Sample]:  # noqa: ANN401
    try:
        return list(reading.samples(message))
    except BadInput as error:
        raise BadInput(f"{source}: message {index}: {error}") from error


def _stamp_ns(stamp: Any) -> int:  # noqa: ANN401
    """A builtin_interfaces/Time in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


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
    source: str, per_message: list[list[Sample]], header: Stamps, received: Stamps
) -> Samples:
    """All messages' samples as arrays."""
    counts = [len(samples) for samples in per_message]
    samples = list(chain.from_iterable(per_message))
    later = np.array([sample.later_ns for sample in samples], dtype=np.int64)
    header = np.repeat(header, counts)
    return Samples(
        source,
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


def _in_house_axes(samples: Samples, reading: MessageParser) -> Samples:
    """Linear vectors in world axes, angular ones in body axes."""
    if reading.linear_in_body and samples.v is not None:
        samples = replace(samples, v=so3.rotate(samples.q, samples.v))
    if reading.angular_in_world:
        q_PW = so3.conjugate(samples.q)
        w, alpha = (None if u is None else so3.rotate(q_PW, u) for u in (samples.w, samples.alpha))
        samples = replace(samples, w=w, alpha=alpha)
    return samples


def read_points(bag: Bag, choice: PoseTopic, max_gap: float) -> Samples:
    """Samples of the pair of topics, in its own frames.

    Raises:
        BadInput: a value is not finite, the angles have a gap, or the topics do not overlap.
    """
    source, partner = f"{bag.path}: topic {choice.topic}", f"{bag.path}: topic {choice.euler}"
    p, p_ns = _points(bag, choice.topic, source, ("x", "y", "z"))
    angles, q_ns = _points(bag, str(choice.euler), partner, ("x (roll)", "y (pitch)", "z (yaw)"))
    if len(q_ns) < 2:
        raise BadInput(f"{partner}: {len(q_ns)} sample(s); a replay needs at least 2")
    check_gaps(partner, (q_ns - q_ns[0]) * 1e-9, max_gap)
    covered = (p_ns >= q_ns[0] - _REACH_NS) & (p_ns <= q_ns[-1] + _REACH_NS)
    if not covered.any():
        raise BadInput(f"{source}: its times and those of {choice.euler} do not overlap")
    p, p_ns = p[covered], p_ns[covered]
    q_samples = so3.quaternion_from_matrix(so3.matrix_from_euler(angles))
    q = slerp((p_ns - q_ns[0]) * 1e-9, (q_ns - q_ns[0]) * 1e-9, q_samples)
    return checked(Samples(source, header_ns=None, bag_ns=p_ns, p=p, q=q))


def _points(bag: Bag, topic: str, source: str, names: tuple[str, ...]) -> tuple[Array, Stamps]:
    """Values (K, 3) in time order, one for each time of reception (K,) [ns]."""
    messages, received = bag.read(topic)
    values = np.array([xyz(message) for message in messages], dtype=float).reshape(-1, 3)
    check_finite(source, values, names)
    stamps, first = np.unique(received, return_index=True)
    return values[first], stamps


def slerp(t: Array, t_samples: Array, q_samples: Array) -> Array:
    """Unit quaternions (T, 4) at times (T,), on great circles between samples (K, 4) at increasing times (K,).

    Before the first and after the last sample these hold, which SciPy's `Slerp` refuses.
    """
    index, fraction = _between(t, t_samples)
    q = q_samples[index]
    phi = so3.quaternion_log(so3.multiply(so3.conjugate(q), q_samples[index + 1]))
    return so3.normalized(so3.multiply(q, so3.quaternion_exp(fraction * phi)))


def _between(t: Array, t_samples: Array) -> tuple[NDArray[np.intp], Array]:
    """Index (T,) of the sample before each time, and the share (T, 1) of the way to the next."""
    index = np.clip(np.searchsorted(t_samples, t, side="right") - 1, 0, len(t_samples) - 2)
    fraction = (t - t_samples[index]) / (t_samples[index + 1] - t_samples[index])
    return index, np.clip(fraction, 0.0, 1.0)[:, None]
