# SPDX-License-Identifier: BSD-3-Clause
"""Samples of the original simulator's pair of topics: Points for the position, and Points for Euler angles.

They have no headers, so the times of reception count, and nothing ties two messages together: the angles are
interpolated to the positions' times.
"""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_io.trajectories.bags import Bag
from iap_io.trajectories.column_names import MAX_RADIANS
from iap_io.trajectories.gaps import check_gaps
from iap_io.trajectories.messages import xyz
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary
from iap_io.trajectories.samples import Samples, check_finite, checked
from iap_io.trajectories.topics import PoseTopic, pose_topics, short

Stamps = Integers

# A position this far outside the angles' times takes the nearest angles; others are dropped.
_REACH_NS = 100_000_000
_TURN = 1.01 * 2.0 * np.pi  # a yaw beyond it may be none


def read_points(bag: Bag, choice: PoseTopic, reading: PoseReading) -> Samples:
    """Samples of the pair of topics, in its own frames.

    Raises:
        BadInput: a value is not finite, the angles have a gap, or the topics do not overlap.
    """
    source, partner = f"{bag.path}: topic {choice.topic}", f"{bag.path}: topic {choice.euler}"
    p, p_ns = _points(bag, choice.topic, source, ("x", "y", "z"))
    angles, q_ns = _points(bag, str(choice.euler), partner, ("x (roll)", "y (pitch)", "z (yaw)"))
    if len(q_ns) < 2:
        raise BadInput(f"{partner}: {len(q_ns)} sample(s); a replay needs at least 2")
    check_gaps(partner, (q_ns - q_ns[0]) * 1e-9, reading.bridge)
    angles = _radians(partner, angles, reading)
    covered = (p_ns >= q_ns[0] - _REACH_NS) & (p_ns <= q_ns[-1] + _REACH_NS)
    if not covered.any():
        raise BadInput(f"{source}: its times and those of {choice.euler} do not overlap")
    p, p_ns = p[covered], p_ns[covered]
    q_samples = euler.quaternions_from_rpy(angles)
    q = slerp((p_ns - q_ns[0]) * 1e-9, (q_ns - q_ns[0]) * 1e-9, q_samples)
    others = sorted(each.topic for each in pose_topics(bag.topics) if each.topic != choice.topic)
    kind = f"{short(choice.msgtype)}, with {choice.euler}"
    about = RecordingSummary(
        "bag", choice.topic, kind, others=tuple(others), convention="ned", notes=bag.notes
    )
    return checked(Samples(source, about, header_ns=None, bag_ns=p_ns, p=p, q=q))


def _radians(source: str, angles: Array, reading: PoseReading) -> Array:
    """Euler angles (K, 3) in radians.

    Raises:
        BadInput: roll or pitch go beyond a right angle, or yaw beyond a turn, and no unit is asked for.
    """
    if reading.angles == "deg":
        return np.radians(angles)
    largest, turn = float(np.abs(angles[:, :2]).max()), float(np.abs(angles[:, 2]).max())
    if reading.angles is None and (largest > MAX_RADIANS or turn > _TURN):
        what = (
            f"roll or pitch come to {largest:.3g}"
            if largest > MAX_RADIANS
            else f"yaw comes to {turn:.3g}"
        )
        raise BadInput(
            f"{source}: {what}: --angles deg takes them as degrees, --angles rad as radians"
        )
    return angles


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
