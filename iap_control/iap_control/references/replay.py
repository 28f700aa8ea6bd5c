# SPDX-License-Identifier: BSD-3-Clause
"""A recorded command made ready to fly: smooth rows to track, the recording itself to be scored against."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iap_control.references.motions import Replay
from iap_control.references.smoothing import recorded_rows, smoothed_rows
from iap_description.arrays import Array
from iap_io.runs.run_meta import Track
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.recorded import Recorded, time_offset


@dataclass(frozen=True)
class Commanded:
    """A recorded command, on the time since its first sample.

    Attributes:
        rows: tracked and scored reference rows at given times.
        duration: [s].
        given: the command as recorded.
        actual: what the real aircraft did, if it was asked for.
        source: file and topic.
    """

    rows: Callable[[Array], tuple[Array, Array]]
    duration: float
    given: Track
    actual: Track | None
    source: str


def commanded(replay: Replay) -> Commanded:
    """Read a replay's recordings.

    Raises:
        BadInput: they cannot be used.
    """
    path = Path(replay.path)
    command = read_recorded(path, topic=replay.topic, convention=replay.convention)
    actual = None
    if replay.actual_topic is not None:
        flown = read_recorded(
            path, topic=replay.actual_topic, convention=replay.convention, max_gap=math.inf
        )
        actual = _track(flown, time_offset(command, flown))
    return Commanded(
        lambda t: (smoothed_rows(command, t), recorded_rows(command, t)),
        command.duration,
        _track(command, 0.0),
        actual,
        command.source,
    )


def _track(recorded: Recorded, offset: float) -> Track:
    return Track(recorded.t + offset, np.hstack([recorded.p_WP_W, recorded.q_WP]))
