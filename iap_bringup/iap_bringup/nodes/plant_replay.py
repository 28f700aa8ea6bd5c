# SPDX-License-Identifier: BSD-3-Clause
"""Flights of nodes as the monitors of tasks read a plant, by messages at control instants."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.signals import Step
from iap_description.vehicles.latch import Latch, PortFrame, approach
from iap_io.runs.topics import LATCHES, WORLD_STATE
from iap_physics.latching.latches import PHASES, Latches, LatchEvent, Phase
from iap_simulation.docking.ports import is_held, port_frames
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario

LastValue = Callable[[int, str], Any]  # of a vehicle's topic; None where none came


class LatchReplay:
    """A latch, known at control instants alone, so that times of its events are rounded up to these.

    Args:
        name: of the latch.
        latch: what it is.
        ports: frames of probe and socket on their vehicles.
        vehicles: numbers of the probe's and of the socket's.
        standing: (13,) state row of the object that is the socket in place of a vehicle's.

    Attributes:
        phase: at the last instant.
    """

    def __init__(
        self,
        name: str,
        latch: Latch,
        ports: tuple[PortFrame, PortFrame],
        vehicles: Sequence[int],
        standing: Array | None = None,
    ) -> None:
        self._name, self._release, self._ports = name, latch.release, ports
        self._vehicles, self._standing = tuple(vehicles), standing
        self.phase = Phase.OPEN

    def update(self, ticks: Sequence[Step], phase: Phase) -> list[LatchEvent]:
        """Events that led to a phase at an instant."""
        t = ticks[0].t
        words, self.phase = self._words(t, phase), phase
        rows = [ticks[i].x[0] for i in self._vehicles]
        probe, socket = (*rows, self._standing) if self._standing is not None else rows
        return [
            LatchEvent(t, self._name, word, approach(probe, socket, *self._ports))
            for word in words
        ]

    def _words(self, t: float, phase: Phase) -> list[str]:
        """Words for a change of phase."""
        before = self.phase
        if phase == before:
            return []
        if is_held(phase):
            caught = [] if is_held(before) else ["caught"]
            return [*caught, "locked"] if phase == Phase.LOCKED else caught
        if not is_held(before):
            return ["missed"] if phase == Phase.SPENT else []
        if self._release is not None and t >= self._release:
            return ["released"]
        return ["lost" if before == Phase.CAUGHT else "broken"]


class LatchesReplay:
    """All latches of a scenario.

    Args:
        scenario: that is flown.

    Attributes:
        events: since the start, in order.
    """

    def __init__(self, scenario: Scenario) -> None:
        names = [vehicle.name for vehicle in scenario.vehicles]
        self.events: list[LatchEvent] = []
        self._latches, objects = {}, placed_world(scenario).objects
        for name, latch in scenario.latches.items():
            vehicles = [names.index(vehicle) for vehicle in latch.vehicles]
            standing = None if latch.face is None else objects[latch.socket].row(0.0)
            made = LatchReplay(name, latch, port_frames(scenario, latch), vehicles, standing)
            self._latches[name] = made

    def phase(self, name: str) -> Phase:
        """Phase of a latch at the last instant."""
        return self._latches[name].phase

    def update(self, ticks: Sequence[Step], phases: Sequence[int] | None) -> None:
        """Take the latches' phases, by their numbers, at an instant; None: none came, and all are open."""
        numbers = [0] * len(self._latches) if phases is None else phases
        for latch, number in zip(self._latches.values(), numbers, strict=True):
            self.events += latch.update(ticks, PHASES[number])


class PlantReplay:
    """States, wrenches, objects and latches at the last instant.

    Args:
        scenario: that is flown.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._latches = LatchesReplay(scenario) if scenario.latches else None
        self._world, self._objects = placed_world(scenario), None
        self._ticks: Sequence[Step] = ()

    def update(self, ticks: Sequence[Step], last: LastValue) -> None:
        """Take an instant.

        Args:
            ticks: of all vehicles.
            last: returns the value of a vehicle's topic at that instant, or the last one before.
        """
        self._ticks = ticks
        if self._world.has_free_objects:
            self._objects = last(0, WORLD_STATE)
        if self._latches is not None:
            self._latches.update(ticks, last(0, LATCHES))

    @property
    def t(self) -> float:
        """Simulation time [s]."""
        return self._ticks[0].t

    def state(self, vehicle: int) -> Array:
        """(1, bodies, 13) state of a vehicle."""
        return self._ticks[vehicle].x[None]

    def part(self, kind: type[Any]) -> Any:  # noqa: ANN401 - what reads like the part
        """Latches, where they are asked for and there are some; other parts are not replayed."""
        return self._latches if kind is Latches else None

    def object_states(self) -> Array:
        """(objects, 13) state rows of the world's objects; before the first ones, where they stand at the start."""
        return self._world.object_states(self.t) if self._objects is None else self._objects

    def contact_wrench(self, vehicle: int) -> Array:
        """(6,) wrench on a vehicle [N, N m]; zero for one of which it is not measured."""
        record = self._ticks[vehicle].wrench_record
        return np.zeros(6) if record is None else record.raw_P
