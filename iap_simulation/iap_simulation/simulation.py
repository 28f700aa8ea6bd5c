# SPDX-License-Identifier: BSD-3-Clause
"""A scenario that is stepped from Python: for notebooks, tests, experiments and learning environments."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.states import Command
from iap_physics.engines.make import make_engine
from iap_physics.plant.part import PlantPart
from iap_physics.session.flight_monitor import FlightMonitor
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.arm.arm_judge import ArmJudge
from iap_simulation.docking.pilot import DockingJudge
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.agents import Pilot, make_pilot
from iap_simulation.loop.closed_loop import ClosedLoop, Observer, make_plant, reset_plant
from iap_simulation.loop.judge import Judge
from iap_simulation.modules.in_flight import ModulesInFlight, partners
from iap_simulation.modules.judging import ModulesJudge
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.scenario import Scenario


@dataclass
class _Readings:
    """The readings since the last step; none while `fly` flies, whose images would fill the memory."""

    readings: list[Reading] = field(default_factory=list)
    is_open: bool = True

    def receive(self, reading: Reading) -> None:
        if self.is_open:
            self.readings.append(reading)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that a simulation needs to go on from an instant."""

    loop: ClosedLoop
    flight: Flight
    engine: object
    sink: _Readings


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
        needs_one = render and renderer is None and flight.sensors.suite.has_cameras
        self._own = make_renderer(flight.scenario.renderer) if needs_one else None
        self._renderer, self._probes = renderer or self._own, tuple(probes)
        self._engine = make_engine(flight.scenario.engine.name, view=view)
        try:
            self._load(flight)
            self.begin()
        except BaseException:  # whoever asked for it has nothing to close
            self.close()
            raise

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
        probes = [*flight.sensors.probes, *self._probes]
        self.plant = make_plant(self._flight.spec, flight.vehicles, self._engine, probes)
        self._modules: ModulesInFlight | None = None
        if self._renderer is not None and flight.sensors.suite.has_cameras:
            flight.sensors.suite.open_cameras(self._renderer)

    def begin(
        self, *, observers: Sequence[Observer] = (), sinks: Sequence[ReadingSink] = ()
    ) -> None:
        """Begin a flight from the plant's present state.

        Args:
            observers: see every control step, such as a `Recorder`.
            sinks: receive every reading of the sensors.
        """
        flight, self._sink = self._flight, _Readings()
        self._observers, self._sinks = tuple(observers), tuple(sinks)
        pilot = make_pilot(self.scenario, flight.vehicles)
        eyes = () if pilot is None else pilot.sinks
        flight.begin(self.plant, *self._sinks, self._sink, *eyes)
        if self._modules is not None:
            self._modules.joints.clear()
        self._modules = ModulesInFlight.of(self.scenario, flight.vehicles, self.plant)
        self.loop = ClosedLoop(
            self.plant,
            flight.vehicles,
            FlightMonitor(self._flight.spec, partners=partners(self.scenario.modules)),
            self._observers,
            sensors=None if flight.sensors.suite.is_empty else flight.sensors,
            estimates=flight.navigators,
            watches=flight.watches(),
            pilot=pilot,
            judge=self._judge(pilot),
            modules=self._modules,
        )

    def _judge(self, pilot: Pilot | None) -> Judge | None:
        """Who follows the flight's task, where it has one."""
        scenario, vehicles = self.scenario, self._flight.vehicles
        task = ModulesJudge.of(self._modules, vehicles) or DockingJudge.of(scenario)
        own = None if pilot is None else pilot.judge
        return task or own or ArmJudge.of(vehicles, scenario.metrics.window)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back what engine and renderer hold; a second time is fine."""
        self._engine.close()
        if self._own is not None:
            self._own.close()
            self._own = None

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
        """Whether the references have come to their end, or the task is over; stepping on holds the last one."""
        judge = self.loop.judge
        return self.loop.k >= self.loop.last or (judge is not None and judge.is_over)

    @property
    def state(self) -> Array:
        """(bodies, 13) state of the first vehicle, see `iap_description.states`."""
        return self.state_of(self.names[0])

    def state_of(self, name: str) -> Array:
        """(bodies, 13) state of a vehicle: a copy.

        Raises:
            BadInput: no such vehicle.
        """
        return self.plant.state(self._number(name))[0].copy()

    @property
    def readings(self) -> list[Reading]:
        """Readings of the sensors since the last step, in the order of their stamps."""
        return list(self._sink.readings)

    def reset(self, seed: int | None = None) -> Array:
        """Back to the start, as a fresh simulation of that seed would stand there.

        Args:
            seed: of starts, friction and all noise; None takes the present one.

        Returns:
            (bodies, 13) state of the first vehicle.
        """
        if seed is not None and seed != self.scenario.seed:
            self._load(Flight.of(self.scenario.model_copy(update={"seed": seed})))
        else:
            reset_plant(self.plant, self._flight.spec, self._flight.vehicles)
            self._modules = None  # their joints are gone
        self.begin(observers=self._observers, sinks=self._sinks)
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
        self.loop.control(self._by_number(command))
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
        number = 0 if name is None else self._number(name)
        control = self.loop.vehicles[number].arm
        if control is None or not control.is_given:
            raise BadInput(
                f"command_arm: {self.names[number]} has no arm with arm.motion.type=external"
            )
        control.give(q, v, torque)

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
        try:
            self.loop.fly(progress)
        finally:
            self._sink.is_open = True

    def snapshot(self) -> Snapshot:
        """The present instant, to return to with `restore` until the next `reset`.

        Under contact PyBullet goes on from it closely, not bit for bit.
        """
        loop, flight, sink = self._copied((self.loop, self._flight, self._sink))
        return Snapshot(loop, flight, self._engine.snapshot(), sink)

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot, as often as wanted.

        Raises:
            IapError: it was taken by another simulation or before the last `reset`.
        """
        self._engine.restore(snapshot.engine)
        self.loop, self._flight, self._sink = self._copied(
            (snapshot.loop, snapshot.flight, snapshot.sink)
        )
        self.plant, self._modules = self.loop.plant, self.loop.modules

    def _copied(self, parts: tuple[Any, ...]) -> tuple[Any, ...]:
        """A deep copy; engine, renderer, scenario and observers are shared."""
        shared = [self._engine, self._renderer, self.scenario, *self._observers, *self._sinks]
        return copy.deepcopy(parts, {id(each): each for each in shared if each is not None})

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise BadInput(f"no vehicle '{name}', but {', '.join(self.names)}")
        return self.names.index(name)

    def _by_number(self, command: Command | Mapping[str, Command] | None) -> Mapping[int, Command]:
        if command is None:
            return {}
        if isinstance(command, Command):
            if len(self.names) > 1:
                raise BadInput(f"step: whose command is it? name one of {', '.join(self.names)}")
            return {0: command}
        return {self._number(name): each for name, each in command.items()}
