# SPDX-License-Identifier: BSD-3-Clause
"""Attitudes at which the rotors of a vectored aircraft can hold it at rest."""

import numpy as np

from iap_control.allocation.model import PlatformModel
from iap_control.allocation.vectored_allocator import ANGLE_TOLERANCE, VectoredTables
from iap_control.laws.tracking import gravity_wrench
from iap_control.references.timeline import Timeline
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.saturation import THRUST_TOLERANCE
from iap_description.states import REF_Q

SAMPLED = 32  # references of a flight that are looked at beforehand


def sampled_attitudes(line: Timeline) -> Array:
    """(n, 4) some of the attitudes of references, as evenly spaced as they can be."""
    instants = np.unique(np.linspace(0, line.last, SAMPLED).astype(int))
    return np.array([line.row(k)[REF_Q] for k in instants.tolist()])


def check_held(model: PlatformModel, attitudes: Array, vehicle_name: str) -> None:
    """Refuse attitudes (n, 4) at which a rotor would have to exceed its limits.

    Args:
        model: of a vectored aircraft.
        attitudes: at which it is to rest.
        vehicle_name: for the error.

    Raises:
        BadInput: naming the first of them, the rotor and the limit.
    """
    tables = VectoredTables.of(model)
    for q_WP in attitudes:
        beyond = _beyond(model, tables, q_WP)
        if beyond is not None:
            angles = np.rad2deg(so3.euler_from_matrix(so3.matrix_from_quaternion(q_WP)))
            roll, pitch, yaw = np.round(angles, 1) + 0.0  # no -0.0
            raise BadInput(
                f"vehicle '{vehicle_name}': key 'reference': to rest at roll {roll:.1f}, pitch {pitch:.1f},"
                f" yaw {yaw:.1f} deg {beyond}"
            )


def _beyond(model: PlatformModel, tables: VectoredTables, q_WP: Array) -> str | None:
    """The rotor that would have to go beyond its limits to hold an attitude (4,), in words; None within."""
    weight, inertia = np.empty(6), model.inertia
    gravity_wrench(inertia.mass, inertia.d_0, inertia.gravity, q_WP, weight)
    up, sideways = (tables.parts @ -weight).reshape(-1, 2).T
    thrusts, tilts = np.hypot(up, sideways), np.arctan2(sideways, up)
    for i, (low, high, limit) in enumerate(tables.limits):
        aircraft = f" of aircraft {i // 4 + 1}" if model.count > 1 else ""
        rotor = f"rotor {i % 4 + 1}{aircraft} would have to"
        if limit == 0.0 and up[i] < 0.0:
            return f"{rotor} pull"
        if abs(tilts[i]) > limit + ANGLE_TOLERANCE:
            tilt, most = np.rad2deg(tilts[i]), np.rad2deg(limit)
            return f"{rotor} tilt by {tilt:.1f} deg, its limit is {most:.1f}"
        if not low - THRUST_TOLERANCE <= thrusts[i] <= high + THRUST_TOLERANCE:
            return f"{rotor} push {thrusts[i]:.2f} N, its limits are {low:.2f} and {high:.2f}"
    return None
