# SPDX-License-Identifier: BSD-3-Clause
"""A recorded pose over time, in this suite's frames, and the test of its velocities against it."""

from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_io.trajectories.pose_reading import RecordingSummary

Clock = Literal["header", "bag", "file"]

UNKNOWN = RecordingSummary("recording")
_WINDOW = 0.5  # [s]
# Accepted error of the means, RMS: a share of their RMS, or this where that is less.
_SHARE = 0.2
_LINEAR = 0.05  # [m/s]
_ANGULAR = 0.1  # [rad/s]
_DELAYS_APART = 0.02  # difference of two topics' delays of which a note is made [s]
_CLOCKS_APART = 0.1  # difference of two topics' delays beyond which their clocks differ [s]


@dataclass(frozen=True)
class RecordedTrajectory:
    """A recorded command or flight of one platform, in ENU/FLU; arrays are read-only.

    Attributes:
        t: (K,) time since the first sample, strictly increasing from 0, K >= 2 [s].
        p_WP_W: (K, 3) position [m].
        q_WP: (K, 4) attitude, xyzw, unit length, continuous in sign.
        source: file and topic, for the user.
        clock: whose time `t` counts: the messages' header stamps, the bag's time of reception, or
            the file's time column.
        start_ns: stamp of the first sample on that clock [ns].
        delay_ns: usual time of reception behind the stamps of that clock [ns]; None for a file without one.
        v_WP_W: (K, 3) velocity [m/s], world axes, where the recording carries it.
        w_WP_P: (K, 3) body rate [rad/s], body axes, where the recording carries it.
        a_WP_W: (K, 3) acceleration [m/s^2], world axes, where the recording carries it.
        alpha_WP_P: (K, 3) angular acceleration [rad/s^2], body axes, where the recording carries
            it.
        about: what it was read as.
    """

    t: Array
    p_WP_W: Array
    q_WP: Array
    source: str
    clock: Clock
    start_ns: int
    delay_ns: int | None = None
    v_WP_W: Array | None = None
    w_WP_P: Array | None = None
    a_WP_W: Array | None = None
    alpha_WP_P: Array | None = None
    about: RecordingSummary = UNKNOWN

    def __post_init__(self) -> None:
        """Make every array read-only."""
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.t[-1])


class TimedArrays(Protocol):
    """Arrays that are read of a recording, on a clock; as of `RecordedTrajectory`."""

    @property
    def source(self) -> str:
        """File and topic, for the user."""

    @property
    def clock(self) -> Clock:
        """Clock that the times count by."""

    @property
    def start_ns(self) -> int:
        """Stamp of the first sample on that clock [ns]."""

    @property
    def delay_ns(self) -> int | None:
        """Usual time of reception behind the stamps of that clock [ns]; None for a file without one."""


def time_offset(reference: TimedArrays, other: TimedArrays) -> tuple[float, str | None]:
    """Seconds to add to ``other.t`` so that it counts from the first sample of `reference`, and a note of how.

    Both have to come from one bag. Their header stamps are compared where both count by them and are as old as
    each other when they arrive; else the bag's times of reception.
    """
    by_header = (other.start_ns - reference.start_ns) * 1e-9
    if reference.delay_ns is None or other.delay_ns is None:
        if reference.clock != other.clock:
            raise ValueError(f"{reference.source} and {other.source} share no clock")
        return by_header, None
    apart = (other.delay_ns - reference.delay_ns) * 1e-9
    note = None
    if reference.clock == other.clock and abs(apart) > _DELAYS_APART:
        note = (
            f"its header stamps are {abs(apart):.3f} s {'behind' if apart > 0.0 else 'ahead of'} the command's"
            " at the same times of reception: "
        )
        note += "these are used" if abs(apart) > _CLOCKS_APART else "--clock bag compares by these"
    if reference.clock == other.clock and abs(apart) <= _CLOCKS_APART:
        return by_header, note
    ticks = other.start_ns + other.delay_ns - reference.start_ns - reference.delay_ns
    return ticks * 1e-9, note


def without_contradictions(recorded: RecordedTrajectory) -> RecordedTrajectory:
    """The recording less velocities that contradict its pose, and less their derivatives.

    Many recordings leave velocities unset, or express them in other axes than their type defines; fed forward, either
    would be worse than none. The test is the mean over half a second, which noise in the pose hardly reaches.
    """
    q, notes = recorded.q_WP, []
    displacements = np.diff(recorded.p_WP_W, axis=0)
    turned = so3.quaternion_log(so3.multiply(so3.conjugate(q[:-1]), q[1:]))
    off = _contradiction(recorded, "linear", recorded.v_WP_W, displacements, _LINEAR)
    if off:
        recorded, notes = replace(recorded, v_WP_W=None, a_WP_W=None), [off]
    off = _contradiction(recorded, "angular", recorded.w_WP_P, turned, _ANGULAR)
    if off:
        recorded, notes = replace(recorded, w_WP_P=None, alpha_WP_P=None), [*notes, off]
    return replace(recorded, about=recorded.about.noted(*notes))


def _contradiction(
    recorded: RecordedTrajectory, name: str, velocity: Array | None, steps: Array, tolerance: float
) -> str:
    """The note of a velocity (K, 3) off the steps (K - 1, 3) between samples; empty where it agrees."""
    if velocity is None:
        return ""
    intervals = np.diff(recorded.t)
    integrated = 0.5 * (velocity[1:] + velocity[:-1]) * intervals[:, None]
    starts = np.unique(np.floor(recorded.t[:-1] / _WINDOW), return_index=True)[1]
    time = np.add.reduceat(intervals, starts)[:, None]
    actual, error = (_rms(np.add.reduceat(x, starts) / time) for x in (steps, integrated - steps))
    if error <= max(tolerance, _SHARE * actual):
        return ""
    return f"the {name} velocity contradicts the pose (by {error:.2g}, of {actual:.2g} RMS) and is not used"


def _rms(vectors: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
