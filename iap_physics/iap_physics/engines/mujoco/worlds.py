# SPDX-License-Identifier: BSD-3-Clause
"""Many MuJoCo worlds with contact, stepped by compiled code on threads.

Each world is a row of numbers; nothing of one world depends on another, or on how many there are.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Integers
from iap_description.errors import FlightFailed, IapError
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_physics.engines.batch_engine import Share
from iap_physics.engines.engine import (
    RUNNING,
    world_indices,
)
from iap_physics.engines.joints import at_rest, check_joint_types, check_start
from iap_physics.engines.mujoco.arm_joints import ArmBatch, arm_batches
from iap_physics.engines.mujoco.latches import latch_numbers
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.model import FIRST_STEP, JOINTS, MuJoCoModel, build, build_alike
from iap_physics.engines.mujoco.native import step_worlds
from iap_physics.engines.mujoco.native_worlds import NativeWorlds
from iap_physics.engines.mujoco.objects import Objects
from iap_physics.engines.mujoco.tree import Tree
from iap_physics.engines.mujoco.world_views import MuJoCoWorldViews


@dataclass(frozen=True)
class MuJoCoWorldsSnapshot:
    """State of all worlds for `restore`.

    Attributes:
        t: time since all worlds started [s].
        models: of each world.
        objects: likewise.
        own: assemblies of worlds that have some of their own, by their numbers.
        arrays: copies of all that changes in flight.
    """

    t: float
    models: tuple[MuJoCoModel, ...]
    objects: tuple[Objects, ...]
    own: dict[int, tuple[Assembly, ...]]
    arrays: tuple[Array | Integers, ...]


class MuJoCoWorlds(MuJoCoWorldViews):
    """A batch of worlds, each as that of `MuJoCoEngine` but for joints added in flight.

    `contacts`, `object_states` and `ray_cast` tell of the first world.

    Args:
        batch: number of worlds.
        share: function that has work done on all of so many worlds, on threads; None takes the caller's thread.
        raises: whether the end of the only world is an exception, and not a status as in a batch.

    Attributes:
        step_counts: (B,) physics steps of every world since its own reset.
        arm_batches: arms of vehicles by their numbers.
    """

    refusal = "worlds of a batch {}: use the mujoco engine"

    def __init__(self, *, batch: int, share: Share | None = None, raises: bool = True) -> None:
        self.batch, self.raises = batch, raises and batch == 1
        self._share = share or _alone
        self.t = 0.0
        self.arm_batches: dict[int, ArmBatch] = {}
        self._own: dict[int, tuple[Assembly, ...]] = {}  # of worlds that have some of their own
        self.status = np.full(batch, RUNNING, dtype=np.int64)
        self.step_counts = np.zeros(batch, dtype=np.int64)

    def load(self, world: World, assemblies: Sequence[Assembly], x: Array | None = None) -> None:
        """Build the world; without states, every vehicle rests at the origin in all of them."""
        self._assemblies = tuple(assemblies)
        for assembly in assemblies:
            check_joint_types(assembly, "mujoco in a batch", JOINTS, arms=True)
        made = build(world, self._assemblies)
        made.set_step(FIRST_STEP)
        self._dt, self._made, batch = FIRST_STEP, [made] * self.batch, self.batch
        self._first_made = made  # whose data all worlds are stepped in
        self._data: list[Any] = [mj.MjData(made.model)]
        self._objects, self._own = [Objects.of(world, made)] * batch, {}
        self._wrenches = np.zeros((batch, len(made.bodies), 6))
        self._has_forces = np.zeros(batch, dtype=bool)
        self.native = native = NativeWorlds.of(world, made, assemblies, self._data[0], batch)
        self.arm_batches = arm_batches(assemblies, native.arms, made.arms)
        self.status, self.step_counts = native.status, native.step_counts
        rest = np.repeat(at_rest(self._assemblies)[None], batch, axis=0)
        self.reset(rest if x is None else x)

    def set_world(self, index: int, world: World, assemblies: Sequence[Assembly]) -> None:
        """Give one world objects and vehicles of its own, from its next reset on.

        Args:
            index: number of the world.
            world: like that of all worlds, but for its numbers.
            assemblies: likewise, of all vehicles.

        Raises:
            BadInput: it has more or fewer bodies, joints or pieces.
        """
        made = build_alike(world, assemblies, self._first_made, self._data[0])
        made.set_step(self._dt)
        self._made[index], self._objects[index] = made, Objects.of(world, made)
        self._own[index] = tuple(assemblies)
        native, tree = self.native, Tree.of(assemblies, made.model, made.bodies)
        native.models[index] = made.model._address
        native.latches.numbers[index] = latch_numbers(world)
        native.arms_P[index], native.arms_C[index] = tree.p_PJ_P, tree.p_CJ_C

    def measure_contacts(self, rows: Sequence[int]) -> None:
        """Sum up what contacts do to these state rows, in `felt`."""
        felt = np.zeros((self.batch, len(rows), 6))
        measured = np.array(rows, dtype=np.int64)
        self.native = self.native._replace(measured=measured, felt=felt)

    @property
    def measured(self) -> Integers:
        """(M,) the rows that `felt` is about."""
        return self.native.measured

    def watch(self, endings: Integers) -> None:
        """Look at what vehicles touch, see `NativeWorlds.endings` and `touched`."""
        self.native = self.native._replace(endings=endings)

    @property
    def touched(self) -> Integers:
        """(B,) status that contacts of the last control period's end bring about, `RUNNING` where none does."""
        return self.native.touched

    @property
    def culprits(self) -> Integers:
        """(B,) number of the vehicle to which a status is due; whoever ends a world writes it."""
        return self.native.culprits

    @property
    def felt(self) -> Array:
        """(B, M, 6) sums over steps of contact wrenches on the measured rows about their CoMs, world axes."""
        return self.native.felt

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:
        """Start worlds anew from states (worlds, bodies, 13)."""
        indices, native = world_indices(worlds, self.batch), self.native
        own = [self._own.get(world) for world in indices.tolist()] if self._own else []
        native.x[indices] = check_start(self._assemblies, x, len(indices), own)
        for world in indices.tolist():
            native.qpos[world] = self._made[world].model.qpos0
            native.qvel[world] = native.warmstart[world] = native.constraint[world] = 0.0
            native.tree.put(native.x[world], native.qpos[world], native.qvel[world])
        native.arms.reset(indices, native.qpos)
        native.felt[indices], native.touched[indices], native.culprits[indices] = 0.0, RUNNING, 0
        self._wrenches[indices], self._has_forces[indices] = 0.0, False
        native.bonds.clear(indices)
        self.status[indices], self.step_counts[indices] = RUNNING, 0
        self.native.times[indices] = 0.0
        if worlds is None:
            self.t = 0.0

    @property
    def _changing(self) -> tuple[Array | Integers, ...]:
        """All arrays that change in flight."""
        n = self.native
        states = (n.qpos, n.qvel, n.warmstart, n.constraint, n.touched, n.culprits, n.felt, n.x)
        own = (n.arms_P, n.arms_C, n.latches.numbers)  # of worlds with such of their own
        return (
            *states,
            *own,
            *n.arms.changing,
            *n.bonds.changing,
            self.status,
            self.step_counts,
            n.times,
            self._has_forces,
        )

    def snapshot(self) -> MuJoCoWorldsSnapshot:
        """Time, states, models and warm starts; worlds go on from it bit for bit, in contact too."""
        arrays = tuple(each.copy() for each in self._changing)
        made, objects = tuple(self._made), tuple(self._objects)
        return MuJoCoWorldsSnapshot(self.t, made, objects, dict(self._own), arrays)

    def restore(self, snapshot: object) -> None:
        """Return to a snapshot."""
        if not isinstance(snapshot, MuJoCoWorldsSnapshot) or any(
            there.shape != here.shape
            for there, here in zip(snapshot.arrays, self._changing, strict=True)
        ):
            raise IapError("restore: the snapshot is not of this engine")
        self.t, self._made = snapshot.t, list(snapshot.models)
        self._objects, self._own = list(snapshot.objects), dict(snapshot.own)
        self.native.models[:] = [made.model._address for made in self._made]
        for here, there in zip(self._changing, snapshot.arrays, strict=True):
            here[:] = there
        for world in np.flatnonzero(self.native.bonds.is_bonded).tolist():
            self.native.bonds.write(world, self._made[world])
        self._wrenches[:] = 0.0

    def own_model(self, world: int) -> MuJoCoModel:
        """The model of a world, which no other has from now on, so that joints can be added in it."""
        made = self._made[world]
        if sum(each is made for each in self._made) > 1:
            made = replace(made, model=copy.copy(made.model))
            self._made[world] = made
            self.native.models[world] = made.model._address
        return made

    def apply(self, wrenches_W: Array) -> None:
        """Set the wrenches (B, bodies, 6) of the next step."""
        self._wrenches[:] = wrenches_W

    def step(self, dt: float) -> None:
        """Advance every running world by `dt` [s]; one that diverges keeps its last state."""
        native, wrenches = self.native, self._wrenches
        self.begin(dt)
        self.run(partial(step_worlds, native, wrenches, dt))
        self.end(1)
        wrenches[:] = 0.0

    def begin(self, dt: float) -> None:
        """Make ready for steps of `dt` [s] by compiled code; of worlds with objects that move as prescribed for one.

        Raises:
            FlightFailed: the only world of an engine has ended.
        """
        if self.raises and self.status[0] != RUNNING:
            raise FlightFailed("diverged", self.t, "the flight has ended already: reset it")
        if dt != self._dt:
            self._set_step(dt)
        self._prescribe()
        self._has_forces |= self.status == RUNNING

    def run(self, work: Callable[[int, int, int], object]) -> None:
        """Share out the worlds: do work on worlds first to last - 1, with MuJoCo's data at an address."""

        def stretch(first: int, last: int) -> None:
            try:
                data = self._data.pop()
            except IndexError:
                data = mj.MjData(self._first_made.model)
            work(first, last, data._address)
            self._data.append(data)

        self._share(stretch, self.batch)

    def end(self, steps: int) -> None:
        """Take note of steps that were made.

        Raises:
            FlightFailed: the only world of an engine has diverged.
        """
        self.t += steps * self._dt
        if self.raises and self.status[0] != RUNNING:
            raise FlightFailed("diverged", self.t, "a wrench or a state is not finite")

    @property
    def has_motion(self) -> bool:
        """True if objects move as prescribed, so that compiled code makes one step at a time."""
        return any(each.has_motion for each in self._objects)

    def state(self) -> Array:
        """(B, bodies, 13) the present states."""
        return self.native.x

    def contact_forces(self, vehicle: int = 0) -> Array:
        """(B, 3) force [N] of the last step's contacts on a whole vehicle, world axes."""
        first = self.native.first_rows[vehicle]
        at = self.native.tree.v_at[first]
        return np.where(self._has_forces[:, None], self.native.constraint[:, at : at + 3], 0.0)

    def _set_step(self, dt: float) -> None:
        """Take another length of a step."""
        for made in {id(each): each for each in self._made}.values():
            made.set_step(dt)
        self._dt = dt

    def _prescribe(self) -> None:
        """Place what moves as prescribed, for one step."""
        if not self.has_motion:
            return
        qpos, qvel = self.native.qpos, self.native.qvel
        for world, objects in enumerate(self._objects):
            objects.prescribe(qpos[world], qvel[world], float(self.native.times[world]), self._dt)


def _alone(work: Callable[[int, int], object], batch: int) -> None:
    """Do work on all worlds in the caller's thread."""
    work(0, batch)
