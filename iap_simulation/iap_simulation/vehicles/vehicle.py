# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle of a run: its model, references, measured state, controller and start."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from iap_control.actuation.kinds import platform_model
from iap_control.allocation.allocator import Allocator
from iap_control.allocation.model import PlatformModel, check_axes
from iap_control.arm.arm_control import ArmControl
from iap_control.controllers.controller import Controller, make_controller
from iap_control.controllers.known_faults import KnownFaults
from iap_control.interaction.push import Push, pushed_axes
from iap_control.laws.tracking import gravity_wrench
from iap_control.lever import LeverCompensation
from iap_control.references.motions import Replay
from iap_control.references.replay import Commanded, commanded
from iap_control.references.timeline import Leads, Timeline, flight_timeline
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_description.signals import ArmRecord, Reference, Step, WrenchRecord
from iap_description.states import REF_FIXED, REF_P, REF_Q, Command, Mode, Q, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import row_of
from iap_physics.arm.gripper import known_load
from iap_physics.engines.joints import joined_rows
from iap_physics.measured.state_noise import NoisyState
from iap_physics.plant.plant import Plant
from iap_simulation.scenario.randomization import drawn_deviation, drawn_start
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.vehicles.interaction import InteractionControl

STATE_NOISE = "{}/state_noise"  # stream of a vehicle's state noise, by its name
LEVEL: Array = np.array([0.0, 0.0, 0.0, 1.0])  # attitude


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
        seen: (13,) what was measured last of the central body.
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
    seen: Array = field(default_factory=lambda: np.zeros(13))
    estimate: Array | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        vehicle: VehicleSpec,
        recorded: Commanded | None = None,
    ) -> Self:
        """Build a vehicle with its controller and references.

        Args:
            scenario: what is flown.
            vehicle: which of its vehicles.
            recorded: the recorded command that it flies, if it has been read already.
        """
        model_assembly = Assembly.of(vehicle.platform, vehicle.name)
        gains = vehicle.control.gains
        model = platform_model(
            model_assembly,
            vehicle.platform.fleet,
            gravity=scenario.world.gravity,
            com_coupling=gains.com_coupling,
        )
        law, yaw = vehicle.control.law, vehicle.control.yaw
        controller = make_controller(law, model, gains, dt=scenario.dt, yaw_mode=yaw)
        if vehicle.push is not None and vehicle.control.wrench_mode != "none":
            check_axes(model, pushed_axes(vehicle.push), vehicle.name)
        line = _timeline(scenario, vehicle, model, recorded)
        model.actuation.check_references(model, line, vehicle.name)
        sense = NoisyState(vehicle.state_noise, state_noise_stream(scenario.seed, vehicle.name))
        start, rpm, tilt, hover = vehicle_start(
            scenario, vehicle, model_assembly, model, line.row(0)
        )
        allocator = Allocator(model, rate_filter=gains.rate_filter, dt=scenario.dt)
        return cls(
            vehicle.name,
            model,
            controller,
            line,
            sense,
            start,
            rpm,
            tilt,
            hover,
            allocator,
            vehicle.start.mode == "ground",
            InteractionControl.of(scenario, vehicle, model_assembly)
            if scenario.has_contact(vehicle)
            else None,
            vehicle.push if vehicle.control.wrench_mode != "none" else None,
            LeverCompensation.of(model_assembly),
            KnownFaults(vehicle.faults, model, controller, [allocator]),
            arm_control(scenario, vehicle, model_assembly, model, line),
        )

    def reset(self, seed: int) -> None:
        """Forget the last flight: the controller's memory is empty and the noise starts anew."""
        self.controller.reset()
        self.allocator.reset()
        self.faults.reset()
        self.sense.reset(state_noise_stream(seed, self.name))
        self.estimate = None
        if self.arm is not None:
            self.arm.reset()
        if self.interaction is not None:
            self.interaction.reset()

    def begin_period(self, t: float) -> None:
        """Begin a control period at a time [s]: the controller is told of the faults that it knows by then."""
        self.faults.tell(t)

    def known_state(self, x: Array) -> Array:
        """(bodies, 13) state that the vehicle goes by where the true one is `x`."""
        return x if self.estimate is None else self.estimate

    def measured(self, x: Array) -> Array:
        """(13,) what is measured of the central body on a state (bodies, 13), once for each."""
        measured = self.sense(x[0])
        self.seen = measured if self.lever is None else self.lever(x, measured)
        return self.seen

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
        if interaction is None:
            return self.allocated(self.controller(measured, reference), measured[Q])
        interaction.update(x, measured, contact_W)
        tracked = interaction.revise_reference(t, measured[Q], reference)
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

    @property
    def wrench_record(self) -> WrenchRecord | None:
        """Wrenches on the last state, for the recording."""
        return None if self.interaction is None else self.interaction.wrench_record

    def reference(self, k: int) -> Reference:
        """The reference at control instant k; the last one is held."""
        k = min(k, self.timeline.last)
        return Reference(self.timeline.row(k), self.timeline.level(k))


def arm_control(
    scenario: Scenario,
    vehicle: VehicleSpec,
    assembly: Assembly,
    model: PlatformModel,
    line: Timeline,
) -> ArmControl | None:
    """The control of a vehicle's arm, whose motion begins with that of the platform; None without an arm.

    Raises:
        BadInput: the motion does not fit the arm, or no controller flies such a platform while its arm moves.
    """
    if assembly.arm is None:
        return None
    if model.actuation.arm_refusal is not None:
        raise BadInput(
            f"vehicle '{vehicle.name}': key 'platform.arm': {model.actuation.arm_refusal}"
        )
    return ArmControl.of(
        assembly.arm, model, vehicle.arm, lead=line.lead, last=line.last, dt=scenario.dt
    )


def recorded_commands(scenario: Scenario) -> tuple[Commanded | None, ...]:
    """The recorded command of each vehicle that replays one.

    Raises:
        BadInput: a recording cannot be used.
    """
    references = [spec.reference for spec in scenario.vehicles]
    return tuple(commanded(each) if isinstance(each, Replay) else None for each in references)


def vehicles_of(
    scenario: Scenario, recorded: Sequence[Commanded | None] | None = None
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
    _check_times(scenario, max(vehicle.timeline.duration for vehicle in vehicles))
    return vehicles


def _check_times(scenario: Scenario, duration: float) -> None:
    """Refuse faults that would strike after a flight's end [s]."""
    for i, spec in enumerate(scenario.vehicles):
        for j, fault in enumerate(spec.faults):
            if fault.at >= duration:
                key = f"faults.{j}.at"
                if len(scenario.vehicles) > 1:
                    key = f"vehicles.{i}.{key}"
                raise BadInput(
                    f"key '{key}': {fault.at:g} s, but the flight ends at {duration:g} s"
                )


def state_noise_stream(seed: int, name: str) -> np.random.Generator:
    """The generator of a vehicle's state noise."""
    return stream(seed, STATE_NOISE.format(name))


def _timeline(
    scenario: Scenario, vehicle: VehicleSpec, model: PlatformModel, recorded: Commanded | None
) -> Timeline:
    height = vehicle.platform.ground_clearance if vehicle.start.mode == "ground" else None
    leads = Leads(vehicle.start.lead_in, height)
    line = flight_timeline(vehicle.reference, leads, scenario.dt, recorded)
    given = vehicle.control.aircraft_yaw_deg
    yaw = None if given is None else np.deg2rad(given)
    line = line.placed(np.array(vehicle.offset), model.mount_yaw, yaw)
    return line if scenario.duration is None else line.cut(scenario.duration)


def vehicle_start(
    scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly, model: PlatformModel, row: Array
) -> tuple[Array, Array, Array, Array]:
    """State rows (bodies, 13), rotor speeds [rpm] and angles [rad] (N, 4) and hover thrusts (N,) [N], as a seed draws.

    Args:
        scenario: whose seed counts.
        vehicle: of it.
        assembly: of the controller's model.
        model: of the controller.
        row: the reference row (19 + N) that the start is displaced from.
    """
    drawn = drawn_start(row, scenario, vehicle)
    flown = drawn_deviation(scenario, vehicle).assembly(assembly)
    start, rpm, tilt = _start(vehicle, flown, model, drawn)
    hover = _balanced(vehicle, model, LEVEL, drawn[REF_FIXED:])
    return start, rpm, tilt, _thrust(hover, vehicle)


def _start(
    vehicle: VehicleSpec, assembly: Assembly, model: PlatformModel, row: Array
) -> tuple[Array, Array, Array]:
    """Bodies, rotor speeds and angles at the first reference: hovering in balance, or standing with the rotors idle."""
    base = resting_state(row[REF_P], row[REF_Q])
    rotors = [aircraft.rotor for aircraft in vehicle.platform.fleet]
    upright = np.zeros((len(rotors), 4))
    if vehicle.start.mode == "ground":
        idle = [each.rotor.rpm_min * each.presence for each in vehicle.platform.fleet]
        return joined_rows(assembly, base), np.array(idle), upright
    command = _balanced(vehicle, model, base[3:7], row[REF_FIXED:])
    if command.mode == Mode.RPM:
        return joined_rows(assembly, base), command.rpm.copy(), command.tilt.copy()
    rpm = np.sqrt(command.thrust / (4.0 * np.array([each.c_f for each in rotors])))
    rows = joined_rows(assembly, base, q_WB=command.q_WB)
    return rows, np.repeat(rpm[:, None], 4, axis=1), upright


def _balanced(vehicle: VehicleSpec, model: PlatformModel, q_WP: Array, headings: Array) -> Command:
    """The command that carries the platform at rest, at its attitude (4,) and headings (N,) [rad]."""
    weight = np.empty(6)
    gravity_wrench(model.inertia.mass, model.inertia.d_0, model.inertia.gravity, q_WP, weight)
    trial = Allocator(model, rate_filter=vehicle.control.gains.rate_filter, dt=1.0)
    return trial(-weight, q_WP, headings)


def _thrust(command: Command, vehicle: VehicleSpec) -> Array:
    """Thrusts (N,) of the aircraft under a command that carries the platform [N]."""
    if command.mode == Mode.RPM:
        fleet = vehicle.platform.fleet
        per_square = np.array([aircraft.rotor.c_f for aircraft in fleet])
        return per_square * (command.rpm**2).sum(axis=1)
    return command.thrust.copy()
