# SPDX-License-Identifier: BSD-3-Clause
"""A platform as the compiled allocation takes it: maps, limits and attitudes in arrays."""

import math
from typing import NamedTuple, Self

import numpy as np

from iap_control.allocation.model import PlatformModel
from iap_control.allocation.thrust_directions import CROSSED, HINGED
from iap_description.arrays import Array, Booleans, Integers
from iap_description.math import so3
from iap_description.states import Mode

STOP_DISTANCE = math.radians(1.0)  # by which commanded tilts stay off a joint's stop
CROSS_TRAVEL = math.radians(80.0)  # of a universal joint, whose axes fall together at 90 degrees


class AllocationTables(NamedTuple):
    """A platform as the compiled allocation takes it.

    Attributes:
        parts: three times (3N, 6), of a rigid platform (4N, 6): the thrusts of a wrench's parts, which are given up one
            after another.
        limits: (N, 4) least and most thrust of each aircraft [N], tangents of its tilt against the vertical and the
            platform.
        is_free: (N,) whether each aircraft turns freely.
        q_PB: (N, 4) attitude of each aircraft in P at rest.
        arms: (N, 3) points of attack of the aircraft's thrusts in P [m].
        rotors: (4N,) least and most thrust of each rotor [N], and thrust per speed squared [N/rpm^2]; 0 of none.
        swings: (N,) how each aircraft's thrust turns, and (N, 2, 3) about which axes, see `PlatformModel`.
    """

    parts: tuple[Array, Array, Array]
    limits: Array
    is_free: Booleans
    q_PB: Array
    arms: Array
    rotors: tuple[Array, Array, Array]
    swings: tuple[Integers, Array]

    @classmethod
    def of(cls, model: PlatformModel) -> Self:
        """The tables of a platform, or of what is left of it."""
        force, tilt, yaw = (
            np.ascontiguousarray(model.B_inverse @ each) for each in _splits(model)
        )
        rotors = (*model.rotor_limits, model.rotor_coefficients)
        body = (_limits(model), model.turns, model.q_PB, _arms(model))
        return cls((force, tilt, yaw), *body, rotors, (model.swings, model.axes))


def _limits(model: PlatformModel) -> Array:
    """(N, 4) least and most thrust of each aircraft [N], tangents of its tilt against the vertical and the platform."""
    rows = []
    thrusts, travels = model.thrust_limits.tolist(), model.travel.tolist()
    kinds = model.swings.tolist()
    for aircraft, thrust, travel, kind in zip(model.fleet, thrusts, travels, kinds, strict=True):
        # What a hinge cannot hold upright is held by the platform: its tilt counts against that.
        largest = {CROSSED: CROSS_TRAVEL, HINGED: aircraft.tilt_max}.get(kind, math.inf)
        room = min(travel - STOP_DISTANCE, largest)
        tan_travel = math.tan(max(room, 0.0)) if room < 0.5 * math.pi else math.inf
        rows.append([*thrust, math.tan(aircraft.tilt_max), tan_travel])
    return np.array(rows)


def _arms(model: PlatformModel) -> Array:
    """(N, 3) points of attack of the aircraft's thrusts in P [m], out of B; zero where rotors are commanded."""
    if model.actuation.mode == Mode.RPM:
        return np.zeros((model.count, 3))
    levers = model.B[3:].reshape(3, model.count, 3)
    return np.ascontiguousarray(np.stack([levers[2, :, 1], levers[0, :, 2], levers[1, :, 0]], -1))


def _splits(model: PlatformModel) -> list[Array]:
    """(6, 6) projections of a wrench on its parts, which add up to it and are given up one after another.

    The force with its lever to the CoM, so that it turns nothing, and the torque about the CoM: its tilt, its yaw.
    """
    force = np.zeros((6, 6))
    force[:3, :3], force[3:, :3] = np.eye(3), so3.hat(model.inertia.d_0)
    torque = np.eye(6) - force
    about_z = np.diag([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    return [force, (np.eye(6) - about_z) @ torque, about_z @ torque]
