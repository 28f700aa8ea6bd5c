# SPDX-License-Identifier: BSD-3-Clause
r"""From an active wrench to thrust and angle of every rotor of a vectored platform, within its limits.

Eqs. (9)-(12) of beatle, with a 6 x 8 map in place of the printed 6 x 12 one: U = pinv(A) W are the parts T cos b and
T sin b of least norm, from which T and b follow. Both are clipped after that (14'), and what the wrench lacks then
holds up the integrals. Rotors that lean without tilting first give up what pushes sideways, so that they go on turning
the platform.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_control.allocation.actuation import RateFilter
from iap_control.allocation.allocation import TINY
from iap_control.allocation.model import PlatformModel
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Six,
    Vec,
    add6,
    choose,
    combined6,
    cross,
    dot6,
    formula,
    least,
    most,
    put_six,
    six,
    six_at,
    six_of_row,
    sub6,
    vec,
)
from iap_description.math.saturation import THRUST_TOLERANCE, without_rounding
from iap_description.states import Command

ANGLE_TOLERANCE = 1e-12  # of a rotor's angle, which is rounding and none [rad]


class VectoredTables(NamedTuple):
    """A vectored platform as the compiled allocation takes it; rotors (R,) of all aircraft one after the other.

    Attributes:
        parts: (2R, 6) T cos b and T sin b of each rotor in turn [N] of a wrench.
        columns: (2R, 6) wrench of a unit of each.
        limits: (R, 3) least and most thrust [N] and largest angle [rad].
        coefficients: (R,) thrust per speed squared of each rotor, as it is commanded [N/rpm^2].
        d_0: (3,) the platform's CoM in P [m].
    """

    parts: Array
    columns: Array
    limits: Array
    coefficients: Array
    d_0: Array

    @classmethod
    def of(cls, model: PlatformModel) -> Self:
        """The tables of a platform, or of what is left of it."""
        low, high = model.rotor_limits
        angles = [0.0 if each.tilt is None else each.tilt.limit for each in model.fleet]
        limits = np.column_stack([low, high, np.repeat(angles, 4)])
        shapes = (np.ascontiguousarray(model.B_inverse), np.ascontiguousarray(model.B.T))
        return cls(
            *shapes, np.ascontiguousarray(limits), model.rotor_coefficients, model.inertia.d_0
        )

    @classmethod
    def none(cls) -> Self:
        """Tables of one rotor that does nothing, for platforms that are not vectored."""
        rotor = (np.zeros((2, 6)), np.zeros((2, 6)), np.zeros((1, 3)), np.zeros(1))
        return cls(*rotor, np.zeros(3))


class RotorCommand(NamedTuple):
    """Command to a rotor.

    Attributes:
        thrust: T [N].
        tilt: b [rad].
        is_clipped: whether one of them is at its limit.
    """

    thrust: float
    tilt: float
    is_clipped: bool


def vectored_tables(model: PlatformModel) -> VectoredTables:
    """The tables of a platform, empty ones where it is not vectored."""
    is_vectored = any(aircraft.is_vectored for aircraft in model.fleet)
    return VectoredTables.of(model) if is_vectored else VectoredTables.none()


class VectoredAllocation:
    """The `Allocation` to rotors of one body that tilt or do not all push along z.

    Args:
        model: of the platform.
    """

    knows_shortage = True

    def __init__(self, model: PlatformModel) -> None:
        self._tables = VectoredTables.of(model)

    def __call__(
        self,
        U: Array,
        q_WP: Array,  # noqa: ARG002 - rotors turn with the platform
        yaw: Array,  # noqa: ARG002
        rate: RateFilter,  # noqa: ARG002
        command: Command,
        short: Array,
    ) -> bool:
        """Write rotor speeds and angles, and the aircraft's thrusts, see `Allocation`."""
        rotors = (command.rpm, command.tilt, command.thrust)
        return allocate_to_tilting_rotors(U, self._tables, *rotors, short)


@formula
def sideways_part(U: Six, d_0: Vec) -> Six:
    """The part of a wrench about P's origin that pushes across P's z axis through the CoM and turns nothing."""
    force = (U[0], U[1], 0.0)
    return six(force, cross(d_0, force))


@formula
def kept_by_rotor(kept: float, up: float, change: float, low: float, high: float) -> float:
    """The share of the sideways push that is kept, given a rotor that does not tilt.

    Args:
        kept: by the rotors before it.
        up: its thrust without that push [N].
        change: by all of the push [N].
        low: its least thrust [N].
        high: its largest [N].
    """
    room = most(choose(change > 0.0, high - up, up - low), 0.0)
    size = most(choose(change > 0.0, change, -change), TINY)
    return least(kept, choose(size > most(room, TINY), room / size, 1.0))


@formula
def without_sideways(U: Six, kept: float, d_0: Vec) -> Six:
    """A wrench with a share of its sideways push."""
    part, less = sideways_part(U, d_0), 1.0 - kept
    return (
        U[0] - less * part[0],
        U[1] - less * part[1],
        U[2] - less * part[2],
        U[3] - less * part[3],
        U[4] - less * part[4],
        U[5] - less * part[5],
    )


@formula
def rotor_command(
    up: float, sideways: float, low: float, high: float, limit: float
) -> RotorCommand:
    """The thrust and angle of a rotor's parts T cos b and T sin b [N], within its limits.

    Beyond the largest angle, what is left of the thrust along that.
    """
    size, angle = math.sqrt(up * up + sideways * sideways), math.atan2(sideways, up)
    tilt = least(most(angle, -limit), limit)
    is_turned = most(angle, -angle) - limit > ANGLE_TOLERANCE
    request = choose(is_turned, up * math.cos(tilt) + sideways * math.sin(tilt), size)
    off = most(request - high, low - request) > THRUST_TOLERANCE
    return RotorCommand(least(most(request, low), high), tilt, off | is_turned)


@formula
def wrench_of(rotor: RotorCommand, up: Six, sideways: Six) -> Six:
    """Wrench that a rotor makes, of those of a unit of thrust at b = 0 and b = 90 deg."""
    a, b = rotor.thrust * math.cos(rotor.tilt), rotor.thrust * math.sin(rotor.tilt)
    return combined6(a, up, b, sideways)


@formula
def lacking_wrench(request: Six, made: Six) -> Six:
    """The lack of a wrench, without rounding, whose sign would else hold up integrals."""
    lack = sub6(request, made)
    return (
        without_rounding(lack[0]),
        without_rounding(lack[1]),
        without_rounding(lack[2]),
        without_rounding(lack[3]),
        without_rounding(lack[4]),
        without_rounding(lack[5]),
    )


@formula
def rotor_speed(thrust: float, coefficient: float) -> float:
    """Speed [rpm] of a rotor's thrust [N]; 0 of one that is lost."""
    is_lost = coefficient <= 0.0
    return choose(is_lost, 0.0, math.sqrt(thrust / choose(is_lost, 1.0, coefficient)))


@njit(cache=True)
def allocate_to_tilting_rotors(
    U: Array, tables: VectoredTables, rpm: Array, tilt: Array, thrust: Array, short: Array
) -> bool:
    """Write speeds (N, 4) [rpm], angles (N, 4) [rad] and summed thrusts (N,) [N]; True if a rotor is at a limit.

    Args:
        U: (6,) active wrench about P's origin in P.
        tables: see there.
        rpm: written.
        tilt: written.
        thrust: written.
        short: (6,) what the wrench lacks, written.
    """
    request, made, d_0 = six_at(U, 0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), vec(tables.d_0)
    part, kept = sideways_part(request, d_0), 1.0
    rest = sub6(request, part)
    for r in range(len(tables.limits)):
        low, high, limit = tables.limits[r]
        if limit == 0.0:
            of_wrench = six_of_row(tables.parts, 2 * r)
            thrusts = (dot6(of_wrench, rest), dot6(of_wrench, part))
            kept = kept_by_rotor(kept, thrusts[0], thrusts[1], low, high)
    reduced = without_sideways(request, kept, d_0)
    clipped = kept < 1.0
    thrust[:] = 0.0
    for r in range(len(tables.limits)):
        a = dot6(six_of_row(tables.parts, 2 * r), reduced)
        b = dot6(six_of_row(tables.parts, 2 * r + 1), reduced)
        low, high, limit = tables.limits[r]
        rotor = rotor_command(a, b, low, high, limit)
        columns = (six_of_row(tables.columns, 2 * r), six_of_row(tables.columns, 2 * r + 1))
        made = add6(made, wrench_of(rotor, *columns))
        i, k = r // 4, r % 4
        rpm[i, k], tilt[i, k] = rotor_speed(rotor.thrust, tables.coefficients[r]), rotor.tilt
        thrust[i] += rotor.thrust
        clipped = clipped | rotor.is_clipped
    put_six(short, 0, lacking_wrench(request, made))
    return clipped
