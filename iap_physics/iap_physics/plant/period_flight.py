# SPDX-License-Identifier: BSD-3-Clause
"""Control periods of a plant: the fastest way to compute them, and step by step in Python for all others."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput, IapError
from iap_description.math.lanes import DOUBLE, Precision
from iap_description.world.world import World
from iap_physics.air.drag import DragCoefficients, add_drag
from iap_physics.batch.free_flight import FreeFlight
from iap_physics.batch.records import PeriodInputs
from iap_physics.batch.threads import Threads
from iap_physics.engines.engine import RUNNING, Engine
from iap_physics.identified.engine import IdentifiedEngine
from iap_physics.plant.contact_wrenches import ContactSums
from iap_physics.plant.part import PlantPart, overriding
from iap_physics.propulsion.propulsion import Airframe, Propulsion


class PeriodFlight(Protocol):
    """Whatever moves a plant's vehicles on."""

    def advance(self, inputs: PeriodInputs, steps: int) -> None:
        """Some physics steps under commands and inputs that stay."""


@runtime_checkable
class DeviatingFlight(PeriodFlight, Protocol):
    """Whatever moves on vehicles that differ from world to world."""

    def deviate(self, world: int, airframes: Sequence[Airframe], place: World) -> None:
        """Give one world vehicles and a place of its own, like those of all worlds but for their numbers."""


class PlantOptions(NamedTuple):
    """Options of a plant's computation.

    Attributes:
        raises: whether the end of the only world is an exception, and not a status as in a batch.
        threads: that share the worlds where a whole period is computed at once; None takes the caller's.
        precision: of the numbers there.
        flight: that moves vehicles on; None is the fastest that they, engine and parts allow.
    """

    raises: bool = True
    threads: Threads | None = None
    precision: Precision = DOUBLE
    flight: PeriodFlight | None = None


DEFAULT_OPTIONS = PlantOptions()


class IdentifiedFlight:
    """Steps of a plant that was identified from logs.

    Args:
        engine: the plant's.
        dt: physics step [s].
    """

    def __init__(self, engine: IdentifiedEngine, dt: float) -> None:
        self._engine, self._dt = engine, dt

    def advance(self, inputs: PeriodInputs, steps: int) -> None:
        """Some physics steps under the command that the engine has."""
        for _ in range(steps):
            self._engine.step(self._dt)
        inputs.ticks[:] += steps


class SteppedFlight:
    """All vehicles of an engine, with the parts that act or look in its steps.

    Args:
        engine: loaded with the vehicles.
        propulsion: of each vehicle.
        external_W: (B, vehicles, 6) wrenches on central bodies that hold over a control period, which others write.
        drag: coefficients of all bodies; None without drag.
        parts: in the order in which they are called.
        dt: physics step [s].
    """

    def __init__(
        self,
        engine: Engine,
        propulsion: Sequence[Propulsion],
        external_W: Array,
        drag: DragCoefficients | None,
        parts: tuple[PlantPart, ...],
        dt: float,
    ) -> None:
        self._engine, self._propulsion, self._external_W = engine, propulsion, external_W
        self._drag, self._dt = drag, dt
        self._bases = [each.rows.start for each in propulsion]
        self._wrenches = np.zeros((len(external_W), propulsion[-1].rows.stop, 6))
        self._acting = overriding(parts, "before_step")
        self._following = overriding(parts, "end_step")
        self._leading = overriding(parts, "begin_step")
        self._looking = overriding(parts, "after_step")
        self._ending = overriding(parts, "end_period")

    def advance(self, inputs: PeriodInputs, steps: int) -> None:
        """Some physics steps under commands and inputs that stay.

        Raises:
            FlightFailed: the state of the only world would no longer be a number.
        """
        engine, ticks = self._engine, inputs.ticks
        is_running, is_disturbed = engine.status == RUNNING, bool(self._external_W.any())
        begin = int(ticks[0]) * self._dt
        for step in range(steps):
            for part in self._leading:
                part.begin_step(engine.state(), begin + step * self._dt)
            x = engine.state()
            self._wrenches.fill(0.0)
            for propulsion in self._propulsion:
                propulsion.actuate(x, self._wrenches, ticks, step, self._dt)
            if is_disturbed:
                self._wrenches[:, self._bases] += self._external_W
            if self._drag is not None:
                add_drag(x, inputs.air_W, self._wrenches, *self._drag)
            self._step(begin + step * self._dt)
            for part in self._looking:
                part.after_step(engine.state())
        for part in self._ending:
            part.end_period()
        np.add(ticks, steps, out=ticks, where=is_running)

    def _step(self, t: float) -> None:
        """One step of the engine from time t [s] on, with the parts that act in it."""
        engine, dt = self._engine, self._dt
        if not self._acting and not self._following:
            engine.apply(self._wrenches)
            engine.step(dt)
            return
        before = engine.state()[0].copy()
        for part in self._acting:
            part.before_step(before, self._wrenches[0], t, dt)
        engine.apply(self._wrenches)
        engine.step(dt)
        for part in self._following:
            part.end_step(before, t + dt)


def fastest_flight(
    engine: Engine,
    propulsion: Sequence[Propulsion],
    external_W: Array,
    drag: DragCoefficients | None,
    parts: tuple[PlantPart, ...],
    options: PlantOptions,
    dt: float,
) -> PeriodFlight:
    """The fastest flight that these vehicles, engine and parts allow; see `SteppedFlight` for the arguments.

    Raises:
        BadInput: it has not the precision of the options.
        IapError: the flight of the options has no place for a part.
    """
    is_stepped = bool(overriding(parts, "before_step") or overriding(parts, "end_step"))
    if options.flight is not None:
        if is_stepped:
            raise IapError("plant: its flight takes whole periods, and a part acts in their steps")
        return options.flight
    if isinstance(engine, IdentifiedEngine):
        return IdentifiedFlight(engine, dt)
    if not is_stepped:
        threads = options.threads or Threads()
        free = FreeFlight.of(engine, propulsion, drag, dt, threads, options.precision)
        if free is not None:
            return free
    if options.precision != DOUBLE:
        raise BadInput(
            f"precision '{options.precision}' needs the closed form, without friction or stops, and autopilots"
            " without rate_loop"
        )
    native = None
    if not is_stepped:
        native = _native_flight(engine, propulsion, external_W, drag, parts, dt)
    return native or SteppedFlight(engine, propulsion, external_W, drag, parts, dt)


def _native_flight(
    engine: Engine,
    propulsion: Sequence[Propulsion],
    external_W: Array,
    drag: DragCoefficients | None,
    parts: tuple[PlantPart, ...],
    dt: float,
) -> PeriodFlight | None:
    """Whole periods by compiled code; None in engines without, which do without its library."""
    if getattr(engine, "native", None) is None:
        return None
    if isinstance(engine, ContactSums):
        from iap_physics.plant.contact_flight import ContactFlight, StepPart

        acting = [each for each in parts if isinstance(each, StepPart)]
        return ContactFlight.of(engine, propulsion, external_W, drag, dt, acting)
    from iap_physics.plant.native_flight import NativeFlight

    return NativeFlight.of(engine, propulsion, drag, dt)
