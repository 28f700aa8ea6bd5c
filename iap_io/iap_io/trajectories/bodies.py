# SPDX-License-Identifier: BSD-3-Clause
"""The one body among the messages of a topic, told apart by child_frame_id and frame_id."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from iap_description.errors import BadInput
from iap_io.trajectories.pose_reading import PoseReading

_LISTED = 12


class BodyLabel(NamedTuple):
    """Frame of a message's pose, and the body that has it; empty without."""

    frame: str
    name: str

    def __str__(self) -> str:
        return (
            f"{self.name or 'a body without a name'} in {self.frame or 'a frame without a name'}"
        )


def one_body(source: str, labels: Sequence[BodyLabel], reading: PoseReading) -> BodyLabel:
    """The body to read.

    Args:
        source: file and topic, to name in errors.
        labels: of every message.
        reading: the names that are asked for.

    Raises:
        BadInput: there is no such body, or there are several; all are listed with their numbers of samples.
    """
    counts = Counter(labels)
    fitting = [body for body in counts if _fits(body, reading)]
    if len(fitting) == 1:
        return fitting[0]
    there = [f"{body} ({counts[body]} samples)" for body in sorted(counts)]
    more = [f"and {len(there) - _LISTED} more"] if len(there) > _LISTED else []
    listed = ", ".join(there[:_LISTED] + more)
    if not fitting:
        asked = " ".join(
            f"--{key} {getattr(reading, key)}"
            for key in ("body", "frame")
            if getattr(reading, key)
        )
        raise BadInput(f"{source}: {asked}: it has {listed}")
    option = "--body" if len({body.name for body in fitting}) > 1 else "--frame"
    raise BadInput(f"{source}: {len(fitting)} bodies; choose one with {option}: {listed}")


def _fits(body: BodyLabel, reading: PoseReading) -> bool:
    names = ((reading.body, body.name), (reading.frame, body.frame))
    return all(asked is None or asked.strip("/") == name for asked, name in names)
