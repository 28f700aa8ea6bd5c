# SPDX-License-Identifier: BSD-3-Clause
"""Rotors of an X quadrotor by their places, as autopilots number them, and what each does against a turn."""

import math
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Quat, Vec
from iap_description.errors import BadInput
from iap_description.math.kernels import qmul, rotate
from iap_description.vehicles.aircraft import Aircraft, inertia_matrix

PLACES = ("front right", "rear left", "front left", "rear right")
_SIDES = ((1, -1), (-1, 1), (1, 1), (-1, -1))  # signs of x and y
SPINS = ("ccw", "ccw", "cw", "cw")  # of propellers as autopilots take them by default


class AutopilotMount(NamedTuple):
    """An autopilot on its aircraft, turned about z until the rotors stand in the shape of an X before it.

    Attributes:
        yaw: of its axes on the aircraft's [rad].
        aircraft: in its axes.
    """

    yaw: float
    aircraft: Aircraft

    @classmethod
    def of(cls, aircraft: Aircraft) -> "AutopilotMount":
        """The mount on an aircraft: half a quarter turn on one in the shape of a +, else none.

        Of both such turns it is the one that brings the spins where autopilots take them by default.
        """
        turned = [_turned(aircraft, yaw) for yaw in (0.0, 0.25 * math.pi, -0.25 * math.pi)]
        is_x = [_order(each.aircraft) is not None for each in turned]
        if is_x[0] or not any(is_x):
            return turned[0]
        return turned[1] if _has_usual_spins(turned[1].aircraft) else turned[2]

    def attitude(self, q_WB: Quat) -> Quat:
        """Attitude xyzw of the autopilot on an aircraft of one."""
        return q_WB if not self.yaw else qmul(q_WB, _about_z(self.yaw))

    def vector(self, v_B: Vec) -> Vec:
        """A vector of the aircraft's axes in the autopilot's."""
        return v_B if not self.yaw else rotate(_about_z(-self.yaw), v_B)


def _turned(aircraft: Aircraft, yaw: float) -> AutopilotMount:
    """The mount at a yaw, with rotors and inertia in its axes."""
    if not yaw:
        return AutopilotMount(0.0, aircraft)
    c, s = math.cos(yaw), math.sin(yaw)
    R = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    J = R @ inertia_matrix(aircraft.inertia) @ R.T
    rotors = tuple(
        each.model_copy(update={"position": tuple((R @ np.array(each.position)).tolist())})
        for each in aircraft.rotors
    )
    inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    made = aircraft.model_copy(update={"rotors": rotors, "inertia": tuple(map(float, inertia))})
    return AutopilotMount(yaw, made)


def _about_z(yaw: float) -> Quat:
    return (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))


def _has_usual_spins(aircraft: Aircraft) -> bool:
    order = _order(aircraft)
    return order is not None and tuple(aircraft.rotors[k].spin for k in order) == SPINS


def _order(aircraft: Aircraft) -> tuple[int, ...] | None:
    """Number of the rotor at each of `PLACES`; None where they do not stand there."""
    sides = [tuple(np.sign(np.round(rotor.position[:2], 9))) for rotor in aircraft.rotors]
    order = []
    for side in _SIDES:
        there = [k for k, each in enumerate(sides) if each == side]
        order.extend(there if len(there) == 1 else [])
    return tuple(order) if len(order) == len(PLACES) == len(sides) else None


def rotors_by_place(aircraft: Aircraft) -> tuple[int, int, int, int]:
    """Number of the rotor at each of `PLACES`.

    Raises:
        BadInput: it is no quadrotor in the shape of an X with fixed rotors; one like a + is turned by its mount.
    """
    order = _order(aircraft)
    if order is None or aircraft.is_vectored:
        raise BadInput(
            f"key 'firmware': aircraft '{aircraft.name}' is no quadrotor in the shape of an X or a + with fixed rotors"
        )
    a, b, c, d = order
    return a, b, c, d


def resisting_signs(aircraft: Aircraft) -> tuple[tuple[float, ...], ...]:
    """For a turn about x, y and z, whether each rotor has to speed up (+1) or slow down (-1) against it."""
    M = aircraft.wrench_of_rotor_thrusts[3:]
    return tuple(tuple(-1.0 if torque > 0.0 else 1.0 for torque in row) for row in M.tolist())
