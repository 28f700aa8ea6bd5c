# SPDX-License-Identifier: BSD-3-Clause
"""A controller's model of its platform, and the protocol of its kind of actuation.

All that differs between platforms by what their thrusts can do is asked of the kind. Kinds are in
`iap_control.actuation`; the rest of the suite asks them, and compares no names.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self

import numpy as np

from iap_control.allocation.actuation import (
    Allocation,
    AllocationState,
    Effectiveness,
    JointLine,
    ReferenceRows,
    Thrusters,
)
from iap_control.allocation.thrust_directions import FREE, Reach
from iap_control.gains import Gains
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import AXES, ForceTask, Reference
from iap_description.states import Mode
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health


class Inertia(NamedTuple):
    """The lumped dynamics of iap_simulator eq. (4), as the compiled control laws take it.

    Attributes:
        mass: m [kg].
        d_0: (3,) the platform's CoM in P [m].
        J: (3, 3) inertia about P's origin [kg m^2].
        M: (6, 6) generalised inertia; with the coupling -m d_0^ off the diagonal unless it is dropped.
        coupling: 1 with the coupling through d_0, else 0.
        gravity: g [m/s^2].
    """

    mass: float
    d_0: Array
    J: Array
    M: Array
    coupling: float
    gravity: float


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

    def set_inertia(self, inertia: Inertia) -> None:
        """Fly on with other lumped dynamics of the same mass."""

    def reset(self) -> None:
        """Forget integrals and past commands."""


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


@dataclass(frozen=True)
class PlatformModel:
    """The controller's model of a platform of N aircraft.

    Attributes:
        actuation: its kind, see `iap_control.actuation`.
        inertia: the lumped dynamics.
        B: (6, 3N) thrust vectors in P, (6, 4N) rotor thrusts of a rigid platform, or (6, 8N) T cos b and T sin b of
            each rotor of a vectored one, to the wrench in P.
        B_inverse: its inverse of least norm, thrusts counted per what their aircraft or rotor can lift; a thrust vector
            of an aircraft that does not turn freely is along that aircraft's z axis, and that of one on a hinge in the
            plane which the hinge lets it turn in.
        line: of collinear joints, else None.
        mount_yaw: (N,) heading of each aircraft in P at rest [rad].
        fleet: record of each aircraft, for limits and rotors.
        swings: see `Thrusters`.
        axes: likewise.
        travel: (N,) largest tilt of each aircraft against the platform [rad].
        q_PB: (N, 4) attitude of each aircraft in P at rest.
        tip_P: (3,) the tool's tip in P [m]; the end effector of an arm at home where there is no tool on the central
            body, P's origin where there is neither.
        tip_moves: whether it is that of an arm.
        health: what the controller knows of its rotors' faults.
    """

    actuation: Actuation
    inertia: Inertia
    B: Array
    B_inverse: Array
    line: JointLine | None
    mount_yaw: Array
    fleet: tuple[Aircraft, ...]
    swings: Integers
    axes: Array
    travel: Array
    q_PB: Array
    tip_P: Array
    tip_moves: bool
    health: Health

    @property
    def count(self) -> int:
        """Number of aircraft N."""
        return len(self.mount_yaw)

    @property
    def turns(self) -> Booleans:
        """(N,) whether each aircraft turns freely."""
        return np.asarray(self.swings == FREE)

    @property
    def rotor_limits(self) -> tuple[Array, Array]:
        """(4N,) smallest and largest thrust of every rotor [N]."""
        rotors = [each.rotor for each in self.fleet]
        low = np.array([each.c_f * each.rpm_min**2 for each in rotors])
        high = np.array([each.c_f * each.rpm_max**2 for each in rotors])
        most = np.repeat(high, 4) * self.health.rotors.ravel()
        return np.minimum(np.repeat(low, 4) * self.health.thrust.ravel(), most), most

    @property
    def rotor_coefficients(self) -> Array:
        """(4N,) thrust of what is left of every rotor per speed squared [N/rpm^2]; 0 of none."""
        sound = np.array([each.rotor.c_f for each in self.fleet])
        return np.asarray((sound[:, None] * self.health.thrust).ravel(), dtype=np.float64)

    @property
    def thrust_limits(self) -> Array:
        """(N, 2) smallest and largest thrust of every aircraft [N]; 0 where it is lost."""
        limits = np.array([each.thrust_limits for each in self.fleet])
        limits[:, 1] *= self.health.aircraft
        limits[:, 0] = np.minimum(limits[:, 0], limits[:, 1])
        return limits

    @property
    def reach(self) -> Reach:
        """The wrenches about P's origin that thrusts can make, torques per longest lever."""
        wrenches = self.actuation.wrenches(self)
        forces, torques = (
            np.linalg.norm(wrenches[:3], axis=0),
            np.linalg.norm(wrenches[3:], axis=0),
        )
        lever = (torques[forces > 0.0] / forces[forces > 0.0]).max()
        return Reach.of_map(wrenches / np.repeat([1.0, lever], 3)[:, None])

    @property
    def controlled_angles(self) -> tuple[bool, bool, bool]:
        """Flags of roll, pitch and yaw that follow the reference."""
        return self.actuation.controlled_angles(self)

    def coupled(self, com_coupling: bool) -> Self:
        """The same model with or without the terms in d_0."""
        mass, d_0, J, _, _, gravity = self.inertia
        inertia = lumped_inertia(mass, d_0, J, gravity=gravity, com_coupling=com_coupling)
        return replace(self, inertia=inertia)

    def weakened(self, health: Health) -> Self:
        """The same platform with what is left of its rotors: a wrench is shared by those that can still lift."""
        thrusters = Thrusters(self.fleet, self.swings, self.axes, self.q_PB)
        B_inverse = self.actuation.inverse(self.B, thrusters, health)
        return replace(self, health=health, B_inverse=B_inverse)


def mount_yaws(assembly: Assembly) -> Array:
    """Heading (N,) [rad] of each aircraft in P at rest."""
    return np.array([so3.quaternion_log(joint.q_PJ)[2] for joint in assembly.joints] or [0.0])


def lumped_inertia(m: float, d: Array, J: Array, *, gravity: float, com_coupling: bool) -> Inertia:
    """The lumped dynamics of a mass [kg], its CoM (3,) in P [m] and its inertia (3, 3) about P's origin [kg m^2]."""
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = m * np.eye(3), J
    if com_coupling:
        M[:3, 3:], M[3:, :3] = -m * so3.hat(d), m * so3.hat(d)
    return Inertia(m, d, J, M, float(com_coupling), gravity)


def uncoupled(inertia: Inertia) -> Inertia:
    """The same lumped dynamics without the coupling through d_0, which iap_simulator eq. (4) drops."""
    mass, d_0, J, _, _, gravity = inertia
    return lumped_inertia(mass, d_0, J, gravity=gravity, com_coupling=False)


def check_axes(model: PlatformModel, axes: Booleans, vehicle_name: str) -> None:
    """Refuse a wrench on axes (6,) that a platform cannot push along or turn about at will.

    Raises:
        BadInput: naming axis and vehicle.
    """
    for i in np.flatnonzero(axes).tolist():
        why = model.actuation.axis_refusal(model, i)
        if why is not None:
            raise BadInput(
                f"vehicle '{vehicle_name}': axis '{AXES[i]}': a platform {why}, "
                "so that no wrench can be asked for there"
            )
