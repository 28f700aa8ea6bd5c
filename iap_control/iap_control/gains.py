# SPDX-License-Identifier: BSD-3-Clause
"""Gain presets: strict records read from ``data/gains/NAME.yaml``."""

from pathlib import Path
from typing import Any

from pydantic import Field

from iap_description.config import Flag, NonNegative, Positive, Record, Vec3, read_yaml
from iap_description.errors import BadInput

PRESETS = Path(__file__).parent / "data" / "gains"
Vec6 = tuple[NonNegative, NonNegative, NonNegative, NonNegative, NonNegative, NonNegative]


class RigidGains(Record):
    """Attitude loop of a platform whose rotors are all fixed to one body, per inertia."""

    kP: Vec3  # [1/s^2]
    kD: Vec3  # [1/s]
    rate_filter: NonNegative  # [s] of the attitude command's first and second derivative


class AutopilotGains(Record):
    """Attitude and rate loop inside each aircraft, per inertia."""

    rate_hz: Positive | None  # None is the physics rate
    attitude: Vec3  # [1/s^2]
    rate: Vec3  # [1/s]
    rotor_lead: float = Field(strict=True, ge=1.0, le=10.0)


class Gains(Record):
    """Gains of the motion controller, order x y z roll pitch yaw."""

    per_inertia: Flag
    com_coupling: Flag
    kP: Vec6
    kI: Vec6
    kD: Vec6
    integral_limit: Vec6
    error_limit: tuple[Positive, Positive]  # [m], sine of the angle: beyond it kP pulls no harder
    rate_filter: NonNegative
    rigid: RigidGains
    autopilot: AutopilotGains


def preset_names() -> list[str]:
    """Names of the presets that ship with the suite."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def preset_tree(name: str) -> dict[str, Any]:
    """The plain tree of a preset.

    Raises:
        BadInput: no such preset.
    """
    path = PRESETS / f"{name}.yaml"
    if not path.is_file():
        raise BadInput(f"unknown gain preset '{name}': choose {', '.join(preset_names())}")
    return read_yaml(path)
