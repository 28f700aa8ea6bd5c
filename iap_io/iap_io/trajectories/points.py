# SPDX-License-Identifier: BSD-3-Clause
"""The original simulator's commands: one topic of Points for the position, one for Euler angles.

They have no headers, so the times of reception count, and nothing ties two messages together: the
angles are interpolated to the positions' times.
"""

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.errors import BadInput
from iap_io.trajectories.bags import Bag
from iap_io.trajectories.interpolation import slerp
from iap_io.trajectories.messages import xyz
from iap_io.trajectories.samples import Samples, check_finite, check_gaps, checked
from iap_io.trajectories.topics import Choice

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]

# A position this far outside the angles' times takes the nearest angles; others are dropped.
_REACH_NS = 100_000_000


def read_points(bag: Bag, choice: Choice, max_gap: float) -> Samples:
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
