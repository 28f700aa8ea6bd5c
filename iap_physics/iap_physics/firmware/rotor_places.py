# SPDX-License-Identifier: BSD-3-Clause
"""Rotors of an X quadrotor by their places, as autopilots number them, and what each does against a turn."""

from iap_description.errors import BadInput
from iap_description.vehicles.aircraft import Aircraft

PLACES = ("front right", "rear left", "front left", "rear right")
_SIDES = ((1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0))  # signs of x and y
SPINS = ("ccw", "ccw", "cw", "cw")  # of propellers as autopilots take them by default


def rotors_by_place(aircraft: Aircraft) -> tuple[int, int, int, int]:
    """Number of the rotor at each of `PLACES`.

    Raises:
        BadInput: it is no quadrotor in the shape of an X with fixed rotors.
    """
    order = []
    for x, y in _SIDES:
        there = [
            k
            for k, rotor in enumerate(aircraft.rotors)
            if rotor.position[0] * x > 0.0 and rotor.position[1] * y > 0.0
        ]
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
