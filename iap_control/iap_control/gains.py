# SPDX-License-Identifier: BSD-3-Clause
"""Gain presets: strict records read from ``data/gains/NAME.yaml``."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Presets, Record, merged, validate
from iap_description.config.values import Flag, NonNegative, Positive, Share, Vec3
from iap_description.vehicles.autopilot_gains import AutopilotGains

PRESETS = Presets(Path(__file__).parent / "data" / "gains", "gain preset")
MAX_TURN = 1.5  # of a correction, per axis: three of them stay below half a turn [rad]
Vec6 = tuple[NonNegative, NonNegative, NonNegative, NonNegative, NonNegative, NonNegative]
Positive6 = tuple[Positive, Positive, Positive, Positive, Positive, Positive]


class RigidGains(Record):
    """Of a platform whose rotors are all fixed to one body: its attitude loop, per inertia, and what it does slower."""

    kP: Vec3  # [1/s^2]
    kD: Vec3  # [1/s]
    kI: Vec3  # of the position's integral, in place of the other platforms' [1/s^3; N/m/s unless per_inertia]
    rate_filter: NonNegative  # [s] of the attitude command's first and second derivative


class DisturbanceGains(Record):
    """Of the observer of the wrench that the model does not know of, order force, torque."""

    actuation: tuple[
        str, ...
    ]  # kinds of the platforms that it acts on, see `iap_control.actuation`
    bandwidth: tuple[NonNegative, NonNegative]  # [rad/s]; 0 is off
    limit: tuple[Positive, Positive]  # largest estimate per inertia [m/s^2], [rad/s^2]
    contact: NonNegative  # a component of the wrench felt beyond which the estimate stays [N, N m]


class AdmittanceGains(Record):
    """Virtual mass, damping and spring of the pose command, iap_simulator eq. (19), order x y z roll pitch yaw."""

    orientation: Literal["so3", "euler"]  # turn the command, or add to its Euler angles
    M: Positive6  # [kg, kg m^2]
    D: Positive6  # [N s/m, N m s/rad]
    K: Positive6  # [N/m, N m/rad]
    limit: tuple[Positive, Positive]  # of the correction, per axis [m], [rad]

    @model_validator(mode="after")
    def _stays_away_from_half_turns(self) -> Self:
        if self.limit[1] > MAX_TURN:
            raise ValueError(f"key 'limit': at most {MAX_TURN} rad, is {self.limit[1]}")
        return self


class PaperWrenchGains(Record):
    """Pose and wrench gains of iap_simulator eq. (21), forces and torques per error."""

    kP: Vec6  # [N/m, N m/rad]
    kI: Vec6  # [N/m/s, N m/rad/s]
    kD: Vec6  # [N s/m, N m s/rad]
    kwP: Vec6  # 1
    kwI: Vec6  # [1/s]
    kwD: Vec6  # [s]
    derivative_filter: Positive6  # time constant of the wrench error's derivative [s]
    integral_limit: Vec6  # largest share of the pose errors' integral [N, N m]
    wrench_integral_limit: Vec6  # largest share of the wrench errors' integral [N, N m]
    error_limit: tuple[Positive, Positive]  # [m], sine of the angle: beyond it kP pulls no harder


class SelectiveWrenchGains(Record):
    """Wrench loop of the axes that are given to it."""

    kP: Vec6  # 1
    kI: Vec6  # [1/s]
    damping: Positive6  # per inertia [1/s]
    approach_speed: tuple[Positive, Positive]  # largest without contact [m/s], [rad/s]
    # of the measured force and torque, fed forward on the pose's axes
    compensation: tuple[Share, Share]


class WrenchGains(Record):
    """Direct wrench control and how the platform comes into it and out of it."""

    blend_time: Positive  # in which a step of the active wrench fades away [s]
    return_time: Positive  # in which the pose error that has grown meanwhile is taken back [s]
    paper: PaperWrenchGains
    selective: SelectiveWrenchGains


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
    compensation: Share  # of the measured wrench, which (10) feeds forward in flight
    disturbance: DisturbanceGains
    rigid: RigidGains
    admittance: AdmittanceGains
    wrench: WrenchGains
    autopilot: AutopilotGains


def gains_tree(name: str) -> dict[str, Any]:
    """The plain tree of a preset, or of a YAML file, which replaces some or all gains of the preset `default`.

    Raises:
        BadInput: no such preset or file, or the file is none of gains.
    """
    path = PRESETS.file_or_path(name)
    if path.parent == PRESETS.folder:
        return PRESETS.extended(path)
    tree = merged(PRESETS.tree("default"), read_yaml(path))
    validate(Gains, tree, source=str(path))
    return tree
