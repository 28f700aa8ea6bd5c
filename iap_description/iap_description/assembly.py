# SPDX-License-Identifier: BSD-3-Clause
"""What is joined to what: bodies and joints as plain data, for engines and for the controllers' models."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.aircraft import Aircraft, Drag, Mount, Rotor, Shape, inertia_matrix
from iap_description.chassis import chassis_shapes
from iap_description.platform import Center, Platform

Array = NDArray[np.float64]
JointType = Literal["spherical", "fixed"]


@dataclass(frozen=True)
class Body:
    """A rigid body whose frame has its origin at the CoM."""

    name: str
    mass: float  # [kg]
    inertia: Array  # (3, 3) [kg m^2] about the CoM, body axes
    drag: Drag
    collision: tuple[Shape, ...] = ()
    visual: tuple[Shape, ...] = ()
    mounts: Mapping[str, Mount] = field(default_factory=dict)
    rotors: tuple[Rotor, ...] = ()
    propeller: tuple[Shape, ...] = ()  # of each rotor, in the rotor's frame


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies, by index; it sits at the child's CoM."""

    name: str
    type: JointType
    parent: int
    child: int
    p_PJ_P: Array  # (3,) position in the parent's frame [m]
    q_PJ: Array  # (4,) the child's attitude in the parent's frame at rest, xyzw


@dataclass(frozen=True)
class Assembly:
    """Bodies and the joints between them; body 0 is the central body P.

    Attributes:
        name: the vehicle's name, unique in its world.
        aircraft: index of the body that carries each aircraft's rotors.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    aircraft: tuple[int, ...]

    @classmethod
    def of(cls, platform: Platform, name: str = "iap") -> Self:
        """The assembly of a platform."""
        if platform.center is None:
            return cls(name, (_single(platform.aircraft),), (), (0,))
        bodies, joints = [_center(platform, platform.center)], []
        for i, spec in enumerate(platform.joints, start=1):
            bodies.append(_sub_aircraft(platform.aircraft, f"drone_{i}"))
            q_PJ = so3.quaternion_exp(np.array([0.0, 0.0, np.deg2rad(spec.yaw_deg)]))
            joints.append(Joint(f"joint_{i}", spec.type, 0, i, np.array(spec.position), q_PJ))
        return cls(name, tuple(bodies), tuple(joints), tuple(range(1, len(bodies))))

    def scaled(self, *, mass: float) -> Self:
        """The same assembly with every mass and inertia multiplied, e.g. for a plant that its controller misjudges."""
        bodies = tuple(
            replace(b, mass=mass * b.mass, inertia=mass * b.inertia) for b in self.bodies
        )
        return replace(self, bodies=bodies)

    @cached_property
    def mass(self) -> float:
        """Total mass m [kg]."""
        return sum(body.mass for body in self.bodies)

    @cached_property
    def p_PB_P(self) -> Array:
        """(bodies, 3) every body's CoM in P at rest [m]."""
        places = np.zeros((len(self.bodies), 3))
        for joint in self.joints:
            places[joint.child] = joint.p_PJ_P
        return places

    @cached_property
    def d_0(self) -> Array:
        """(3,) the whole platform's CoM in P [m], after iap_simulator eq. (3)."""
        masses = np.array([body.mass for body in self.bodies])
        return masses @ self.p_PB_P / masses.sum()

    @cached_property
    def inertia(self) -> Array:
        """(3, 3) inertia J about the origin of P, after iap_simulator eq. (3).

        Aircraft on spherical joints count as points; those on fixed joints bring their own inertia along.
        """
        J = self.bodies[0].inertia.copy()
        for joint in self.joints:
            body = self.bodies[joint.child]
            d = so3.hat(joint.p_PJ_P)
            J -= body.mass * d @ d
            if joint.type == "fixed":
                R = so3.matrix_from_quaternion(joint.q_PJ)
                J += R @ body.inertia @ R.T
        return J

    @cached_property
    def is_jointed(self) -> bool:
        """Whether the aircraft turn independently of the central body (all joints spherical)."""
        return bool(self.joints) and all(joint.type == "spherical" for joint in self.joints)


def _sub_aircraft(craft: Aircraft, name: str) -> Body:
    return Body(
        name,
        craft.mass,
        inertia_matrix(craft.inertia),
        craft.drag,
        craft.collision,
        craft.visual,
        craft.mounts,
        craft.rotors,
        craft.propeller,
    )


def _single(craft: Aircraft) -> Body:
    """An aircraft that is the whole platform, on its own landing gear."""
    body = _sub_aircraft(craft, "base_link")
    gear = craft.landing_gear
    return replace(body, collision=(*body.collision, *gear), visual=(*gear, *body.visual))


def _center(platform: Platform, center: Center) -> Body:
    """The central body with its chassis."""
    visual, collision = center.visual, center.collision
    if center.chassis is not None:
        places = [(joint.position, np.deg2rad(joint.yaw_deg)) for joint in platform.joints]
        seen, touched = chassis_shapes(center.chassis, places, platform.ground_clearance)
        visual, collision = (*visual, *seen), (*collision, *touched)
    inertia = inertia_matrix(center.inertia)
    return Body("base_link", center.mass, inertia, center.drag, collision, visual, center.mounts)
