# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle of a run: its model, its references, what it senses, its controller, and where it starts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_control.allocator import Allocator
from iap_control.controller import PlatformController
from iap_control.interaction.push import Push, pushed_axes
from iap_control.laws.tracking import gravity_wrench
from iap_control.model import PlatformModel, check_axes
from iap_control.references import timeline
from iap_control.references.motions import Replay
from iap_control.references.replay import Commanded, commanded
from iap_control.references.timeline import Leads, Timeline
from iap_description import so3
from iap_description.random_streams import stream
from iap_description.signals import Reference, WrenchRecord
from iap_description.states import REF_FIXED, REF_P, REF_Q, Command, Level, Mode, Q, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_physics.engines.joints import joined_rows
from iap_physics.measured.state_noise import NoisyState
from iap_simulation.interaction import InteractionControl
from iap_simulation.scenario.randomization import drawn_start
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

Array = NDArray[np.float64]
LEVEL: Array = np.array([0.0, 0.0, 0.0, 1.0])
MotionRows = Callable[[Array], tuple[Array, Array]]


@dataclass
class Vehicle:
    """One vehicle of a run.

    Attributes:
        name: the vehicle's name and namespace.
        model: what the controller knows of the platform.
        controller: turns measured states and references into commands.
        timeline: references at every control instant.
        sense: the state that the controller sees.
        start: (bodies, 13) rows at t = 0.
        start_rpm: (N, 4) rotor speeds at t = 0.
        hover_thrust: (N,) thrust of every aircraft, level and at rest [N].
        allocator: of commands given as a platform wrench.
        on_ground: whether the flight starts and ends on the ground.
        touch: what it feels of its surroundings; None where there is nothing to feel.
        push: the wrench it is to feel, under wrench control; None without one.
    """

    name: str
    model: PlatformModel
    controller: PlatformController
    timeline: Timeline
    sense: NoisyState
    start: Array
    start_rpm: Array
    hover_thrust: Array
    allocator: Allocator
    on_ground: bool
    touch: InteractionControl | None
    push: Push | None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        vehicle: VehicleSpec,
        motion: MotionRows | None = None,
        duration: float = 0.0,
    ) -> Self:
        """Build a vehicle's pilot.

        Args:
            scenario: what is flown.
            vehicle: which of its vehicles.
            motion: tracked and scored rows of a recorded command; None takes the scenario's own motion.
            duration: of the recorded command [s].
        """
        model_assembly = Assembly.of(vehicle.platform, vehicle.name)
        gains = vehicle.control.gains
        model = PlatformModel.of(
            model_assembly,
            vehicle.platform.aircraft,
            gravity=scenario.world.gravity,
            com_coupling=gains.com_coupling,
        )
        controller = PlatformController(model, gains, dt=scenario.dt, yaw_mode=vehicle.control.yaw)
        if vehicle.push is not None and vehicle.control.wrench_mode != "none":
            check_axes(model, pushed_axes(vehicle.push), vehicle.name)
        line = _timeline(scenario, vehicle, model, motion, duration)
        sense = NoisyState(vehicle.state_noise.level, _noise(scenario.seed, vehicle.name))
        row = drawn_start(
            line.rows[0], scenario.draw, stream(scenario.seed, f"{vehicle.name}/start")
        )
        start, rpm = _start(vehicle, model_assembly, model, row)
        return cls(
            vehicle.name,
            model,
            controller,
            line,
            sense,
            start,
            rpm,
            _thrust(_balanced(vehicle, model, LEVEL, row[REF_FIXED:]), vehicle),
            Allocator(model, rate_filter=gains.rate_filter, dt=scenario.dt),
            vehicle.start.mode == "ground",
            InteractionControl.of(scenario, vehicle, model_assembly)
            if scenario.feels(vehicle)
            else None,
            vehicle.push if vehicle.control.wrench_mode != "none" else None,
        )

    def reset(self, seed: int) -> None:
        """Forget the last flight: the controller's memory is empty and the noise starts anew."""
        self.controller.reset()
        self.allocator.reset()
        self.sense.reset(_noise(seed, self.name))
        if self.touch is not None:
            self.touch.reset()

    def command(self, t: float, x: Array, contact_W: Array, reference: Reference) -> Command:
        """The command on one state: sense, feel, revise the reference, control.

        Args:
            t: simulation time [s].
            x: (bodies, 13) state.
            contact_W: (6,) mean contact wrench on the central body in the last period, world axes.
            reference: the present one.
        """
        measured, touch = self.sense(x[0]), self.touch
        if touch is None:
            return self.allocated(self.controller(measured, reference), measured[Q])
        touch.feel(x, measured, contact_W)
        tracked = touch.answer(t, measured[Q], reference)
        F_e = self.controller.gains.compensation * touch.measured_P
        command = self.controller(measured, tracked, F_e, touch.task)
        command = self.allocated(command, measured[Q])
        touch.commanded(command)
        return command

    def allocated(self, command: Command, q_WP: Array) -> Command:
        """The command with a platform wrench allocated to the aircraft, at the platform's attitude (4,)."""
        if command.mode != Mode.WRENCH:
            return command
        return self.allocator.allocate(command.wrench_P, q_WP)

    @property
    def felt(self) -> WrenchRecord | None:
        """What was felt on the last state, for the record."""
        return None if self.touch is None else self.touch.felt

    def reference(self, k: int) -> Reference:
        """The reference at control instant k; the last one is held."""
        k = min(k, len(self.timeline.rows) - 1)
        return Reference(self.timeline.rows[k], Level(self.timeline.levels[k]))


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
        BadInput: a recording cannot be used.
    """
    commands = recorded_commands(scenario) if recorded is None else recorded
    return tuple(
        Vehicle.of(scenario, spec, each.rows if each else None, each.duration if each else 0.0)
        for spec, each in zip(scenario.vehicles, commands, strict=True)
    )


def _noise(seed: int, name: str) -> np.random.Generator:
    return stream(seed, f"{name}/state_noise")


def _timeline(
    scenario: Scenario,
    vehicle: VehicleSpec,
    model: PlatformModel,
    motion: MotionRows | None,
    duration: float,
) -> Timeline:
    if motion is None:
        assert not isinstance(vehicle.reference, Replay)  # noqa: S101 - a replay comes with its motion
        own = vehicle.reference
        motion, duration = lambda t: (own.rows(t), own.rows(t)), own.duration
    height = vehicle.platform.ground_clearance if vehicle.start.mode == "ground" else None
    recorded = isinstance(vehicle.reference, Replay)
    line = timeline.build(
        motion,
        duration,
        Leads(vehicle.start.lead_in, height),
        scenario.dt,
        score_leads=not recorded,
    )
    for rows in (line.rows, line.scored):
        rows[:, REF_P] += vehicle.offset
    headings = _headings(line.rows, vehicle, model)
    line = replace(
        line, rows=np.hstack([line.rows, headings]), scored=np.hstack([line.scored, headings])
    )
    return line if scenario.duration is None else line.cut(scenario.duration)


def _headings(rows: Array, vehicle: VehicleSpec, model: PlatformModel) -> Array:
    """Headings (T, N) [rad] of the aircraft: as given, or the platform's yaw and each mount's."""
    if vehicle.control.aircraft_yaw_deg is not None:
        return np.tile(np.deg2rad(vehicle.control.aircraft_yaw_deg), (len(rows), 1))
    yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(rows[:, REF_Q]))[:, 2:]
    return yaw + model.mount_yaw


def _start(
    vehicle: VehicleSpec, assembly: Assembly, model: PlatformModel, row: Array
) -> tuple[Array, Array]:
    """Bodies and rotors at the first reference: hovering in balance, or standing with the rotors idle."""
    base = resting_state(row[REF_P], row[REF_Q])
    rotor = vehicle.platform.aircraft.rotor
    if vehicle.start.mode == "ground":
        return joined_rows(assembly, base), np.full((model.count, 4), rotor.rpm_min)
    command = _balanced(vehicle, model, base[3:7], row[REF_FIXED:])
    if command.mode == Mode.RPM:
        return joined_rows(assembly, base), command.rpm.copy()
    rpm = np.sqrt(command.thrust / (4.0 * rotor.thrust_coefficient))
    return joined_rows(assembly, base, q_WB=command.q_WB), np.repeat(rpm[:, None], 4, axis=1)


def _balanced(vehicle: VehicleSpec, model: PlatformModel, q_WP: Array, headings: Array) -> Command:
    """The command that carries the platform at rest, at its attitude (4,) and headings (N,) [rad]."""
    weight = np.empty(6)
    gravity_wrench(model.inertia.mass, model.inertia.d_0, model.inertia.gravity, q_WP, weight)
    trial = PlatformController(model, vehicle.control.gains, dt=1.0)
    return trial.allocator(-weight, q_WP, headings)


def _thrust(command: Command, vehicle: VehicleSpec) -> Array:
    """Thrusts (N,) of the aircraft under a command that carries the platform [N]."""
    if command.mode == Mode.RPM:
        return vehicle.platform.aircraft.rotor.thrust_coefficient * (command.rpm**2).sum(axis=1)
    return command.thrust.copy()
