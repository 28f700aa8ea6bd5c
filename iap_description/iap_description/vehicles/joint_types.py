# SPDX-License-Identifier: BSD-3-Clause
"""Types of joints as data: a new type is one entry here, and its construction in the engines that can build it."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from iap_description.errors import BadInput


@dataclass(frozen=True)
class JointType:
    """The freedom that a joint leaves between its parent and its child.

    Attributes:
        position_size: numbers that say where it stands, in PlatformState's `joint_positions`.
        velocity_size: its degrees of freedom, numbers in `joint_velocities`.
        turns_freely: whether the child's attitude is all its own.
        urdf: its type in standard URDF, which has no universal joint.
        bullet_urdf: its type in PyBullet's URDF; a universal joint is two of them, one behind the other.
        axes: number of axes that a joint of the type names and turns about; the others have none to name.
    """

    position_size: int
    velocity_size: int
    turns_freely: bool
    urdf: str
    bullet_urdf: str
    axes: int = 0

    @property
    def is_free(self) -> bool:
        """True if it moves at all."""
        return self.velocity_size > 0


JOINT_TYPES = {
    "spherical": JointType(4, 3, turns_freely=True, urdf="floating", bullet_urdf="spherical"),
    "universal": JointType(
        2, 2, turns_freely=False, urdf="floating", bullet_urdf="continuous", axes=2
    ),
    "revolute": JointType(
        1, 1, turns_freely=False, urdf="continuous", bullet_urdf="continuous", axes=1
    ),
    "fixed": JointType(0, 0, turns_freely=False, urdf="fixed", bullet_urdf="fixed"),
}


def joint_type(name: str) -> JointType:
    """The type of that name.

    Raises:
        BadInput: there is none.
    """
    if name not in JOINT_TYPES:
        raise BadInput(f"joint type '{name}': {_choices()} is expected")
    return JOINT_TYPES[name]


def _known(name: str) -> str:
    if name not in JOINT_TYPES:
        raise ValueError(f"Input should be {_choices()}")
    return name


def _choices() -> str:
    *others, last = [f"'{name}'" for name in JOINT_TYPES]
    return f"{', '.join(others)} or {last}"


JointTypeName = Annotated[str, AfterValidator(_known)]
