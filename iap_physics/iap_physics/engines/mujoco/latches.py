# SPDX-License-Identifier: BSD-3-Clause
"""Latches of objects' hinges in MuJoCo's coordinates, the same in one world and in many."""

from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.world.hinge import latch_torque
from iap_description.world.world import World


class Latches(NamedTuple):
    """L latches in B worlds.

    Attributes:
        q_at: (L,) places of the angles that they hold in MuJoCo's qpos.
        v_at: (L,) in its qvel.
        lever_at: (L,) places of their levers' angles in qpos.
        numbers: (B, L, 4) see `Latch.numbers`.
    """

    q_at: Integers
    v_at: Integers
    lever_at: Integers
    numbers: Array

    @classmethod
    def of(cls, world: World, model: Any, bodies: list[int], batch: int) -> Self:  # noqa: ANN401
        """Those of a world whose objects are these bodies of MuJoCo's model, in so many worlds."""
        names, pairs = list(world.objects), []
        for k, item in enumerate(world.objects.values()):
            if item.hinge is not None and item.hinge.latch is not None:
                pairs.append((bodies[k], bodies[names.index(item.hinge.latch.lever)]))
        joints = model.body_jntadr[np.array(pairs, dtype=np.int64).reshape(-1, 2)]
        q_at, v_at = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        held = (q_at[:, 0].astype(np.int64), v_at[:, 0].astype(np.int64))
        lever_at = q_at[:, 1].astype(np.int64)
        return cls(*held, lever_at, np.repeat(latch_numbers(world)[None], batch, axis=0))


def latch_numbers(world: World) -> Array:
    """(L, 4) numbers of a world's latches, see `Latch.numbers`."""
    hinges = [item.hinge for item in world.objects.values() if item.hinge is not None]
    rows = [hinge.latch.numbers for hinge in hinges if hinge.latch is not None]
    return np.array(rows).reshape(-1, 4)


@njit(cache=True)
def push_latches(latches: Latches, w: int, qpos: Array, qvel: Array, forces: Array) -> None:
    """Write what latches of a world do in the next step into MuJoCo's forces on coordinates (nv,)."""
    for k in range(len(latches.q_at)):
        n, angle = latches.numbers[w, k], qpos[latches.q_at[k]]
        rate, lever = qvel[latches.v_at[k]], qpos[latches.lever_at[k]]
        forces[latches.v_at[k]] = latch_torque((n[0], n[1], n[2], n[3]), angle, rate, lever)
