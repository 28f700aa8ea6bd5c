# SPDX-License-Identifier: BSD-3-Clause
"""Joints that are added in flight in many MuJoCo worlds: what `Bonds` does in one.

A world in which a joint is added has a model of its own from then on, since constraints stand in models.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import IapError
from iap_physics.engines.mujoco.bonds import STATE, Bond, write_bond
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.model import MuJoCoModel


class WorldBonds(NamedTuple):
    """K places for joints in each of B worlds as compiled code takes them.

    Attributes:
        limits: (B, K) force that each bears [N]; 0 where there is none.
        bodies: (B, K, 2) MuJoCo's.
        places: (B, K, 2, 3) of the joint in either body [m].
        are_welds: (B, K) whether they fix attitudes, too.
        attitudes: (B, K, 4) of the second body in the first where they do.
        is_bonded: (B,) whether there is any.
        before: (B, state) memory for MuJoCo's state at a step's begin.
        wrenches: (B, K, 6) memory for what they bear.
        has_yielded: (B, K) memory for which of them yield in a step.
        loads: (B, bodies, 6) memory for loads.
        kept: MuJoCo's number of what is in `before`.
    """

    limits: Array
    bodies: Integers
    places: Array
    are_welds: Booleans
    attitudes: Array
    is_bonded: Booleans
    before: Array
    wrenches: Array
    has_yielded: Booleans
    loads: Array
    kept: int

    @classmethod
    def of(cls, model: Any, batch: int) -> Self:  # noqa: ANN401 - MuJoCo's
        """No joints in worlds of a model."""
        count = model.neq
        return cls(
            np.zeros((batch, count)),
            np.zeros((batch, count, 2), np.int64),
            np.zeros((batch, count, 2, 3)),
            np.zeros((batch, count), bool),
            np.zeros((batch, count, 4)),
            np.zeros(batch, bool),
            np.zeros((batch, mj.mj_stateSize(model, STATE))),
            np.zeros((batch, count, 6)),
            np.zeros((batch, count), bool),
            np.zeros((batch, model.nbody, 6)),
            int(STATE),
        )

    def clear(self, worlds: Integers) -> None:
        """Let go of all in some worlds."""
        self.limits[worlds], self.is_bonded[worlds] = 0.0, False

    def free(self, world: int) -> int:
        """The first free place of a world.

        Raises:
            IapError: there is none.
        """
        places = np.flatnonzero(self.limits[world] == 0.0)
        if not len(places):
            raise IapError(f"add_joint: no more than {self.limits.shape[1]} at a time")
        return int(places[0])

    def make(self, world: int, bond: Bond) -> None:
        """Take note of a joint of a world."""
        k, joint = bond.k, bond.joint
        self.limits[world, k], self.bodies[world, k] = joint.max_force, bond.bodies
        self.wrenches[world, k] = 0.0
        self.places[world, k] = joint.p_AJ_A, joint.p_BJ_B
        self.are_welds[world, k], self.attitudes[world, k] = joint.type == "fixed", joint.q_AB
        self.is_bonded[world] = True

    def remove(self, world: int, k: int) -> None:
        """Let go of the joint in a place of a world.

        Raises:
            IapError: there is none.
        """
        if self.limits[world, k] == 0.0:
            raise IapError(f"remove_joint: there is no joint {k}")
        self.limits[world, k] = 0.0
        self.is_bonded[world] = bool(self.limits[world].any())

    def write(self, world: int, made: MuJoCoModel) -> None:
        """Write all joints of a world into its own model."""
        for k in np.flatnonzero(self.limits[world] > 0.0).tolist():
            places, q_AB = self.places[world, k], self.attitudes[world, k]
            bodies = (int(self.bodies[world, k, 0]), int(self.bodies[world, k, 1]))
            is_weld = bool(self.are_welds[world, k])
            write_bond(made.model, k, bodies, places, q_AB if is_weld else None)

    @property
    def changing(self) -> tuple[Array | Integers, ...]:
        """Arrays that change in flight."""
        switches: tuple[Any, ...] = (self.are_welds, self.is_bonded)
        return (self.limits, self.bodies, self.places, self.attitudes, *switches)
