# SPDX-License-Identifier: BSD-3-Clause
"""Rotors of an X quadrotor by their places, as autopilots number them, and what each does against a turn."""

import numpy as np

from iap_description.errors import BadInput
from iap_description.vehicles.aircraft import Aircraft

PLACES = ("front right", "rear left", "front left", "rear right")
_SIDES = ((1, -1), (-1, 1), (1, 1), (-1, -1))  # signs of x and y
SPINS = ("ccw", "ccw", "cw", "cw")  # of propellers as autopilots take them by default


def rotors_by_place(aircraft: Aircraft) -> tuple[int, int, int, int]:
    """Number of the rotor at each of `PLACES`.

    Raises:
        BadInput: it is no quadrotor in the shape of an X with fixed rotors.
    """
    order = []
    sides = [tuple(np.sign(rotor.position[:2])) for rotor in aircraft.rotors]
    for side in _SIDES:
        there = [k for k, each in enumerate(sides) if each == side]
        order.extend(there if len(there) == 1 else [])
    if len(order) != len(PLACES) or aircraft.is_vectored:
        raise BadInput(
            f"key 'firmware': aircraft '{aircraft.name}' is no quadrotor in the shape of an X with fixed rotors"
        )
    a, b, c, d = order
    return a, b, c, d


def resisting_signs(aircraft: Aircraft) -> tuple[tuple[float, ...], ...]:
    """For a turn about x, y and z, whether each rotor has to speed up (+1) or slow down (-1) against it."""
    M = aircraft.wrench_of_rotor_thrusts[3:]
    return tuple(tuple(-1.0 if torque > 0.0 else 1.0 for torque in row) for row in M.tolist())
