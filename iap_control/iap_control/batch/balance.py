# SPDX-License-Identifier: BSD-3-Clause
"""What carries platforms at rest, in many worlds: an `Allocator` on their weights, with its bits."""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.allocation.allocator import (
    AllocationTables,
    attitudes,
    commanded_mode,
    rotor_speeds,
)
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.vectored_allocator import VectoredTables, vector, vectored_tables
from iap_control.laws.tracking import gravity_wrench
from iap_description.arrays import Array
from iap_description.math.kernels import matvec
from iap_description.states import Mode


class Carried(NamedTuple):
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
        self.commands_rotors = commanded_mode(model) == Mode.RPM

    def __call__(self, q_WP: Array, headings: Array) -> Carried:
        """The commands at attitudes (n, 4), the aircraft headed alike (N,) [rad]."""
        worlds, count = len(q_WP), self._model.count
        sizes = ((), (4,), (4,), (4,))
        out = Carried(*(np.zeros((worlds, count, *size)) for size in sizes))
        parts = self._tables.parts
        if self._model.actuation == "vectored":
            rotors = (out.rpm, out.tilt, out.thrust)
            _carry_vectored(q_WP, *self._weight, self._vectored, *rotors)
        elif self.commands_rotors:
            _carry_rigid(q_WP, *self._weight, parts, *self._tables.rotors, out.rpm, out.thrust)
        else:
            _carry(q_WP, headings, *self._weight, self._tables, out.thrust, out.q_WB)
        return out


@njit(cache=True)
def _carry(
    q_WP: Array,
    headings: Array,
    mass: float,
    d_0: Array,
    gravity: float,
    tables: AllocationTables,
    thrust: Array,
    q_WB: Array,
) -> None:
    """Allocate weights to aircraft that turn; nothing has been commanded before."""
    parts, limits, _, q_PB, arms, _, swings = tables
    weight, short, rates = np.empty(6), np.empty(6), np.zeros((len(limits), 3))
    forces, tilts, yaws = _room(parts)
    for b in range(len(q_WP)):
        gravity_wrench(mass, d_0, gravity, q_WP[b], weight)
        _split(parts, -weight, forces, tilts, yaws)
        inputs = (forces, tilts, yaws, q_WP[b], headings, limits, swings, q_PB, 1.0, 1.0)
        attitudes(*inputs, thrust[b], q_WB[b], rates, arms, short)


@njit(cache=True)
def _carry_rigid(
    q_WP: Array,
    mass: float,
    d_0: Array,
    gravity: float,
    parts: tuple[Array, Array, Array],
    lowest: Array,
    highest: Array,
    coefficients: Array,
    rpm: Array,
    thrust: Array,
) -> None:
    """Allocate weights to rotors."""
    weight = np.empty(6)
    forces, tilts, yaws = _room(parts)
    for b in range(len(q_WP)):
        gravity_wrench(mass, d_0, gravity, q_WP[b], weight)
        _split(parts, -weight, forces, tilts, yaws)
        limits = (lowest, highest, coefficients)
        rotor_speeds(forces, tilts, yaws, *limits, rpm[b], thrust[b])


@njit(cache=True)
def _carry_vectored(
    q_WP: Array,
    mass: float,
    d_0: Array,
    gravity: float,
    tables: VectoredTables,
    rpm: Array,
    tilt: Array,
    thrust: Array,
) -> None:
    """Allocate weights to rotors that tilt."""
    weight, short = np.empty(6), np.empty(6)
    for b in range(len(q_WP)):
        gravity_wrench(mass, d_0, gravity, q_WP[b], weight)
        vector(-weight, tables, rpm[b], tilt[b], thrust[b], short)


@njit(cache=True)
def _room(parts: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    size = len(parts[0])
    return np.empty(size), np.empty(size), np.empty(size)


@njit(cache=True)
def _split(
    parts: tuple[Array, Array, Array], wrench: Array, forces: Array, tilts: Array, yaws: Array
) -> None:
    force, tilt, yaw = parts
    matvec(force, wrench, forces)
    matvec(tilt, wrench, tilts)
    matvec(yaw, wrench, yaws)
