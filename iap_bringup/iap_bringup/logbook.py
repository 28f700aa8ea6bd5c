# SPDX-License-Identifier: BSD-3-Clause
"""Puts states, references and commands that come in messages together again, one tick after the other."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_bringup.step import Step
from iap_control.controller import Reference
from iap_description.states import Command

Array = NDArray[np.float64]
SECOND = 1_000_000_000  # [ns]
PATIENCE = SECOND // 2  # simulation time for which a tick waits for what is missing [ns]


class _State(NamedTuple):
    stamp: int  # [ns]
    k: int
    x: Array
    rpm: Array


@dataclass
class _Vehicle:
    """What has come of one vehicle and is not recorded yet."""

    states: deque[_State] = field(default_factory=deque)
    references: dict[int, Reference] = field(default_factory=dict)
    commands: dict[int, Command] = field(default_factory=dict)
    reference: Reference | None = None  # the last one recorded
    command: Command | None = None
    newest: int = -1  # stamp of the last state [ns]

    def is_complete(self) -> bool:
        """Whether reference and command of the oldest state are there."""
        stamp = self.states[0].stamp
        return stamp in self.references and stamp in self.commands

    def take_oldest(self) -> Step | None:
        """The oldest state with its reference and command, or with the last ones; None before the first."""
        state = self.states.popleft()
        self.reference = self.references.get(state.stamp, self.reference)
        self.command = self.commands.get(state.stamp, self.command)
        for waiting in (self.references, self.commands):
            for stamp in [s for s in waiting if s <= state.stamp]:
                del waiting[stamp]
        if self.reference is None or self.command is None:
            return None
        t = state.stamp / SECOND
        return Step(state.k, t, state.x, self.reference, self.command, state.rpm)


class Logbook:
    """Collects the messages of a run and hands over complete ticks.

    A tick goes out once every vehicle's state, reference and command of one stamp are there, or
    `PATIENCE` later with the last reference and command in place of what is missing. Ticks before
    the first reference and command are left out.

    Args:
        count: number of vehicles.
        write: takes the ticks of all vehicles at one instant.
    """

    def __init__(self, count: int, write: Callable[[Sequence[Step]], None]) -> None:
        self._vehicles = [_Vehicle() for _ in range(count)]
        self._write = write

    def is_reset(self, vehicle: int, stamp: int) -> bool:
        """Whether a state's stamp [ns] lies before one that has come: the simulation began anew."""
        return stamp < self._vehicles[vehicle].newest

    def take_state(self, vehicle: int, stamp: int, k: int, x: Array, rpm: Array) -> None:
        """Take state rows (bodies, 13) and rotor speeds (N, 4); they are copied."""
        mine = self._vehicles[vehicle]
        if stamp > mine.newest:
            mine.states.append(_State(stamp, k, x.copy(), rpm.copy()))
            mine.newest = stamp
            self._flush()

    def take_reference(self, vehicle: int, stamp: int, reference: Reference) -> None:
        """Take a reference, which is kept."""
        self._vehicles[vehicle].references[stamp] = reference
        self._flush()

    def take_command(self, vehicle: int, stamp: int, command: Command) -> None:
        """Take a command, which is kept."""
        self._vehicles[vehicle].commands[stamp] = command
        self._flush()

    def finish(self) -> None:
        """Hand over what is left, complete or not."""
        self._flush(at_end=True)

    def _flush(self, *, at_end: bool = False) -> None:
        vehicles = self._vehicles
        while all(vehicle.states for vehicle in vehicles):
            head = max(vehicle.states[0].stamp for vehicle in vehicles)
            late = [vehicle for vehicle in vehicles if vehicle.states[0].stamp < head]
            for vehicle in late:  # the others' states of that instant were lost
                vehicle.states.popleft()
            if late:
                continue
            patient = not at_end and all(v.newest - head <= PATIENCE for v in vehicles)
            if patient and not all(vehicle.is_complete() for vehicle in vehicles):
                return
            ticks = [vehicle.take_oldest() for vehicle in vehicles]
            whole = [tick for tick in ticks if tick is not None]
            if len(whole) == len(ticks):
                self._write(whole)
