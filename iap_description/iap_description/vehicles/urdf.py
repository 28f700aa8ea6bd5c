# SPDX-License-Identifier: BSD-3-Clause
"""URDF from an assembly: for PyBullet, and standard for robot_state_publisher and RViz.

`iap urdf PLATFORM [--target ros|bullet]` prints one. Names carry no vehicle name: robot_state_publisher puts it in
front (`frame_prefix`).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from xml.dom import minidom
from xml.etree.ElementTree import Element, tostring

import numpy as np

from iap_description.arrays import Array
from iap_description.config.values import Vec3
from iap_description.math import euler, so3
from iap_description.vehicles.arm import arm_joint
from iap_description.vehicles.assembly import Assembly, Joint
from iap_description.vehicles.body import Body
from iap_description.vehicles.mount import Mount
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.rotor import Rotor
from iap_description.vehicles.tool import TOOL
from iap_description.vehicles.urdf_elements import (
    ORIGIN,
    Target,
    add,
    add_collisions,
    add_frame,
    add_joint,
    add_link,
    add_visuals,
    text,
)

OPTICAL_RPY = (
    -math.pi / 2,
    0.0,
    -math.pi / 2,
)  # of a camera's optical frame in its mount (REP 103) [rad]
END_EFFECTOR = "arm_end_effector"  # the frame at the end of an arm


def urdf_text(assembly: Assembly, *, target: Target) -> str:
    """The URDF of an assembly as text, see `urdf_of`."""
    robot = tostring(urdf_of(assembly, target=target), encoding="unicode")
    return minidom.parseString(robot).toprettyxml(indent="  ")


def urdf_of(assembly: Assembly, *, target: Target) -> Element:
    """The URDF of an assembly.

    Args:
        assembly: bodies and joints.
        target: ``bullet`` for PyBullet (spherical joints, universal ones as two with a link without mass between
            them, else one link per body, and only opaque shapes: it knows no transparency), ``ros`` for standard
            URDF (floating joints, and links for rotors, sensor mounts and the cameras' optical frames). A joint's
            travel and friction are in the standard one; the engine has them from the assembly. Hulls to be touched,
            of docking ports, are in neither: the engine adds them itself.
    """
    robot, names = Element("robot", name="iap"), [body.name for body in assembly.bodies]
    in_link = np.zeros(
        (len(assembly.bodies), 3)
    )  # PyBullet's URDF has a link's frame at its joint
    if target == "bullet":
        for joint in assembly.joints:
            in_link[joint.child] = -joint.p_CJ_C
    for body, (x, y, z) in zip(assembly.bodies, in_link.tolist(), strict=True):
        _add_body(robot, body, target, (x, y, z))
    if assembly.arm is not None:
        _add_arm_links(robot, assembly.arm, target)
    for joint in assembly.joints:
        _ADD_JOINT[target](robot, joint, names)
    if assembly.arm is not None:
        _add_arm_joints(robot, assembly.arm, names[0], target)
    return robot


def attachments_urdf(assembly: Assembly) -> str:
    """The standard URDF for robot_state_publisher, in which all bodies float: their frames are another's to publish.

    What hangs on them stays: rotors, tilts, sensor mounts and an arm.
    """
    floating = tuple(
        replace(joint, type="spherical", axes=np.zeros((0, 3)), limit=math.inf)
        for joint in assembly.joints
    )
    return urdf_text(replace(assembly, joints=floating), target="ros")


def rotor_joint(body: str, rotor: int) -> str:
    """Name of the joint of a body's rotor, numbered from 1, for joint_states."""
    return f"{body}_rotor_{rotor}_joint"


def tilt_joint(body: str, rotor: int) -> str:
    """Name of the joint that tilts a body's rotor about its arm, numbered from 1, for joint_states."""
    return f"{body}_tilt_{rotor}_joint"


def is_hinge(joint: Joint) -> bool:
    """True if joint_states has the joint: standard URDF knows it as one that turns about an axis."""
    return joint.kind.urdf == "continuous"


def hinge_frame(body: str) -> str:
    """Name of the link at the axis of a body's hinge, where that is not at the body's CoM."""
    return f"{body}_hinge"


def mount_frame(body: str, mount: str) -> str:
    """Name of the link of a sensor mount, the frame of that sensor's data; the tool's is `TOOL`."""
    return TOOL if mount == TOOL else f"{body}_{mount}"


def optical_frame(body: str, camera: str) -> str:
    """Name of the link that looks along +z out of a camera, its images' frame (REP 103)."""
    return f"{mount_frame(body, camera)}_optical"


def _add_body(robot: Element, body: Body, target: Target, com: Vec3) -> None:
    """Add a link whose frame has the body's CoM at `com`, and the links of its rotors and mounts."""
    turning = body.propellers() if target == "bullet" else ()
    link = add_link(robot, body.name, body.mass, body.inertia, com)
    add_visuals(link, (*body.visual, *turning), target, com)
    add_collisions(link, body.collision, target, com)
    if target == "ros":
        for number, rotor in enumerate(body.rotors, start=1):
            _add_rotor(robot, body, number, rotor)
        for name, mount in body.mounts.items():
            _add_mount(robot, body.name, mount_frame(body.name, name), mount)


def _add_rotor(robot: Element, body: Body, number: int, rotor: Rotor) -> None:
    """Add a rotor as a link of its own that joint_states turns, on a link that tilts where it does."""
    joint, rpy = rotor_joint(body.name, number), _rpy(rotor.attitude())
    name = joint.removesuffix("_joint")
    add_visuals(add(robot, "link", name=name), body.propeller, "ros", ORIGIN)
    tilt = body.tilt
    if tilt is None:
        position, base = rotor.position, body.name
    else:
        position, base = ORIGIN, tilt_joint(body.name, number).removesuffix("_joint")
    spin = add_joint(robot, joint, "continuous", links=(base, name), position=position, rpy=rpy)
    add(spin, "axis", xyz="0 0 1")
    if tilt is not None:
        add(robot, "link", name=base)
        turn = add_joint(
            robot, f"{base}_joint", "revolute", links=(body.name, base), position=rotor.position
        )
        add(turn, "axis", xyz=text(rotor.axis.tolist()))
        add(turn, "limit", lower=-tilt.limit, upper=tilt.limit, effort=0, velocity=tilt.rate)


def _add_mount(robot: Element, body: str, name: str, mount: Mount) -> None:
    """Add the frame of a sensor, and the optical one of a camera."""
    add_frame(robot, body, name, mount.position, map(math.radians, mount.rpy_deg))
    if name.endswith("camera"):
        add_frame(robot, name, f"{name}_optical", ORIGIN, OPTICAL_RPY)


def _add_arm_links(robot: Element, arm: MountedArm, target: Target) -> None:
    """Add an arm's links, whose frames are at their joints, with the frames on them."""
    for joint, link in zip(arm.record.joints, arm.links, strict=True):
        element = add_link(robot, link.name, link.mass, link.inertia, link.com.tolist())
        add_visuals(element, link.visual, target, ORIGIN)
        add_collisions(element, link.collision, target, ORIGIN)
        for name, mount in arm.record.mounts.items() if target == "ros" else ():
            if mount.joint == joint.name:
                _add_mount(robot, link.name, mount_frame(link.name, name), mount)
    if target == "ros":
        add_frame(robot, arm.links[-1].name, END_EFFECTOR, arm.record.end.tolist())


def _add_arm_joints(robot: Element, arm: MountedArm, base: str, target: Target) -> None:
    """Add an arm's joints, the first on the link `base`."""
    parents, chain = [base, *(link.name for link in arm.links)], arm.chain
    for i, (joint, motor) in enumerate(zip(arm.record.joints, arm.record.motors, strict=True)):
        element = add_joint(
            robot,
            arm_joint(joint.name),
            joint.type,
            links=(parents[i], parents[i + 1]),
            position=chain.origins[i].tolist(),
            rpy=euler.rpy_from_matrix(chain.rotations[i]),
        )
        add(element, "axis", xyz=text(chain.axes[i].tolist()))
        low, high = joint.limits
        add(element, "limit", lower=low, upper=high, effort=motor.effort, velocity=joint.speed)
        if target == "ros":
            add(element, "dynamics", damping=motor.viscous, friction=motor.coulomb)


def _add_ros_joint(robot: Element, joint: Joint, names: Sequence[str]) -> None:
    """Add a joint of standard URDF.

    A hinge beside a body's CoM turns a link at its axis, on which the body is fixed: links' frames are at CoMs.
    """
    kind, parent, child = joint.kind.urdf, names[joint.parent], names[joint.child]
    position, link = joint.p_PC_P, child
    is_off_center = is_hinge(joint) and bool(joint.p_CJ_C.any())
    if is_off_center:
        position, link = joint.p_PJ_P, hinge_frame(child)
        add(robot, "link", name=link)
    is_stopped = is_hinge(joint) and math.isfinite(joint.limit)
    kind = "revolute" if is_stopped else kind
    element = add_joint(
        robot,
        joint.name,
        kind,
        links=(parent, link),
        position=position.tolist(),
        rpy=_rpy(joint.q_PJ),
    )
    if joint.kind.is_free:
        add(element, "axis", xyz=_axis(joint))
    if math.isfinite(joint.limit):
        lower = -joint.limit if is_stopped else 0
        add(element, "limit", lower=lower, upper=joint.limit, effort=0, velocity=0)
    if joint.viscous > 0 or joint.coulomb > 0:
        add(element, "dynamics", damping=joint.viscous, friction=joint.coulomb)
    if is_off_center:
        p = (-joint.p_CJ_C).tolist()
        add_joint(robot, f"{joint.name}_lever", "fixed", links=(link, child), position=p)


def _add_bullet_joint(robot: Element, joint: Joint, names: Sequence[str]) -> None:
    """Add a joint of PyBullet's, or two with a link without mass between them where it turns about two axes."""
    parent, child, kind = names[joint.parent], names[joint.child], joint.kind.bullet_urdf
    position, rpy = joint.p_PJ_P.tolist(), _rpy(joint.q_PJ)
    axes = [text(each) for each in joint.axes.tolist()]
    if len(axes) < 2:
        element = add_joint(
            robot, joint.name, kind, links=(parent, child), position=position, rpy=rpy
        )
        if joint.kind.is_free:
            add(element, "axis", xyz=_axis(joint))
        return
    cross = f"{child}_cross"
    add_link(robot, cross, 0, np.zeros((3, 3), np.int64), (0, 0, 0))
    first = add_joint(
        robot, f"{joint.name}_first", kind, links=(parent, cross), position=position, rpy=rpy
    )
    add(first, "axis", xyz=axes[0])
    second = add_joint(robot, joint.name, kind, links=(cross, child))
    add(second, "axis", xyz=axes[1])


_ADD_JOINT = {"ros": _add_ros_joint, "bullet": _add_bullet_joint}


def _axis(joint: Joint) -> str:
    """The first axis of a joint; x where all are free."""
    return text(joint.axes[0].tolist() if len(joint.axes) else (1, 0, 0))


def _rpy(q: Array) -> list[float]:
    return euler.rpy_from_matrix(so3.matrix_from_quaternion(q))
