# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle of a run: its model, its references, what it senses, its controller, and where it starts."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_control.allocator import Allocator
from iap_control.controller import Controller, make_controller
from iap_control.interaction.push import Push, pushed_axes
from iap_control.laws.tracking import gravity_wrench
from iap_control.model import PlatformModel, check_axes
from iap_control.references.replay import Commanded
from iap_control.references.timeline import Leads, Timeline, flight_timeline
from iap_description.random_streams import stream
from iap_description.signals import Reference, WrenchRecord
from iap_description.states import REF_FIXED, REF_P, REF_Q, Command, Level, Mode, Q, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_physics.engines.joints import joined_rows
from iap_physics.measured.state_noise import NoisyState, StateNoiseLevel
from iap_physics.plant import Airframe
from iap_simulation.interaction import InteractionControl
from iap_simulation.scenario.randomization import drawn_assembly, drawn_start
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

Array = NDArray[np.float64]


@dataclass
class Vehicle:
    """One vehicle of a run.

    Attributes:
        name: the vehicle's name and namespace.
        airframe: what the plant flies.
        model: what the controller believes of it.
        controller: turns measured states and references into commands.
        timeline: references at every control instant.
        sense: the state that the controller sees.
        start: (bodies, 13) rows at t = 0.
        start_rpm: (N, 4) rotor speeds at t = 0.
        on_ground: whether the flight starts and ends on the ground.
        touch: what it feels of its surroundings; None where there is nothing to feel.
        push: the wrench it is to feel, under wrench control; None without one.
    """

    name: str
    airframe: Airframe
    model: PlatformModel
    controller: Controller
    timeline: Timeline
    sense: NoisyState
    start: Array
    start_rpm: Array
    on_ground: bool
    touch: InteractionControl | None
    push: Push | None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        vehicle: VehicleSpec,
        recorded: Commanded | None = None,
    ) -> Self:
        """Build a vehicle's pilot.

        Args:
            scenario: what is flown.
            vehicle: which of its vehicles.
            recorded: the recorded command that it flies, if it has been read already.
        """
        model_assembly = Assembly.of(vehicle.platform, vehicle.name)
        gains = vehicle.control.gains
        model = PlatformModel.of(
            model_assembly,
            vehicle.platform.aircraft,
            gravity=scenario.world.gravity,
            com_coupling=gains.com_coupling,
        )
        heavier = model_assembly.scaled(mass=vehicle.model_error.mass)
        plant_assembly = drawn_assembly(heavier, scenario)
        airframe = Airframe(plant_assembly, model, gains.autopilot, gains.rate_filter)
        law, yaw = vehicle.control.law, vehicle.control.yaw
        controller = make_controller(law, model, gains, dt=scenario.dt, yaw_mode=yaw)
        if vehicle.push is not None and vehicle.control.wrench_mode != "none":
            check_axes(model, pushed_axes(vehicle.push), vehicle.name)
        line = _timeline(scenario, vehicle, model, recorded)
        noise = vehicle.state_noise
        level = StateNoiseLevel(
            noise.position,
            np.deg2rad(noise.attitude_deg),
            noise.velocity,
            np.deg2rad(noise.rate_deg),
        )
        sense = NoisyState(level, _noise(scenario.seed, vehicle.name))
        row = drawn_start(
            line.rows[0], scenario.draw, stream(scenario.seed, f"{vehicle.name}/start")
        )
        start, rpm = _start(vehicle, model_assembly, model, row)
        return cls(
            vehicle.name,
            airframe,
            model,
            controller,
            line,
            sense,
            start,
            rpm,
            vehicle.start.mode == "ground",
            InteractionControl.of(scenario, vehicle, model_assembly)
            if scenario.feels(vehicle)
            else None,
            vehicle.push if vehicle.control.wrench_mode != "none" else None,
        )

    def reset(self, seed: int) -> None:
        """Forget the last flight: the controller's memory is empty and the noise starts anew."""
        self.controller.reset()
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
            return self.controller(measured, reference)
        touch.feel(x, measured, contact_W)
        tracked = touch.answer(t, measured[Q], reference)
        command = self.controller(measured, tracked, touch.measured_P, touch.task)
        touch.commanded(command)
        return command

    @property
    def felt(self) -> WrenchRecord | None:
        """What was felt on the last state, for the record."""
        return None if self.touch is None else self.touch.felt

    def reference(self, k: int) -> Reference:
        """The reference at control instant k; the last one is held."""
        k = min(k, len(self.timeline.rows) - 1)
        return Reference(self.timeline.rows[k], Level(self.timeline.levels[k]))


def _noise(seed: int, name: str) -> np.random.Generator:
    return stream(seed, f"{name}/state_noise")


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


def _start(
    vehicle: VehicleSpec, assembly: Assembly, model: PlatformModel, row: Array
) -> tuple[Array, Array]:
    """Bodies and rotors at the first reference: hovering in balance, or standing with the rotors idle."""
    base = resting_state(row[REF_P], row[REF_Q])
    rotor = vehicle.platform.aircraft.rotor
    if vehicle.start.mode == "ground":
        return joined_rows(assembly, base), np.full((model.count, 4), rotor.rpm_min)
    weight = np.empty(6)
    gravity_wrench(model.inertia.mass, model.inertia.d_0, model.inertia.gravity, base[3:7], weight)
    trial = Allocator(model, rate_filter=vehicle.control.gains.rate_filter, dt=1.0)
    command = trial(-weight, base[3:7], row[REF_FIXED:])
    if command.mode == Mode.RPM:
        return joined_rows(assembly, base), command.rpm.copy()
    rpm = np.sqrt(command.thrust / (4.0 * rotor.thrust_coefficient))
    return joined_rows(assembly, base, q_WB=command.q_WB), np.repeat(rpm[:, None], 4, axis=1)
