# SPDX-License-Identifier: BSD-3-Clause
"""The parts that the keys of a scenario bring into its closed loop by their roles, and what a snapshot keeps."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from iap_description.sensors.readings import Reading
from iap_physics.plant.plant import Plant
from iap_physics.session.flight_monitor import FlightMonitor
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.arm.arm_monitor import ArmMonitor
from iap_simulation.arm.path_monitor import PathMonitor
from iap_simulation.batch.compiled_run import CompiledRun
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.agents import FlightAgent, ProgramAgent, followers_of, info_of, make_agent
from iap_simulation.loop.closed_loop import ClosedLoop
from iap_simulation.loop.estimate_monitor import EstimateGuidance
from iap_simulation.loop.roles import Agent, Guidance, Observer, RowObserver
from iap_simulation.modules.in_flight import ModulesInFlight, partners
from iap_simulation.modules.monitor import ModulesMonitor
from iap_simulation.tasks.monitor import TaskMonitor
from iap_simulation.vehicles.arm_guidance import ArmGuidance


@dataclass
class RecentReadings:
    """The readings since the last step; none while `fly` flies, whose images would fill the memory."""

    readings: list[Reading] = field(default_factory=list)
    is_open: bool = True

    def receive(self, reading: Reading) -> None:
        """Keep a reading."""
        if self.is_open:
            self.readings.append(reading)


@dataclass(frozen=True, eq=False)
class Participants:
    """Participants of a flight besides plant, vehicles and sensors.

    Attributes:
        agent: of the scenario's key `policy`; None where vehicles are flown by their controllers.
        modules: that dock in flight; None where there are none.
        estimates: of vehicles that do not go by the truth; None where all do.
        arms: of the vehicles; None where there are none.
        monitor: ends a flight that has failed.
        task: follows the flight's task; None where it has none.
        policy: key `policy` of metrics.json; None without one.
    """

    agent: FlightAgent | None
    modules: ModulesInFlight | None
    estimates: EstimateGuidance | None
    arms: ArmGuidance | None
    monitor: FlightMonitor
    task: TaskMonitor[Plant] | None
    policy: dict[str, Any] | None

    @classmethod
    def of(cls, flight: Flight, plant: Plant) -> Self:
        """The participants of a flight that begins from a plant's present state.

        Raises:
            BadInput: no such agent, or it cannot fly this scenario, or modules are none.
        """
        scenario, vehicles = flight.scenario, flight.vehicles
        agent = make_agent(scenario, vehicles)
        modules = ModulesInFlight.of(scenario, vehicles, plant)
        monitor = FlightMonitor(flight.spec, partners=partners(scenario.modules))
        if modules is not None:
            monitor.structure_of = modules.joints.structure_of
        estimators, monitors = flight.navigators, flight.estimate_monitors()
        guide = agent if modules is None else modules.policy
        task = (
            ModulesMonitor.of(modules, vehicles)
            or DockingMonitor.of(scenario)
            or getattr(agent, "task", None)
            or PathMonitor.of(scenario, vehicles, plant)
            or ArmMonitor.of(vehicles, scenario.metrics.window)
        )
        return cls(
            agent,
            modules,
            EstimateGuidance(vehicles, estimators, monitors, monitor) if estimators else None,
            ArmGuidance(vehicles) if any(each.arm is not None for each in vehicles) else None,
            monitor,
            task,
            None if guide is None else info_of(guide, scenario),
        )

    def agents(self, program: Agent) -> Sequence[Agent]:
        """All agents with the program that steps the simulation; modules whose controllers are silent come last."""
        return [each for each in (self.agent, program, self.modules) if each is not None]

    def followers(self, count: int) -> Collection[int]:
        """Those of so many vehicles whose references somebody follows."""
        return followers_of(self.agent, count)

    @property
    def guidance(self) -> Sequence[Guidance]:
        """Guidance in its order: modules, estimates, arms."""
        parts = (self.modules, self.estimates, self.arms)
        return [each for each in parts if each is not None]

    @property
    def observers(self) -> Sequence[Observer]:
        """Observers; with estimates, these make use of the monitor."""
        parts = (self.modules, self.estimates or self.monitor, self.task)
        return [each for each in parts if each is not None]

    @property
    def sinks(self) -> Sequence[ReadingSink]:
        """Receivers of the sensors' readings."""
        return tuple(getattr(self.agent, "sinks", ()))

    def compiled_run(self, flight: Flight, loop: ClosedLoop) -> CompiledRun | None:
        """The compiled loop of a single vehicle that is left to its controller; None where more takes part."""
        parts = (self.agent, self.modules, self.estimates, self.arms, self.task)
        is_alone = len(loop.vehicles) == 1 and all(each is None for each in parts)
        takes_rows = all(isinstance(each, RowObserver) for each in loop.recorders)
        is_alone = is_alone and takes_rows and flight.sensors.suite.is_empty
        if not is_alone or not flight.scenario.compiled:
            return None
        return CompiledRun.of(loop.plant, loop.vehicles[0])


class FlightParts(NamedTuple):
    """All of a flight that changes while it is flown, but for the engine."""

    loop: ClosedLoop
    participants: Participants
    flight: Flight
    sink: RecentReadings
    program: ProgramAgent


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that a simulation needs to go on from an instant."""

    parts: FlightParts
    engine: object
