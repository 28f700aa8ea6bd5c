# SPDX-License-Identifier: BSD-3-Clause
"""Many MuJoCo worlds as compiled code takes them, and its way to the numbers in MuJoCo's memory."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numba import carray, njit

from iap_description.arrays import Array, Integers
from iap_description.math.pointers import pointer
from iap_description.states import STATE_SIZE
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_physics.engines.engine import RUNNING
from iap_physics.engines.joint_resistance import JointResistance, joint_resistance
from iap_physics.engines.mujoco.arm_joints import ArmJoints
from iap_physics.engines.mujoco.latches import Latches
from iap_physics.engines.mujoco.layout import DataLayout
from iap_physics.engines.mujoco.model import MuJoCoModel
from iap_physics.engines.mujoco.tree import Tree
from iap_physics.engines.mujoco.world_bonds import WorldBonds


class NativeWorlds(NamedTuple):
    """B worlds as compiled code takes them; arrays are the engine's own.

    Attributes:
        models: (B,) addresses of MuJoCo's models, all of the same sizes.
        layout: of MuJoCo's data.
        rows: (bodies,) MuJoCo's body of every state row.
        tree: of the bodies.
        joints: that resist.
        arms: joints of arms.
        latches: of objects.
        bonds: joints that are added in flight.
        geom_bodies: (geoms,) MuJoCo's body of every geom.
        owners: (MuJoCo's bodies,) state row, `WORLD` or object.
        vehicles: (MuJoCo's bodies,) number of the vehicle that a body belongs to, or -1.
        measured: (M,) state rows on which contacts are measured.
        qpos: (B, nq) coordinates.
        qvel: (B, nv) velocities.
        warmstart: (B, nv) accelerations from which the solver begins.
        constraint: (B, nv) forces of constraints on coordinates in the last step.
        arms_P: (B, bodies, 3) `p_PJ_P` of each world's tree [m].
        arms_C: (B, bodies, 3) likewise `p_CJ_C`.
        first_rows: (vehicles,) state rows of central bodies.
        endings: (vehicles, objects + 1, 2) status of a world in which a vehicle touches the ground or scene, or an
            object, by its central body or by another one; `RUNNING` where it may.
        touched: (B,) such a status, of the contacts of the last step.
        culprits: (B,) number of the vehicle to which `touched` is due, or that has diverged.
        felt: (B, M, 6) sums over steps of the wrenches of contacts on the measured bodies about their CoMs, world axes.
        x: (B, bodies, 13) states.
        status: (B,) of the worlds.
        step_counts: (B,) steps of every world since its own reset.
        times: (B,) sums of the lengths of these steps [s].
    """

    models: Integers
    layout: DataLayout
    rows: Integers
    tree: Tree
    joints: JointResistance
    arms: ArmJoints
    latches: Latches
    bonds: WorldBonds
    geom_bodies: Integers
    owners: Integers
    vehicles: Integers
    measured: Integers
    qpos: Array
    qvel: Array
    warmstart: Array
    constraint: Array
    arms_P: Array
    arms_C: Array
    first_rows: Integers
    endings: Integers
    touched: Integers
    culprits: Integers
    felt: Array
    x: Array
    status: Integers
    step_counts: Integers
    times: Array

    @classmethod
    def of(
        cls,
        world: World,
        made: MuJoCoModel,
        assemblies: Sequence[Assembly],
        data: Any,  # noqa: ANN401
        batch: int,
    ) -> Self:
        """So many worlds of a model that stand nowhere yet, measured nowhere; `data` is MuJoCo's of one."""
        model, tree = made.model, Tree.of(assemblies, made.model, made.bodies)
        sizes = [len(assembly.bodies) for assembly in assemblies[:-1]]
        constraint, qvel, warmstart = np.zeros((3, batch, model.nv))
        return cls(
            models=np.full(batch, model._address, dtype=np.int64),
            layout=DataLayout.of(data),
            rows=np.array(made.bodies, dtype=np.int64),
            tree=tree,
            joints=joint_resistance(assemblies),
            arms=ArmJoints.of(assemblies, model, made.arms, batch),
            latches=Latches.of(world, model, made.objects, batch),
            bonds=WorldBonds.of(model, batch),
            geom_bodies=model.geom_bodyid.astype(np.int64),
            owners=made.owners.astype(np.int64),
            vehicles=made.vehicles.astype(np.int64),
            measured=np.zeros(0, dtype=np.int64),
            qpos=np.zeros((batch, model.nq)),
            qvel=qvel,
            warmstart=warmstart,
            constraint=constraint,
            arms_P=np.repeat(tree.p_PJ_P[None], batch, axis=0),
            arms_C=np.repeat(tree.p_CJ_C[None], batch, axis=0),
            first_rows=np.cumsum([0, *sizes], dtype=np.int64),
            endings=np.zeros((0, 0, 2), dtype=np.int64),
            touched=np.zeros(batch, dtype=np.int64),
            culprits=np.zeros(batch, dtype=np.int64),
            felt=np.zeros((batch, 0, 6)),
            x=np.zeros((batch, len(made.bodies), STATE_SIZE)),
            status=np.full(batch, RUNNING, dtype=np.int64),
            step_counts=np.zeros(batch, dtype=np.int64),
            times=np.zeros(batch),
        )


@njit(cache=True)
def switches(data: int, offset: int, count: int) -> Array:
    """Some bytes to which a field of MuJoCo's data points."""
    address = carray(pointer(data + offset), 1, np.int64)[0]
    return carray(pointer(address), count, np.uint8)


@njit(cache=True)
def numbers(data: int, offset: int, count: int) -> Array:
    """Some numbers to which a field of MuJoCo's data points."""
    address = carray(pointer(data + offset), 1, np.int64)[0]
    return carray(pointer(address), count, np.float64)
