# SPDX-License-Identifier: BSD-3-Clause
"""The closed loop, in one process: the same plant, controllers and references as the ROS nodes, without topics."""

from collections.abc import Callable, Sequence

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER, are_plausible
from iap_description.errors import FlightFailed
from iap_description.signals import Reference
from iap_description.states import Command, Q
from iap_physics.plant.plant import Plant
from iap_simulation.loop.pacing import StepTimer
from iap_simulation.loop.roles import (
    Agent,
    EndCheck,
    FastPeriods,
    FlightCheck,
    Guidance,
    Observer,
    Pacing,
    PeriodObserver,
    RowObserver,
    SensorSampler,
    StepObserver,
)
from iap_simulation.vehicles.endings import is_far, too_far
from iap_simulation.vehicles.vehicle import Vehicle

PROGRESS_STEPS = 50  # control steps between two reports of progress


class ClosedLoop:
    """State -> sensors -> guidance -> agents and controllers -> commands -> plant, one control period after the other.

    Args:
        plant: at its start.
        vehicles: in the plant's order.
        agents: command vehicles in place of their controllers; of two that command the same one, the later counts.
        guidance: changes the references of the vehicles' timelines, one after the other.
        observers: look on, see `iap_simulation.loop.roles`; any of them may end the flight.
        sensors: of all vehicles; None where there are no sensors.

    Attributes:
        k: number of the present control instant.
        last: number of the references' last instant.
        timer: measures the control steps.
        fast_periods: number of control periods that `FastPeriods` have flown.
    """

    def __init__(
        self,
        plant: Plant,
        vehicles: Sequence[Vehicle],
        agents: Sequence[Agent] = (),
        guidance: Sequence[Guidance] = (),
        observers: Sequence[Observer] = (),
        sensors: SensorSampler | None = None,
    ) -> None:
        self.plant, self.vehicles, self.sensors = plant, vehicles, sensors
        self.agents, self.guidance = tuple(agents), tuple(guidance)
        self.recorders = [each for each in observers if isinstance(each, StepObserver)]
        self._checks = [each for each in observers if isinstance(each, FlightCheck)]
        self._end_checks = [each for each in observers if isinstance(each, EndCheck)]
        self._pacings = [each for each in observers if isinstance(each, Pacing)]
        self._period_observers = [each for each in observers if isinstance(each, PeriodObserver)]
        self.timer = StepTimer()
        self.k, self._sampled = 0, -1
        self.last = max(vehicle.timeline.last for vehicle in vehicles)
        self.fast_periods = 0

    @property
    def is_over(self) -> bool:
        """True if an observer ends the flight."""
        return any(each.is_over for each in self._period_observers)

    def sense(self) -> None:
        """Take the samples that are due at the present instant, unless they are taken already."""
        if self.sensors is not None and self._sampled < self.k:
            self.sensors.sample(self.k, self.plant)
            self._sampled = self.k

    def control(self) -> None:
        """Command every vehicle on its present state, record what was done, and check the flight.

        Raises:
            FlightFailed: a crash, or a command or a state that is no number.
        """
        plant, k = self.plant, self.k
        for vehicle in self.vehicles:
            vehicle.begin_period(plant.t)
        references = [vehicle.reference(k) for vehicle in self.vehicles]
        for each in self.guidance:
            each.refer(k, plant, references)
        self._check_references(references)
        commands = self._commands(references)
        for i, vehicle in enumerate(self.vehicles):
            state, reference = plant.state(i)[0], references[i]
            x, external = vehicle.known_state(state), commands.get(i)
            if external is None:
                command = self._controlled(i, x, reference)
            else:
                command = vehicle.allocated(external, x[0, Q])
            step = vehicle.step(k, plant, i, state, reference, command)
            for observer in self.recorders:
                observer.record(i, step)
            plant.command(i, command)
        self._check_distances(references)
        for check in self._checks:
            check.check_flight(plant)

    def _commands(self, references: Sequence[Reference]) -> dict[int, Command]:
        """The agents' commands, by the vehicles' numbers."""
        commands: dict[int, Command] = {}
        if self.agents:
            self.timer.start()
            for agent in self.agents:
                commands.update(agent.command(self.k, self.plant, references))
            self.timer.stop(len(commands))
        return commands

    def _controlled(self, i: int, x: Array, reference: Reference) -> Command:
        """The command of a vehicle's own controller on what it knows of its state (bodies, 13)."""
        self.timer.start()
        contact_W = self.plant.contact_wrench(i)
        command = self.vehicles[i].command(self.plant.t, x, contact_W, reference)
        self.timer.stop()
        return command

    def _check_references(self, references: Sequence[Reference]) -> None:
        """End the flight of a vehicle whose guidance asks for what none can do.

        Raises:
            FlightFailed: a number is beyond `MAX_SI_NUMBER`, or none.
        """
        for vehicle, reference in zip(self.vehicles, references, strict=True):
            if not are_plausible(reference.row):
                raise FlightFailed(
                    "diverged",
                    self.plant.t,
                    f"the reference of {vehicle.name} has a number beyond {MAX_SI_NUMBER:g}, or none",
                )

    def _check_distances(self, references: Sequence[Reference]) -> None:
        """End the flight of a vehicle that has lost its present reference.

        Raises:
            FlightFailed: it is too far away.
        """
        for i, (vehicle, reference) in enumerate(zip(self.vehicles, references, strict=True)):
            if vehicle.has_place and is_far(self.plant.state(i)[0, 0], reference.row):
                raise FlightFailed("diverged", self.plant.t, too_far(vehicle.name))

    def advance(self) -> None:
        """Fly one control period.

        Raises:
            FlightFailed: the state is no longer a number.
        """
        self.plant.advance()
        self.k += 1
        for each in self._period_observers:
            each.observe(self.plant)

    def fly(self, progress: Callable[[float], None], fast: FastPeriods | None = None) -> None:
        """Fly all references to their end.

        Args:
            progress: called with the simulation time [s] now and then.
            fast: flies the periods between two calls of `progress`, but for the first of them; where it is given there
                is one vehicle, nobody but its controller commands it, and recorders are `RowObserver`.

        Raises:
            FlightFailed: the flight ended before its time.
        """
        while self.k <= self.last:
            k = self.k
            self._allowed(1)
            self.sense()
            self.control()
            if self.is_over:
                break
            if k < self.last:
                self.advance()
            if k % PROGRESS_STEPS == 0:
                progress(self.plant.t)
            if k == self.last:
                break
            if fast is not None:
                self._fly_fast(fast)
        for check in self._end_checks:
            check.end_flight(self.plant.t)

    def _allowed(self, most: int) -> int:
        """Number of periods that may be flown in one go, at most `most`, once the flight may go on."""
        return min([most, *(each.allow(self.k, most) for each in self._pacings)])

    def _fly_fast(self, fast: FastPeriods) -> None:
        """Fly until the next report of progress is due, or until the loop shall fly period by period.

        Raises:
            FlightFailed: the flight ended before that.
        """
        recorders = [each for each in self.recorders if isinstance(each, RowObserver)]
        left = min(-self.k % PROGRESS_STEPS, self.last - self.k)
        while (allowed := self._allowed(left)) > 0:
            rows, failure = fast.fly(self.k, allowed)
            for observer in recorders:
                observer.record_rows(0, rows)
            count = len(rows.k)
            self.k, left = self.k + count, left - count
            self.fast_periods += count
            if failure is not None:
                self.k -= 1  # the instant at which it ended
                raise failure
