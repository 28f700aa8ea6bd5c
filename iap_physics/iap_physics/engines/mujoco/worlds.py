# SPDX-License-Identifier: BSD-3-Clause
"""Many equal MuJoCo worlds with contact, stepped by MuJoCo's own threads.

Each world is a row of numbers that MuJoCo's batch loads, steps and saves again; nothing of one world depends on
another, or on how many there are. What `stepping` mends of contacts that slide is not mended here, since a batch
gives no way to do it: they rattle, with the right mean force.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import FlightFailed, IapError
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_physics.engines.engine import (
    DIVERGED,
    JOINT_FORCE,
    RUNNING,
    Contact,
    Engine,
    world_indices,
)
from iap_physics.engines.joint_resistance import resist, resisting_joints
from iap_physics.engines.joints import at_rest, check_joint_types, check_start
from iap_physics.engines.mujoco.library import mj, mj_batch
from iap_physics.engines.mujoco.model import FIRST_STEP, JOINTS, build
from iap_physics.engines.mujoco.objects import Objects
from iap_physics.engines.mujoco.points import ContactPoints
from iap_physics.engines.mujoco.rays import cast
from iap_physics.engines.mujoco.tree import Tree, read_states

_REFUSAL = "worlds of a batch take no joints in flight; use the mujoco engine"


@dataclass(frozen=True)
class MuJoCoWorldsSnapshot:
    """State of all worlds for `restore`."""

    t: float
    x: Array
    status: Integers
    step_counts: Integers
    state: Array


class MuJoCoWorlds(Engine):
    """A batch of worlds, each as that of `MuJoCoEngine` but for contacts that slide and joints added in flight.

    `contacts`, `object_states` and `ray_cast` tell of the first world.

    Args:
        batch: number of worlds.
        threads: that step them; 0 takes all processors.
        raises: whether the end of the only world is an exception, and not a status as in a batch.
    """

    def __init__(self, *, batch: int, threads: int = 1, raises: bool = True) -> None:
        self.batch, self._threads, self._raises = batch, threads, raises and batch == 1
        self.t = 0.0
        self.status = np.full(batch, RUNNING, dtype=np.int64)
        self.step_counts = np.zeros(batch, dtype=np.int64)

    def load(self, world: World, assemblies: Sequence[Assembly]) -> None:
        """Build the world; every vehicle rests at the origin in all of them."""
        self._assemblies = tuple(assemblies)
        for assembly in assemblies:
            check_joint_types(assembly, "mujoco in a batch", JOINTS)
        self._made = made = build(world, self._assemblies)
        made.set_step(FIRST_STEP)
        self._dt = FIRST_STEP
        self._tree = Tree.of(assemblies, made.model, made.bodies)
        self._objects = Objects.of(world, made)
        self._resisting = resisting_joints(assemblies)
        self._x = np.repeat(at_rest(self._assemblies)[None], self.batch, axis=0)
        self._wrenches = np.zeros((self.batch, len(made.bodies), 6))
        self._rows, self._has_forces = np.array(made.bodies), np.zeros(self.batch, dtype=bool)
        self._begin()
        self.reset(self._x.copy())

    def _begin(self) -> None:
        """Make MuJoCo's batch of the model as it is."""
        self._worlds: Any = mj_batch.Batch(self._made.model, self.batch, self._threads)
        names = ("qpos", "qvel", "xfrc_applied", "qfrc_constraint")
        self._qpos, self._qvel, self._loads, self._constraint = map(self._worlds.bind, names)

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:
        """Start worlds anew from states (worlds, bodies, 13)."""
        indices = world_indices(worlds, self.batch)
        self._x[indices] = check_start(self._assemblies, x, len(indices))
        self._worlds.reset(np.sort(indices), stage=mj.mjtStage.mjSTAGE_NONE)
        for world in indices:
            self._tree.put(self._x[world], self._qpos[world], self._qvel[world])
        self._wrenches[indices], self._has_forces[indices] = 0.0, False
        self.status[indices], self.step_counts[indices] = RUNNING, 0
        if worlds is None:
            self.t = 0.0

    def snapshot(self) -> MuJoCoWorldsSnapshot:
        """Time, states and MuJoCo's own rows."""
        own = (self._x.copy(), self.status.copy(), self.step_counts.copy())
        return MuJoCoWorldsSnapshot(self.t, *own, self._worlds.state.copy())

    def restore(self, snapshot: object) -> None:
        """Return to a snapshot."""
        if not isinstance(snapshot, MuJoCoWorldsSnapshot) or snapshot.x.shape != self._x.shape:
            raise IapError("restore: the snapshot is not of this engine")
        self.t = snapshot.t
        self._x[:], self._worlds.state[:] = snapshot.x, snapshot.state
        self.status[:], self.step_counts[:] = snapshot.status, snapshot.step_counts
        self._wrenches[:], self._has_forces[:] = 0.0, False

    def apply(self, wrenches_W: Array) -> None:
        """Set the wrenches (B, bodies, 6) of the next step."""
        self._wrenches[:] = wrenches_W

    def step(self, dt: float) -> None:
        """Advance every running world by `dt` [s]; one that diverges keeps its last state."""
        if self._raises and self.status[0] != RUNNING:
            raise FlightFailed("diverged", self.t, "the flight has ended already: reset it")
        if dt != self._dt:
            self._set_step(dt)
        self._prescribe()
        for joints in self._resisting:
            resist(self._x, self._wrenches, joints, dt, self.status)
        self._drop(~_load(self._wrenches, self._rows, self._loads))
        running = self.status == RUNNING
        self._worlds.step(None if running.all() else running)
        self._has_forces[running] = True
        self._drop(~_read(self._tree, self._qpos, self._qvel, self._x, running))
        self._wrenches[:] = 0.0
        self.step_counts += self.status == RUNNING
        self.t += dt

    def state(self) -> Array:
        """(B, bodies, 13) the present states."""
        return self._x

    def contact_forces(self, vehicle: int = 0) -> Array:
        """(B, 3) force [N] of the last step's contacts on a whole vehicle, world axes."""
        first = sum(len(assembly.bodies) for assembly in self._assemblies[:vehicle])
        at = self._tree.v_at[first]
        return np.where(self._has_forces[:, None], self._constraint[:, at : at + 3], 0.0)

    def contacts(self) -> list[Contact]:
        """Contact points of the first world, without forces."""
        return ContactPoints.of(self._made, self._first(), has_forces=False).listed(self._made)

    def contact_wrench(self, row: int) -> Array:
        """Refuse: see `contact_forces`."""
        raise IapError(
            "worlds of a batch tell contact_forces of vehicles, not contact wrenches of bodies"
        )

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of the first world's objects."""
        t = self._dt * int(self.step_counts[0])
        return self._objects.states(self._qpos[0], self._qvel[0], t)

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray at its first hit in the first world."""
        return cast(self._made.model, self._first(), starts_W, ends_W, world_only=world_only)

    def add_joint(
        self,
        body_a: int,
        body_b: int,
        p_AJ_A: Array,
        p_BJ_B: Array,
        *,
        type: str = "spherical",
        max_force: float = JOINT_FORCE,
        q_AB: Array | None = None,
    ) -> int:
        """Refuse."""
        raise IapError(_REFUSAL)

    def remove_joint(self, handle: int) -> None:
        """Refuse."""
        raise IapError(_REFUSAL)

    def let_pass(self, body_a: int, body_b: int, *, passes: bool) -> None:
        """Refuse."""
        raise IapError(_REFUSAL)

    def joint_wrench(self, handle: int) -> Array:
        """Refuse: there are none."""
        raise IapError(_REFUSAL)

    def close(self) -> None:
        """Nothing is held but memory."""

    def _set_step(self, dt: float) -> None:
        """Take another length of a step, for which MuJoCo's batch needs another model."""
        self._made.set_step(dt)
        self._dt = dt
        state = self._worlds.state.copy()
        self._begin()
        self._worlds.state[:] = state

    def _prescribe(self) -> None:
        if not self._objects.has_motion:
            return
        for count in np.unique(self.step_counts):
            for world in np.flatnonzero(self.step_counts == count):
                self._objects.prescribe(
                    self._qpos[world], self._qvel[world], self._dt * int(count), self._dt
                )

    def _drop(self, has_failed: Booleans) -> None:
        """End worlds that have diverged."""
        ended = has_failed & (self.status == RUNNING)
        self.status[ended] = DIVERGED
        self._wrenches[ended] = 0.0
        if self._raises and ended[0]:
            raise FlightFailed("diverged", self.t, "a wrench or a state is not finite")

    def _first(self) -> Any:  # noqa: ANN401
        """MuJoCo's data of the first world, with what touches there."""
        data = self._worlds.get_data(0)
        mj.mj_fwdPosition(self._made.model, data)
        return data


@njit(cache=True)
def _load(wrenches: Array, rows: Integers, loads: Array) -> Booleans:
    """Put wrenches (B, bodies, 6) on MuJoCo's bodies `rows`; flags (B,) of worlds in which all of them are finite."""
    is_sound = np.ones(len(wrenches), np.bool_)
    for b in range(len(wrenches)):
        for i in range(rows.size):
            for k in range(6):
                loads[b, rows[i], k] = wrenches[b, i, k]
                is_sound[b] &= np.isfinite(wrenches[b, i, k])
        if not is_sound[b]:
            loads[b] = 0.0
    return is_sound


@njit(cache=True)
def _read(tree: Tree, qpos: Array, qvel: Array, x: Array, running: Booleans) -> Booleans:
    """Take over the states of the running worlds (B,) that are sound; flags (B,) of all but the unsound."""
    is_sound = np.ones(len(x), np.bool_)
    before = np.empty(x.shape[1:])
    for b in range(len(x)):
        if running[b]:
            before[:] = x[b]
            is_sound[b] = read_states(tree, qpos[b], qvel[b], x[b]) < 0
            if not is_sound[b]:
                x[b] = before
    return is_sound
