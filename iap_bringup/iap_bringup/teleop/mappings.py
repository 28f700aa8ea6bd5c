# SPDX-License-Identifier: BSD-3-Clause
"""Mappings of sticks and keys: ``data/teleop/NAME.yaml``."""

from typing import Annotated, Self, TypeVar

from pydantic import Field, model_validator

from iap_bringup import DATA
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Presets, Record, validate
from iap_description.config.values import NonNegative, Positive, Real, RpyDegrees, Vec3

MAPPINGS = Presets(DATA / "teleop", "mapping")
Index = Annotated[int, Field(strict=True, ge=0)]


class StickLimits(Record):
    """Limits of a pilot's reference."""

    tilt_deg: Annotated[Positive, Field(le=80.0)]  # between the platform's z axis and the vertical
    acceleration: Positive  # [m/s^2] with which the velocity follows the sticks
    angular_acceleration_deg: Positive  # [deg/s^2]
    leash: Positive  # [m] the reference never leads the platform by more


class StickAxis(Record):
    """A joystick axis."""

    axis: Index
    full: Real  # [m/s] or [deg/s] at full deflection; a negative one reverses


class VelocityAxes(Record):
    """Axes that move."""

    x: StickAxis
    y: StickAxis
    z: StickAxis


class RateAxes(Record):
    """Axes that turn."""

    roll: StickAxis
    pitch: StickAxis
    yaw: StickAxis


class JoystickMapping(Record):
    """Mapping of a joystick."""

    dead_man: Index  # button that must be held
    dead_zone: Annotated[NonNegative, Field(lt=1.0)]  # deflection that still counts as none
    timeout: Positive  # [s] without a message that counts as the dead man released
    velocity: VelocityAxes
    rate_deg: RateAxes
    limits: StickLimits


class KeyBinding(Record):
    """Demand of a key while it is held."""

    does: str
    velocity: Vec3 = (0.0, 0.0, 0.0)  # [m/s] in P
    rate_deg: RpyDegrees = (0.0, 0.0, 0.0)  # [deg/s] in P


class KeyboardMapping(Record):
    """Mapping of a keyboard."""

    release: Positive  # [s] after its last repeat a key counts as released
    stop: str
    quit: str
    faster: str
    slower: str
    keys: dict[Annotated[str, Field(min_length=1, max_length=1)], KeyBinding]
    limits: StickLimits

    @model_validator(mode="after")
    def _keys_differ(self) -> Self:
        special = [self.stop, self.quit, self.faster, self.slower]
        twice = {key for key in special if special.count(key) > 1 or key in self.keys}
        if twice:
            raise ValueError(f"key {sorted(twice)[0]!r} stands for more than one thing")
        return self


M = TypeVar("M", JoystickMapping, KeyboardMapping)


def load_mapping(kind: type[M], name: str) -> M:
    """A mapping that ships with the suite by name, or any by the path of its file.

    Raises:
        BadInput: no such mapping, or a key of it is wrong.
    """
    path = MAPPINGS.file_or_path(name)
    return validate(kind, read_yaml(path), source=str(path))
