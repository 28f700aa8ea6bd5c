# SPDX-License-Identifier: BSD-3-Clause
"""Allocation to rotors that are fixed to one body."""

import numpy as np
from numba import njit

from iap_control.allocation.actuation import RateFilter
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.tables import AllocationTables
from iap_control.allocation.vectored_allocation import rotor_speed
from iap_description.arrays import Array
from iap_description.math.kernels import matvec
from iap_description.math.saturation import share_out
from iap_description.states import Command

Three = tuple[Array, Array, Array]


class RotorAllocation:
    """The `Allocation` to rotors of one body, whose limits hide what the wrench lacks.

    Args:
        model: of the platform.
    """

    knows_shortage = False

    def __init__(self, model: PlatformModel) -> None:
        tables = AllocationTables.of(model)
        self._parts, self._rotors = tables.parts, tables.rotors

    def __call__(
        self,
        U: Array,
        q_WP: Array,  # noqa: ARG002 - rotors turn with the platform
        yaw: Array,  # noqa: ARG002
        rate: RateFilter,  # noqa: ARG002
        command: Command,
        short: Array,  # noqa: ARG002
    ) -> bool:
        """Write rotor speeds and the aircraft's thrusts, see `Allocation`."""
        return allocate_to_rotors(U, self._parts, self._rotors, command.rpm, command.thrust)


@njit(cache=True)
def allocate_to_rotors(U: Array, parts: Three, rotors: Three, rpm: Array, thrust: Array) -> bool:
    """Rotor speeds (N, 4) [rpm] of a wrench (6,), and the aircraft's thrusts (N,) [N]; True if a rotor is at a limit.

    Args:
        U: (6,) active wrench about P's origin in P [N, N m].
        parts: see `AllocationTables`.
        rotors: likewise.
        rpm: written.
        thrust: written.
    """
    lift, tilt, yaw = parts
    lowest, highest, coefficients = rotors
    size = len(lowest)
    shares = (np.empty(size), np.empty(size), np.empty(size))
    matvec(lift, U, shares[0])
    matvec(tilt, U, shares[1])
    matvec(yaw, U, shares[2])
    forces = np.empty(size)
    saturated = share_out(shares[0], shares[1], shares[2], lowest, highest, forces)
    for i in range(rpm.shape[0]):
        thrust[i] = 0.0
        for r in range(4):
            thrust[i] += forces[4 * i + r]
            rpm[i, r] = rotor_speed(forces[4 * i + r], coefficients[4 * i + r])
    return saturated
