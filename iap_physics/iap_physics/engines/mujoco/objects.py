# SPDX-License-Identifier: BSD-3-Clause
"""The world's objects in MuJoCo's coordinates."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.world.objects import WorldObject
from iap_description.world.world import World
from iap_physics.engines.mujoco.model import MuJoCoModel


@dataclass(frozen=True)
class Objects:
    """All objects of a world.

    Attributes:
        world: whose they are.
        items: what they are.
        centers: (3,) origin of each object's body in its frame O [m].
        places: where each begins in MuJoCo's qpos and qvel.
    """

    world: World
    items: tuple[WorldObject, ...]
    centers: list[Array]
    places: list[tuple[int, int]]

    @classmethod
    def of(cls, world: World, made: MuJoCoModel) -> Self:
        """Of a world and its model."""
        joints = made.model.body_jntadr[made.objects]
        q_at, v_at = made.model.jnt_qposadr[joints], made.model.jnt_dofadr[joints]
        places = list(zip(q_at.tolist(), v_at.tolist(), strict=True))
        return cls(world, tuple(world.objects.values()), made.centers, places)

    @property
    def has_motion(self) -> bool:
        """True if one moves as prescribed."""
        return any(item.motion is not None for item in self.items)

    def prescribe(self, qpos: Array, qvel: Array, t: float, dt: float) -> None:
        """Place what moves as prescribed, with its mean velocity of the coming step."""
        for item, (at, v_at) in zip(self.items, self.places, strict=True):
            if item.motion is not None:
                here, there = item.motion.at(t)[0], item.motion.at(t + dt)[0]
                qpos[at : at + 3], qvel[v_at : v_at + 3] = here, (there - here) / dt

    def states(self, qpos: Array, qvel: Array, t: float) -> Array:
        """(objects, 13) state rows of the frames O at time t [s]."""
        rows = np.array([item.row(t) for item in self.items]).reshape(-1, STATE_SIZE)
        for row, item, center, (at, v_at) in zip(
            rows, self.items, self.centers, self.places, strict=True
        ):
            if item.mass is None:
                continue
            if item.hinge is not None:
                place = (np.array(item.position), item.q_WO)
                row[:] = item.hinge.row(*place, float(qpos[at]), float(qvel[v_at]))
                continue
            row[Q] = np.roll(qpos[at + 3 : at + 7], -1)
            row[W] = so3.rotate(row[Q], qvel[v_at + 3 : v_at + 6])
            arm_W = so3.rotate(row[Q], -center)
            row[P] = qpos[at : at + 3] + arm_W
            row[V] = qvel[v_at : v_at + 3] + np.cross(row[W], arm_W)
        self.world.carry(rows)
        return rows
