# SPDX-License-Identifier: BSD-3-Clause
"""The tasks of a vehicle, and the record of one control step: reference, force task, wrenches, command."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.states import Command, Level

AXES = ("x", "y", "z", "roll", "pitch", "yaw")
NO_WRENCH: Array = np.zeros(6)
NO_WRENCH.setflags(write=False)


@dataclass
class Reference:
    """The present reference of a platform.

    Attributes:
        row: (19 + N) see `iap_description.states`.
        level: what of it is tracked.
        wrench_P: (6,) active wrench about P's origin in P; counts at level WRENCH.
    """

    row: Array
    level: Level = Level.POSE
    wrench_P: Array = field(default_factory=lambda: NO_WRENCH)


class ForceMode(IntEnum):
    """The mode of wrench control; the values are those of iap_msgs/ForceTask."""

    NONE = 0  # it is not: pose control only
    PAPER = 1  # pose and wrench errors add up on every axis, iap_simulator eq. (21)
    SELECTIVE = 2  # the wrench on the chosen axes, the pose on the others


@dataclass
class ForceTask:
    """The wrench of the environment on the platform that is wanted at one instant.

    Attributes:
        mode: how it is controlled.
        measured_P: (6,) what is measured or estimated of it, about P's origin in P [N, N m].
        desired_P: (6,) what it shall be.
        axes: (6,) of x y z roll pitch yaw in P, those of the wrench in the selective mode; bool.
        pose_integral_P: (6,) share of the pose errors' integral in the active wrench, written by the controller.
        wrench_integral_P: (6,) share of the wrench errors' integral, written by the controller.
    """

    mode: ForceMode
    measured_P: Array
    desired_P: Array
    axes: Booleans
    pose_integral_P: Array = field(default_factory=lambda: np.zeros(6))
    wrench_integral_P: Array = field(default_factory=lambda: np.zeros(6))


class EstimateHealth(NamedTuple):
    """Statement of an estimator about itself; of several aircraft each number is that of the worst.

    Attributes:
        tracks: in the newest images.
        blind: since enough tracks were seen, or ranges came to a method that uses them [s].
        deviation: standard deviation of a place along its least known axis [m]; NaN before it is known.
        age: since the newest keyframe [s].
        faults: how often the estimator ended or began anew.
    """

    tracks: int
    blind: float
    deviation: float
    age: float
    faults: int = 0


class WrenchRecord(NamedTuple):
    """Wrenches (6,) of the environment on a platform, about P's origin in P, and what answers them.

    Attributes:
        raw_P: mean contact wrench of the last period.
        filtered_P: the same, low-passed.
        estimated_P: the momentum observer's.
        tracked: the reference as revised by the admittance.
        task: of wrench control; None where nothing is pushed.
    """

    raw_P: Array
    filtered_P: Array
    estimated_P: Array
    tracked: Reference
    task: ForceTask | None


class ArmRecord(NamedTuple):
    """An arm's n joints at one instant, (n,) each.

    Attributes:
        q: coordinates [rad], [m].
        v: velocities [rad/s], [m/s].
        efforts: of the motors in the last physics step [N m], [N].
        target: (3, n) coordinates, velocities and torques that the motors are told from now on, within their limits.
        load: (10,) what its gripper says it holds, see `iap_description.vehicles.gripper.row_of`.
    """

    q: Array
    v: Array
    efforts: Array
    target: Array
    load: Array


class Step(NamedTuple):
    """One vehicle at one instant; the loop's arrays are overwritten by its next step.

    Attributes:
        k: number of the instant.
        t: simulation time [s].
        x: (bodies, 13) state.
        reference: what was asked for.
        command: what was commanded on this state.
        rpm: (N, 4) rotor speeds.
        wrench_record: None for a vehicle that measures no wrench.
        estimated: (bodies, 13) state that the command is based on; None where that is `x`.
        tilt: (N, 4) angles of the rotors about their arms [rad]; None where none tilts.
        arm: joints of its arm; None without one.
    """

    k: int
    t: float
    x: Array
    reference: Reference
    command: Command
    rpm: Array
    wrench_record: WrenchRecord | None = None
    estimated: Array | None = None
    tilt: Array | None = None
    arm: ArmRecord | None = None
