# SPDX-License-Identifier: BSD-3-Clause
"""Arms as data: serial chains of revolute and prismatic joints, read from ``data/arms/NAME.yaml``.

Joints and tip are the kinematics, links and motors the bodies: an arm of which only the kinematics are known has
neither, and is no part of a platform.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Presets, Record, validate
from iap_description.config.values import FileName, NonNegative, Positive, Real, RpyDegrees, Vec3
from iap_description.geometry.shapes import BodyShapes
from iap_description.math import euler
from iap_description.vehicles.aircraft import Inertial
from iap_description.vehicles.mount import Lever3, Mount
from iap_description.vehicles.serial_chain import PRISMATIC, REVOLUTE, Chain
from iap_description.vehicles.tool import Tool

ARMS = Presets(Path(__file__).parents[1] / "data" / "arms", "arm")
KINDS = {"revolute": REVOLUTE, "prismatic": PRISMATIC}
SHORTEST_AXIS = 1e-6


class ArmJoint(Record):
    """A joint with one coordinate q: it turns or shifts its own link, and all that follow, along an axis.

    At q = 0 the link's frame is at `origin`, turned by `rpy_deg`, in the frame of the link before.
    """

    name: FileName
    type: Literal["revolute", "prismatic"]
    axis: Vec3  # in the link's own frame; of any length but zero
    origin: Lever3  # [m] in the frame of the link before
    rpy_deg: RpyDegrees  # roll, pitch, yaw
    limits: tuple[Real, Real]  # lowest and highest q [rad] or [m]
    speed: Positive  # largest commanded |q'| [rad/s] or [m/s]

    @model_validator(mode="after")
    def _has_an_axis_and_travel(self) -> Self:
        if np.linalg.norm(self.axis) < SHORTEST_AXIS:
            raise ValueError(f"key 'axis': a direction is expected, is {self.axis}")
        if self.limits[0] >= self.limits[1]:
            raise ValueError(
                f"key 'limits': the lowest first, then the highest, are {self.limits}"
            )
        return self


class ArmLink(Inertial):
    """The body behind a joint; its frame is that joint's, its inertia about its CoM in that frame's axes."""

    com: Lever3  # [m]
    collision: BodyShapes = ()
    visual: BodyShapes = ()


class ArmMount(Mount):
    """The place of a sensor on the link behind a joint, in that link's frame."""

    joint: FileName


class ArmMotor(Record):
    """The drive of a joint.

    Its torque (or force) is k_p (q_d - q) + k_v (q_d' - q') in the mode ``position``, k_v (q_d' - q') in
    ``velocity``, and as commanded in ``torque``; never more than `effort`. Friction comes on top.
    """

    mode: Literal["position", "velocity", "torque"]
    effort: Positive  # largest torque [N m] or force [N]
    position_gain: NonNegative  # k_p [N m/rad] or [N/m]
    velocity_gain: NonNegative  # k_v [N m s/rad] or [N s/m]
    viscous: NonNegative = 0.0  # friction per velocity [N m s/rad] or [N s/m]
    coulomb: NonNegative = 0.0  # friction at any velocity [N m] or [N]
    speed: Positive | None = None  # that it is told at most [rad/s] or [m/s]; None: the joint's

    @model_validator(mode="after")
    def _has_the_gains_of_its_mode(self) -> Self:
        needed = {"position": ("position_gain", "velocity_gain"), "velocity": ("velocity_gain",)}
        for key in needed.get(self.mode, ()):
            if getattr(self, key) == 0.0:
                raise ValueError(f"key '{key}': must be positive in the mode '{self.mode}'")
        return self


class Arm(Record):
    """A serial chain below, above or beside a platform."""

    name: FileName
    description: str
    base: Lever3  # [m] where the first joint's origin counts from, in the platform's frame
    joints: Annotated[tuple[ArmJoint, ...], Field(min_length=1)]
    tip: Lever3  # [m] of the end effector, or of the base of its tool, in the last link's frame
    tool: Tool | None = None  # placed from the tip; its own tip is then the end effector
    links: tuple[ArmLink, ...] = ()  # one for each joint; none: the masses are not known
    motors: tuple[ArmMotor, ...] = ()  # one for each joint
    mounts: dict[FileName, ArmMount] = {}  # of sensors, by their names
    home: tuple[Real, ...] = ()  # joint coordinates at rest [rad] or [m]; none: all zero

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [joint.name for joint in self.joints]
        if len(set(names)) < len(names):
            raise ValueError(f"key 'joints': names must differ, are {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _has_one_of_each(self) -> Self:
        for key in ("links", "motors", "home"):
            count = len(getattr(self, key))
            if count not in (0, len(self.joints)):
                raise ValueError(
                    f"key '{key}': one for each of {len(self.joints)} joints is needed, are {count}"
                )
        for i, (joint, q) in enumerate(zip(self.joints, self.home_pose, strict=True)):
            if not joint.limits[0] <= q <= joint.limits[1]:
                raise ValueError(f"key 'home.{i}': {q} is beyond the limits {joint.limits}")
        return self

    @model_validator(mode="after")
    def _mounts_are_on_links(self) -> Self:
        names = [joint.name for joint in self.joints]
        for name, mount in self.mounts.items():
            if mount.joint not in names:
                known = ", ".join(names)
                raise ValueError(f"key 'mounts.{name}.joint': no joint '{mount.joint}' ({known})")
        return self

    @property
    def has_bodies(self) -> bool:
        """True if its links' masses and its motors are known."""
        return bool(self.links and self.motors)

    @property
    def home_pose(self) -> Array:
        """Joint coordinates at rest (n,)."""
        return np.array(self.home or (0.0,) * len(self.joints))

    @property
    def end(self) -> Array:
        """(3,) the end effector in the last link's frame [m]."""
        tip = np.array(self.tip)
        return tip if self.tool is None else tip + self.tool.point(self.tool.length)

    @property
    def limits(self) -> tuple[Array, Array]:
        """Lowest and highest joint coordinates, (n,) each."""
        low, high = np.array([joint.limits for joint in self.joints]).T
        return low, high

    @property
    def speeds(self) -> Array:
        """Largest commanded joint speeds (n,)."""
        return np.array([joint.speed for joint in self.joints])

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in messages and in the URDF."""
        return tuple(arm_joint(joint.name) for joint in self.joints)

    @property
    def motor_speeds(self) -> Array:
        """Largest speeds that motors are told (n,), where there are motors."""
        pairs = zip(self.motors, self.joints, strict=True)
        return np.array([motor.speed or joint.speed for motor, joint in pairs])

    def chain(self) -> Chain:
        """The chain that kernels take, see `iap_description.vehicles.serial_chain`."""
        axes = np.array([joint.axis for joint in self.joints])
        origins = np.array([joint.origin for joint in self.joints])
        origins[0] += self.base
        return Chain(
            np.array([KINDS[joint.type] for joint in self.joints]),
            axes / np.linalg.norm(axes, axis=1, keepdims=True),
            origins,
            np.stack([_turned(joint) for joint in self.joints]),
            self.end,
        )


def _turned(joint: ArmJoint) -> Array:
    """Rotation (3, 3) of a link's frame at q = 0 in that of the link before."""
    return euler.matrix_from_rpy_deg(joint.rpy_deg)


def arm_joint(name: str) -> str:
    """Name of an arm's joint in messages and in the URDF."""
    return f"arm_{name}"


def load_arm(name: str) -> Arm:
    """An arm by its name, or by the path of a YAML file.

    Raises:
        BadInput: no such arm, or its file is wrong, with file and key.
    """
    path = ARMS.file_or_path(name)
    return validate(Arm, read_yaml(path), source=str(path))
