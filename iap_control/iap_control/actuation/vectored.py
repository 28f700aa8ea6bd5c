# SPDX-License-Identifier: BSD-3-Clause
"""Vectored actuation: rotors of one body that tilt or do not all push along z and make any wrench, rank 6."""

import numpy as np

from iap_control.actuation.base import PoseActuation
from iap_control.actuation.jointed import turns
from iap_control.allocation.actuation import Effectiveness, ReferenceRows, Thrusters
from iap_control.allocation.inverses import least_norm
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.rotor_maps import rotor_shares, tilted_map
from iap_control.allocation.vectored_allocation import (
    ANGLE_TOLERANCE,
    VectoredAllocation,
    VectoredTables,
)
from iap_control.laws.tracking import gravity_wrench
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_description.math.saturation import THRUST_TOLERANCE
from iap_description.states import REF_Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health

SAMPLES = 32  # references of a flight whose attitudes are checked beforehand


class VectoredActuation(PoseActuation):
    """The kind `vectored`, see `Actuation`."""

    name = "vectored"
    law = "full_actuation"

    def effectiveness(self, assembly: Assembly, thrusters: Thrusters) -> Effectiveness | None:
        """The map of T cos b and T sin b of every rotor (6, 8N), None of other rotors.

        Raises:
            BadInput: they do not reach every wrench, or turn on joints besides.
        """
        if not thrusters.is_vectored:
            return None
        if turns(assembly):
            raise BadInput(
                f"vehicle '{assembly.name}': key 'platform.joints': there is no control law for aircraft on joints"
                " whose rotors tilt or do not push along z"
            )
        B = tilted_map(assembly, thrusters.fleet)
        return Effectiveness(B, self.inverse(B, thrusters, Health.sound(thrusters.fleet)))

    def inverse(self, B: Array, thrusters: Thrusters, health: Health) -> Array:
        """See `Actuation`."""
        return least_norm(B, rotor_shares(thrusters.fleet, health))

    def allocation(self, model: PlatformModel) -> VectoredAllocation:
        """See `Actuation`."""
        return VectoredAllocation(model)

    def thrusts(self, parts: Array) -> Array:
        """(4N,) of the rotors, see `Actuation`."""
        return np.asarray(np.linalg.norm(parts.reshape(len(parts) // 2, -1), axis=1))

    def check_references(
        self, model: PlatformModel, rows: ReferenceRows, vehicle_name: str
    ) -> None:
        """Refuse attitudes at which a rotor would have to exceed its limits at rest, see `Actuation`."""
        check_attitudes(model, sampled_attitudes(rows), vehicle_name)


def sampled_attitudes(rows: ReferenceRows) -> Array:
    """(n, 4) some of the attitudes of references, as evenly spaced as they can be."""
    instants = np.unique(np.linspace(0, rows.last, SAMPLES).astype(int))
    return np.array([rows.rows(k, k + 1)[0, REF_Q] for k in instants.tolist()])


def check_attitudes(model: PlatformModel, attitudes: Array, vehicle_name: str) -> None:
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
            angles = euler.rpy_deg_from_matrix(so3.matrix_from_quaternion(q_WP))
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
