# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles of a run: their models, references, measured states, controllers and starts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from iap_control.allocation.allocator import Allocator
from iap_control.allocation.model import PlatformModel
from iap_control.arm.arm_control import ArmControl
from iap_control.controllers.controller import Controller
from iap_control.controllers.known_faults import KnownFaults
from iap_control.controllers.land_detector import LandDetector
from iap_control.controllers.wrench_follower import WrenchFollower
from iap_control.interaction.push import Push
from iap_control.lever import LeverCompensation
from iap_control.references.replay import RecordedCommand
from iap_control.references.timeline import Timeline
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.signals import ArmRecord, Reference, Step, WrenchRecord
from iap_description.states import Command, Mode, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import row_of
from iap_physics.arm.gripper import known_load
from iap_physics.measured.state_noise import NoisyState
from iap_physics.plant.plant import Plant
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.vehicles.interaction import InteractionControl
from iap_simulation.vehicles.parts import (
    arm_control,
    check_times,
    controller_model,
    land_detector,
    marker_bias,
    state_noise_stream,
    vehicle_controller,
    vehicle_start,
    vehicle_timeline,
)
from iap_simulation.vehicles.replayed import recorded_commands, wrench_follower


@dataclass
class Vehicle:
    """One vehicle of a run.

    Attributes:
        name: the vehicle's name and namespace.
        model: the controller's model of it.
        controller: turns measured states and references into commands.
        timeline: references at every control instant.
        sense: the state that the controller sees.
        start: (bodies, 13) rows at t = 0.
        start_rpm: (N, 4) rotor speeds at t = 0.
        start_tilt: (N, 4) angles of rotors that tilt at t = 0 [rad].
        hover_thrust: (N,) thrust of every aircraft, level and at rest [N].
        allocator: of commands given as a platform wrench.
        on_ground: whether the flight starts and ends on the ground.
        interaction: with its surroundings; None where no wrench is measured.
        push: the reference wrench, under wrench control; None without one.
        lever: of joints off the aircraft's CoMs; None without any.
        faults: that the controller is told of.
        arm: control of its joints; None without an arm.
        marker_bias: of a seed, what the markers are off by which it goes [m].
        capture_bias: (3,) that bias in this flight [m].
        land_detector: of a flight that ends on the ground; None of others.
        wrench_follower: of recorded wrenches; None where none are flown.
        has_place: whether its reference is a place to be at.
        measurement: (13,) the last one of the central body.
        estimate: (bodies, 13) state that it goes by; None where it goes by the truth.
    """

    name: str
    model: PlatformModel
    controller: Controller
    timeline: Timeline
    sense: NoisyState
    start: Array
    start_rpm: Array
    start_tilt: Array
    hover_thrust: Array
    allocator: Allocator
    on_ground: bool
    interaction: InteractionControl | None
    push: Push | None
    lever: LeverCompensation | None
    faults: KnownFaults
    arm: ArmControl | None
    marker_bias: Callable[[int], Array]
    capture_bias: Array
    land_detector: LandDetector | None = None
    wrench_follower: WrenchFollower | None = None
    has_place: bool = True
    measurement: Array = field(default_factory=lambda: np.zeros(13))
    estimate: Array | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        vehicle: VehicleSpec,
        recorded: RecordedCommand | None = None,
    ) -> Self:
        """Build a vehicle with its controller and references.

        Args:
            scenario: what is flown.
            vehicle: which of its vehicles.
            recorded: the recorded command that it flies, if it has been read already.
        """
        assembly = Assembly.of(vehicle.platform, vehicle.name)
        model = controller_model(scenario, vehicle, assembly)
        controller = vehicle_controller(scenario, vehicle, model)
        line = vehicle_timeline(scenario, vehicle, model, recorded)
        x, rpm, tilt, hover = vehicle_start(scenario, vehicle, assembly, model, line.row(0))
        gains = vehicle.control.gains
        allocator = Allocator(model, rate_filter=gains.rate_filter, dt=scenario.dt)
        noise = state_noise_stream(scenario.seed, vehicle.name)
        interaction = None
        if scenario.has_contact(vehicle):
            interaction = InteractionControl.of(scenario, vehicle, assembly)
        return cls(
            name=vehicle.name,
            model=model,
            controller=controller,
            timeline=line,
            sense=NoisyState(vehicle.state_noise, noise, scenario.dt),
            start=x,
            start_rpm=rpm,
            start_tilt=tilt,
            hover_thrust=hover,
            allocator=allocator,
            on_ground=vehicle.start.mode == "ground",
            interaction=interaction,
            push=vehicle.push if vehicle.control.wrench_mode != "none" else None,
            lever=LeverCompensation.of(assembly),
            faults=KnownFaults(vehicle.faults, model, controller, [allocator]),
            arm=arm_control(scenario, vehicle, assembly, model, line),
            marker_bias=(bias_of := marker_bias(vehicle, assembly)),
            capture_bias=bias_of(scenario.seed),
            land_detector=land_detector(scenario, vehicle, model),
            has_place=recorded is None or recorded.has_poses,
            wrench_follower=wrench_follower(vehicle, model, controller, line.lead, recorded),
        )

    def reset(self, seed: int) -> None:
        """Forget the last flight: the controller's memory is empty and the noise starts anew."""
        self.controller.reset()
        self.allocator.reset()
        self.faults.reset()
        self.sense.reset(state_noise_stream(seed, self.name))
        self.capture_bias = self.marker_bias(seed)
        self.estimate = None
        if self.arm is not None:
            self.arm.reset()
        if self.interaction is not None:
            self.interaction.reset()
        if self.land_detector is not None:
            self.land_detector.reset()

    @property
    def position_bias(self) -> Array:
        """(3,) what its own estimate is off in this flight, for all the time [m]."""
        bias: Array = self.sense.position_bias + self.capture_bias
        return bias

    def begin_period(self, t: float) -> None:
        """Begin a control period at a time [s]: the controller is told of the faults that it knows by then."""
        self.faults.tell(t)

    def known_state(self, x: Array) -> Array:
        """(bodies, 13) state that the vehicle goes by where the true one is `x`."""
        return x if self.estimate is None else self.estimate

    def measured(self, x: Array) -> Array:
        """(13,) what is measured of the central body on a state (bodies, 13), once for each."""
        measured = self.sense(x[0])
        self.measurement = measured if self.lever is None else self.lever(x, measured)
        return self.measurement

    def feel(
        self, t: float, x: Array, measured: Array, contact_W: Array, reference: Reference
    ) -> None:
        """Measure wrenches where another commands; arguments as in `command`, `measured` as it returns."""
        if self.interaction is not None:
            self.interaction.update(x, measured, contact_W)
            self.interaction.revise_reference(t, measured[Q], reference)

    def command(self, t: float, x: Array, contact_W: Array, reference: Reference) -> Command:
        """The command on one state: sense, measure wrenches, revise the reference, control.

        Args:
            t: simulation time [s].
            x: (bodies, 13) state.
            contact_W: (6,) mean contact wrench on the central body in the last period, world axes.
            reference: the present one.
        """
        measured, interaction = self.measured(x), self.interaction
        if self.wrench_follower is not None:
            reference = self.wrench_follower.reference(t, measured[Q], reference)
        if interaction is None:
            if self.land_detector is not None:
                reference = self.land_detector.reference(t, measured, reference)
            return self.allocated(self.controller(measured, reference), measured[Q])
        interaction.update(x, measured, contact_W)
        tracked = interaction.revise_reference(t, measured[Q], reference)
        if self.land_detector is not None:
            wrench_P = interaction.measured_P
            tracked = self.land_detector.reference(t, measured, tracked, wrench_P)
        command = self.controller(measured, tracked, interaction.measured_P, interaction.task)
        command = self.allocated(command, measured[Q])
        interaction.note_command(command)
        return command

    def allocated(self, command: Command, q_WP: Array) -> Command:
        """The command with a platform wrench allocated to the aircraft, at the platform's attitude (4,)."""
        if command.mode != Mode.WRENCH:
            return command
        return self.allocator.allocate(command.wrench_P, q_WP)

    def step(
        self, k: int, plant: Plant, number: int, x: Array, reference: Reference, command: Command
    ) -> Step:
        """The record of control instant k.

        Args:
            k: number of the instant.
            plant: at that instant.
            number: of the vehicle in the plant.
            x: (bodies, 13) true state.
            reference: that was tracked.
            command: on that state.
        """
        rotors = plant.propulsion[number].rotors
        return Step(
            k,
            plant.t,
            x,
            reference,
            command,
            rpm=rotors.rpm[0],
            wrench_record=self.wrench_record,
            estimated=self.estimate,
            tilt=rotors.tilt[0],
            arm=self._arm_record(plant, number),
        )

    def _arm_record(self, plant: Plant, number: int) -> ArmRecord | None:
        """The arm's joints at the present instant; None without an arm."""
        motors = None if self.arm is None else plant.arm(number)
        if motors is None:
            return None
        load = row_of(known_load(plant, number))
        return ArmRecord(motors.q, motors.v, motors.efforts, motors.targets, load)

    def command_arm(self, q: ArrayLike, v: ArrayLike | None, torque: ArrayLike | None) -> None:
        """Let the arm's motors go for coordinates, see `Simulation.command_arm`.

        Raises:
            BadInput: it has no arm, or one that moves by its own motion.
        """
        if self.arm is None or not self.arm.is_given:
            raise BadInput(f"command_arm: {self.name} has no arm with arm.motion.type=external")
        self.arm.give(q, v, torque)

    @property
    def wrench_record(self) -> WrenchRecord | None:
        """Wrenches on the last state, for the recording."""
        return None if self.interaction is None else self.interaction.wrench_record

    def reference(self, k: int) -> Reference:
        """The reference at control instant k; the last one is held."""
        k = min(k, self.timeline.last)
        return Reference(self.timeline.row(k), self.timeline.level(k))


def vehicles_of(
    scenario: Scenario, recorded: Sequence[RecordedCommand | None] | None = None
) -> tuple[Vehicle, ...]:
    """All vehicles of a scenario; recorded commands are read unless they are given.

    Raises:
        BadInput: a recording cannot be used, or a fault would strike after the flight's end.
    """
    commands = recorded_commands(scenario) if recorded is None else recorded
    vehicles = tuple(
        Vehicle.of(scenario, spec, each)
        for spec, each in zip(scenario.vehicles, commands, strict=True)
    )
    check_times(scenario, max(vehicle.timeline.duration for vehicle in vehicles))
    return vehicles
