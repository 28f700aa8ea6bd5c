# SPDX-License-Identifier: BSD-3-Clause
"""A scenario that is stepped from Python: for notebooks, tests, experiments and learning environments."""

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.states import Command
from iap_physics.arm.gripper import NO_COMMANDED_GRIPPER, Gripper
from iap_physics.build import engine_of
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant import Plant
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.agents import ProgramAgent
from iap_simulation.loop.closed_loop import ClosedLoop
from iap_simulation.loop.roles import Guidance, Observer
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.participants import (
    FlightParts,
    Participants,
    RecentReadings,
    Snapshot,
)
from iap_simulation.tasks.monitor import TaskMonitor


class Simulation:
    """A scenario in one process: vehicles, plant, controllers, sensors and estimators in one loop.

    A context manager, since engines and renderers hold memory of their own:

        with Simulation.of("figure_eight", seed=3) as simulation:
            while not simulation.is_done:
                simulation.step()

    Args:
        flight: a scenario made ready to fly.
        view: open the engine's window.
        renderer: for the cameras, closed by whoever made it; None makes the scenario's where there are cameras.
        render: whether cameras take images.
        probes: see every physics step besides those of the sensors.

    Attributes:
        plant: what flies.
        loop: around it, of the present flight.
        participants: in that flight besides plant, vehicles and sensors.

    Raises:
        BadInput: a vehicle starts inside an object.
    """

    def __init__(
        self,
        flight: Flight,
        *,
        view: bool = False,
        renderer: Renderer | None = None,
        render: bool = True,
        probes: Sequence[PlantPart] = (),
    ) -> None:
        self._probes = tuple(probes)
        with ExitStack() as resources:
            if render and renderer is None and flight.sensors.suite.has_cameras:
                renderer = make_renderer(flight.scenario.renderer)
                resources.callback(renderer.close)
            self._renderer = renderer
            self._engine = engine_of(flight.spec, view=view)
            resources.callback(self._engine.close)
            self._load(flight)
            resources.callback(lambda: self.plant.close())
            self._begin((), ())
            self._resources = resources.pop_all()

    @classmethod
    def of(
        cls,
        scenario: str | Path | Mapping[str, Any] | Scenario,
        *,
        settings: Mapping[str, Any] | None = None,
        view: bool = False,
        **options: Any,  # noqa: ANN401 - the fields of `Options`
    ) -> Self:
        """Make a scenario ready and stand at its start, with the first samples taken.

        Args:
            scenario: a name, a YAML file, a tree of keys, or a resolved scenario.
            settings: values of keys by their dotted paths, such as ``{"wind.speed": 4.0}``.
            view: open the engine's window.
            options: `platform`, `gains`, `seed`, `duration`, `sensors`, `scene`, `state_source`.

        Raises:
            BadInput: anything unknown, missing or impossible, in one line.
        """
        simulation = cls(Flight.of(resolved(scenario, settings or {}, options)[0]), view=view)
        simulation.loop.sense()
        return simulation

    def _load(self, flight: Flight) -> None:
        self._flight = flight
        self.plant = flight.make_plant(self._engine, self._probes)
        if self._renderer is not None and flight.sensors.suite.has_cameras:
            flight.sensors.suite.open_cameras(self._renderer)

    def begin(
        self,
        *,
        observers: Sequence[Observer] = (),
        sinks: Sequence[ReadingSink] = (),
        guidance: Sequence[Guidance] = (),
    ) -> None:
        """Begin a flight from the plant's present state.

        Args:
            observers: see every control step, such as a `Recorder`.
            sinks: receive every reading of the sensors.
            guidance: changes references after all others.
        """
        if self.modules is not None:
            self.modules.joints.clear()
        self._begin(tuple(observers), tuple(sinks), tuple(guidance))

    def _begin(
        self,
        observers: Sequence[Observer],
        sinks: Sequence[ReadingSink],
        guidance: Sequence[Guidance] = (),
    ) -> None:
        flight, plant = self._flight, self.plant
        self._observers, self._sinks, self._guidance = observers, sinks, guidance
        self._sink, self._program = RecentReadings(), ProgramAgent(self.names)
        self.participants = participants = Participants.of(flight, plant)
        flight.begin(plant, *self._sinks, self._sink, *participants.sinks)
        self.loop = ClosedLoop(
            plant,
            flight.vehicles,
            agents=participants.agents(self._program),
            guidance=[*participants.guidance, *guidance],
            observers=[*self._observers, *participants.observers],
            sensors=None if flight.sensors.suite.is_empty else flight.sensors,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what engine and renderer hold; a second time is fine."""
        self._resources.close()

    @property
    def flight(self) -> Flight:
        """The present flight."""
        return self._flight

    @property
    def scenario(self) -> Scenario:
        """The resolved scenario."""
        return self._flight.scenario

    @property
    def names(self) -> list[str]:
        """The vehicles' names, in their order."""
        return [vehicle.name for vehicle in self._flight.vehicles]

    @property
    def t(self) -> float:
        """Simulation time [s]."""
        return self.plant.t

    @property
    def is_done(self) -> bool:
        """True if the references have come to their end, or the task is over; stepping on holds the last one."""
        return self.loop.k >= self.loop.last or self.loop.is_over

    @property
    def task(self) -> TaskMonitor[Plant] | None:
        """The monitor of the present flight's task; None where it has none."""
        return self.participants.task

    @property
    def modules(self) -> ModulesInFlight | None:
        """Modules of the present flight that dock; None where there are none."""
        return self.participants.modules

    @property
    def state(self) -> Array:
        """(bodies, 13) state of the first vehicle, see `iap_description.states`."""
        return self.state_of(self.names[0])

    def state_of(self, name: str) -> Array:
        """(bodies, 13) state of a vehicle: a copy.

        Raises:
            BadInput: no such vehicle.
        """
        return self.plant.state(self._program.number(name))[0].copy()

    @property
    def readings(self) -> list[Reading]:
        """Readings of the sensors since the last step, in the order of their stamps."""
        return list(self._sink.readings)

    def reset(self, seed: int | None = None) -> Array:
        """Back to the start, as a fresh simulation of that seed would stand there; returns `state`.

        Args:
            seed: of starts, friction and all noise; None takes the present one.
        """
        if seed is not None and seed != self.scenario.seed:
            self.plant.close()
            self._load(Flight.of(self.scenario.model_copy(update={"seed": seed})))
        else:
            self._flight.reset(self.plant)
        self._begin(self._observers, self._sinks, self._guidance)
        self.loop.sense()
        return self.state

    def step(self, command: Command | Mapping[str, Command] | None = None) -> Array:
        """Fly one control period.

        Args:
            command: of the only vehicle, or of vehicles by their names; whom it leaves out is commanded by
                its controller.

        Returns:
            (bodies, 13) state of the first vehicle afterwards.

        Raises:
            BadInput: no such vehicle, or several and a command without a name.
            FlightFailed: a crash, or a state that is no longer a number.
        """
        self._sink.readings.clear()
        self._program.take(command)
        self.loop.control()
        self.loop.advance()
        self.loop.sense()
        return self.state

    def command_arm(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Let an arm's motors go for coordinates until the next call; `arm.motion` must be ``given``.

        What is beyond travel or speed is clipped, and counted in metrics.json.

        Args:
            q: (n,) coordinates [rad], [m].
            v: (n,) velocities; None is at rest.
            torque: (n,) on top of the servos' [N m], [N]; None is what holds the links, if `arm.holding` says so.
            name: of the vehicle; None is the first.

        Raises:
            BadInput: no such vehicle, or it has no arm that can be told.
        """
        number = 0 if name is None else self._program.number(name)
        self.loop.vehicles[number].command_arm(q, v, torque)

    def command_gripper(self, *, closes: bool) -> None:
        """Let the gripper close, or open, until the next call; `gripper.close` and `gripper.open` are null.

        Raises:
            BadInput: there is no gripper that goes by commands.
        """
        gripper = self.plant.part(Gripper)
        if gripper is None or not gripper.spec.is_commanded:
            raise BadInput(f"command_gripper: {NO_COMMANDED_GRIPPER}")
        gripper.closes = closes

    def fly(self, progress: Callable[[float], None] = lambda _: None) -> None:
        """Fly to the end of all references under the scenario's own controllers.

        Readings go to the sinks of `begin`; `readings` keeps none of them.

        Args:
            progress: is told the simulation time [s] now and then.

        Raises:
            FlightFailed: the flight ended before its time.
        """
        self._sink.readings.clear()
        self._sink.is_open = False
        self._program.take(None)
        try:
            self.loop.fly(progress, self.participants.compiled_run(self._flight, self.loop))
        finally:
            self._sink.is_open = True

    def snapshot(self) -> Snapshot:
        """The present instant, to return to with `restore` until the next `reset`.

        Under contact PyBullet goes on from it closely, not bit for bit.

        Raises:
            BadInput: a firmware flies, whose memory is its own.
        """
        if any(vehicle.firmware is not None for vehicle in self.scenario.vehicles):
            raise BadInput("key 'firmware': a firmware's memory cannot be kept in a snapshot")
        parts = FlightParts(self.loop, self.participants, self._flight, self._sink, self._program)
        return Snapshot(self._copied(parts), self._engine.snapshot())

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot, as often as wanted.

        Raises:
            IapError: it was taken by another simulation or before the last `reset`.
        """
        self._engine.restore(snapshot.engine)
        parts = self._copied(snapshot.parts)
        self.loop, self.participants, self._flight, self._sink, self._program = parts
        self.plant = self.loop.plant

    def _copied(self, parts: FlightParts) -> FlightParts:
        """A deep copy; engine, renderer, scenario and observers are shared."""
        others = [*self._observers, *self._sinks]
        shared = [self._engine, self._renderer, self.scenario, *others, *self._guidance]
        return copy.deepcopy(parts, {id(each): each for each in shared if each is not None})
