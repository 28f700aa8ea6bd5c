# SPDX-License-Identifier: BSD-3-Clause
"""Arms as data: serial chains of revolute and prismatic joints, read from ``data/arms/NAME.yaml``."""

from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description import so3
from iap_description.arrays import Array
from iap_description.config import FileName, Positive, Presets, Real, Record, Vec3, validate
from iap_description.plain_yaml import read_yaml
from iap_description.vehicles.serial_chain import PRISMATIC, REVOLUTE, Chain

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
    origin: Vec3  # [m] in the frame of the link before
    rpy_deg: Vec3  # roll, pitch, yaw
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


class Arm(Record):
    """A serial chain below, above or beside a platform."""

    name: FileName
    description: str
    base: Vec3  # [m] where the first joint's origin counts from, in the platform's frame
    joints: Annotated[tuple[ArmJoint, ...], Field(min_length=1)]
    tip: Vec3  # [m] of the end effector in the last link's frame

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [joint.name for joint in self.joints]
        if len(set(names)) < len(names):
            raise ValueError(f"key 'joints': names must differ, are {', '.join(names)}")
        return self

    @property
    def limits(self) -> tuple[Array, Array]:
        """Lowest and highest joint coordinates, (n,) each."""
        low, high = np.array([joint.limits for joint in self.joints]).T
        return low, high

    @property
    def speeds(self) -> Array:
        """Largest commanded joint speeds (n,)."""
        return np.array([joint.speed for joint in self.joints])

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
            np.array(self.tip),
        )


def _turned(joint: ArmJoint) -> Array:
    """Rotation (3, 3) of a link's frame at q = 0 in that of the link before."""
    return so3.matrix_from_euler(np.deg2rad(joint.rpy_deg))


def load_arm(name: str) -> Arm:
    """An arm by its name, or by the path of a YAML file.

    Raises:
        BadInput: no such arm, or its file is wrong, with file and key.
    """
    path = ARMS.file_or_path(name)
    return validate(Arm, read_yaml(path), source=str(path))
