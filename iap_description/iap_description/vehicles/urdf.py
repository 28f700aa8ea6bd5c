# SPDX-License-Identifier: BSD-3-Clause
"""URDF from an assembly, by xacro: for PyBullet, and standard for robot_state_publisher and RViz.

`iap urdf PLATFORM [--target ros|bullet]` prints one. Names carry no vehicle name: robot_state_publisher puts it in
front (`frame_prefix`).
"""

import json
import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal
from xml.dom import minidom

import numpy as np
import xacro

from iap_description.arrays import Array
from iap_description.config.record import Vec3
from iap_description.geometry.mesh_files import PACKAGE, mesh_path
from iap_description.geometry.shapes import Shape
from iap_description.math import euler, so3
from iap_description.vehicles.arm import arm_joint
from iap_description.vehicles.assembly import Assembly, Joint
from iap_description.vehicles.body import Body
from iap_description.vehicles.mount import Mount
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.platform import DATA
from iap_description.vehicles.tool import TOOL

Target = Literal["bullet", "ros"]
AT_JOINT = (0.0, 0.0, 0.0)
END_EFFECTOR = "arm_end_effector"  # the frame at the end of an arm


def urdf_text(assembly: Assembly, *, target: Target) -> str:
    """The URDF of an assembly.

    Args:
        assembly: bodies and joints.
        target: ``bullet`` for PyBullet (spherical joints, universal ones as two with a link without mass between
            them, else one link per body, and only opaque shapes: it knows no transparency), ``ros`` for standard
            URDF (floating joints, and links for rotors, sensor mounts and the cameras' optical frames). A joint's
            travel and friction are in the standard one; the engine has them from the assembly. Hulls to be touched,
            of docking ports, are in neither: the engine adds them itself.
    """
    return _expanded(json.dumps(_tree(assembly, target)), target)


def attachments_urdf(assembly: Assembly) -> str:
    """The standard URDF for robot_state_publisher, in which all bodies float: their frames are another's to publish.

    What hangs on them stays: rotors, tilts, sensor mounts and an arm.
    """
    floating = tuple(
        replace(joint, type="spherical", axes=np.zeros((0, 3)), limit=math.inf)
        for joint in assembly.joints
    )
    return urdf_text(replace(assembly, joints=floating), target="ros")


@lru_cache(maxsize=64)
def _expanded(tree: str, target: Target) -> str:
    """The text for a tree in JSON; remembered: xacro takes a third of a second for four bodies."""
    # handed over as it is: xacro would take a quarter of its time to read it as YAML
    arguments = {"tree": xacro.YamlListWrapper.wrap(json.loads(tree)), "target": target}
    document = xacro.process_file(str(DATA / "urdf" / "iap.urdf.xacro"), mappings=arguments)
    for node in list(document.childNodes):
        if isinstance(node, minidom.Comment):  # xacro's banner names a path of this machine
            document.removeChild(node)
    return document.toprettyxml(indent="  ")


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


def arm_links(arm: MountedArm, target: Target) -> list[dict[str, Any]]:
    """An arm's links, whose frames are at their joints, and the frame of its end effector."""
    bare: dict[str, Any] = {"propeller": [], "rotors": []}
    links: list[dict[str, Any]] = [
        {
            **bare,
            "mounts": [],
            "name": link.name,
            "mass": link.mass,
            "inertia": link.inertia.tolist(),
            "com": link.com.tolist(),
            "visual": _shapes(_for_target(link.visual, target), target, AT_JOINT),
            "collision": _shapes(link.collision, target, AT_JOINT),
        }
        for link in arm.links
    ]
    for name, mount in arm.record.mounts.items():
        link = links[[joint.name for joint in arm.record.joints].index(mount.joint)]
        place = Mount(position=mount.position, rpy_deg=mount.rpy_deg)
        link["mounts"].append(_mount(mount_frame(link["name"], name), place))
    end = {"position": arm.record.end.tolist(), "rpy_deg": list(AT_JOINT), "camera": False}
    links[-1]["mounts"].append({"name": END_EFFECTOR, **end})
    return links


def arm_joints(arm: MountedArm, base: str) -> list[dict[str, Any]]:
    """An arm's joints, the first on the link `base`."""
    parents = [base, *(link.name for link in arm.links)]
    joints, chain = zip(arm.record.joints, arm.record.motors, strict=True), arm.chain
    return [
        {
            "name": arm_joint(joint.name),
            "type": joint.type,
            "parent": parents[i],
            "child": parents[i + 1],
            "position": chain.origins[i].tolist(),
            "rpy": euler.rpy_from_matrix(chain.rotations[i]),
            "axis": chain.axes[i].tolist(),
            "limits": list(joint.limits),
            "speed": joint.speed,
            "effort": motor.effort,
            "viscous": motor.viscous,
            "coulomb": motor.coulomb,
        }
        for i, (joint, motor) in enumerate(joints)
    ]


def _tree(assembly: Assembly, target: Target) -> dict[str, Any]:
    """The tree that the xacro files read."""
    names, com = [body.name for body in assembly.bodies], np.zeros((len(assembly.bodies), 3))
    if target == "bullet":
        for joint in assembly.joints:
            com[joint.child] = -joint.p_CJ_C
    return {
        "bodies": [
            _body(body, target, (place[0], place[1], place[2]))
            for body, place in zip(assembly.bodies, com.tolist(), strict=True)
        ]
        + ([] if assembly.arm is None else arm_links(assembly.arm, target)),
        "joints": [each for joint in assembly.joints for each in _joints(joint, names, target)],
        "arm_joints": [] if assembly.arm is None else arm_joints(assembly.arm, names[0]),
    }


def _body(body: Body, target: Target, com: Vec3) -> dict[str, Any]:
    """A link whose frame has the body's CoM at `com`: in PyBullet's URDF a link's frame is at its joint."""
    turning = body.propellers() if target == "bullet" else ()
    return {
        "name": body.name,
        "mass": body.mass,
        "inertia": body.inertia.tolist(),
        "com": list(com),
        "visual": _shapes(_for_target((*body.visual, *turning), target), target, com),
        "collision": _shapes(_touched(body.collision), target, com),
        "propeller": _shapes(_for_target(body.propeller, target), target, com),
        "rotors": [
            {
                "name": rotor_joint(body.name, k).removesuffix("_joint"),
                "position": list(rotor.position),
                "rpy": _rpy(rotor.attitude()),
                "tilt": None
                if body.tilt is None
                else {
                    "name": tilt_joint(body.name, k).removesuffix("_joint"),
                    "axis": rotor.axis.tolist(),
                    "limit": body.tilt.limit,
                    "rate": body.tilt.rate,
                },
            }
            for k, rotor in enumerate(body.rotors, start=1)
        ],
        "mounts": [
            _mount(mount_frame(body.name, name), mount) for name, mount in body.mounts.items()
        ],
    }


def _mount(frame: str, mount: Mount) -> dict[str, Any]:
    return {"name": frame, "camera": frame.endswith("camera"), **mount.model_dump(mode="json")}


def _for_target(shapes: tuple[Shape, ...], target: Target) -> tuple[Shape, ...]:
    return tuple(shape for shape in shapes if target == "ros" or shape.color[3] == 1.0)


def _touched(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    return tuple(shape for shape in shapes if shape.vertices is None)


def _shapes(shapes: tuple[Shape, ...], target: Target, com: Vec3) -> list[dict[str, Any]]:
    trees = [shape.model_dump(mode="json", exclude_none=True) for shape in shapes]
    for tree in trees:
        if any(com):
            tree["position"] = np.add(tree["position"], com).tolist()
        if target == "ros" and tree["shape"] == "capsule":
            tree["shape"] = "cylinder"  # standard URDF knows no capsules
        if target == "bullet" and tree.get("mesh", "").startswith(PACKAGE):
            tree["mesh"] = mesh_path(tree["mesh"])
    return trees


def _joints(joint: Joint, names: list[str], target: Target) -> list[dict[str, Any]]:
    """A joint, or for PyBullet one for each of its axes, the others of which are on links without mass."""
    made = _joint(joint, names, target)
    if target == "ros":
        return [made] if not _is_off_center(joint) else _off_center(joint, made)
    if len(joint.axes) < 2:
        return [made]
    cross = f"{names[joint.child]}_cross"
    first, second = joint.axes.tolist()
    still = {"position": list(AT_JOINT), "rpy": list(AT_JOINT)}
    return [
        {**made, "name": f"{joint.name}_first", "axis": first, "child": cross, "is_cross": True},
        {**made, **still, "axis": second, "parent": cross},
    ]


def _is_off_center(joint: Joint) -> bool:
    """True if a joint of standard URDF turns a body about an axis beside its CoM."""
    return is_hinge(joint) and bool(joint.p_CJ_C.any())


def _off_center(joint: Joint, made: dict[str, Any]) -> list[dict[str, Any]]:
    """A hinge that turns a link at its axis, on which the body's own is fixed: links' frames are at bodies' CoMs."""
    link, at = hinge_frame(made["child"]), (-joint.p_CJ_C).tolist()
    fixed = {"type": "fixed", "is_free": False, "limit": None, "viscous": 0.0, "coulomb": 0.0}
    held = {**made, **fixed, "name": f"{joint.name}_lever", "parent": link, "position": at}
    return [
        {**made, "child": link, "position": joint.p_PJ_P.tolist(), "is_cross": True},
        {**held, "rpy": list(AT_JOINT)},
    ]


def _joint(joint: Joint, names: list[str], target: Target) -> dict[str, Any]:
    kind = joint.kind.urdf if target == "ros" else joint.kind.bullet_urdf
    is_stopped = kind == "continuous" and math.isfinite(joint.limit) and target == "ros"
    return {
        "name": joint.name,
        "type": "revolute" if is_stopped else kind,
        "is_free": joint.kind.is_free,
        "is_cross": False,
        "axis": joint.axes[0].tolist() if len(joint.axes) else [1, 0, 0],
        "lowest": -joint.limit if is_stopped else 0,
        "parent": names[joint.parent],
        "child": names[joint.child],
        "position": (joint.p_PC_P if target == "ros" else joint.p_PJ_P).tolist(),
        "limit": joint.limit if math.isfinite(joint.limit) else None,
        "viscous": joint.viscous,
        "coulomb": joint.coulomb,
        "rpy": _rpy(joint.q_PJ),
    }


def _rpy(q: Array) -> list[float]:
    return euler.rpy_from_matrix(so3.matrix_from_quaternion(q))
