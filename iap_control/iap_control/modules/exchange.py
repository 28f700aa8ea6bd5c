# SPDX-License-Identifier: BSD-3-Clause
"""What modules tell their coordinator, and what it tells them and their latches."""

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from iap_control.modules.joint_machine import Latching, State
from iap_description.arrays import Array


class Role(Enum):
    """What a module is in its structure."""

    SEPARATED = "separated"
    LEADER = "leader"  # keeps its integral, has no feed-forward of its own
    FOLLOWER = "follower"  # its integral stands still, feed-forward takes its place


class Told(NamedTuple):
    """What modules tell the coordinator at an instant.

    Attributes:
        t: [s].
        estimates: (n, 13) state rows as each module estimates its own.
        shared: (n, 13) state rows in one frame, whose differences are relative poses.
        external_P: (n, 6) W_ext of each about its CoM, own axes [N, N m].
        nominal: (n, 19+) each module's own reference now.
        joint_S: (6,) wrench on the follower of joints where it is measured, about the joint's place, by joints' names.
    """

    t: float
    estimates: Array
    shared: Array
    external_P: Array
    nominal: Array
    joint_S: Mapping[str, Array]


class Order(NamedTuple):
    """What a joint's latch shall do now."""

    joint: str
    latching: Latching


class Event(NamedTuple):
    """A joint has come into a state."""

    t: float
    joint: str
    state: State
