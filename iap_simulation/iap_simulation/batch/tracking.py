# SPDX-License-Identifier: BSD-3-Clause
"""The controllers' side of many worlds: references, what is measured of the state, and commands."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iap_control.batch.controllers import Controllers
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.states import Command
from iap_physics.batch.threads import Threads
from iap_simulation.batch.arm_commanders import ArmCommander, LawArms, VehicleArms
from iap_simulation.batch.commanders import VehicleCommander, WorldInputs, commander_of
from iap_simulation.batch.references import References, ReferenceTable
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


class MixedActions(NamedTuple):
    """Some actions on B worlds, and which of them is each world's.

    Attributes:
        actions: references for the suite's controllers, or commands to the aircraft; their arrays have rows for all
            worlds, of which only those count that take the action.
        which: (B,) number of each world's action.
    """

    actions: tuple[References | Command, ...]
    which: Integers

    def checked(self, worlds: int) -> Integers:
        """The numbers of so many worlds' actions.

        Raises:
            BadInput: there are more or fewer, or there is no such action.
        """
        which, count = np.asarray(self.which), len(self.actions)
        if which.shape != (worlds,):
            raise BadInput(
                f"mixed actions: which has shape {which.shape}; {(worlds,)} is expected"
            )
        if not np.issubdtype(which.dtype, np.integer):
            raise BadInput("mixed actions: whole numbers are expected as which")
        if which.min() < 0 or which.max() >= count:
            range_text = f"which goes from {which.min()} to {which.max()}"
            raise BadInput(f"mixed actions: {range_text}, and there are {count} actions from 0 on")
        return which


def __getattr__(name: str) -> type[MixedActions]:
    """`Mixed` was the name of `MixedActions` up to 0.6."""
    if name != "Mixed":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("Mixed is MixedActions now", DeprecationWarning, stacklevel=2)
    return MixedActions


class Tracking:
    """The controllers' side of one vehicle in each of B worlds: references, and who turns them into commands.

    Args:
        scenario: resolved.
        number: of the vehicle in it.
        vehicle: made of it.
        batch: number of worlds.

    Attributes:
        table: references at all control instants; None where they are too many.
        rows: (B, 19 + N) present references, see `iap_description.states`.
        levels: (B,) what is tracked of them.
        wrenches_P: (B, 6) active wrenches [N, N m].
        commander: of all worlds.
        arm: commander of the vehicle's arm; None without one.
    """

    def __init__(self, scenario: Scenario, number: int, vehicle: Vehicle, batch: int) -> None:
        self._timeline = vehicle.timeline
        self.table = ReferenceTable.of(vehicle.timeline)
        self.rows = np.zeros((batch, vehicle.timeline.width))
        self.levels = np.zeros(batch, dtype=np.int64)
        self.wrenches_P, self._no_wrenches_P = np.zeros((2, batch, 6))
        self.commander = commander_of(scenario, scenario.vehicles[number], vehicle, batch)
        self.arm: ArmCommander | None = None
        if vehicle.arm is not None and isinstance(self.commander, VehicleCommander):
            self.arm = VehicleArms(self.commander.vehicles)
        elif vehicle.arm is not None:
            self.arm = LawArms(vehicle.arm, batch)

    @property
    def controllers(self) -> Controllers:
        """Controllers of all worlds.

        Raises:
            IapError: each world's vehicle has its own.
        """
        return self.commander.controllers

    def reset(self, worlds: Integers, seeds: Sequence[int], x: Array) -> None:
        """Forget what controllers remember of worlds that stand at their start.

        Args:
            worlds: (n,) numbers of these worlds.
            seeds: n of their flights.
            x: (n, 13) central bodies.
        """
        self.commander.reset(worlds, seeds, x)
        if self.arm is not None:
            self.arm.reset(worlds)

    def references(self, instants: Integers) -> References:
        """The scenario's references at control instants (B,); arrays that the next call overwrites."""
        now = np.minimum(instants, self._timeline.last)
        if self.table is not None:
            self.table.look_up(now, self.rows, self.levels)
        else:
            for k in np.unique(now).tolist():
                self.rows[now == k] = self._timeline.row(k)
                self.levels[now == k] = self._timeline.level(k)
        return References(self.rows, self.levels, self._no_wrenches_P)

    def reference_rows(self, instants: Integers) -> tuple[Array, Integers]:
        """Rows (K, 19 + N) of references, and which of them is each world's at control instants (B,)."""
        if self.table is None:
            return self.references(instants).rows, np.arange(len(instants))
        return self.table.rows, np.minimum(instants, self._timeline.last)

    def take(self, references: References) -> None:
        """Take references as the present ones.

        Raises:
            BadInput: an array has another shape.
        """
        arrays = references.checked(self.rows.shape)
        for present, array in zip((self.rows, self.levels, self.wrenches_P), arrays, strict=True):
            present[...] = array

    def command(
        self,
        references: References,
        inputs: WorldInputs,
        threads: Threads,
        worlds: Integers | None = None,
    ) -> Command:
        """The commands to all worlds, or to some alone.

        Raises:
            BadInput: an array of the references has another shape.
        """
        some = np.arange(len(self.rows)) if worlds is None else worlds
        return self.commander(references.checked(self.rows.shape), inputs, threads, some)

    def command_mixed(
        self, mixed: MixedActions, references: References, inputs: WorldInputs, threads: Threads
    ) -> list[tuple[Command, Booleans]]:
        """Commands of several actions, with the worlds (B,) that each is for, as a batch of one would be commanded.

        Args:
            mixed: the actions.
            references: the scenario's own; those that are given are written into them.
            inputs: what controllers go by.
            threads: that share the worlds.

        Raises:
            BadInput: an array has another shape, or there is no such action.
        """
        batch = len(self.rows)
        which, controlled = mixed.checked(batch), np.zeros(batch, bool)
        asked = references._replace(wrenches_P=self.wrenches_P)
        commands: list[tuple[Command, Booleans]] = []
        for number, action in enumerate(mixed.actions):
            mine = which == number
            if isinstance(action, Command):
                commands.append((action, mine))
                continue
            controlled |= mine
            for present, arrays in zip(asked, action.checked(self.rows.shape), strict=True):
                present[mine] = arrays[mine]
        if controlled.any():
            command = self.command(asked, inputs, threads, np.flatnonzero(controlled))
            commands.append((command, controlled))
        return commands
