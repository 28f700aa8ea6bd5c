# SPDX-License-Identifier: BSD-3-Clause
"""The closed loop, in one process: the same plant, controllers and references as the ROS nodes, without topics."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, cast, runtime_checkable

from iap_control.arm.arm_control import Joints
from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_description.signals import ArmRecord, Reference, Step
from iap_description.states import Command, Q
from iap_description.vehicles.gripper import row_of
from iap_io.runs.columns import Columns
from iap_physics.arm.gripper import known_load
from iap_physics.build import build_plant
from iap_physics.engines.engine import Engine
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.session.flight_monitor import FlightMonitor
from iap_simulation.batch.compiled_run import Stretches
from iap_simulation.loop.agents import Pilot
from iap_simulation.loop.distances import is_far, too_far
from iap_simulation.loop.estimate_monitor import EstimateWatch
from iap_simulation.loop.judge import Judge
from iap_simulation.loop.pacing import StepTimer
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.vehicles.vehicle import Vehicle

NO_ESTIMATES: Mapping[int, "StateEstimate"] = MappingProxyType({})
NO_WATCHES: Mapping[int, "EstimateWatch"] = MappingProxyType({})
NO_COMMANDS: Mapping[int, Command] = MappingProxyType({})
PROGRESS_STEPS = 50  # control steps between two reports of progress


class Observer(Protocol):
    """Sees every control step, such as the recorder."""

    def record(self, vehicle: int, step: Step) -> None:
        """Take what happened to one vehicle; arrays are overwritten by the next step."""


@runtime_checkable
class RowObserver(Observer, Protocol):
    """An observer that takes many control steps at once as well."""

    def record_rows(self, vehicle: int, rows: Columns) -> None:
        """Take what happened to one vehicle in control steps one after another; arrays are overwritten by the next."""


class Sensors(Protocol):
    """All sensors of a run."""

    def sample(self, k: int, plant: Plant) -> None:
        """Sample the present state at control instant k, and hand the readings over."""


class StateEstimate(Protocol):
    """A vehicle's estimate of its state."""

    def state(self, t: float) -> Array:
        """Rows (bodies, 13) at a time [s]."""


def make_plant(
    spec: PlantSpec, vehicles: Sequence[Vehicle], engine: Engine, probes: Sequence[PlantPart] = ()
) -> Plant:
    """The plant at its start, and controllers and noise at theirs.

    Raises:
        BadInput: a vehicle starts inside an object of the world.
    """
    plant = build_plant(spec, engine, probes)
    reset_vehicles(spec, vehicles)
    return plant


def reset_plant(plant: Plant, spec: PlantSpec, vehicles: Sequence[Vehicle]) -> None:
    """Bring the plant back to its start, and controllers and noise to theirs."""
    reset_vehicles(spec, vehicles)
    plant.restart(spec)


def reset_vehicles(spec: PlantSpec, vehicles: Sequence[Vehicle]) -> None:
    """Let controllers forget the last flight, and noise start anew."""
    for vehicle in vehicles:
        vehicle.reset(spec.seed)


def check_distances(
    plant: Plant, vehicles: Sequence[Vehicle], references: Sequence[Reference]
) -> None:
    """End the flight of a vehicle that has lost its present reference.

    Raises:
        FlightFailed: it is too far away.
    """
    for i, (vehicle, reference) in enumerate(zip(vehicles, references, strict=True)):
        if is_far(plant.state(i)[0, 0], reference.row):
            raise FlightFailed("diverged", plant.t, too_far(vehicle.name))


class ClosedLoop:
    """State -> sensors -> controllers -> commands -> plant, of all vehicles, one control period after the other.

    Args:
        plant: at its start.
        vehicles: in the plant's order.
        monitor: ends a flight that has failed.
        observers: see every control step.
        timer: measures the control steps.
        sensors: of all vehicles; None where there are no sensors.
        estimates: of the vehicles, by their numbers, that do not go by the truth.
        watches: of those.
        pilot: commands vehicles in place of their controllers; None where these do.
        judge: ends a flight whose task is over; None where none has one.
        modules: that dock in flight; None where there are none.

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
        estimates: Mapping[int, StateEstimate] = NO_ESTIMATES,
        watches: Mapping[int, EstimateWatch] = NO_WATCHES,
        pilot: Pilot | None = None,
        judge: Judge | None = None,
        modules: ModulesInFlight | None = None,
    ) -> None:
        self.plant, self.vehicles, self.monitor = plant, vehicles, monitor
        self.observers, self.timer = observers, timer or StepTimer()
        self.sensors, self.estimates, self.watches = sensors, estimates, watches
        self.pilot, self.judge, self.modules = pilot, judge, modules
        self.k, self._sampled = 0, -1
        self.last = max(vehicle.timeline.last for vehicle in vehicles)

    def sense(self) -> None:
        """Take the samples that are due at the present instant, unless they are taken already."""
        if self.sensors is not None and self._sampled < self.k:
            self.sensors.sample(self.k, self.plant)
            self._sampled = self.k

    def control(self, commands: Mapping[int, Command] = NO_COMMANDS) -> None:
        """Command every vehicle on its present state, record what was done, and check the flight.

        Args:
            commands: by the vehicles' numbers, in place of their controllers'.

        Raises:
            FlightFailed: a crash, or a command or an estimate that is no number.
        """
        plant, references = self.plant, [each.reference(self.k) for each in self.vehicles]
        if self.modules is not None:
            self.modules.guide(self.k, references)
            commands = {**commands, **self.modules.held}
        if self.pilot is not None:
            commands = {**self._piloted(self.pilot, references), **commands}
        for i, vehicle in enumerate(self.vehicles):
            vehicle.faults.tell(plant.t)
            state = plant.state(i)[0]
            estimate, reference = self._estimated(i, state, references[i])
            x = state if estimate is None else estimate
            arm, reference = self._moved_arm(i, x, reference)
            references[i], given = reference, commands.get(i)
            command = (
                self._controlled(i, x, reference)
                if given is None
                else vehicle.allocated(given, x[0, Q])
            )
            rotors = plant.propulsion[i].rotors
            felt, tilt = (vehicle.wrench_record, estimate), rotors.tilt[0]
            step = Step(
                self.k, plant.t, state, reference, command, rotors.rpm[0], *felt, tilt, arm
            )
            for observer in self.observers:
                observer.record(i, step)
            plant.command(i, command)
            plant.set_estimate(i, estimate)
            if self.modules is not None:
                self.modules.note(i, command)
        check_distances(plant, self.vehicles, references)
        self._check(plant)

    def _moved_arm(
        self, i: int, x: Array, reference: Reference
    ) -> tuple[ArmRecord | None, Reference]:
        """Command a vehicle's arm, where it has one, on what is known of its state (bodies, 13).

        Also returns the reference that the vehicle is to follow with it.
        """
        motors, control = self.plant.arm(i), self.vehicles[i].arm
        if motors is None or control is None:
            return None, reference
        load = known_load(self.plant, i)
        control.carry(load)
        interaction = self.vehicles[i].interaction
        control.feel(None if interaction is None else interaction.task)
        moving = Joints(motors.q, motors.v)
        reference = control(self.k, x[0], moving, self.vehicles[i].controller, reference)
        self.plant.command_arm(i, control.target)
        joints = (motors.q, motors.v, motors.efforts, motors.targets)
        return ArmRecord(*joints, row_of(load)), reference

    def _piloted(self, pilot: Pilot, references: Sequence[Reference]) -> Mapping[int, Command]:
        """The pilot's commands."""
        self.timer.start()
        commands = pilot(self.k, self.plant, references)
        self.timer.stop()
        return commands

    def _estimated(self, i: int, state: Array, given: Reference) -> tuple[Array | None, Reference]:
        """The estimate that a vehicle flies on, None of one that goes by the truth, and what it is to track with it."""
        if i not in self.estimates:
            return None, given
        estimate, watch = self.estimates[i].state(self.plant.t), self.watches.get(i)
        if watch is None:
            return estimate, given
        return estimate, watch.reference(self.plant.t, estimate, state, given)

    def _check(self, plant: Plant) -> None:
        """End a flight that has failed, or that has come down because its estimate was lost."""
        self.monitor.landing = {i for i, each in self.watches.items() if each.is_landing}
        self.monitor.check(plant)
        for i in self.monitor.landed:
            self.watches[i].touch(plant.t, plant.state(i)[0])

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
        if self.judge is not None:
            self.judge.watch(self.plant)

    def fly(self, progress: Callable[[float], None]) -> None:
        """Fly all references to their end; `progress` is told the simulation time [s] now and then.

        Raises:
            FlightFailed: the flight ended before its time.
        """
        stretches = self._stretches()
        while self.k <= self.last:
            k = self.k
            self.sense()
            self.control()
            if self._is_over:
                break
            if k < self.last:
                self.advance()
            if k % PROGRESS_STEPS == 0:
                progress(self.plant.t)
            if k == self.last:
                break
            if stretches is not None:
                self._fly_on(stretches)
        for watch in self.watches.values():
            watch.end(self.plant.t)

    def _stretches(self) -> Stretches | None:
        """Who flies control periods where nothing but vehicle and controller has a say, and observers need no pause."""
        others = (self.sensors, self.pilot, self.judge, self.modules)
        takes_rows = all(isinstance(each, RowObserver) for each in self.observers)
        if any(each is not None for each in others) or self.estimates or not takes_rows:
            return None
        return Stretches.of(self.plant, self.vehicles[0]) if len(self.vehicles) == 1 else None

    def _fly_on(self, stretches: Stretches) -> None:
        """Fly until the next report of progress is due.

        Raises:
            FlightFailed: the flight ended before that.
        """
        takers = cast("Sequence[RowObserver]", self.observers)  # `_stretches` has looked
        wanted = min(-self.k % PROGRESS_STEPS, self.last - self.k)
        while wanted > 0:
            rows, failure = stretches.fly(self.k, wanted)
            for observer in takers:
                observer.record_rows(0, rows)
            flown = len(rows.k)
            self.k, wanted = self.k + flown, wanted - flown
            if failure is not None:
                self.k -= 1  # the instant at which it ended
                raise failure

    @property
    def _is_over(self) -> bool:
        return self.judge is not None and self.judge.is_over
