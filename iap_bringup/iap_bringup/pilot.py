# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle of a run: its model, its references, what it senses, its controller, and where it starts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_bringup.plant import Airframe
from iap_bringup.references import timeline
from iap_bringup.references.timeline import Leads, Timeline
from iap_bringup.scenario import Replay, Scenario, Vehicle
from iap_control.controller import PlatformController, Reference
from iap_control.model import PlatformModel
from iap_control.tracking import gravity_wrench
from iap_description import so3
from iap_description.assembly import Assembly
from iap_description.states import REF_FIXED, REF_P, REF_Q, Level, Mode, resting_state
from iap_physics.joints import joined_rows
from iap_sensors.noise import stream
from iap_sensors.state_noise import NoisyState, StateNoiseLevel

Array = NDArray[np.float64]
MotionRows = Callable[[Array], tuple[Array, Array]]


@dataclass
class Pilot:
    """One vehicle of a run.

    Attributes:
        name: the vehicle's name and namespace.
        airframe: what the plant flies.
        controller: turns measured states and references into commands.
        timeline: references at every control instant.
        sense: the state that the controller sees.
        start: (bodies, 13) rows at t = 0.
        start_rpm: (N, 4) rotor speeds at t = 0.
        on_ground: whether the flight starts and ends on the ground.
    """

    name: str
    airframe: Airframe
    controller: PlatformController
    timeline: Timeline
    sense: NoisyState
    start: Array
    start_rpm: Array
    on_ground: bool

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        vehicle: Vehicle,
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
        plant_assembly = model_assembly.scaled(mass=vehicle.model_error.mass)
        airframe = Airframe(plant_assembly, model, gains.autopilot, gains.rate_filter)
        controller = PlatformController(model, gains, dt=scenario.dt, yaw_mode=vehicle.control.yaw)
        line = _timeline(scenario, vehicle, model, motion, duration)
        noise = vehicle.state_noise
        level = StateNoiseLevel(
            noise.position,
            np.deg2rad(noise.attitude_deg),
            noise.velocity,
            np.deg2rad(noise.rate_deg),
        )
        sense = NoisyState(level, _noise(scenario.seed, vehicle.name))
        start, rpm = _start(vehicle, model_assembly, model, line.rows[0])
        return cls(
            vehicle.name,
            airframe,
            controller,
            line,
            sense,
            start,
            rpm,
            vehicle.start.mode == "ground",
        )

    def reset(self, seed: int) -> None:
        """Forget the last flight: the controller's memory is empty and the noise starts anew."""
        self.controller.reset()
        self.sense.reset(_noise(seed, self.name))

    def reference(self, k: int) -> Reference:
        """The reference at control instant k; the last one is held."""
        k = min(k, len(self.timeline.rows) - 1)
        return Reference(self.timeline.rows[k], Level(self.timeline.levels[k]))


def _noise(seed: int, name: str) -> np.random.Generator:
    return stream(seed, f"{name}/state_noise")


def _timeline(
    scenario: Scenario,
    vehicle: Vehicle,
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


def _headings(rows: Array, vehicle: Vehicle, model: PlatformModel) -> Array:
    """Headings (T, N) [rad] of the aircraft: as given, or the platform's yaw and each mount's."""
    if vehicle.control.aircraft_yaw_deg is not None:
        return np.tile(np.deg2rad(vehicle.control.aircraft_yaw_deg), (len(rows), 1))
    yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(rows[:, REF_Q]))[:, 2:]
    return yaw + model.mount_yaw


def _start(
    vehicle: Vehicle, assembly: Assembly, model: PlatformModel, row: Array
) -> tuple[Array, Array]:
    """Bodies and rotors at the first reference: hovering in balance, or standing with the rotors idle."""
    base = resting_state(row[REF_P], row[REF_Q])
    rotor = vehicle.platform.aircraft.rotor
    if vehicle.start.mode == "ground":
        return joined_rows(assembly, base), np.full((model.count, 4), rotor.rpm_min)
    weight = np.empty(6)
    gravity_wrench(model.inertia.mass, model.inertia.d_0, model.inertia.gravity, base[3:7], weight)
    trial = PlatformController(model, vehicle.control.gains, dt=1.0)
    command = trial.allocator(-weight, base[3:7], row[REF_FIXED:])
    if command.mode == Mode.RPM:
        return joined_rows(assembly, base), command.rpm.copy()
    rpm = np.sqrt(command.thrust / (4.0 * rotor.thrust_coefficient))
    return joined_rows(assembly, base, q_WB=command.q_WB), np.repeat(rpm[:, None], 4, axis=1)
