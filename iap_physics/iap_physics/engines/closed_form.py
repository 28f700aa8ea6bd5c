# SPDX-License-Identifier: BSD-3-Clause
"""Free flight by its equations of motion, one world or a batch: exact, fast, without contact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Integers
from iap_description.errors import FlightFailed, IapError
from iap_description.states import STATE_SIZE
from iap_description.vehicles.assembly import Assembly
from iap_description.world.objects import WorldObject
from iap_description.world.world import World
from iap_physics.engines.contactless import ContactlessEngine
from iap_physics.engines.engine import RUNNING, world_indices
from iap_physics.engines.joint_resistance import resist, resisting_joints
from iap_physics.engines.joints import at_rest, check_start
from iap_physics.engines.rigid_model import RigidModel, step_batch


class StepClock(NamedTuple):
    """Time as a number of equal steps after a beginning, so that a time does not depend on how it was reached.

    Attributes:
        begin: [s].
        steps: since then.
        dt: their length [s].
    """

    begin: float = 0.0
    steps: int = 0
    dt: float = 0.0

    @property
    def t(self) -> float:
        """Present time [s]."""
        return self.begin + self.steps * self.dt

    def after(self, steps: int, dt: float) -> "StepClock":
        """Clock some steps of a length [s] later."""
        if dt == self.dt:
            return StepClock(self.begin, self.steps + steps, dt)
        return StepClock(self.t, steps, dt)


@dataclass(frozen=True)
class ClosedFormSnapshot:
    """State for `restore`: time, states, status and steps of all worlds."""

    clock: StepClock
    x: Array
    status: Integers
    step_counts: Integers


class ClosedFormEngine(ContactlessEngine):
    """The model of `rigid_motion`: vehicles pass through each other and through everything else.

    Attributes:
        gravity: [m/s^2], along -z.
        parts: assembly, first state row and model of every vehicle.
        has_resistance: whether a joint has friction or a stop.
        step_counts: (B,) physics steps of every world since its own reset.
        raises: whether the end of the only world is an exception, and not a status as in a batch.
    """

    refusal = "the closed-form engine {}; use the pybullet engine"

    def __init__(self, *, batch: int = 1, raises: bool = True) -> None:
        """Prepare for a batch of equal worlds; `load` fills them."""
        self.batch, self.raises = batch, raises and batch == 1
        self._set_clock(StepClock())
        self.status = np.full(batch, RUNNING, dtype=np.int64)
        self.step_counts = np.zeros(batch, dtype=np.int64)
        self._assemblies: tuple[Assembly, ...] = ()
        self._own: dict[int, tuple[Assembly, ...]] = {}
        self._objects: tuple[WorldObject, ...] = ()

    def load(self, world: World, assemblies: Sequence[Assembly], x: Array | None = None) -> None:
        """Take gravity from the world and a rigid model of each assembly."""
        self._assemblies, self._own = tuple(assemblies), {}
        self.gravity = world.gravity
        self._objects = tuple(world.objects.values())
        sizes = [len(assembly.bodies) for assembly in assemblies]
        firsts = np.cumsum([0, *sizes[:-1]]).tolist()
        models = [RigidModel.of(assembly) for assembly in assemblies]
        self.parts = list(zip(assemblies, firsts, models, strict=True))
        self._resisting = resisting_joints(assemblies)
        self.has_resistance = bool(self._resisting)
        self._wrenches = np.zeros((self.batch, sum(sizes), 6))
        self._x = np.repeat(at_rest(assemblies)[None], self.batch, axis=0)
        self._x_before = self._x.copy()
        self.reset(self._x if x is None else x)

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:
        """Start worlds anew from states (worlds, bodies, 13)."""
        indices = world_indices(worlds, self.batch)
        assemblies = [self._own.get(world) for world in indices.tolist()] if self._own else []
        self._x[indices] = check_start(self._assemblies, x, len(indices), assemblies)
        self._wrenches[indices] = 0.0
        self.status[indices], self.step_counts[indices] = RUNNING, 0
        if worlds is None:
            self._set_clock(StepClock())

    def set_assembly(self, world: int, assembly: Assembly) -> RigidModel:
        """Let one world hold an assembly of its own, like the one that is loaded but for its numbers.

        From then on `blocks.free_flight` must step all worlds. It counts from the world's next reset on.
        """
        self._own[world] = (assembly,)
        return RigidModel.of(assembly)

    def snapshot(self) -> ClosedFormSnapshot:
        """Time, states, status and steps of all worlds."""
        return ClosedFormSnapshot(
            self._clock, self._x.copy(), self.status.copy(), self.step_counts.copy()
        )

    def restore(self, snapshot: object) -> None:
        """Return to a snapshot."""
        if not isinstance(snapshot, ClosedFormSnapshot) or snapshot.x.shape != self._x.shape:
            raise IapError("restore: the snapshot is not of this engine")
        self._set_clock(snapshot.clock)
        self._x[:] = snapshot.x
        self.status[:], self.step_counts[:] = snapshot.status, snapshot.step_counts
        self._wrenches[:] = 0.0

    def apply(self, wrenches_W: Array) -> None:
        """Set the wrenches (B, bodies, 6) of the next step."""
        self._wrenches[:] = wrenches_W

    def step(self, dt: float) -> None:
        """Advance every running world by `dt` [s]; one that diverges keeps its last state."""
        self.check_flies()
        if self._own:
            raise IapError("the closed-form engine steps equal worlds only")
        self._x_before[:] = self._x
        for joints in self._resisting:
            resist(self._x, self._wrenches, joints, dt, self.status)
        for assembly, first, model in self.parts:
            if not step_batch(
                self._x, self._wrenches, first, model, self.gravity, dt, self.status
            ):
                self._end_diverged(assembly.name, dt)
        self._wrenches[:] = 0.0
        self.step_counts += self.status == RUNNING
        self.pass_time(1, dt)

    def pass_time(self, steps: int, dt: float) -> None:
        """Let the clock go on by some steps of a length [s]."""
        self._set_clock(self._clock.after(steps, dt))

    def _set_clock(self, clock: StepClock) -> None:
        self._clock, self.t = clock, clock.t

    def check_flies(self) -> None:
        """Refuse to go on with a single world that has ended.

        Raises:
            FlightFailed: it has.
        """
        if self.raises and self.status[0] != RUNNING:
            raise FlightFailed("diverged", self.t, "the flight has ended already: reset it")

    def fail(self, name: str, dt: float) -> None:
        """End the flight of a single world in the step from now on.

        Raises:
            FlightFailed: always.
        """
        raise FlightFailed("diverged", self.t + dt, f"the state of '{name}' is not finite")

    def _end_diverged(self, name: str, dt: float) -> None:
        has_ended = self.status != RUNNING
        self._x[has_ended] = self._x_before[has_ended]
        if self.raises:
            self.fail(name, dt)

    def state(self) -> Array:
        """(B, bodies, 13) the present states."""
        return self._x

    def object_states(self) -> Array:
        """Objects where they stand, or where their motion has brought them."""
        return np.array([item.row(self.t) for item in self._objects]).reshape(-1, STATE_SIZE)
