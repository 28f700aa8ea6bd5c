# SPDX-License-Identifier: BSD-3-Clause
"""Bodies and the joints between them as plain data, for engines and for the controllers' models."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math import so3
from iap_description.vehicles.body import Body, body_of, central_body, shifted, with_tool
from iap_description.vehicles.joint_spec import JointSpec
from iap_description.vehicles.joint_types import JointType, joint_type
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.platform import Platform
from iap_description.vehicles.tool import Tool


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies, by index; without more it sits at the child's CoM and turns without resistance."""

    name: str
    type: str  # a name of `joint_types.JOINT_TYPES`
    parent: int
    child: int
    p_PJ_P: Array  # (3,) position in the parent's frame [m]
    q_PJ: Array  # (4,) the child's attitude in the parent's frame at rest, xyzw
    p_CJ_C: Array = field(
        default_factory=lambda: np.zeros(3)
    )  # (3,) position in the child's frame [m]
    limit: float = (
        math.inf
    )  # largest angle between the child's z axis and where it is at rest [rad]
    viscous: float = 0.0  # friction per relative angular velocity [N m s/rad]
    coulomb: float = 0.0  # friction at any velocity [N m]
    axes: Array = field(
        default_factory=lambda: np.zeros((0, 3))
    )  # (k, 3) unit vectors about which it turns one after another, in the child's frame at rest

    stiffness: float = 0.0  # of a spring about its only axis [N m/rad]
    rest: float = 0.0  # angle at which the spring is slack [rad]

    @property
    def is_sprung(self) -> bool:
        """True if a spring holds the child near where it is at rest."""
        return self.stiffness > 0.0

    @property
    def kind(self) -> JointType:
        """The freedom that it leaves."""
        return joint_type(self.type)

    @property
    def p_PC_P(self) -> Array:
        """(3,) the child's CoM in the parent's frame at rest [m]."""
        return self.p_PJ_P - so3.rotate(self.q_PJ, self.p_CJ_C)

    @property
    def resists(self) -> bool:
        """True if its travel is limited, or it has friction or a spring."""
        has_friction = self.viscous > 0.0 or self.coulomb > 0.0
        return math.isfinite(self.limit) or has_friction or self.is_sprung


class JointTable(NamedTuple):
    """The joints of an assembly as compiled loops take them, a row for each.

    Attributes:
        bodies: (joints, 2) parent and child.
        p_PJ_P: (joints, 3) see `Joint`.
        q_PJ: (joints, 4) see there.
        p_CJ_C: (joints, 3) see there.
        turns: (joints,) whether the child turns freely.
    """

    bodies: Integers
    p_PJ_P: Array
    q_PJ: Array
    p_CJ_C: Array
    turns: Booleans


@dataclass(frozen=True)
class Assembly:
    """Bodies and the joints between them; body 0 is the central body P.

    A tool is part of the central body. With its mass the body's CoM, and so the origin of P, moves
    from where the platform's file has it: joints, mounts and shapes are then as far away from the
    origin as they are from that CoM.

    Attributes:
        name: the vehicle's name, unique in its world.
        aircraft: index of the body that carries each aircraft's rotors.
        p_FP_F: (3,) origin of P in the frame F in which the platform's file gives positions [m].
        tool_tip_P: (3,) the tool's tip in P [m], also the mount `tool`; None without a tool.
        arm: on the central body; its links are none of the bodies, and mass, CoM and inertia count it in its home pose.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    aircraft: tuple[int, ...]
    p_FP_F: Array = field(default_factory=lambda: np.zeros(3))
    tool_tip_P: Array | None = None
    arm: MountedArm | None = None

    @classmethod
    def of(cls, platform: Platform, name: str = "iap") -> Self:
        """The assembly of a platform."""
        bodies, joints = [central_body(platform)], []
        for i, spec in enumerate(platform.joints, start=1):
            bodies.append(body_of(spec.aircraft or platform.aircraft, f"drone_{i}"))
            joints.append(_joint(spec, i))
        aircraft = tuple(range(1, len(bodies))) or (0,)
        arm = None if platform.arm is None else MountedArm(platform.arm, np.zeros(3))
        assembly = cls(name, tuple(bodies), tuple(joints), aircraft, arm=arm)
        return assembly if platform.tool is None else assembly._with_tool(platform.tool)

    def _with_tool(self, tool: Tool) -> Self:
        """The same assembly with a tool merged into body 0; positions are then from the CoM of both."""
        center = with_tool(self.bodies[0], tool)
        p_FP_F = tool.mass / center.mass * tool.point(0.5 * tool.length)
        merged = replace(
            self, bodies=(center, *self.bodies[1:]), tool_tip_P=tool.point(tool.length)
        )
        return merged.with_central_com(p_FP_F)

    def with_central_com(self, p_PC_P: Array) -> Self:
        """The same assembly with the central body's CoM, and so the origin of P, at another place (3,) in P [m]."""
        if not p_PC_P.any():
            return self
        joints = tuple(
            replace(joint, p_PJ_P=joint.p_PJ_P - p_PC_P) if joint.parent == 0 else joint
            for joint in self.joints
        )
        return replace(
            self,
            bodies=(shifted(self.bodies[0], -p_PC_P), *self.bodies[1:]),
            joints=joints,
            p_FP_F=self.p_FP_F + p_PC_P,
            tool_tip_P=None if self.tool_tip_P is None else self.tool_tip_P - p_PC_P,
            arm=None if self.arm is None else self.arm.moved(p_PC_P),
        )

    def without_shapes(self) -> Self:
        """The same assembly with nothing that could be touched: its bodies pass through everything."""
        return replace(self, bodies=tuple(replace(b, collision=()) for b in self.bodies))

    def without_visuals(self) -> Self:
        """The same assembly with nothing to be seen: what is touched stays."""
        bodies = tuple(replace(body, visual=(), propeller=()) for body in self.bodies)
        return replace(self, bodies=bodies)

    def without_looks(self) -> Self:
        """The same assembly with nothing to be touched or seen, and no place for sensors: what moves, and no more."""
        plain = tuple(
            replace(body, collision=(), visual=(), propeller=(), mounts={}) for body in self.bodies
        )
        return replace(self, bodies=plain)

    @cached_property
    def joint_table(self) -> JointTable:
        """The joints as arrays."""
        joints = self.joints
        return JointTable(
            np.array([(each.parent, each.child) for each in joints], np.int64).reshape(-1, 2),
            np.array([each.p_PJ_P for each in joints], dtype=float).reshape(-1, 3),
            np.array([each.q_PJ for each in joints], dtype=float).reshape(-1, 4),
            np.array([each.p_CJ_C for each in joints], dtype=float).reshape(-1, 3),
            np.array([each.kind.turns_freely for each in joints], dtype=bool),
        )

    @cached_property
    def mass(self) -> float:
        """Total mass m [kg]."""
        return sum(body.mass for body in self.bodies) + (
            0.0 if self.arm is None else self.arm.at_home.mass
        )

    @cached_property
    def p_PB_P(self) -> Array:
        """(bodies, 3) every body's CoM in P at rest [m]."""
        positions = np.zeros((len(self.bodies), 3))
        for joint in self.joints:
            positions[joint.child] = joint.p_PC_P
        return positions

    @cached_property
    def p_PF_P(self) -> Array:
        r"""(bodies, 3) point in P where each body's thrust, weight and mass act on the platform at rest [m].

        Of a body that turns freely it is the joint, wherever that sits on the body: a joint transmits the force
        Lambda_i + m_i (g - a_i) and no torque, and the body's own rotors must make up for its lever.
        """
        positions = self.p_PB_P.copy()
        for joint in self.joints:
            if joint.kind.turns_freely:
                positions[joint.child] = joint.p_PJ_P
        return positions

    @cached_property
    def d_0(self) -> Array:
        """(3,) the whole platform's CoM in P [m], after iap_simulator eq. (3), with every mass where it acts."""
        masses = np.array([body.mass for body in self.bodies])
        moment = masses @ self.p_PF_P
        if self.arm is None:
            return moment / masses.sum()
        return (moment + self.arm.at_home.mass * self.arm.at_home.p_PC_W) / self.mass

    @cached_property
    def inertia(self) -> Array:
        """(3, 3) inertia J about the origin of P, after iap_simulator eq. (3).

        Aircraft on spherical joints count as points; those on fixed or sprung joints bring their own inertia along, and
        others what of it their joint holds, at rest.
        """
        J = self.bodies[0].inertia.copy()
        for joint in self.joints:
            body = self.bodies[joint.child]
            d = so3.hat(self.p_PF_P[joint.child])
            J -= body.mass * d @ d
            if not joint.kind.turns_freely:
                R = so3.matrix_from_quaternion(joint.q_PJ)
                locked = joint.axes[:0] if joint.is_sprung else joint.axes
                J += R @ locked_inertia(body.inertia, locked) @ R.T
        if self.arm is not None:
            d = so3.hat(self.arm.at_home.p_PC_W)
            J += self.arm.at_home.inertia - self.arm.at_home.mass * d @ d
        return J

    @cached_property
    def rigid_part(self) -> tuple[int, ...]:
        """Of every body the first of those with which it is one rigid body, by fixed joints."""
        part = list(range(len(self.bodies)))
        for joint in self.joints:
            if not joint.kind.is_free:
                part[joint.child] = part[joint.parent]
        return tuple(part)

    @cached_property
    def is_jointed(self) -> bool:
        """True if the aircraft turn independently of the central body."""
        return bool(self.joints) and all(joint.kind.turns_freely for joint in self.joints)


def locked_inertia(J: Array, axes: Array) -> Array:
    """(3, 3) what of a body's inertia its parent turns that lets it turn about axes (k, 3) without torque.

    With A = axes^T: J - J A (A^T J A)^-1 A^T J, none where all axes are free, and J where there is none.
    """
    if not len(axes):
        return J
    across = J @ axes.T
    return J - across @ np.linalg.solve(axes @ across, across.T)


def _joint(spec: JointSpec, number: int) -> Joint:
    """The joint of the aircraft of that number, on the central body."""
    return Joint(
        f"joint_{number}",
        spec.type,
        parent=0,
        child=number,
        p_PJ_P=np.array(spec.position),
        q_PJ=so3.quaternion_exp(np.array([0.0, 0.0, np.deg2rad(spec.yaw_deg)])),
        p_CJ_C=np.array(spec.offset),
        limit=math.inf if spec.limit_deg is None else math.radians(spec.limit_deg),
        viscous=spec.friction.viscous,
        coulomb=spec.friction.coulomb,
        stiffness=0.0 if spec.spring is None else spec.spring.stiffness,
        rest=0.0 if spec.spring is None else math.radians(spec.spring.rest_deg),
        axes=np.array([np.divide(a, np.linalg.norm(a)) for a in spec.axes]).reshape(-1, 3),
    )
