# SPDX-License-Identifier: BSD-3-Clause
"""One vehicle of a scenario: its platform, start, control, disturbances and sensors, and where it goes."""

from typing import Annotated, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from iap_control.arm.arm_spec import ArmSpec
from iap_control.arm.motions import HoldMotion
from iap_control.controllers.estimate_failsafe import Failsafe
from iap_control.gains import Gains
from iap_control.interaction.push import Push
from iap_control.references.motions import MotionOrReplay
from iap_description.config.bounds import MAX_DELAY
from iap_description.config.record import Record
from iap_description.config.values import Degrees, Flag, NonNegative, Positive, Vec3, VehicleName
from iap_description.vehicles.faults import Fault, SensorFault, check_faults
from iap_description.vehicles.platform import Platform
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_io.runs.vehicle_meta import TRUTH
from iap_physics.firmware.settings import FirmwareChoice
from iap_physics.measured.state_noise import StateNoise
from iap_physics.measured.wrench_sensor import WrenchFilter
from iap_physics.plant.disturbances import Disturbance
from iap_sensors.mounted.motion_capture import KEY as CAPTURE
from iap_sensors.mounted.sensor_presets import SensorsSpec

StateSource = Literal[
    "truth", "vio", "vio_uwb", "virpo", "joint", "drift_filter", "capture_inertial"
]
ONLY_RECORDED = ("uwb", "batch")  # methods that localise recordings, and nothing in flight
MONO_OUTPUTS = {"mono8", "rgb8"}  # of a camera that can see for a method


class Start(Record):
    """Start of the flight."""

    mode: Literal["hover", "ground"]
    lead_in: NonNegative
    fixed: Flag  # whether `draw.position` leaves it where it is
    joints_deg: tuple[Degrees, ...] | None = (
        None  # of its arm; None: where the arm's file has them at rest
    )


class Control(Record):
    """Control of a vehicle; `preset` is the gains' name before they were resolved."""

    law: str = "auto"  # or the name of a built-in one, or module:Class of the user's own
    preset: str
    gains: Gains
    admittance: Flag  # whether the pose command yields to the measured wrench
    wrench_mode: Literal["none", "paper", "selective"]
    wrench_source: Literal["raw", "filtered", "estimated"]  # the wrench that both act upon
    wrench_filter: WrenchFilter
    observer: Literal["momentum", "acceleration"]  # which estimates the wrench
    observer_gain: Positive  # of the estimated wrench [1/s]
    yaw: Literal["follow", "hold", "reference"]
    aircraft_yaw_deg: tuple[Degrees, ...] | None  # headings of the aircraft under yaw: reference
    state_source: StateSource = "truth"  # of controller and autopilots: truth, or a method
    estimator: str = "default"  # settings of the method
    frontend: str = "default"  # settings of what follows its cameras' images
    failsafe: Failsafe | None = None  # of a flight on an estimate; none flies on

    @field_validator("state_source", mode="before")
    @classmethod
    def _can_fly(cls, source: object) -> object:
        if source in ONLY_RECORDED:
            choices = ", ".join(get_args(StateSource))
            raise ValueError(
                f"method {source} is for recordings alone, by iap localize (choices: {choices})"
            )
        return source


class ModelError(Record):
    """Factors and additions of what flies over the platform's file, see `propulsion.deviation.Deviation`."""

    mass: Positive
    inertia: Positive
    com: Vec3
    drag: NonNegative
    thrust: Positive
    rotor_lag: Positive
    delay: Annotated[NonNegative, Field(le=MAX_DELAY)]
    force: Vec3
    torque: Vec3


class VehicleSpec(Record):
    """One vehicle of a scenario."""

    name: VehicleName
    platform: Platform
    start: Start
    offset: Vec3
    control: Control
    firmware: FirmwareChoice | None = None  # in place of the aircraft's own autopilots
    state_noise: StateNoise
    model_error: ModelError
    sensors: SensorsSpec
    arm: ArmSpec
    push: Push | None
    disturbances: tuple[Disturbance, ...]
    faults: tuple[Fault, ...] = ()
    reference: MotionOrReplay

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        yaws = self.control.aircraft_yaw_deg
        if (self.control.yaw == "reference") != (yaws is not None):
            raise ValueError(
                "key 'control.aircraft_yaw_deg': a list of headings goes with yaw: reference, and only with it"
            )
        if self.control.observer == "acceleration" and self.sensors.imu is None:
            raise ValueError("key 'control.observer': acceleration needs sensors.imu")
        if yaws is not None and len(yaws) != self.platform.count:
            raise ValueError(
                f"key 'control.aircraft_yaw_deg': {self.platform.count} headings are needed, not {len(yaws)}"
            )
        return self

    @model_validator(mode="after")
    def _has_the_arm_that_moves(self) -> Self:
        if self.platform.arm is None and not isinstance(self.arm.motion, HoldMotion):
            raise ValueError(
                f"key 'arm.motion': platform {self.platform.name} has no arm (m100_arm and f450_arm have)"
            )
        return self

    @model_validator(mode="after")
    def _has_what_fails(self) -> Self:
        check_faults(self.faults, self.platform.fleet)
        topics = self.sensors.topics
        for i, fault in enumerate(self.faults):
            if isinstance(fault, SensorFault) and fault.sensor not in topics:
                there = ", ".join(topics) or "none"
                raise ValueError(
                    f"key 'faults.{i}.sensor': '{fault.sensor}' is not flown (sensors: {there})"
                )
        return self

    @model_validator(mode="after")
    def _can_localize(self) -> Self:
        source = self.control.state_source
        missing = _missing_sensors(source, self.sensors, is_joined=self.platform.count > 1)
        if missing:
            raise ValueError(
                f"key 'control.state_source': --state-source {source} needs sensors:"
                f" {', '.join(missing)} (--sensors {_all_sensors_of(source)} has them all)"
            )
        return self


VEHICLE_KEYS = tuple(VehicleSpec.model_fields)


def _all_sensors_of(source: StateSource) -> str:
    """The set of sensors that has all that a method needs."""
    return "capture" if source == CAPTURE_INERTIAL else "stereo"


def _missing_sensors(source: StateSource, sensors: SensorsSpec, *, is_joined: bool) -> list[str]:
    """Sensors that a vehicle lacks for a method; joined to a central body, it needs that body's tilt."""
    if source == TRUTH:
        return []
    if source == CAPTURE_INERTIAL:
        has = {"imu": sensors.imu is not None, CAPTURE: CAPTURE in sensors.mounted}
        return [name for name, is_there in has.items() if not is_there]
    cameras = sensors.cameras
    has_pair = any(
        each.right_of in cameras
        and MONO_OUTPUTS & set(each.outputs)
        and MONO_OUTPUTS & set(cameras[each.right_of].outputs)
        for each in cameras.values()
        if each.right_of is not None
    )
    needs = {
        "imu": sensors.imu is not None,
        "attitude": sensors.attitude is not None or not is_joined,
        "stereo": has_pair,
        "uwb": source == "vio" or (sensors.uwb is not None and bool(sensors.uwb.anchors)),
    }
    return [name for name, is_there in needs.items() if not is_there]
