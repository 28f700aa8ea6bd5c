# SPDX-License-Identifier: BSD-3-Clause
"""The specification of one vehicle of a plant: what really flies, how it starts, and what is measured of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.config.record import Record
from iap_description.config.values import Count, Flag, NonNegative, Positive, Real, Vec3
from iap_description.geometry.shapes import Surface
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import InertialMounts, Sampling
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.faults import PlantFault, check_faults
from iap_description.vehicles.platform import Platform
from iap_physics.firmware.settings import FirmwareChoice
from iap_physics.measured.state_noise import StateNoise
from iap_physics.measured.wrench_sensor import WrenchFilter
from iap_physics.plant.disturbances import Disturbance
from iap_physics.propulsion.deviation import NO_DEVIATION, Deviation
from iap_physics.propulsion.propulsion import Airframe

Index = Annotated[int, Field(strict=True, ge=0)]
Quaternion = tuple[Real, Real, Real, Real]
RotorSpeeds = tuple[NonNegative, NonNegative, NonNegative, NonNegative]
Angles = tuple[Real, Real, Real, Real]
StateRow = Annotated[tuple[Real, ...], Field(min_length=13, max_length=13)]


class InertialUnitMount(Record):
    """The mount of an inertial unit S on a body B of its vehicle."""

    body: Index  # of the vehicle's bodies
    frame: str  # TF frame of S
    p_BS_B: Vec3  # [m]
    q_BS: Quaternion  # xyzw


class InertialUnitsSpec(Record):
    """The ideal inertial units of a vehicle, all alike."""

    every: Count  # physics steps between samples
    sampling: Sampling
    mounts: Annotated[tuple[InertialUnitMount, ...], Field(min_length=1)]

    @classmethod
    def of(cls, mounts: Sequence[SensorMount], every: int, sampling: Sampling) -> Self:
        """Units on mounts, each with a sample after every so many physics steps."""
        values = [
            InertialUnitMount(
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
    firmware: FirmwareChoice | None = None  # in place of the autopilots; None: they fly
    start: Annotated[tuple[StateRow, ...], Field(min_length=1)]  # of every body
    start_rpm: Annotated[tuple[RotorSpeeds, ...], Field(min_length=1)]  # of every aircraft [rpm]
    start_tilt: tuple[Angles, ...] = ()  # of every aircraft's rotors [rad]; none: all upright
    hover_thrust: tuple[NonNegative, ...]  # of every aircraft, level and at rest [N]
    disturbances: tuple[Disturbance, ...] = ()
    faults: tuple[PlantFault, ...] = ()
    state_noise: StateNoise | None = None  # of state/measured; None: none is published
    wrench_filter: WrenchFilter | None = None  # None: the contact wrench is not measured
    imu: InertialUnitsSpec | None = None
    flies_on_estimate: Flag = False  # whether the autopilots go by states from outside
    joints_in_step: Flag = False  # whether every state is answered on joints/command, too
    may_land: Flag = False  # whether touching the ground is no crash
    lost_after: Positive | None = None  # time without contact after which a push has failed [s]
    push_hold: Positive | None = None  # time in contact after which a push is over [s]

    @model_validator(mode="after")
    def _fits_the_platform(self) -> Self:
        aircraft, bodies = self.platform.count, 1 + len(self.platform.joints)
        for key, count in (
            ("start", bodies),
            ("start_rpm", aircraft),
            ("hover_thrust", aircraft),
            ("start_tilt", aircraft if self.start_tilt else 0),
        ):
            if len(getattr(self, key)) != count:
                raise ValueError(f"key '{key}': {count} entries are needed")
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
        nominal = Assembly.of(self.platform, self.name)
        return deviated(nominal, self.deviation, self.friction_factor)

    def airframe(self, assembly: Assembly, deviation: Deviation | None = None) -> Airframe:
        """The vehicle as a plant takes it, whose `assembly` has been made already, with its or another deviation."""
        return Airframe(assembly, self.platform.fleet, self.autopilot, deviation or self.deviation)


def deviated(assembly: Assembly, deviation: Deviation, friction_factor: float) -> Assembly:
    """An assembly, made as the platform's file has it, with a deviation and with other friction of its tool."""
    assembly = deviation.assembly(assembly)
    center = assembly.bodies[0]
    if center.surface is None or friction_factor == 1.0:
        return assembly
    center = replace(center, surface=scaled_friction(center.surface, friction_factor))
    return replace(assembly, bodies=(center, *assembly.bodies[1:]))


def scaled_friction(surface: Surface, factor: float) -> Surface:
    """A surface with other friction."""
    return surface.model_copy(update={"friction": factor * surface.friction})
