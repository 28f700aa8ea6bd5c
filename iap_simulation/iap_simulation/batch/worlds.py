# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of one scenario that differ by their seeds, side by side in one process: fast, and each the single run."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_control.batch.records import Setpoints
from iap_description.arrays import Array
from iap_description.errors import BadInput, IapError
from iap_description.math.lanes import DOUBLE, Precision
from iap_description.states import Command
from iap_physics.batch.threads import Threads, VectorTime
from iap_physics.engines.engine import DIVERGED, RUNNING, world_indices
from iap_simulation.batch.batch_loop import fly_worlds
from iap_simulation.batch.batch_support import CPU, ENGINE, Device, check_device, gpu_of
from iap_simulation.batch.commanded_worlds import CommandedWorlds, WorldAction
from iap_simulation.batch.records import HOLD, SETPOINT, TRACK, BatchState, Goal
from iap_simulation.batch.references import References
from iap_simulation.batch.starts import MOST_SEEDS, give_seeds
from iap_simulation.batch.tracking import MixedActions
from iap_simulation.batch.world_parts import WorldParts, WorldsSnapshot
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.endings import MAX_DISTANCE

if TYPE_CHECKING:
    from iap_simulation.batch.on_cuda import OnDevice

UNSTEADY = "noise, delays, inertial units, contact and an autopilot's rate_loop change with every control period"
GUST_PERIODS = 100  # for which gusts are made ahead at most: 2.4 kB a world


class Worlds(CommandedWorlds):
    """Worlds of one scenario, one for each seed, in the closed form or with contact in MuJoCo.

    World i is the single run of its seed bit for bit, however many there are, and whatever becomes of the others: a
    world that fails gets a status and stands still. They are reset, commanded and stepped on their own::

        worlds = Worlds.of("figure_eight", range(1000))
        while not worlds.is_done.all():
            worlds.advance()

    Args:
        scenario: resolved, of the engine ``closed_form`` or ``mujoco``.
        seeds: of the worlds.
        threads: that share them; no result depends on how many.
        precision: of rotors, autopilots and bodies within a control period. In ``float32`` they are faster, and worlds
            the single runs within some micrometres.
        device: that flies them. On an NVIDIA GPU, ``cuda``, they are the single runs within some nanometres.

    Attributes:
        seeds: (B,) of the worlds.
        flight: the scenario made ready with the first seed.

    Raises:
        BadInput: there are no worlds, or they cannot fly this.
    """

    def __init__(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        threads: int = 1,
        precision: Precision = DOUBLE,
        device: Device = CPU,
    ) -> None:
        check_device(device)
        parts = WorldParts.of(scenario, seeds, Threads(threads), precision)
        super().__init__(parts, gpu_of(device))
        self._starter, self._vector_time = parts.starter, VectorTime()
        self.reset()
        if self._gpu is not None and not self.flies_at_once:
            raise BadInput(f"device '{device}': {UNSTEADY}; device 'cpu' flies these worlds")

    @property
    def on_device(self) -> "OnDevice":
        """States, rotor speeds and status in the GPU's memory, for libraries that take them there.

        Raises:
            IapError: these worlds are not on one.
        """
        if self._gpu is None:
            raise IapError("worlds: only worlds of device 'cuda' have arrays on it")
        plant = self._plant
        self._gpu.sent(self._state_of(TRACK, None, plant.air.now_W[None], held=False))
        return self._gpu.of(plant.state(), plant.propulsion[0].rpm, plant.status)

    @classmethod
    def of(
        cls,
        scenario: str | Path | Mapping[str, Any] | Scenario,
        seeds: Sequence[int] | int,
        *,
        draw: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        threads: int = 1,
        precision: Precision = DOUBLE,
        device: Device = CPU,
        **options: Any,  # noqa: ANN401 - the fields of `Options`
    ) -> Self:
        """Worlds at their start, in the closed form unless the settings name the engine ``mujoco``.

        Args:
            scenario: a name, a YAML file, a tree of keys, or a resolved scenario.
            seeds: of the worlds, or how many, from 0 on.
            draw: what seeds draw, keys of the scenario's key `draw`, such as ``{"mass": 0.1}``.
            settings: values of keys by their dotted paths, such as ``{"wind.speed": 4.0}``.
            threads: that share the worlds; no result depends on how many.
            precision: of the physics; see the class.
            device: ``cpu`` or ``cuda``; see the class.
            options: `platform`, `gains`, `duration`.

        Raises:
            BadInput: anything unknown, missing or impossible, in one line.
        """
        keys = {**(settings or {}), **{f"draw.{key}": each for key, each in (draw or {}).items()}}
        if not isinstance(scenario, Scenario):
            keys = {"engine.name": ENGINE, **keys}
        ready = resolved(scenario, keys, options)[0]
        numbers = range(min(seeds, MOST_SEEDS - 1)) if isinstance(seeds, int) else seeds
        return cls(ready, numbers, threads=threads, precision=precision, device=device)

    def reset(self, worlds: ArrayLike | None = None, seeds: Sequence[int] | None = None) -> None:
        """Bring worlds back to their start, as fresh ones of their seeds would stand there.

        Args:
            worlds: their indices, or a mask (B,); None for all of them.
            seeds: new ones for these worlds.

        Raises:
            BadInput: there is no such world, or there are more or fewer seeds than worlds.
        """
        indices = world_indices(worlds, len(self.seeds))
        if seeds is not None:
            give_seeds(self.seeds, indices, seeds)
        if not len(indices):
            return
        now = self.seeds[indices]
        x = self._starter.reset(indices, now, self.plant, self._units)
        for tracking, rows in zip(self._trackings, x, strict=True):
            tracking.reset(indices, now.tolist(), rows)
        if self._endings is not None:
            self._endings.reset(indices)
        if self._estimates is not None:
            self._estimates.reset(indices, now, self.plant.state()[indices])
            self.plant.set_estimate(0, self._estimates.x)

    def advance(self, action: WorldAction = None) -> None:
        """Fly one control period of every running world.

        A world whose command is not finite, that overturns, loses its reference or diverges gets a status and stands
        still from then on.

        Args:
            action: references for the suite's controllers in place of the scenario's own; or a command to the aircraft
                in place of the controllers'; or several of them, of which each world takes its own. Arrays have a row
                for each world. Of several vehicles actions by their names; whom they leave out is commanded by its
                controller.

        Raises:
            BadInput: an array has another shape, or the action is none of these.
        """
        first = self._actions_of(action)[0]
        if self.flies_at_once and not isinstance(first, Command | MixedActions):
            self._fly_once(first)
            return
        self.control(action)
        self.plant.advance()
        if self._units is not None:
            self._units.measure()
            self._estimate()

    def _estimate(self) -> None:
        """Bring estimates to the present instant, for controllers and autopilots; a world that loses its own ends."""
        estimates, units = self._estimates, self._units
        if estimates is None or units is None:
            return
        plant = self.plant
        which, now = np.flatnonzero(self.status == RUNNING), (self.instants, plant.ticks)
        estimates.update(which, *now, plant.state(), units.samples, units.ages)
        plant.set_estimate(0, estimates.x)
        self._end(estimates.is_lost, DIVERGED, 0)

    def _fly_once(self, references: References | None) -> None:
        """Fly one control period on references, None for the scenario's own."""
        if references is None:
            self.fly(1)
            return
        self._tracking.take(references)
        self.fly(1, SETPOINT)

    def fly(
        self, periods: int, what: int = TRACK, values: Array | None = None, *, held: bool = False
    ) -> None:
        """Fly some control periods of every running world, as so many calls of `advance` would, bit for bit.

        Args:
            periods: how many.
            what: references are made of in each, see `iap_simulation.batch.batch_loop`.
            values: (B, columns) that they are made of.
            held: the aircraft go by the command that the plant holds; controllers do nothing.

        Raises:
            BadInput: these worlds must be advanced one period at a time, see `flies_at_once`.
        """
        if not self.flies_at_once:
            raise BadInput(f"worlds: {UNSTEADY}")
        most = GUST_PERIODS if self._plant.air.is_gusty else periods
        for done in range(0, periods, max(most, 1)):
            self._fly(min(most, periods - done), what, values, held=held)

    def _fly(self, periods: int, what: int, values: Array | None, *, held: bool) -> None:
        """Fly some control periods in one compiled call."""
        state = self._state_of(what, values, self._plant.advance_wind(periods), held=held)
        if self._gpu is None:
            self._threads.run(
                lambda *worlds: fly_worlds(*worlds, periods, state),
                len(self.seeds),
                self._vector_time,
            )
        else:
            self._gpu.fly(periods, state)
        self._plant.pass_time(periods)

    def _state_of(
        self, what: int, values: Array | None, air_W: Array, *, held: bool
    ) -> BatchState:
        """State of all worlds as compiled loops take it."""
        plant, tracking = self._plant, self._tracking
        table, flight = tracking.table, plant.free_flight
        assert table is not None and flight is not None  # noqa: S101, PT018 - the caller has looked
        setpoints = Setpoints(plant.state(), tracking.rows, tracking.levels, tracking.wrenches_P)
        numbers = np.zeros((1, 1)) if values is None else values
        goal = Goal(what, numbers, *table, air_W, plant.air.is_gusty, MAX_DISTANCE, plant.substeps)
        settings, blocks = tracking.controllers.parts
        law = HOLD if held else settings.law
        return BatchState(goal, setpoints, settings, blocks, flight, law)

    def snapshot(self) -> WorldsSnapshot:
        """The present instant of all worlds, to return to with `restore`."""
        return WorldsSnapshot(self._copied(self._parts), self._engine.snapshot())

    def restore(self, snapshot: WorldsSnapshot) -> None:
        """Return to a snapshot, as often as wanted.

        Raises:
            IapError: it was taken of other worlds.
        """
        self._bring_home()
        self._engine.restore(snapshot.engine)
        *flown, self._endings, self._estimates, self.seeds = self._copied(snapshot.parts)
        self._plant, self._trackings, self._units = flown

    @property
    def _parts(self) -> tuple[Any, ...]:
        watching = (self._endings, self._estimates)
        return self.plant, self._trackings, self._units, *watching, self.seeds

    def _copied(self, parts: tuple[Any, ...]) -> tuple[Any, ...]:
        """A deep copy that shares engine and threads."""
        fleet = [part for each in self._vehicles for part in (each.timeline, each.model)]
        shared = (self._engine, self._threads, *fleet)
        return copy.deepcopy(parts, {id(each): each for each in shared})
