# SPDX-License-Identifier: BSD-3-Clause
"""Protocol of a kind of actuation: all that differs between platforms by what their thrusts can do.

The kinds are in `iap_control.actuation`; the rest of the suite asks them, and compares no names.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from iap_control.allocation.thrust_directions import swings_of
from iap_control.gains import Gains
from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.signals import ForceTask, Reference
from iap_description.states import Command, Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health

if TYPE_CHECKING:  # a model has its kind of actuation
    from iap_control.allocation.model import Inertia, PlatformModel


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


class PlatformLaw(Protocol):
    """Law of one platform: from states and references to active wrenches."""

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_e_P: Array,
        task: ForceTask | None,
        last: Array | None,
        allocator: AllocationState,
    ) -> Array:
        """Active wrench U (6,) about P's origin in P; arguments as in `WrenchControl.__call__`."""

    def set_gains(self, model: "PlatformModel", gains: Gains) -> None:
        """Change the gains, also in flight; integrals stay."""

    def set_inertia(self, inertia: "Inertia") -> None:
        """Fly on with other lumped dynamics of the same mass."""

    def reset(self) -> None:
        """Forget integrals and past commands."""


class ReferenceRows(Protocol):
    """References at control instants."""

    @property
    def last(self) -> int:
        """Number of the last instant."""

    def rows(self, start: int, stop: int) -> Array:
        """(stop - start, 19+) references from an instant to before another one."""


class Actuation(Protocol):
    """A kind of actuation.

    Attributes:
        name: as gains and messages have it.
        law: name of its law in the key `control.law`.
        mode: of its commands, to aircraft or to rotors.
        tilts_to_push: whether the platform tilts to push sideways, so that of its angles yaw alone is commanded.
        uncontrolled: predicate for axes that do not follow references.
        arm_refusal: why no arm can be flown on such a platform; None where one can.
    """

    name: str
    law: str
    mode: Mode
    tilts_to_push: bool
    uncontrolled: str
    arm_refusal: str | None

    def effectiveness(self, assembly: Assembly, thrusters: Thrusters) -> Effectiveness | None:
        """The map of a platform's thrusts; None of a platform of another kind.

        Raises:
            BadInput: it is of this kind, and there is no control law for it.
        """

    def inverse(self, B: Array, thrusters: Thrusters, health: Health) -> Array:
        """The map from a wrench to thrusts of least norm, shared by what is left of aircraft and rotors."""

    def wrenches(self, model: "PlatformModel") -> Array:
        """(6, n) wrenches of unit thrusts, each along one direction in which it can be chosen."""

    def controlled_angles(self, model: "PlatformModel") -> tuple[bool, bool, bool]:
        """Flags of roll, pitch and yaw that follow the reference."""

    def axis_refusal(self, model: "PlatformModel", axis: int) -> str | None:
        """Why no wrench can be requested on an axis, 0 to 5; None where one can."""

    def allocation(self, model: "PlatformModel") -> Allocation:
        """The allocation of a platform, or of what is left of it."""

    def make_law(
        self,
        model: "PlatformModel",
        gains: Gains,
        dt: float,
        headings: Callable[[Array, Reference], Array],
        *,
        follows: bool,
    ) -> PlatformLaw:
        """The law of a platform.

        Args:
            model: of the platform.
            gains: of flight.
            dt: control period [s].
            headings: (N,) of the aircraft [rad] for a state row and a reference.
            follows: whether the headings follow the platform's yaw.
        """

    def thrusts(self, parts: Array) -> Array:
        """Thrust of each aircraft or rotor [N] out of thrusts as `B` takes them."""

    def limits(self, model: "PlatformModel") -> tuple[Array, Array]:
        """Smallest and largest thrust of each aircraft or rotor [N]."""

    def check_references(
        self, model: "PlatformModel", rows: ReferenceRows, vehicle_name: str
    ) -> None:
        """Refuse references at whose attitudes the platform cannot rest.

        Raises:
            BadInput: naming the attitude and the limit.
        """
