# SPDX-License-Identifier: BSD-3-Clause
"""Signals between modules, their latches and the coordinator."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from iap_control.modules.structure import Structure
from iap_description.arrays import Array
from iap_description.vehicles.latching import LatchCommand


class ModuleRole(Enum):
    """Role of a module in its structure."""

    SEPARATED = "separated"
    LEADER = "leader"  # keeps its integral, has no feed-forward of its own
    FOLLOWER = "follower"  # its integral stands still, feed-forward takes its place

    @classmethod
    def of(cls, module: int, structure: Structure) -> "ModuleRole":
        """The role of a module in its structure."""
        if len(structure.modules) == 1:
            return cls.SEPARATED
        return cls.LEADER if module == structure.leader else cls.FOLLOWER


class JointState(Enum):
    """State of a joint."""

    APART = "apart"
    ALIGNMENT = "alignment"
    APPROACH = "approach"
    ASSEMBLY = "assembly"
    JOINED = "joined"
    SEPARATION = "separation"
    EMERGENCY = "emergency"


class ModuleReports(NamedTuple):
    """Signals of all modules to the coordinator at an instant.

    Attributes:
        t: [s].
        estimates: (n, 13) state rows as each module estimates its own.
        shared: (n, 13) state rows in one frame, whose differences are relative poses.
        external_P: (n, 6) W_ext of each about its CoM, own axes [N, N m], see `mean_wrench`; nan where it is not known.
        nominal: (n, 19+) each module's own reference now.
        command_times: (n,) of each module's last command [s].
        joint_S: (6,) wrench on the follower of joints where it is measured, about the joint's place, by joints' names.
    """

    t: float
    estimates: Array
    shared: Array
    external_P: Array
    nominal: Array
    command_times: Array
    joint_S: Mapping[str, Array]


def mean_wrench(wrenches_P: Sequence[Array]) -> Array:
    """Mean (6,) of the wrenches that an observer has told since the last coordination [N, N m]; zero of none.

    The coordinator is slower than observers. Taking every n-th sample of white noise alone would fold all of it below
    the coordinator's Nyquist rate, n times as dense; the mean of n samples has 1 / n of its variance (Oppenheim and
    Schafer, "Discrete-Time Signal Processing", 4.6: decimation behind a low-pass).
    """
    return np.mean(wrenches_P, axis=0) if len(wrenches_P) else np.zeros(6)


class LatchOrder(NamedTuple):
    """Order to the latch of a joint."""

    joint: str
    latching: LatchCommand


class JointEvent(NamedTuple):
    """Entry of a joint into a state."""

    t: float
    joint: str
    state: JointState
