# SPDX-License-Identifier: BSD-3-Clause
"""Latches of many worlds: each world's own `Latches`, called where anything is near or held."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math import so3
from iap_description.states import STATE_SIZE, P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import Ends, Latch
from iap_description.world.objects import WorldObject
from iap_physics.engines.engine import RUNNING, WORLD
from iap_physics.latching.kernel import CAUGHT, LOCKED, OPEN
from iap_physics.latching.latches import Latches
from iap_physics.latching.working_latch import LatchingEngine
from iap_physics.plant.part import PlantPart

ROUNDING = 1e-9  # [m] by which depths are wider here than those by which latches decide


@runtime_checkable
class LatchingBatch(Protocol):
    """An engine of many worlds in which latches join bodies in flight."""

    status: Integers

    @property
    def felt(self) -> Array:
        """(B, M, 6) sums of contact wrenches over steps on measured rows, world axes."""

    @property
    def measured(self) -> Integers:
        """(M,) these rows."""

    def world(self, number: int) -> LatchingEngine:
        """One of the worlds."""


class BatchLatches(PlantPart):
    """Latches in each of B worlds.

    Args:
        engine: of the worlds, loaded.
        latches: by their names.
        assemblies: of the vehicles of all worlds, in the engine's order.
        ends: of every vehicle's central body.
        objects: of the world.
    """

    def __init__(
        self,
        engine: LatchingBatch,
        latches: Mapping[str, Latch],
        assemblies: Sequence[Assembly],
        ends: Sequence[Ends],
        objects: Mapping[str, WorldObject],
    ) -> None:
        self._engine, self._ends, self._objects = engine, tuple(ends), dict(objects)
        batch = len(engine.status)
        self._worlds = [
            Latches(engine.world(world), latches, assemblies, ends, objects)
            for world in range(batch)
        ]
        self._phases = np.zeros((batch, len(latches)), dtype=np.int64)
        self._acts = np.zeros(batch, dtype=bool)  # on bodies in the present step
        self._sums = np.zeros_like(engine.felt)
        self._rows = [each.rows for each in self._worlds[0].working]
        count = len(latches)
        self._positions = np.zeros(
            (count, 2, batch, 3)
        )  # of probes and sockets on their bodies [m]
        self._axes = np.zeros((count, batch, 3))  # of sockets there
        self._standing = np.zeros((count, batch, STATE_SIZE))  # objects that are sockets
        self._depths = np.zeros((count, batch))  # at which they catch [m]
        self._is_timed = any(latch.release is not None for latch in latches.values())

    @property
    def phase_numbers(self) -> Integers:
        """(B, latches) phases, as `kernel` numbers them."""
        return self._phases

    def of_world(self, world: int) -> Latches:
        """The latches of a world."""
        return self._worlds[world]

    def set_world(
        self, world: int, latches: Mapping[str, Latch], assemblies: Sequence[Assembly]
    ) -> None:
        """Give one world latches and vehicles of its own, from its next reset on."""
        made = self._engine.world(world)
        self._worlds[world] = Latches(made, latches, assemblies, self._ends, self._objects)

    def reset(self, x: Array, worlds: Integers) -> None:
        """All latches of some worlds are open."""
        for world in worlds.tolist():
            latches = self._worlds[world]
            latches.reset()
            for k, each in enumerate(latches.working):
                self._positions[k, :, world] = [port.position for port in each.ports]
                self._axes[k, world] = each.ports[1].axis
                self._standing[k, world] = each.standing
                self._depths[k, world] = each.parameters.depth
        self._phases[worlds] = OPEN

    def begin_period(self, k: int, t: float) -> None:
        """Begin new sums of what vehicles feel."""
        if self._sums.shape != self._engine.felt.shape:
            self._sums = np.zeros_like(self._engine.felt)
        self._sums[:] = 0.0

    def before_steps(self, x: Array, wrenches: Array, times: Array, dt: float) -> None:
        """Catch and lock, and add the wrenches of dampers for the coming step.

        Args:
            x: (B, bodies, 13) state rows.
            wrenches: (B, bodies, 6) on the bodies about their CoMs, world axes, which are added to.
            times: (B,) at its start [s].
            dt: its length [s].
        """
        self._engine.felt[:] = 0.0
        for world in np.flatnonzero(self._is_busy(x)).tolist():
            latches = self._worlds[world]
            latches.before_step(x[world], wrenches[world], float(times[world]), dt)
            self._phases[world] = latches.numbers
        holds = (self._phases == CAUGHT) | (self._phases == LOCKED)
        self._acts = holds.any(axis=1) & (self._engine.status == RUNNING)

    def end_steps(self, before: Array, times: Array) -> None:
        """Read what locks have borne in the step since states (B, bodies, 13), which ends at times (B,) [s]."""
        rows = self._engine.measured.tolist()
        for world in np.flatnonzero(self._acts).tolist():
            latches = self._worlds[world]
            latches.end_step(before[world], float(times[world]))
            self._phases[world] = latches.numbers
            for m, row in enumerate(rows):
                latches.add_reaction(row, before[world], self._sums[world, m])
        self._sums += self._engine.felt
        self._engine.felt[:] = self._sums

    def _is_busy(self, x: Array) -> Booleans:
        """(B,) whether a latch of a running world does anything, or might in this step."""
        busy = ((self._phases != OPEN) & (self._phases != LOCKED)).any(axis=1)
        if self._is_timed:
            busy |= (self._phases == LOCKED).any(axis=1)
        for k in range(self._phases.shape[1]):
            busy |= (self._phases[:, k] == OPEN) & self._is_deep(x, k)
        return np.asarray(busy & (self._engine.status == RUNNING))

    def _is_deep(self, x: Array, k: int) -> Booleans:
        """(B,) whether the probe of a latch is as deep as this needs."""
        a, b = self._rows[k]
        x_s = self._standing[k] if b == WORLD else x[:, b]
        ends = x[:, a, P] + so3.rotate(x[:, a, Q], self._positions[k, 0])
        mouths = x_s[:, P] + so3.rotate(x_s[:, Q], self._positions[k, 1])
        axes = so3.rotate(x_s[:, Q], self._axes[k])
        depths = -((ends - mouths) * axes).sum(axis=1)
        return np.asarray(depths >= self._depths[k] - ROUNDING)
