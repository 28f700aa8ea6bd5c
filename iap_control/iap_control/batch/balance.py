# SPDX-License-Identifier: BSD-3-Clause
"""Commands that carry platforms at rest, in many worlds: an `Allocator` on their weights, with its bits."""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.allocation.actuation import RateFilter
from iap_control.allocation.jointed_allocation import allocate_to_aircraft
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.rotor_allocation import Three, allocate_to_rotors
from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.vectored_allocation import (
    VectoredTables,
    allocate_to_tilting_rotors,
    vectored_tables,
)
from iap_control.laws.tracking import gravity_wrench
from iap_description.arrays import Array
from iap_description.states import Mode


class HoverCommands(NamedTuple):
    """Commands that carry platforms of N aircraft at rest in n worlds.

    Attributes:
        thrust: (n, N) [N].
        q_WB: (n, N, 4) attitudes of aircraft that turn.
        rpm: (n, N, 4) rotor speeds, where rotors are commanded.
        tilt: (n, N, 4) angles of rotors that tilt [rad].
    """

    thrust: Array
    q_WB: Array
    rpm: Array
    tilt: Array


class Balance:
    """Carries platforms of one model, none of whose rotors has failed.

    Args:
        model: of the platform.
    """

    def __init__(self, model: PlatformModel) -> None:
        self._model, self._tables = model, AllocationTables.of(model)
        inertia = model.inertia
        self._weight = (inertia.mass, inertia.d_0, inertia.gravity)
        self._vectored = vectored_tables(model)
        self._is_vectored = any(aircraft.is_vectored for aircraft in model.fleet)
        self.commands_rotors = model.actuation.mode == Mode.RPM

    def __call__(self, q_WP: Array, headings: Array) -> HoverCommands:
        """The commands at attitudes (n, 4), the aircraft headed alike (N,) [rad]."""
        worlds, count = len(q_WP), self._model.count
        sizes = ((), (4,), (4,), (4,))
        out = HoverCommands(*(np.zeros((worlds, count, *size)) for size in sizes))
        tables = self._tables
        if self._is_vectored:
            rotors = (out.rpm, out.tilt, out.thrust)
            _carry_by_tilting_rotors(q_WP, self._weight, self._vectored, *rotors)
        elif self.commands_rotors:
            rows = (out.rpm, out.thrust)
            _carry_by_rotors(q_WP, self._weight, tables.parts, tables.rotors, *rows)
        else:
            _carry(q_WP, headings, self._weight, tables, out.thrust, out.q_WB)
        return out


Weight = tuple[float, Array, float]  # mass [kg], CoM (3,) in P [m] and gravity [m/s^2]


@njit(cache=True)
def _carry(
    q_WP: Array,
    headings: Array,
    weight: Weight,
    tables: AllocationTables,
    thrust: Array,
    q_WB: Array,
) -> None:
    """Allocate weights to aircraft that turn; nothing has been commanded before."""
    U, short, rates = np.empty(6), np.empty(6), np.zeros((len(tables.limits), 3))
    for b in range(len(q_WP)):
        gravity_wrench(weight[0], weight[1], weight[2], q_WP[b], U)
        out = (thrust[b], q_WB[b], rates)
        allocate_to_aircraft(-U, q_WP[b], headings, tables, RateFilter(1.0, 1.0), out, short)


@njit(cache=True)
def _carry_by_rotors(
    q_WP: Array, weight: Weight, parts: Three, rotors: Three, rpm: Array, thrust: Array
) -> None:
    """Allocate weights to rotors."""
    U = np.empty(6)
    for b in range(len(q_WP)):
        gravity_wrench(weight[0], weight[1], weight[2], q_WP[b], U)
        allocate_to_rotors(-U, parts, rotors, rpm[b], thrust[b])


@njit(cache=True)
def _carry_by_tilting_rotors(
    q_WP: Array, weight: Weight, tables: VectoredTables, rpm: Array, tilt: Array, thrust: Array
) -> None:
    """Allocate weights to rotors that tilt."""
    U, short = np.empty(6), np.empty(6)
    for b in range(len(q_WP)):
        gravity_wrench(weight[0], weight[1], weight[2], q_WP[b], U)
        allocate_to_tilting_rotors(-U, tables, rpm[b], tilt[b], thrust[b], short)
