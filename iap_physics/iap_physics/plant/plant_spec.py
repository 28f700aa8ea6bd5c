# SPDX-License-Identifier: BSD-3-Clause
"""The specification of a plant, in values that survive YAML bit for bit: world, vehicles as they fly, and starts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.plain_yaml import parse_mapping, yaml_text
from iap_description.config.record import (
    Count,
    Flag,
    NonNegative,
    Positive,
    Real,
    Record,
    Vec3,
    validate,
)
from iap_description.config.text_files import read_text
from iap_description.geometry.shapes import Surface
from iap_description.math.random_streams import stream
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import InertialMounts, Sampling
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.faults import AnyFault, LateCommands, PlantFault, check_faults
from iap_description.vehicles.gripper import GripperSpec
from iap_description.vehicles.latch import Latch, check_ports
from iap_description.vehicles.platform import Platform
from iap_description.vehicles.ports import Port
from iap_description.world.world import World
from iap_physics.air.wind import Wind
from iap_physics.engines.make import EngineName
from iap_physics.measured.state_noise import StateNoise
from iap_physics.measured.wrench_sensor import WrenchFilter
from iap_physics.plant.joint_spec import PlantJoints
from iap_physics.propulsion.deviation import NO_DEVIATION, Deviation
from iap_physics.propulsion.propulsion import Airframe

Seed = Annotated[int, Field(strict=True, ge=0)]
Index = Annotated[int, Field(strict=True, ge=0)]
LatchName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Quaternion = tuple[Real, Real, Real, Real]
Rotors = tuple[NonNegative, NonNegative, NonNegative, NonNegative]
Angles = tuple[Real, Real, Real, Real]
StateRow = Annotated[tuple[Real, ...], Field(min_length=13, max_length=13)]


class Rates(Record):
    """Rates of the loop; physics must be a whole multiple of control."""

    physics_hz: Positive
    control_hz: Annotated[
        float, Field(strict=True, allow_inf_nan=False, ge=1.0)
    ]  # slower flies nothing

    @property
    def substeps(self) -> int:
        """Physics steps in one control period."""
        return round(self.physics_hz / self.control_hz)

    @model_validator(mode="after")
    def _is_whole_ratio(self) -> Self:
        if not _is_whole(self.physics_hz / self.control_hz):
            raise ValueError(
                f"physics_hz {self.physics_hz} is not a whole multiple of control_hz {self.control_hz}"
            )
        return self

    def check_autopilot(self, gains: AutopilotGains, key: str) -> None:
        """Refuse an autopilot whose rate does not divide the physics rate.

        Args:
            gains: of the autopilot.
            key: of its gains in the configuration, for the error.

        Raises:
            ValueError: it does not.
        """
        rate = gains.rate_hz
        if rate and not _is_whole(self.physics_hz / rate):
            raise ValueError(
                f"key '{key}.rate_hz': {rate} does not divide physics_hz {self.physics_hz}"
            )

    def check_delays(self, faults: Sequence[AnyFault], key: str) -> None:
        """Refuse commands that are late by less than a control period.

        Args:
            faults: of a vehicle.
            key: of the faults in the configuration, for the error.

        Raises:
            ValueError: some are.
        """
        for i, fault in enumerate(faults):
            if isinstance(fault, LateCommands) and fault.commands_late * self.control_hz < 0.5:
                raise ValueError(
                    f"key '{key}.{i}.commands_late': {fault.commands_late} s is no control period of"
                    f" {1.0 / self.control_hz:g} s"
                )


def _is_whole(ratio: float) -> bool:
    return ratio >= 1.0 and abs(ratio - round(ratio)) <= 1e-9


class Disturbance(Record):
    """A constant wrench on the central body for a while, about its CoM, along the axes of `map`."""

    at: NonNegative  # when it begins [s]
    until: Positive  # when it ends [s]
    force: Vec3  # [N]
    torque: Vec3  # [N m]

    @model_validator(mode="after")
    def _lasts(self) -> Self:
        if self.until <= self.at:
            raise ValueError(f"key 'until': {self.until} is not after 'at', {self.at}")
        return self


class ImuMount(Record):
    """The mount of an inertial unit S on a body B of its vehicle."""

    body: Index  # of the vehicle's bodies
    frame: str  # TF frame of S
    p_BS_B: Vec3  # [m]
    q_BS: Quaternion  # xyzw


class ImuSpec(Record):
    """The ideal inertial units of a vehicle, all alike."""

    every: Count  # physics steps between samples
    sampling: Sampling
    mounts: Annotated[tuple[ImuMount, ...], Field(min_length=1)]

    @classmethod
    def of(cls, mounts: Sequence[SensorMount], every: int, sampling: Sampling) -> Self:
        """Units on mounts, each with a sample after every so many physics steps."""
        values = [
            ImuMount(
                body=mount.body,
                frame=mount.source.frame,
                p_BS_B=mount.p_BS_B.tolist(),
                q_BS=mount.q_BS.tolist(),
            )
            for mount in mounts
        ]
        return cls(every=every, sampling=sampling, mounts=values)

    def rows(self, first: int) -> InertialMounts:
        """The mounts, of a vehicle whose central body has the state row `first`."""
        return InertialMounts(
            np.array([first + mount.body for mount in self.mounts], dtype=np.int64),
            np.array([mount.p_BS_B for mount in self.mounts]),
            np.array([mount.q_BS for mount in self.mounts]),
        )


class PlantVehicle(Record):
    """One vehicle as it really flies, and what a plant measures and watches of it."""

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")
    platform: Platform
    deviation: Deviation = NO_DEVIATION  # of what really flies from the platform's file
    friction_factor: NonNegative = 1.0  # of the tool's friction, over the platform's
    autopilot: AutopilotGains
    start: Annotated[tuple[StateRow, ...], Field(min_length=1)]  # of every body
    start_rpm: Annotated[tuple[Rotors, ...], Field(min_length=1)]  # of every aircraft [rpm]
    start_tilt: tuple[Angles, ...] = ()  # of every aircraft's rotors [rad]; none: all upright
    hover_thrust: tuple[NonNegative, ...]  # of every aircraft, level and at rest [N]
    disturbances: tuple[Disturbance, ...] = ()
    faults: tuple[PlantFault, ...] = ()
    state_noise: StateNoise | None = None  # of state/measured; None: none is published
    wrench_filter: WrenchFilter | None = None  # None: the contact wrench is not measured
    imu: ImuSpec | None = None
    flies_on_estimate: Flag = False  # whether the autopilots go by states from outside
    joints_in_step: Flag = False  # whether every state is answered on joints/command, too
    may_land: Flag = False  # whether touching the ground is no crash
    lost_after: Positive | None = None  # time without contact after which a push has failed [s]
    push_hold: Positive | None = None  # time in contact after which a push is over [s]

    @model_validator(mode="after")
    def _fits_the_platform(self) -> Self:
        aircraft, bodies = self.platform.count, 1 + len(self.platform.joints)
        for key, wanted in (
            ("start", bodies),
            ("start_rpm", aircraft),
            ("hover_thrust", aircraft),
            ("start_tilt", aircraft if self.start_tilt else 0),
        ):
            if len(getattr(self, key)) != wanted:
                raise ValueError(f"key '{key}': {wanted} entries are needed")
        if self.joints_in_step and self.platform.arm is None:
            raise ValueError("key 'joints_in_step': the platform has no arm")
        check_faults(self.faults, self.platform.fleet)
        self.deviation.check(aircraft)
        if self.imu is not None and max(mount.body for mount in self.imu.mounts) >= bodies:
            raise ValueError(f"key 'imu.mounts': there are {bodies} bodies")
        return self

    @property
    def assembly(self) -> Assembly:
        """The bodies that fly, with their real masses and its tool's real friction."""
        assembly = self.deviation.assembly(Assembly.of(self.platform, self.name))
        center = assembly.bodies[0]
        if center.surface is None or self.friction_factor == 1.0:
            return assembly
        center = replace(center, surface=scaled_friction(center.surface, self.friction_factor))
        return replace(assembly, bodies=(center, *assembly.bodies[1:]))

    def airframe(self, assembly: Assembly) -> Airframe:
        """The vehicle as a plant takes it, whose `assembly` has been made already."""
        return Airframe(assembly, self.platform.fleet, self.autopilot, self.deviation)


def check_latches(
    latches: dict[str, Latch], ports: dict[str, dict[str, Port]], engine: str
) -> None:
    """Refuse latches whose ports are not there, and any in an engine without contact.

    Raises:
        ValueError: naming the key.
    """
    for name, latch in latches.items():
        check_ports(name, latch, ports)
    if latches and engine == "closed_form":
        raise ValueError("key 'engine.name': closed_form has no contact, which latches need")


class PlantSpec(Record):
    """A whole plant; its defaults are a world without wind."""

    seed: Seed
    rates: Rates
    engine: EngineName = "pybullet"
    world: World = World()  # with the friction that counts
    wind: Wind = Wind()
    has_drag: Flag = False
    vehicles: Annotated[tuple[PlantVehicle, ...], Field(min_length=1)]
    latches: dict[LatchName, Latch] = {}
    modules: PlantJoints | None = None  # joints that a coordinator opens and closes
    gripper: GripperSpec | None = None  # at the tip of the first arm

    @model_validator(mode="after")
    def _latches_fit(self) -> Self:
        ports = {vehicle.name: vehicle.platform.ports for vehicle in self.vehicles}
        check_latches(self.latches, ports, self.engine)
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [vehicle.name for vehicle in self.vehicles]
        if len(set(names)) < len(names):
            raise ValueError(f"key 'vehicles': names must differ, are {', '.join(names)}")
        for i, vehicle in enumerate(self.vehicles):
            self.rates.check_autopilot(vehicle.autopilot, f"vehicles.{i}.autopilot")
            self.rates.check_delays(vehicle.faults, f"vehicles.{i}.faults")
        return self

    @classmethod
    def read(cls, text: str, *, source: str) -> Self:
        """The plant of YAML text, or of the file whose path `text` is; `source` names it in errors.

        Raises:
            BadInput: no such file, no YAML, or anything unknown, missing or impossible.
        """
        if "\n" not in text:
            source, text = text, read_text(Path(text))
        return validate(cls, parse_mapping(text, source=source), source=source)

    def yaml(self) -> str:
        """YAML text from which `read` makes an equal plant, bit for bit."""
        return yaml_text(self.model_dump(mode="json"))

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return 1.0 / self.rates.control_hz

    @property
    def start(self) -> Array:
        """(1, bodies, 13) state rows of all vehicles at t = 0."""
        return np.array([row for vehicle in self.vehicles for row in vehicle.start])[None]

    @property
    def start_rpm(self) -> list[Array]:
        """(N, 4) rotor speeds of each vehicle at t = 0 [rpm]."""
        return [np.array(vehicle.start_rpm) for vehicle in self.vehicles]

    def rng(self, source: str) -> np.random.Generator:
        """The generator of a source of noise, such as ``gusts``, as a flight begins with it."""
        return stream(self.seed, source)


def scaled_friction(surface: Surface, factor: float) -> Surface:
    """A surface with other friction."""
    return surface.model_copy(update={"friction": factor * surface.friction})


def add_disturbances(disturbances: Sequence[Disturbance], t: float, out: Array) -> None:
    """Add what acts at time `t` [s] to a wrench (6,), world axes."""
    for each in disturbances:
        if each.at <= t < each.until:
            out += (*each.force, *each.torque)
