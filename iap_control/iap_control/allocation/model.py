# SPDX-License-Identifier: BSD-3-Clause
"""A controller's model of its platform: inertia, allocation, limits, and which control law these allow."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

import numpy as np

from iap_control.allocation.allocation import allocation_matrix, minimum_norm
from iap_control.allocation.rotor_maps import rotor_map, rotor_shares, tilted_map
from iap_control.allocation.thrust_directions import (
    COLUMNS,
    CROSSED,
    FREE,
    Reach,
    swings_of,
    thrust_directions,
)
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import AXES
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import Health

COSINE_TOLERANCE = 1e-6  # between the joints' line and an axis: perpendicular below
Actuation = Literal["full", "collinear", "rigid", "vectored"]


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


@dataclass(frozen=True)
class PlatformModel:
    """The controller's model of a platform of N aircraft.

    Attributes:
        actuation: ``full`` (rank B = 6), ``collinear`` (5), ``rigid`` (rotors fixed to one body, rank 4) or
            ``vectored`` (rotors of one body that tilt or do not all push along z, rank 6).
        inertia: the lumped dynamics.
        B: (6, 3N) thrust vectors in P, (6, 4N) rotor thrusts of a rigid platform, or (6, 8N) T cos b and T sin b of
            each rotor of a vectored one, to the wrench in P.
        B_inverse: its inverse of least norm, thrusts counted per what their aircraft or rotor can lift; a thrust vector
            of an aircraft that does not turn freely is along that aircraft's z axis, and that of one on a hinge in the
            plane which the hinge lets it turn in.
        line_P: (3,) direction of the joints' line in P, for collinear joints.
        p_line_P: (3,) a point of that line in P [m].
        mount_yaw: (N,) heading of each aircraft in P at rest [rad].
        fleet: record of each aircraft, for limits and rotors.
        swings: (N,) how each aircraft's thrust turns, see `iap_control.allocation.thrust_directions`.
        axes: (N, 2, 3) about which it does so on a hinge (the first) or a universal joint, in the aircraft at rest.
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
    line_P: Array
    p_line_P: Array
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

    @classmethod
    def of(
        cls, assembly: Assembly, fleet: Sequence[Aircraft], *, gravity: float, com_coupling: bool
    ) -> Self:
        """The model of an assembly of these aircraft.

        Aircraft and their joints may differ if the thrusts together make any wrench. `com_coupling` keeps the terms in
        d_0 that iap_simulator eq. (4) drops.

        Raises:
            BadInput: there is no control law for these joints.
        """
        where = f"vehicle '{assembly.name}': key 'platform.joints'"
        swings, axes = swings_of(assembly)
        turns = any(joint.kind.is_free and not joint.is_sprung for joint in assembly.joints)
        q_PB = np.array(
            [joint.q_PJ for joint in assembly.joints] or [so3.quaternion_exp(np.zeros(3))]
        )
        places = assembly.p_PF_P[list(assembly.aircraft)]
        line, point = np.array([1.0, 0.0, 0.0]), np.zeros(3)
        actuation: Actuation
        is_vectored = any(aircraft.is_vectored for aircraft in fleet)
        if is_vectored and turns:
            raise BadInput(
                f"{where}: there is no control law for aircraft on joints whose rotors tilt or do not push along z"
            )
        if is_vectored:
            actuation, B = "vectored", tilted_map(assembly, fleet)
            B_inverse = _least_norm(B, rotor_shares(fleet, Health.sound(fleet)))
        elif not turns:
            actuation = "rigid"
            B = rotor_map(assembly, fleet)
            B_inverse = _least_norm(B, _rotor_strengths(fleet, Health.sound(fleet)))
        else:
            B = allocation_matrix(places)
            B_inverse = _thrust_vectors(B, q_PB, swings, axes, _strengths(fleet))
            reach = Reach.of(places, thrust_directions(q_PB, swings, axes))
            actuation = "full" if reach.rank == 6 else "collinear"
            if reach.rank < 6 and not (swings == FREE).all():
                raise BadInput(
                    f"{where}: the aircraft on their joints push along {reach.rank} of 6 axes only, and not along"
                    f" {reach.lacking}, for which there is no control law"
                )
            if actuation == "collinear":
                line, point = _line_through(places)
        body = (assembly.mass, assembly.d_0, assembly.inertia)
        inertia = lumped_inertia(*body, gravity=gravity, com_coupling=com_coupling)
        travel = np.array([joint.limit for joint in assembly.joints] or [math.inf])
        tip, arm = assembly.tool_tip_P, assembly.arm
        tip_moves = tip is None and arm is not None
        if tip is None:
            tip = np.zeros(3) if arm is None else arm.tip_P(arm.record.home_pose)
        model = (actuation, inertia, B, B_inverse, line, point, mount_yaws(assembly))
        health = Health.sound(fleet)
        return cls(*model, tuple(fleet), swings, axes, travel, q_PB, tip, tip_moves, health)

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
        wrenches = self.B
        if self.actuation in ("full", "collinear"):
            wrenches = self.B @ thrust_directions(self.q_PB, self.swings, self.axes)
        forces, torques = (
            np.linalg.norm(wrenches[:3], axis=0),
            np.linalg.norm(wrenches[3:], axis=0),
        )
        lever = (torques[forces > 0.0] / forces[forces > 0.0]).max()
        return Reach.of_map(wrenches / np.repeat([1.0, lever], 3)[:, None])

    @property
    def controlled_angles(self) -> tuple[bool, bool, bool]:
        """Whether roll, pitch and yaw follow the reference; tilt follows from the thrust where there is no rank."""
        if self.actuation in ("full", "vectored"):
            return True, True, True
        if self.actuation == "rigid":
            return False, False, True
        free = int(np.argmax(np.abs(self.line_P)))
        return free != 0, free != 1, free != 2

    def coupled(self, com_coupling: bool) -> Self:
        """The same model with or without the terms in d_0."""
        mass, d_0, J, _, _, gravity = self.inertia
        inertia = lumped_inertia(mass, d_0, J, gravity=gravity, com_coupling=com_coupling)
        return replace(self, inertia=inertia)

    def weakened(self, health: Health) -> Self:
        """The same platform with what is left of its rotors: a wrench is shared by those that can still lift."""
        if self.actuation == "vectored":
            shares = rotor_shares(self.fleet, health)
            return replace(self, health=health, B_inverse=_least_norm(self.B, shares))
        if self.actuation == "rigid":
            left = _rotor_strengths(self.fleet, health)
            return replace(self, health=health, B_inverse=_least_norm(self.B, left))
        left = _strengths(self.fleet) * health.aircraft
        B_inverse = _thrust_vectors(self.B, self.q_PB, self.swings, self.axes, left)
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


def _line_through(joints: Array) -> tuple[Array, Array]:
    """Direction (towards +x where there is a choice) of the joints' line, and its point nearest to P's origin."""
    center = joints.mean(axis=0)
    direction = np.linalg.svd(joints - center)[2][0]
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    return direction, center - direction * (direction @ center)


def _strengths(fleet: Sequence[Aircraft]) -> Array:
    """(N,) largest thrust of each aircraft in shares of the first one's."""
    most = np.array([aircraft.thrust_limits[1] for aircraft in fleet])
    return most / most[0]


def _rotor_strengths(fleet: Sequence[Aircraft], health: Health) -> Array:
    """(4N,) largest thrust of what is left of each rotor in shares of a sound one of the first aircraft."""
    most = np.array([aircraft.rotor.c_f * aircraft.rotor.rpm_max**2 for aircraft in fleet])
    return np.asarray(np.repeat(most / most[0], 4) * health.rotors.ravel(), dtype=np.float64)


def _least_norm(B: Array, strengths: Array) -> Array:
    """The solution f of B f = U with the least sum of (f_i / strength_i)^2, as a matrix on U.

    Equal strengths of 1 leave iap_simulator eq. (17), the Moore-Penrose inverse.
    """
    return strengths[:, None] * minimum_norm(B * strengths)


def _thrust_vectors(
    B: Array, q_PB: Array, swings: Integers, axes: Array, strengths: Array
) -> Array:
    """The map (3N, 6) from a wrench to thrust vectors of least norm.

    The thrust of an aircraft that does not turn freely has one direction, or two: its part of the map has as many
    columns.
    """
    if (swings >= CROSSED).all():
        return _least_norm(B, np.repeat(strengths, 3))
    E = thrust_directions(q_PB, swings, axes)
    weights = np.repeat(strengths, [COLUMNS[kind] for kind in swings.tolist()])
    return E @ _least_norm(B @ E, weights)


def check_axes(model: PlatformModel, axes: Booleans, vehicle_name: str) -> None:
    """Refuse a wrench on axes (6,) that a platform cannot push along or turn about at will.

    Raises:
        BadInput: naming axis and vehicle.
    """
    is_line = model.actuation == "collinear"
    for i in np.flatnonzero(axes):
        if model.actuation == "rigid":
            why = "without spherical joints tilts to push"
        elif i >= 3 and is_line and abs(model.line_P[i - 3]) > COSINE_TOLERANCE:
            why = "with its joints on a line cannot turn about it"
        else:
            continue
        raise BadInput(
            f"vehicle '{vehicle_name}': axis '{AXES[i]}': a platform {why}, "
            "so that no wrench can be asked for there"
        )
