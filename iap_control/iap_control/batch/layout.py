# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a block of controllers (`iap_description.math.lanes`): those of the platform, then of each aircraft."""

from typing import NamedTuple

import numpy as np

from iap_control.laws.decomposition import DecompositionNumbers
from iap_control.laws.position_yaw import Attitude
from iap_control.laws.rigid_law import RigidLawNumbers
from iap_control.laws.tracking import InertiaNumbers, Motion, Pid, ReferenceMotion
from iap_control.laws.under_actuation import Pid5
from iap_control.laws.yaw_command import Yaw
from iap_description.math.kernels import Mat, Vec, formula
from iap_description.math.lanes import Index
from iap_description.math.rows import chooser, numbered, reader, size_of, storer, total
from iap_description.states import CommandRows

COMMAND_SIZE = total(CommandRows())


class ObserverNumbers(NamedTuple):
    """`iap_control.controllers.disturbance_observer.ObserverParameters` in numbers."""

    mass: float
    gravity: float
    d_0: Vec
    J_C: Mat
    share: tuple[float, float]
    limit: tuple[float, float]
    contact: float


class PlatformRows(NamedTuple):
    """Rows of a platform."""

    # what is known and asked for
    p: int = 3
    q: int = 4
    v: int = 3
    w: int = 3
    reference: int = size_of(ReferenceMotion)
    level: int = 1
    reference_wrench: int = 6  # which counts at level WRENCH
    # memory, from here to `wrench`
    integral: int = 6  # of the pose errors; five of collinear joints
    short: int = 6  # the wrench that was asked for less the one that is made
    disturbance: int = 6  # estimated, about the CoM in world axes
    momentum: int = 6  # likewise
    made: int = 6  # active wrench that is made
    is_made_known: int = 1
    has_headings: int = 1
    is_saturated: int = 1  # whether an aircraft or rotor is at a limit
    attitude: int = size_of(Attitude)  # command of a rigid platform
    yaw: int = size_of(Yaw)  # likewise
    wrench: int = 6  # active one about P's origin in P
    # in between
    external: int = 6  # wrench that is compensated
    felt: int = 6  # wrench of the environment about P's origin in P, as it is measured
    kept: int = 1  # share of the forces that is kept
    kept_yaw: int = 1
    yaw_sine: int = 1  # of the platform, times a positive number
    yaw_cosine: int = 1
    platform_yaw: int = 1
    not_finite: int = 1  # zero, or no number where a command is none
    # gains and the platform
    pid: int = size_of(Pid)  # or `Pid5` of collinear joints
    body: int = size_of(InertiaNumbers)
    compensation: int = 1  # share of the felt wrench that is fed forward
    is_observed: int = 1  # whether a disturbance is estimated
    observer: int = size_of(ObserverNumbers)
    rate_share: int = 1
    law: int = 0  # from here on `DecompositionNumbers` of collinear joints, `RigidLawNumbers` of a rigid platform


class AircraftRows(NamedTuple):
    """Rows of an aircraft."""

    heading: int = 1
    command: int = COMMAND_SIZE
    reference_heading: int = 1
    force_part: int = 3  # thrust vector for the wrench's force
    tilt_part: int = 3
    yaw_part: int = 3
    thrust_W: int = 3  # within limits
    desired_W: int = 3  # thrust vector before limits
    across: int = 1  # a length across an axis
    sine: int = 1  # of the heading
    cosine: int = 1
    half_turn: int = 2  # sine and cosine, then the angle
    next_q: int = 4  # attitude that is commanded now


PLATFORM, PLATFORM_SIZE = numbered(PlatformRows()), total(PlatformRows())
AIRCRAFT, AIRCRAFT_SIZE = numbered(AircraftRows()), total(AircraftRows())
AIRCRAFT_COMMAND = numbered(CommandRows(), AIRCRAFT.command)
PLATFORM_ROW = np.uint64(0)  # first row of the platform
PLATFORM_MEMORY = slice(PLATFORM.integral, PLATFORM.external)
AIRCRAFT_MEMORY = slice(AIRCRAFT.heading, AIRCRAFT.reference_heading)

# rows of all rotors (4N) of a rigid platform, one behind the other
LIFTS, TILTS, YAWS, ROTOR_THRUSTS = SECTIONS = range(4)
_ROTOR_SECTIONS = {"rigid": len(SECTIONS)}

_LAW_ROWS: dict[str, int] = {
    "collinear": size_of(DecompositionNumbers),
    "rigid": size_of(RigidLawNumbers),
}

read_motion, read_target = reader(Motion), reader(ReferenceMotion)
read_pid, read_pid5 = reader(Pid), reader(Pid5)
read_body, read_observer = reader(InertiaNumbers), reader(ObserverNumbers)
read_split, read_rigid = reader(DecompositionNumbers), reader(RigidLawNumbers)
read_attitude, choose_attitude = reader(Attitude), chooser(Attitude)
read_yaw, choose_yaw = reader(Yaw), chooser(Yaw)
store_command = storer(CommandRows())


def platform_rows(actuation: str) -> int:
    """Number of rows of a platform, behind which the aircraft's begin."""
    return PLATFORM_SIZE + _LAW_ROWS.get(actuation, 0)


def rows_of(actuation: str, count: int) -> int:
    """Number of rows of a block of controllers of platforms of `count` aircraft."""
    sections = _ROTOR_SECTIONS.get(actuation, 0)
    return platform_rows(actuation) + count * (AIRCRAFT_SIZE + 4 * sections)


@formula
def aircraft_row(first: int, n: int) -> Index:
    """First row of an aircraft, of platforms of `first` rows."""
    return np.uint64(first + n * AIRCRAFT_SIZE)


@formula
def rotor_row(first: int, count: int, section: int, rotor: int) -> Index:
    """Row of a rotor in a section, of rigid platforms of `first` rows and `count` aircraft."""
    return np.uint64(first + count * (AIRCRAFT_SIZE + 4 * section) + rotor)
