# SPDX-License-Identifier: BSD-3-Clause
"""Senses of a policy that flies one platform, beside the platform's state."""

from enum import Enum
from typing import NamedTuple

from iap_description.arrays import Array, Integers


class Sense(Enum):
    """Something that a policy asks to be given."""

    WRENCH = "wrench"
    OBJECTS = "objects"
    PHASES = "phases"
    MEASURED = "measured"
    ESTIMATE = "estimate"  # between messages, in place of the true state
    JOINTS = "joints"
    GRIPPER = "gripper"


class Senses(NamedTuple):
    """Senses at a control instant; those that the policy did not ask for may be None.

    Attributes:
        wrench: (6,) of contacts over the last period, in world axes.
        objects: (n, 13) states of the world's objects.
        phases: (m,) numbers of the latches' phases, see `iap_physics.latching.latches.PHASES`.
        measured: (13,) the central body as its controller has measured it last.
        joints: (2, n) coordinates and velocities of the arm's joints.
        gripper: (2,) 1 while it holds something or 0, and the force that it bears [N].
    """

    wrench: Array | None = None
    objects: Array | None = None
    phases: Integers | None = None
    measured: Array | None = None
    joints: Array | None = None
    gripper: Array | None = None
