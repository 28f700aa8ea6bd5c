# SPDX-License-Identifier: BSD-3-Clause
"""What a recording says: a pose over time, as it was recorded, in this suite's frames."""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Clock = Literal["header", "bag", "file"]


@dataclass(frozen=True)
class Recorded:
    """A recorded command or flight of one platform, in ENU/FLU; arrays are read-only.

    Attributes:
        t: (K,) time since the first sample, strictly increasing from 0, K >= 2 [s].
        p_WP_W: (K, 3) position [m].
        q_WP: (K, 4) attitude, xyzw, unit length, continuous in sign.
        source: file and topic, for the user.
        clock: whose time `t` counts: the messages' header stamps, the bag's time of reception, or
            the file's time column.
        start_ns: stamp of the first sample on that clock [ns].
        bag_start_ns: the bag's time of reception of that sample [ns]; None for a file without one.
        v_WP_W: (K, 3) velocity [m/s], world axes, where the recording carries it.
        w_WP_P: (K, 3) body rate [rad/s], body axes, where the recording carries it.
        a_WP_W: (K, 3) acceleration [m/s^2], world axes, where the recording carries it.
        alpha_WP_P: (K, 3) angular acceleration [rad/s^2], body axes, where the recording carries
            it.
    """

    t: Array
    p_WP_W: Array
    q_WP: Array
    source: str
    clock: Clock
    start_ns: int
    bag_start_ns: int | None = None
    v_WP_W: Array | None = None
    w_WP_P: Array | None = None
    a_WP_W: Array | None = None
    alpha_WP_P: Array | None = None

    def __post_init__(self) -> None:
        """Make every array read-only."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.t[-1])


def time_offset(reference: Recorded, other: Recorded) -> float:
    """Seconds to add to ``other.t`` so that it counts from the first sample of `reference`.

    Both have to come from one bag. Their own stamps are compared where both have the same clock,
    else the bag's.
    """
    if reference.clock == other.clock:
        return (other.start_ns - reference.start_ns) * 1e-9
    if reference.bag_start_ns is None or other.bag_start_ns is None:
        raise ValueError(f"{reference.source} and {other.source} share no clock")
    return (other.bag_start_ns - reference.bag_start_ns) * 1e-9
