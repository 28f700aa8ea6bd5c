# SPDX-License-Identifier: BSD-3-Clause
"""A vehicle as a recording describes it: bodies, joints, limits, arm."""

from typing import Any, Literal, Self

import numpy as np
from pydantic import model_validator

from iap_description.config.record import Record
from iap_description.config.values import Flag, NonNegative, Positive, Real, Vec3, VehicleName
from iap_description.sensors.sensor_info import FixedFrame
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly, Joint
from iap_description.vehicles.faults import Fault
from iap_description.vehicles.joint_types import JointType, JointTypeName, joint_type
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.platform import Platform
from iap_description.vehicles.serial_chain import Chain
from iap_io.runs.fault_meta import LossMeta
from iap_io.sensor_messages.static_transforms import mounts_of

TRUTH = "truth"  # as the source of a vehicle's state


class JointMeta(Record):
    """A joint of the vehicle; parent and child are body indices.

    Attributes:
        p_PJ_P: its place on the parent [m]; None in older recordings.
        p_CJ_C: its place on the child [m].
        q_PJ: attitude of the child at rest on the parent, xyzw.
        axes: about which it turns, in the child's frame at rest; none of spherical and fixed joints.
    """

    name: str
    type: JointTypeName
    parent: int
    child: int
    p_PJ_P: Vec3 | None = None
    p_CJ_C: Vec3 = (0.0, 0.0, 0.0)
    q_PJ: tuple[Real, Real, Real, Real] = (0.0, 0.0, 0.0, 1.0)
    axes: tuple[Vec3, ...] = ()

    @classmethod
    def of(cls, joint: Joint) -> Self:
        """Of a joint of an assembly."""
        return cls(
            name=joint.name,
            type=joint.type,
            parent=joint.parent,
            child=joint.child,
            p_PJ_P=tuple(joint.p_PJ_P.tolist()),
            p_CJ_C=tuple(joint.p_CJ_C.tolist()),
            q_PJ=tuple(joint.q_PJ.tolist()),
            axes=tuple(tuple(axis) for axis in joint.axes.tolist()),
        )

    @property
    def kind(self) -> JointType:
        """The type of that name."""
        return joint_type(self.type)


class AircraftMeta(Record):
    """Limits of one aircraft.

    Attributes:
        thrust: smallest and largest collective thrust [N].
        rpm: smallest and largest rotor speed [rpm].
        thrust_coefficient: thrust of a rotor per rpm^2 [N].
        tilt_max_deg: largest commanded tilt.
    """

    thrust: tuple[NonNegative, Positive]
    rpm: tuple[NonNegative, Positive]
    thrust_coefficient: Positive
    tilt_max_deg: Positive

    @classmethod
    def of(cls, aircraft: Aircraft) -> Self:
        """The limits of an aircraft."""
        rotor = aircraft.rotor
        return cls(
            thrust=aircraft.thrust_limits,
            rpm=(rotor.rpm_min, rotor.rpm_max),
            thrust_coefficient=rotor.c_f,
            tilt_max_deg=aircraft.tilt_max_deg,
        )


class ChainMeta(Record):
    """Kinematics of an arm from P, see `iap_description.vehicles.serial_chain.Chain`."""

    kinds: tuple[Literal[0, 1], ...]
    axes: tuple[Vec3, ...]
    origins: tuple[Vec3, ...]  # [m]
    rotations: tuple[tuple[Vec3, Vec3, Vec3], ...]
    tip: Vec3  # [m]

    @classmethod
    def of(cls, chain: Chain) -> Self:
        """The record of a chain."""
        return cls.model_validate({key: part.tolist() for key, part in chain._asdict().items()})

    @property
    def chain(self) -> Chain:
        """The chain that kernels take."""
        return Chain(*(np.array(getattr(self, key)) for key in Chain._fields))


class VehicleMeta(Record):
    """One vehicle of a recording.

    Attributes:
        name: namespace of its topics.
        platform: the platform's name.
        gains: the gain preset's name.
        bodies: body names, the central one first.
        joints: in the order of the bodies they carry.
        aircraft: body index of each aircraft.
        controlled: whether roll, pitch and yaw follow the reference.
        window_s: first and last time over which errors count.
        thrust_limits: smallest and largest collective thrust of the platform's kind of aircraft [N].
        rpm_limits: its smallest and largest rotor speed [rpm].
        thrust_coefficient: thrust of one of its rotors per rpm^2 [N].
        tilt_max_deg: its largest commanded tilt.
        unlike: limits of every aircraft, where they are not all of that kind.
        thrust_factors: on the thrust coefficient of each aircraft's rotors as they flew; none where all are 1.
        feels: whether wrenches are recorded.
        tool_tip_P: tip of its tool in P [m]; None without a tool.
        tool_axis_P: direction of the tool, towards its tip.
        mounts: frames of its sensors.
        state_source: ``truth``, or the method on whose estimates it flew.
        frontend: settings of what follows its cameras' images.
        faults: that strike it.
        losses: what its controller is told of them.
        arm_joints: names of its arm's joints.
        arm_limits: lowest and highest coordinates of each [rad], [m].
        arm_chain: kinematics of its arm.
    """

    name: VehicleName
    platform: str
    gains: str
    bodies: tuple[VehicleName, ...]
    joints: tuple[JointMeta, ...]
    aircraft: tuple[int, ...]
    controlled: tuple[Flag, Flag, Flag]
    window_s: tuple[Real, Real]
    thrust_limits: tuple[NonNegative, Positive]
    rpm_limits: tuple[NonNegative, Positive]
    thrust_coefficient: Positive
    tilt_max_deg: Positive
    unlike: tuple[AircraftMeta, ...] = ()
    thrust_factors: tuple[Positive, ...] = ()
    feels: Flag = False
    tool_tip_P: Vec3 | None = None
    tool_axis_P: Vec3 | None = None
    mounts: tuple[FixedFrame, ...] = ()
    state_source: str = TRUTH
    frontend: str = "default"
    faults: tuple[Fault, ...] = ()
    losses: tuple[LossMeta, ...] = ()
    arm_joints: tuple[str, ...] = ()
    arm_limits: tuple[tuple[Real, Real], ...] = ()
    arm_chain: ChainMeta | None = None

    @model_validator(mode="after")
    def _indices_are_bodies(self) -> Self:
        joined = (index for joint in self.joints for index in (joint.parent, joint.child))
        if not self.aircraft or any(i not in range(len(self.bodies)) for i in self.aircraft):
            raise ValueError(f"key 'aircraft': not indices of {len(self.bodies)} bodies")
        if any(i not in range(len(self.bodies)) for i in joined):
            raise ValueError(f"key 'joints': not between {len(self.bodies)} bodies")
        return self

    @classmethod
    def of(
        cls,
        assembly: Assembly,
        platform: Platform,
        controlled: tuple[bool, bool, bool],
        **others: Any,  # noqa: ANN401 - see the attributes
    ) -> Self:
        """A vehicle whose name, bodies and joints are the assembly's; `others` are fields that neither gives."""
        aircraft = platform.aircraft
        limits = tuple(AircraftMeta.of(each) for each in platform.fleet)
        joints = tuple(map(JointMeta.of, assembly.joints))
        return cls(
            name=assembly.name,
            platform=platform.name,
            bodies=tuple(body.name for body in assembly.bodies),
            joints=joints,
            aircraft=assembly.aircraft,
            controlled=controlled,
            thrust_limits=aircraft.thrust_limits,
            rpm_limits=(aircraft.rotor.rpm_min, aircraft.rotor.rpm_max),
            thrust_coefficient=aircraft.rotor.c_f,
            tilt_max_deg=aircraft.tilt_max_deg,
            unlike=() if set(limits) == {AircraftMeta.of(aircraft)} else limits,
            tool_tip_P=None
            if assembly.tool_tip_P is None
            else tuple(assembly.tool_tip_P.tolist()),
            tool_axis_P=None
            if platform.tool is None
            else tuple(platform.tool.R_PT[:, 0].tolist()),
            mounts=mounts_of(assembly),
            **_arm_of(assembly.arm),
            **others,
        )

    @property
    def count(self) -> int:
        """Number of aircraft N."""
        return len(self.aircraft)

    @property
    def limits(self) -> tuple[AircraftMeta, ...]:
        """The limits of every aircraft."""
        of_each = AircraftMeta(
            thrust=self.thrust_limits,
            rpm=self.rpm_limits,
            thrust_coefficient=self.thrust_coefficient,
            tilt_max_deg=self.tilt_max_deg,
        )
        return self.unlike or (of_each,) * self.count

    @property
    def is_estimated(self) -> bool:
        """True if it flew on an estimate, which is recorded."""
        return self.state_source != TRUTH

    @property
    def free_axis(self) -> int | None:
        """The axis (0, 1, 2) about which an under-actuated platform turns freely, else None."""
        return self.controlled.index(False) if sum(self.controlled) == 2 else None


def _arm_of(arm: MountedArm | None) -> dict[str, Any]:
    """Fields of a vehicle that its arm gives."""
    if arm is None:
        return {}
    limits = tuple(joint.limits for joint in arm.record.joints)
    chain = ChainMeta.of(arm.chain)
    return {"arm_joints": arm.record.joint_names, "arm_limits": limits, "arm_chain": chain}
