# SPDX-License-Identifier: BSD-3-Clause
"""The closed loop, in one process: the same plant, controllers and references as the ROS nodes, without topics."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_description.random_streams import stream
from iap_description.signals import Reference, Step
from iap_description.states import Command
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import OBJECT, Engine
from iap_physics.flight_monitor import FlightMonitor
from iap_physics.plant import Plant, Probe
from iap_simulation.pacing import StepTimer
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicle import Vehicle

Array = NDArray[np.float64]
NO_BELIEFS: Mapping[int, "Belief"] = MappingProxyType({})
NO_COMMANDS: Mapping[int, Command] = MappingProxyType({})
PROGRESS_STEPS = 50  # control steps between two reports of progress
OVERLAP = 1e-3  # by which a vehicle may be inside an object at the start [m]


class Observer(Protocol):
    """What sees every control step, such as the recorder."""

    def record(self, vehicle: int, step: Step) -> None:
        """Take what happened to one vehicle; arrays are overwritten by the next step."""


def make_engine(scenario: Scenario, *, view: bool = False) -> Engine:
    """The engine that a scenario names; PyBullet is only imported where it flies."""
    if scenario.engine.name == "closed_form":
        return ClosedFormEngine()
    from iap_physics.engines.pybullet.engine import PyBulletEngine

    return PyBulletEngine(view=view)


class Sensors(Protocol):
    """All sensors of a run."""

    def sample(self, k: int, plant: Plant) -> None:
        """Sample the present state at control instant k, and hand the readings over."""


class Belief(Protocol):
    """What a vehicle believes of its state."""

    def state(self, t: float) -> Array:
        """Rows (bodies, 13) at a time [s]."""


def make_plant(
    scenario: Scenario, pilots: Sequence[Vehicle], engine: Engine, probes: Sequence[Probe] = ()
) -> Plant:
    """Load the world and the vehicles into the engine, at their starts."""
    engine.load(scenario.world, [pilot.airframe.assembly for pilot in pilots])
    plant = Plant(
        engine,
        [pilot.airframe for pilot in pilots],
        physics_hz=scenario.rates.physics_hz,
        control_hz=scenario.rates.control_hz,
        wind=scenario.wind,
        has_drag=scenario.has_drag,
        gust_rng=stream(scenario.seed, "gusts"),
        feeling=[i for i, pilot in enumerate(pilots) if pilot.touch is not None],
        disturbances=[vehicle.disturbances for vehicle in scenario.vehicles],
        probes=probes,
    )
    reset_plant(plant, scenario, pilots)
    _check_clear(plant, scenario, pilots)
    return plant


def _check_clear(plant: Plant, scenario: Scenario, pilots: Sequence[Vehicle]) -> None:
    """Refuse vehicles that start inside an object of the world.

    Raises:
        BadInput: naming vehicle and object.
    """
    names = list(scenario.world.objects)
    for contact in plant.engine.contacts():
        low, row = sorted((contact.body_a, contact.body_b))
        if low > OBJECT or contact.distance > -OVERLAP:
            continue
        vehicle = next(
            p.name for p, d in zip(pilots, plant.drives, strict=True) if row < d.rows.stop
        )
        raise BadInput(
            f"vehicle '{vehicle}' starts {-1e3 * contact.distance:.0f} mm inside the object"
            f" '{names[OBJECT - low]}': check its tool, its reference's start and world.objects"
        )


def reset_plant(plant: Plant, scenario: Scenario, pilots: Sequence[Vehicle]) -> None:
    """Bring every vehicle back to its start, and controllers, noise and gusts to theirs."""
    for pilot in pilots:
        pilot.reset(scenario.seed)
    start = np.concatenate([pilot.start for pilot in pilots])[None]
    plant.reset(start, [pilot.start_rpm for pilot in pilots], stream(scenario.seed, "gusts"))


class ClosedLoop:
    """State -> sensors -> controllers -> commands -> plant, of all vehicles, one control period after the other.

    Args:
        plant: at its start.
        vehicles: in the plant's order.
        monitor: ends a flight that has failed.
        observers: see every control step.
        timer: measures the control steps.
        sensors: of all vehicles; None where there are no sensors.
        state_sources: of the vehicles, by their numbers, that do not go by the truth.

    Attributes:
        k: number of the present control instant.
        last: number of the references' last instant.
    """

    def __init__(
        self,
        plant: Plant,
        vehicles: Sequence[Vehicle],
        monitor: FlightMonitor,
        observers: Sequence[Observer] = (),
        timer: StepTimer | None = None,
        sensors: Sensors | None = None,
        state_sources: Mapping[int, Belief] = NO_BELIEFS,
    ) -> None:
        self.plant, self.vehicles, self.monitor = plant, vehicles, monitor
        self.observers, self.timer = observers, timer or StepTimer()
        self.sensors, self.state_sources = sensors, state_sources
        self.k = 0
        self.last = max(len(vehicle.timeline.rows) for vehicle in vehicles) - 1

    def sense(self) -> None:
        """Take the samples that are due at the present instant."""
        if self.sensors is not None:
            self.sensors.sample(self.k, self.plant)

    def control(self, commands: Mapping[int, Command] = NO_COMMANDS) -> None:
        """Command every vehicle on its present state, record what was done, and check the flight.

        Args:
            commands: by the vehicles' numbers, in place of their controllers'.

        Raises:
            FlightFailed: a crash, or a command or an estimate that is no number.
        """
        plant = self.plant
        for i, vehicle in enumerate(self.vehicles):
            state = plant.state(i)[0]
            estimate = self.state_sources[i].state(plant.t) if i in self.state_sources else None
            reference = vehicle.reference(self.k)
            command = commands.get(i)
            if command is None:
                command = self._controlled(i, state if estimate is None else estimate, reference)
            rpm = plant.drives[i].rpm[0]
            step = Step(self.k, plant.t, state, reference, command, rpm, vehicle.felt, estimate)
            for observer in self.observers:
                observer.record(i, step)
            plant.command(i, command)
            plant.believe(i, estimate)
        self.monitor.check(plant)

    def _controlled(self, i: int, x: Array, reference: Reference) -> Command:
        """The command of a vehicle's own controller on what it knows of its state (bodies, 13)."""
        self.timer.start()
        command = self.vehicles[i].command(
            self.plant.t, x, self.plant.contact_wrench(i), reference
        )
        self.timer.stop()
        return command

    def advance(self) -> None:
        """Fly one control period.

        Raises:
            FlightFailed: the state is no longer a number.
        """
        self.plant.advance()
        self.k += 1

    def fly(self, progress: Callable[[float], None]) -> None:
        """Fly all references to their end; `progress` is told the simulation time [s] now and then.

        Raises:
            FlightFailed: the flight ended before its time.
        """
        for k in range(self.k, self.last + 1):
            self.sense()
            self.control()
            if k < self.last:
                self.advance()
            if k % PROGRESS_STEPS == 0:
                progress(self.plant.t)


def fly(
    plant: Plant,
    pilots: Sequence[Vehicle],
    observers: Sequence[Observer],
    watch: FlightMonitor,
    timer: StepTimer,
    progress: Callable[[float], None],
    sensors: Sensors | None = None,
    beliefs: Mapping[int, Belief] = NO_BELIEFS,
) -> None:
    """Fly all references from the plant's start to their end, see `ClosedLoop`."""
    ClosedLoop(plant, pilots, watch, observers, timer, sensors, beliefs).fly(progress)
