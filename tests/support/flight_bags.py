# SPDX-License-Identifier: BSD-3-Clause
"""A motion known in closed form, and bags in every format to put it into."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_bringup.fuzz.made_bags import FORMATS as FORMATS
from iap_bringup.fuzz.made_bags import POSE, BagSample, MadeBags
from iap_description.math import so3

Array = NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[2]
START_NS = 1_700_000_000_000_000_000
REFERENCE = "iap_msgs/msg/PlatformReference"


@dataclass(frozen=True)
class Motion:
    """A curve with its derivatives, in ENU/FLU."""

    t: Array
    p: Array
    q: Array
    v: Array
    w: Array
    a: Array
    alpha: Array

    @property
    def stamps(self) -> list[int]:
        """Stamps of the samples [ns]."""
        return [START_NS + round(t * 1e9) for t in self.t]


def motion(t: Array) -> Motion:
    """Sines in position, and two turns of yaw in 10 s under swinging roll and pitch.

    The attitude is exp(phi(t)) per axis, q = q_z(yaw) q_y(pitch) q_x(roll); its rates follow from
    the Euler angles' derivatives.
    """
    f, o = np.array([0.4, 0.3, 0.2]), np.array([0.0, 0.5, 1.0])
    size = np.array([1.0, 0.8, 0.5])
    angle = 2.0 * np.pi * f * t[:, None] + o
    p = size * np.sin(angle) + np.array([0.0, 0.0, 3.0])
    v = size * 2.0 * np.pi * f * np.cos(angle)
    a = -size * (2.0 * np.pi * f) ** 2 * np.sin(angle)
    roll, d_roll, dd_roll = 0.3 * np.sin(2.0 * t), 0.6 * np.cos(2.0 * t), -1.2 * np.sin(2.0 * t)
    pitch, d_pitch, dd_pitch = 0.2 * np.cos(t), -0.2 * np.sin(t), -0.2 * np.cos(t)
    rate = 0.4 * np.pi
    yaw = rate * t
    q = so3.quaternion_from_matrix(so3.matrix_from_euler(np.stack([roll, pitch, yaw], 1)))
    sr, cr, sp, cp = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
    w = np.stack(
        [d_roll - rate * sp, d_pitch * cr + rate * sr * cp, -d_pitch * sr + rate * cr * cp], 1
    )
    alpha = np.stack(
        [
            dd_roll - rate * cp * d_pitch,
            dd_pitch * cr - d_pitch * sr * d_roll + rate * (cr * cp * d_roll - sr * sp * d_pitch),
            -dd_pitch * sr
            - d_pitch * cr * d_roll
            + rate * (-sr * cp * d_roll - cr * sp * d_pitch),
        ],
        1,
    )
    return Motion(t, p, q, v, w, a, alpha)


Stamped = Iterable[tuple[int, Any]]


class BagMaker(MadeBags):
    """Bags in a folder, and messages for them, also of the suite's own references."""

    def __init__(self, folder: Path, kind: str) -> None:
        """Load the message types of the format's ROS version."""
        text = (ROOT / "iap_msgs/msg/PlatformReference.msg").read_text()
        super().__init__(folder, kind, {REFERENCE: text})

    def write(
        self,
        topics: dict[str, tuple[str, Stamped]],
        name: str = "flight",
        packed: str | None = None,
    ) -> Path:
        """Write topic -> (type, stamped messages), see `MadeBags.write_samples`."""
        samples = (
            BagSample(stamp, topic, kind, message)
            for topic, (kind, messages) in topics.items()
            for stamp, message in messages
        )
        kinds = {topic: kind for topic, (kind, _) in topics.items()}
        return self.write_samples(samples, name, packed, kinds)

    def poses(self, m: Motion) -> tuple[str, list[tuple[int, Any]]]:
        """A topic of PoseStamped."""
        samples = zip(m.stamps, m.p, m.q, strict=True)
        messages = [(stamp, self.pose_stamped(stamp, p, q)) for stamp, p, q in samples]
        return POSE, messages

    def points(self, stamps: list[int], values: Array) -> tuple[str, list[tuple[int, Any]]]:
        """A topic of Points."""
        messages = [(s, self.point(v)) for s, v in zip(stamps, values, strict=True)]
        return "geometry_msgs/msg/Point", messages
