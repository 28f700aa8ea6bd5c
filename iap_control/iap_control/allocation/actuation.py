# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a kind of actuation: thrusters, the map from their thrusts to the wrench, and how a wrench is allocated."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np

from iap_control.allocation.thrust_directions import swings_of
from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import Command
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly


class Thrusters(NamedTuple):
    """The aircraft of a platform, and how its joints let their thrusts turn.

    Attributes:
        fleet: record of each aircraft, for limits and rotors.
        swings: (N,) how each aircraft's thrust turns, see `iap_control.allocation.thrust_directions`.
        axes: (N, 2, 3) about which it does so on a hinge (the first) or a universal joint, in the aircraft at rest.
        q_PB: (N, 4) attitude of each aircraft in P at rest.
    """

    fleet: tuple[Aircraft, ...]
    swings: Integers
    axes: Array
    q_PB: Array

    @classmethod
    def of(cls, assembly: Assembly, fleet: Sequence[Aircraft]) -> Self:
        """The aircraft of an assembly.

        Raises:
            BadInput: there is no control law for one of its joints.
        """
        swings, axes = swings_of(assembly)
        at_rest = [joint.q_PJ for joint in assembly.joints] or [so3.quaternion_exp(np.zeros(3))]
        return cls(tuple(fleet), swings, axes, np.array(at_rest))

    @property
    def is_vectored(self) -> bool:
        """True if an aircraft has rotors that tilt or do not all push along z."""
        return any(aircraft.is_vectored for aircraft in self.fleet)


class JointLine(NamedTuple):
    """The line of collinear joints.

    Attributes:
        direction_P: (3,) its direction in P.
        point_P: (3,) its point nearest to P's origin [m].
    """

    direction_P: Array
    point_P: Array


class Effectiveness(NamedTuple):
    """Map from thrusts to the platform's wrench.

    Attributes:
        B: see `PlatformModel`.
        B_inverse: likewise.
        line: of the joints, if it limits the thrusts.
    """

    B: Array
    B_inverse: Array
    line: JointLine | None = None


class RateFilter(NamedTuple):
    """First-order filter of the attitude command's derivative.

    Attributes:
        share: of a new value that it takes up in a period.
        dt: control period [s].
    """

    share: float
    dt: float


class Allocation(Protocol):
    """Allocation of one platform, or of what is left of it."""

    knows_shortage: (
        bool  # whether it tells what the wrench lacks where thrusts are at their limits
    )

    def __call__(
        self,
        U: Array,
        q_WP: Array,
        yaw: Array,
        rate: RateFilter,
        command: Command,
        short: Array,
    ) -> bool:
        """Write the command that makes a wrench; True if an aircraft or rotor is at a limit.

        Args:
            U: (6,) active wrench about P's origin in P [N, N m].
            q_WP: (4,) the platform's attitude.
            yaw: (N,) headings [rad].
            rate: filter of the attitude command's derivative.
            command: the last one, overwritten.
            short: (6,) requested wrench less the one that is made [N, N m], written.
        """


class AllocationState(Protocol):
    """State of an allocator after the last command, for the laws' integrals."""

    saturated: bool
    short: Array


class ReferenceRows(Protocol):
    """References at control instants."""

    @property
    def last(self) -> int:
        """Number of the last instant."""

    def rows(self, start: int, stop: int) -> Array:
        """(stop - start, 19+) references from an instant to before another one."""
