# SPDX-License-Identifier: BSD-3-Clause
"""The reference that a controller tracks, in standard messages for tools that know no others."""

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped

from iap_description.arrays import Array
from iap_description.frames import MAP
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import REF_A, REF_ALPHA, REF_Q, REF_V, REF_W, Level
from iap_io.ros.conversions import fill_pose, fill_twist, set_stamp
from iap_io.ros.node import SuiteNode

RATE = 100.0  # as that of odometry, rounded to whole control periods [Hz]
QUEUE = 10


class TrackedReference:
    """Publishes what is tracked of a reference on ``reference/tracked/pose``, ``twist`` and ``accel``, in `map`.

    Args:
        node: of the controller; it has declared `control_rate`.
    """

    def __init__(self, node: SuiteNode) -> None:
        self._every = max(1, round(node.get_parameter("control_rate").value / RATE))
        kinds: list[tuple[str, type, Level, Callable[[Any, Reference], None]]] = [
            ("pose", PoseStamped, Level.POSE, _fill_pose),
            ("twist", TwistStamped, Level.VELOCITY, _fill_velocity),
            ("accel", AccelStamped, Level.ACCELERATION, _fill_acceleration),
        ]
        self._outlets = []
        for name, kind, level, fill in kinds:
            message = kind()
            message.header.frame_id = MAP
            publisher = node.create_publisher(kind, f"reference/tracked/{name}", QUEUE)
            self._outlets.append((publisher, message, level, fill))
        self._stamp, self._served = (
            -1,
            [0] * len(self._outlets),
        )  # of the last one, and to how many

    def publish(self, stamp: int, k: int, reference: Reference) -> None:
        """Publish the reference of a state's stamp [ns] and number, if it is due and somebody listens.

        One that comes again goes to topics that have a new subscriber since.
        """
        if k % self._every:
            return
        served = self._served if stamp == self._stamp else [0] * len(self._outlets)
        self._stamp = stamp
        self._served = [each[0].get_subscription_count() for each in self._outlets]
        for (publisher, message, level, fill), before, count in zip(
            self._outlets, served, self._served, strict=True
        ):
            if reference.level <= level and count > before:
                set_stamp(message.header, stamp)
                fill(message, reference)
                publisher.publish(message)


def _fill_pose(message: PoseStamped, reference: Reference) -> None:
    fill_pose(message.pose, reference.row)


def _fill_velocity(message: TwistStamped, reference: Reference) -> None:
    _fill_rates(message.twist, reference.row, REF_V, REF_W)


def _fill_acceleration(message: AccelStamped, reference: Reference) -> None:
    _fill_rates(message.accel, reference.row, REF_A, REF_ALPHA)


def _fill_rates(out: Any, row: Array, linear: slice, angular: slice) -> None:  # noqa: ANN401 - Twist or Accel
    """Fill from a reference row, whose angular rates are in the platform's axes."""
    fill_twist(out, np.concatenate([row[linear], so3.rotate(row[REF_Q], row[angular])]))
