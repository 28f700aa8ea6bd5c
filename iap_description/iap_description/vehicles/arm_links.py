# SPDX-License-Identifier: BSD-3-Clause
r"""Links of the arms of some vehicles, as rigid bodies behind the vehicles' own.

With the link frames of `iap_description.vehicles.serial_chain` the twist of link i is (B. Siciliano et al., Robotics:
Modelling, Planning and Control, eqs. (3.25) to (3.30))

.. math::
    w_i = w_P + \sum_{j \le i} \dot q_j z_j, \qquad
    v_i = v_P + w_P \times (p_i - p_P) + \sum_{j \le i} \dot q_j z_j \times (p_i - p_j)

with the revolute joints' axes z_j; a prismatic joint adds q'_j z_j to the velocities alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Shape
from iap_description.math import so3
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.mounted_arm import LinkBody, MountedArm
from iap_description.vehicles.serial_chain import REVOLUTE, new_frames, walk


class ChainState(NamedTuple):
    """Coordinates (n,) of an arm's joints [rad], [m], and their velocities (n,)."""

    q: Array
    v: Array


def link_rows(arm: MountedArm, base: Array, joints: ChainState) -> Array:
    """State rows (n, 13) of the frames of an arm's links, on a central body with a state row (13,)."""
    chain, rows = arm.chain, np.empty((len(joints.q), STATE_SIZE))
    frames = new_frames(len(joints.q))
    walk(chain, base[P], so3.matrix_from_quaternion(base[Q]), joints.q, frames)
    points, turn, shift = frames.points, base[W].copy(), base[V].copy()
    before = base[P]
    for i, (point, rotation) in enumerate(zip(points, frames.rotations, strict=True)):
        shift += np.cross(turn, point - before)
        if chain.kinds[i] == REVOLUTE:
            turn = turn + joints.v[i] * frames.axes[i]
        else:
            shift += joints.v[i] * frames.axes[i]
        before = point
        rows[i, P], rows[i, Q] = point, so3.quaternion_from_matrix(rotation)
        rows[i, V], rows[i, W] = shift, turn
    return rows


def collision_shapes(assemblies: Sequence[Assembly]) -> list[tuple[Shape, ...]]:
    """The shapes of contact of every body of some vehicles, then of every link of their arms, in its own frame."""
    return [
        *(body.collision for each in assemblies for body in each.bodies),
        *(link.collision for link in ArmLinks.of(assemblies).bodies),
    ]


@dataclass(frozen=True)
class ArmLinks:
    """The links of all arms of some vehicles, in the order of the vehicles.

    Attributes:
        arms: the arms.
        bases: row of the central body of each arm's vehicle, among all bodies.
        first: number of all bodies: the row of the first link behind them.
    """

    arms: tuple[MountedArm, ...]
    bases: tuple[int, ...]
    first: int

    @classmethod
    def of(cls, assemblies: Sequence[Assembly]) -> Self:
        """The links of some vehicles."""
        firsts = np.cumsum([0, *(len(each.bodies) for each in assemblies)]).tolist()
        pairs = zip(assemblies, firsts, strict=False)
        arms = [(each.arm, first) for each, first in pairs if each.arm is not None]
        return cls(tuple(arm for arm, _ in arms), tuple(first for _, first in arms), firsts[-1])

    @property
    def bodies(self) -> list[LinkBody]:
        """All links."""
        return [link for arm in self.arms for link in arm.links]

    def row(self, base: int, joint: str) -> int:
        """The row of the link behind a joint of the arm whose central body has the row `base`."""
        first = self.first
        for arm, each in zip(self.arms, self.bases, strict=True):
            names = [joint.name for joint in arm.record.joints]
            if each == base:
                return first + names.index(joint)
            first += len(names)
        raise KeyError(base)

    def appended(self, x: Array, joints: Sequence[ChainState]) -> Array:
        """(bodies + links, 13) state rows of all bodies (bodies, 13) and of all links.

        Args:
            x: of the vehicles' bodies.
            joints: of each arm.
        """
        if not self.arms:
            return x
        arms = zip(self.arms, self.bases, joints, strict=True)
        return np.vstack([x, *(link_rows(arm, x[base], state) for arm, base, state in arms)])
