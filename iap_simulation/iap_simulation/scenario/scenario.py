# SPDX-License-Identifier: BSD-3-Clause
"""The resolved scenario: one checked record of all that a run needs."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from iap_control.docking.settings import CoupledSettings, ScriptSettings
from iap_control.modules.settings import ModulesSpec
from iap_description.config.bounds import MAX_DELAY
from iap_description.config.record import (
    BelowOne,
    FileName,
    Flag,
    NonNegative,
    NonNegative3,
    Positive,
    Record,
    Seed,
)
from iap_description.vehicles.gripper import GripperSpec
from iap_description.vehicles.latch import Latch
from iap_description.world.obstacles import Obstacles
from iap_description.world.world import World
from iap_io.runs.run_meta import RecordingSettings
from iap_physics.air.wind import Wind
from iap_physics.engines.make import EngineName
from iap_physics.plant.plant_spec import LatchName, check_latches
from iap_physics.plant.rates import LoopRates
from iap_sensors.cameras.make import RendererName
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.sensor_presets import Name
from iap_simulation.scenario.plant_choice import BODIES, IdentifiedChoice, PlantChoice, check_plant
from iap_simulation.scenario.vehicle_spec import VehicleSpec


class Success(Record):
    """Conditions on which a docking has succeeded: locked, and calm for a time without a break."""

    peak_force: Positive  # largest on a vehicle, mean over a control period [N]
    within: Positive  # time from the start by which it is locked [s]
    settle: Positive  # time from the lock by which it has been calm for `calm_time` [s]
    calm_time: Positive  # without a break [s]
    distance: Positive  # of the pair from its place of reference while it is calm [m]
    speed: Positive  # of both vehicles meanwhile [m/s]
    rate: Positive  # of both vehicles meanwhile [rad/s]

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.calm_time >= self.settle:
            raise ValueError(
                f"key 'calm_time': {self.calm_time:g} s is no less than settle, {self.settle:g} s"
            )
        return self


class DockingSpec(Record):
    """A docking, the conditions of its success, and the laws of its pair."""

    latch: str
    success: Success
    script: ScriptSettings
    coupled: CoupledSettings


class EngineChoice(Record):
    """The physics engine."""

    name: EngineName


class Metrics(Record):
    """Settings by which a run is judged."""

    window: tuple[NonNegative, NonNegative] | None
    after_contact: NonNegative  # [s] after the first contact, from which its figures count
    steady: Positive  # the steady ones over so long at the end [s]
    force_band: Positive  # that a controlled force shall keep to, on both sides [N]
    published_rmse: tuple[
        Positive, ...
    ] = ()  # position errors of recorded flights of the same [m]


PerAxis = NonNegative | NonNegative3


class Draw(Record):
    """Half-widths of the uniform distributions from which every seed draws anew; relative unless a unit is given."""

    position: PerAxis  # of the start, per axis [m]
    attitude_deg: PerAxis  # of the start: roll, pitch, yaw
    joints_deg: NonNegative = 0.0  # of the start: each joint of an arm
    friction: NonNegative  # of all surfaces together
    mass: BelowOne  # of each vehicle, and of its inertias with it
    inertia: BelowOne  # of its inertias besides
    com: NonNegative  # of its central body, per axis [m]
    drag: BelowOne
    thrust: BelowOne  # of each aircraft's rotors
    rotor_lag: BelowOne  # time constants of each aircraft's rotors
    wind_speed: BelowOne
    wind_direction_deg: NonNegative
    delay: Annotated[NonNegative, Field(le=MAX_DELAY)]  # of commands [s]
    force: NonNegative  # on each central body, per axis [N]
    torque: NonNegative  # about its CoM, per axis [N m]
    imu_position: NonNegative  # of each inertial unit on its body, per axis [m]
    imu_tilt_deg: NonNegative  # of each inertial unit, per axis
    mount_position: NonNegative  # of each lidar, depth camera and tag on its body, per axis [m]
    mount_tilt_deg: NonNegative  # of each of them, per axis


class Scenario(Record):
    """A resolved scenario: everything a run needs, nothing implied."""

    scenario: FileName
    description: str
    seed: Seed
    duration: Positive | None
    rates: LoopRates
    plant: PlantChoice = BODIES
    engine: EngineChoice
    compiled: Flag = True  # whether the compiled run flies what it can fly
    world: World
    drag: Literal["auto", "on", "off"]
    wind: Wind
    metrics: Metrics
    draw: Draw
    cameras: dict[Name, CameraSpec]  # that stand in the world
    renderer: RendererName
    recording: RecordingSettings
    compare: dict[FileName, tuple[str, ...]]  # other flights of it: name -> KEY=VALUE, ...
    latches: dict[LatchName, Latch]  # between docking ports of vehicles
    policy: (
        str | None
    )  # flies the vehicles in place of their controllers, see `iap_simulation.loop.agents`
    docking: DockingSpec | None  # what is docked and how
    modules: ModulesSpec | None = None  # that dock and fly joined
    gripper: GripperSpec | None = None  # at the tip of the first vehicle's arm
    vehicles: Annotated[tuple[VehicleSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [vehicle.name for vehicle in self.vehicles]
        if len(set(names)) < len(names):
            raise ValueError(f"key 'vehicles': names must differ, are {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _plant_has_what_is_asked_for(self) -> Self:
        check_plant(self)
        return self

    @model_validator(mode="after")
    def _rates_fit_vehicles(self) -> Self:
        for vehicle in self.vehicles:
            self.rates.check_autopilot(vehicle.control.gains.autopilot, "control.gains.autopilot")
            self.rates.check_delays(vehicle.faults, "faults")
        return self

    @model_validator(mode="after")
    def _delays_are_none_before_zero(self) -> Self:
        least = min(vehicle.model_error.delay for vehicle in self.vehicles)
        if self.draw.delay > least:
            raise ValueError(
                f"key 'draw.delay': {self.draw.delay} s is more than model_error.delay, {least} s: commands would act"
                " before they are given"
            )
        return self

    @model_validator(mode="after")
    def _modules_fit(self) -> Self:
        if self.modules is None:
            return self
        if self.engine.name == "closed_form" and self.modules.joints:
            raise ValueError(
                "key 'engine.name': closed_form has no joints that are added in flight"
            )
        if self.rates.control_hz % self.modules.rate != 0.0:
            raise ValueError(
                f"key 'modules.rate': {self.modules.rate:g} Hz does not divide the control's {self.rates.control_hz:g}"
            )
        return self

    @model_validator(mode="after")
    def _latches_fit(self) -> Self:
        ports = {vehicle.name: vehicle.platform.ports for vehicle in self.vehicles}
        check_latches(self.latches, ports, self.engine.name)
        if self.docking is not None and self.docking.latch not in self.latches:
            there = ", ".join(self.latches) or "none"
            raise ValueError(
                f"key 'docking.latch': no latch '{self.docking.latch}' (latches: {there})"
            )
        if self.policy == "script" and self.docking is None:
            raise ValueError("key 'policy': 'script' needs the key 'docking'")
        return self

    def has_contact(self, vehicle: VehicleSpec) -> bool:
        """True if a vehicle can be in contact, or wrenches are compared: they are measured, estimated and recorded."""
        control = vehicle.control
        acts = control.admittance or control.wrench_mode != "none"
        is_met = any(not isinstance(each, Obstacles) for each in self.world.objects.values())
        meets = is_met or bool(self.latches) or vehicle.platform.tool is not None
        is_compared = getattr(vehicle.reference, "actual_wrench_topic", None) is not None
        return acts or meets or is_compared or bool(vehicle.disturbances)

    @property
    def identified(self) -> IdentifiedChoice | None:
        """The plant where it was identified from logs; None where it is of bodies."""
        return self.plant if isinstance(self.plant, IdentifiedChoice) else None

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return 1.0 / self.rates.control_hz

    @property
    def has_drag(self) -> bool:
        """True if drag acts on bodies."""
        return self.drag == "on" or (self.drag == "auto" and self.wind.speed > 0.0)
