# SPDX-License-Identifier: BSD-3-Clause
"""Keys of a resolved scenario."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from iap_control.docking.settings import CoupledSettings, ScriptSettings
from iap_control.modules.settings import ModulesSpec
from iap_description.config.bounds import MAX_DELAY
from iap_description.config.record import Record
from iap_description.config.values import (
    AsWord,
    BelowOne,
    FileName,
    Flag,
    NonNegative,
    NonNegative3,
    Positive,
    Seed,
)
from iap_description.vehicles.gripper import GripperSpec
from iap_description.vehicles.latch import Latch
from iap_description.world.world import World
from iap_io.runs.run_meta import RecordingSettings
from iap_physics.air.wind import Wind
from iap_physics.engines.make import EngineName
from iap_physics.plant.plant_spec import LatchName
from iap_physics.plant.rates import LoopRates
from iap_sensors.cameras.make import RendererName
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.sensor_presets import Name
from iap_simulation.scenario.plant_choice import BODIES, PlantChoice
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

    @model_validator(mode="after")
    def _window_has_a_time(self) -> Self:
        if self.window is not None and self.window[0] > self.window[1]:
            first, last = self.window
            raise ValueError(
                f"key 'window': its first time, {first:g} s, is after its last, {last:g} s"
            )
        return self


PerAxis = NonNegative | NonNegative3
Decades = Annotated[float, Field(strict=True, ge=0.0, le=6.0)]  # beyond, powers of ten overflow


class Draw(Record):
    """Half-widths of the uniform distributions from which every seed draws anew; relative unless a unit is given."""

    position: PerAxis  # of the start, per axis [m]
    attitude_deg: PerAxis  # of the start: roll, pitch, yaw
    joints_deg: NonNegative = 0.0  # of the start: each joint of an arm
    friction: NonNegative  # of all surfaces together
    stiffness: Decades = 0.0  # of each soft surface, in powers of ten; its damping ratio stays
    object_position: PerAxis = 0.0  # of each object without a mass, or with a hinge, per axis [m]
    object_rpy_deg: PerAxis = 0.0  # of each of them, per angle
    loose_position: PerAxis = 0.0  # of each object that moves freely, per axis [m]
    motion_speed: BelowOne = 0.0  # of each object that moves as prescribed
    motion_turn_deg: NonNegative = 0.0  # of its motion about z of `map`
    motion_shift: NonNegative = 0.0  # of its motion in time [s]
    object_mass: BelowOne = 0.0  # of each object with a mass
    hinge_friction: BelowOne = 0.0  # of each object's hinge, as the two that follow
    hinge_damping: BelowOne = 0.0
    hinge_stiffness: BelowOne = 0.0
    hinge_release: BelowOne = 0.0  # angle at which the lever of each hinge's latch frees it
    face_speed: BelowOne = 0.0  # speeds and turn rate at which each latch of a face catches
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


class ScenarioKeys(Record):
    """The keys, each checked by itself; `Scenario` checks them together."""

    scenario: FileName
    description: str
    seed: Seed
    duration: Positive | None
    rates: LoopRates
    plant: PlantChoice = BODIES
    engine: EngineChoice
    compiled: Flag = True  # whether the compiled run flies what it can fly
    world: World
    drag: Annotated[Literal["auto", "on", "off"], AsWord]
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
