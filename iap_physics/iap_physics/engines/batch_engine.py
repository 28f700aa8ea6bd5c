# SPDX-License-Identifier: BSD-3-Clause
"""The protocols of engines of many worlds."""

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from iap_description.arrays import Array, Integers
from iap_description.vehicles.mounted_arm import MountedArm
from iap_physics.engines.engine import Engine

# Has work done on worlds first to last - 1, all of so many taken together, by one thread or several.
Share = Callable[[Callable[[int, int], object], int], object]


class BatchEngine(Engine, Protocol):
    """An engine of many worlds, each of which ends alone.

    Attributes:
        step_counts: (B,) physics steps of every world since its own reset.
    """

    step_counts: Integers


class ArmJointBatch(Protocol):
    """The joints of one vehicle's arm in B worlds; arrays are views."""

    @property
    def arm(self) -> MountedArm:
        """The arm."""

    @property
    def q(self) -> Array:
        """(B, n) joint coordinates [rad], [m]."""

    @property
    def v(self) -> Array:
        """(B, n) their velocities [rad/s], [m/s]."""

    @property
    def efforts(self) -> Array:
        """(B, n) of the motors in the last step [N m], [N]."""

    @property
    def targets(self) -> Array:
        """(B, 3, n) of position, velocity and torque, within the joints' limits."""

    @property
    def clipped(self) -> Integers:
        """(B, n) commands since the last reset that were beyond a joint's travel or speed."""

    def command(self, worlds: Integers, targets: Array) -> None:
        """Let the motors of worlds go for targets (worlds, 3, n) of position, velocity and torque."""


@runtime_checkable
class ArmEngine(Protocol):
    """An engine of many worlds that builds arms."""

    @property
    def arm_batches(self) -> Mapping[int, ArmJointBatch]:
        """Arms of vehicles by their numbers."""


@runtime_checkable
class ObjectEngine(Protocol):
    """An engine of many worlds in which objects move."""

    @property
    def own_bytes(self) -> int:
        """Memory that a world with vehicles and objects of its own takes [B]."""

    def object_states_of(self, world: int) -> Array:
        """(objects, 13) state rows of the frames of a world's objects."""

    def object_angles(self, item: int) -> Array:
        """(B,) angles of an object about its hinge [rad]."""
