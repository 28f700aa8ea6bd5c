# SPDX-License-Identifier: BSD-3-Clause
"""The controllers' side of many worlds: references, what is measured of the state, and commands."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iap_control.batch.controllers import Controllers
from iap_control.batch.records import Setpoints
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_description.states import STATE_SIZE, Command
from iap_physics.batch.threads import Threads
from iap_physics.measured.state_noise import NoisyStates
from iap_simulation.batch.references import References, ReferenceTable
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.parts import STATE_NOISE
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
    """References, measured states and controllers of the only vehicle in each of B worlds.

    Args:
        scenario: resolved.
        vehicle: of it.
        batch: number of worlds.

    Attributes:
        table: references at all control instants; None where they are too many.
        rows: (B, 19 + N) present references, see `iap_description.states`.
        levels: (B,) what is tracked of them.
        wrenches_P: (B, 6) active wrenches [N, N m].
        controllers: of all worlds.
    """

    def __init__(self, scenario: Scenario, vehicle: Vehicle, batch: int) -> None:
        (spec,) = scenario.vehicles
        self._timeline = vehicle.timeline
        self.table = ReferenceTable.of(vehicle.timeline)
        self.rows = np.zeros((batch, vehicle.timeline.width))
        self.levels = np.zeros(batch, dtype=np.int64)
        self.wrenches_P, self._no_wrenches_P = np.zeros((2, batch, 6))
        gains, yaw = spec.control.gains, spec.control.yaw
        law = (vehicle.model, gains)
        self.controllers = Controllers(*law, batch=batch, dt=scenario.dt, yaw_mode=yaw)
        self._stream = STATE_NOISE.format(spec.name)
        streams = [np.random.default_rng(0)] * batch
        self._noise = NoisyStates(spec.state_noise, streams, scenario.dt)
        self._measured = np.zeros((batch, STATE_SIZE))

    @property
    def measures_truth(self) -> bool:
        """Controllers see the states as they are, without noise."""
        return self._noise.is_zero

    @property
    def position_bias(self) -> Array:
        """(B, 3) of measured places in the present flights [m]."""
        return self._noise.position_bias

    def reset(self, worlds: Integers, seeds: Sequence[int], x: Array) -> None:
        """Forget what controllers remember of worlds that stand at their start.

        Args:
            worlds: (n,) numbers of these worlds.
            seeds: n of their flights.
            x: (n, 13) central bodies.
        """
        self.controllers.reset(worlds)
        if not self.measures_truth:
            self._noise.reset(worlds, [stream(seed, self._stream) for seed in seeds])
            self._measured[worlds] = x

    def measured(self, x: Array) -> Array:
        """(B, 13) central bodies as controllers have measured them last, of states (B, bodies, 13)."""
        return x[:, 0] if self.measures_truth else self._measured

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
        self, references: References, x: Array, threads: Threads, worlds: Integers | None = None
    ) -> Command:
        """The controllers' commands on states (B, bodies, 13); noise is drawn for all worlds, or for some alone.

        Raises:
            BadInput: an array of the references has another shape.
        """
        arrays, states = references.checked(self.rows.shape), x
        if not self.measures_truth:
            some = slice(None) if worlds is None else worlds
            self._measured[some] = self._noise(x[some, 0], worlds)
            states = self._measured[:, None]
        inputs = Setpoints(states, *arrays)
        threads.run(lambda *worlds: self.controllers(inputs, range(*worlds)), len(x))
        return self.controllers.command

    def command_mixed(
        self, mixed: MixedActions, references: References, x: Array, threads: Threads
    ) -> list[tuple[Command, Booleans]]:
        """Commands of several actions, with the worlds (B,) that each is for, as a batch of one would be commanded.

        Args:
            mixed: the actions.
            references: the scenario's own; those that are given are written into them.
            x: (B, bodies, 13) states.
            threads: that share the worlds.

        Raises:
            BadInput: an array has another shape, or there is no such action.
        """
        which, controlled = mixed.checked(len(x)), np.zeros(len(x), bool)
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
            memory = self.controllers.snapshot()
            command = self.command(asked, x, threads, np.flatnonzero(controlled))
            self.controllers.restore(memory, np.flatnonzero(~controlled))
            commands.append((command, controlled))
        return commands
