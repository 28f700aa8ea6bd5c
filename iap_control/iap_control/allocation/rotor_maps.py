# SPDX-License-Identifier: BSD-3-Clause
"""Effectiveness of the rotors of one body: maps from their thrusts to the platform's wrench."""

from collections.abc import Sequence

import numpy as np

from iap_control.allocation.allocation import RANK_TOLERANCE
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health


def rotor_map(assembly: Assembly, fleet: Sequence[Aircraft]) -> Array:
    """(6, 4N) wrench about P's origin of every rotor's thrust, for rotors that are fixed to one body.

    Raises:
        BadInput: they do not turn the platform about every axis.
    """
    B = in_platform(assembly, [aircraft.wrench_of_rotor_thrusts for aircraft in fleet])
    made = B[2:]
    sizes = np.linalg.norm(made, axis=1, keepdims=True)
    if sizes.min() == 0.0 or np.linalg.matrix_rank(made / sizes, tol=RANK_TOLERANCE) < 4:
        raise BadInput(
            f"vehicle '{assembly.name}': key 'platform.joints': the rotors of all aircraft together do not lift the"
            " platform and turn it about every axis"
        )
    return B


def tilted_map(assembly: Assembly, fleet: Sequence[Aircraft]) -> Array:
    """(6, 8N) wrench about P's origin of every rotor's T cos b and T sin b, for rotors of one body.

    Raises:
        BadInput: they do not reach every wrench.
    """
    B = in_platform(assembly, [aircraft.wrench_of_tilted_thrusts for aircraft in fleet])
    reach = np.linalg.norm(B[3:], axis=0).max()
    rank = int(np.linalg.matrix_rank(B / np.repeat([1.0, reach], 3)[:, None], tol=RANK_TOLERANCE))
    if rank < 6:
        raise BadInput(
            f"vehicle '{assembly.name}': key 'platform.aircraft.rotors': as they stand and tilt they push along"
            f" {rank} of 6 axes only, for which there is no control law"
        )
    return B


def in_platform(assembly: Assembly, wrenches: Sequence[Array]) -> Array:
    """Take wrenches of aircraft to P: f_P = R_PB f_B and tau_P = R_PB tau_B + p_PB x f_P.

    Args:
        assembly: joints with the positions p_PB [m] and attitudes R_PB of the aircraft.
        wrenches: (6, n) columns of each aircraft about its CoM, in its frame [N, N m].

    Returns:
        (6, sum of n) columns about P's origin, in P [N, N m].
    """
    blocks = []
    places = {
        joint.child: (joint.p_PC_P, so3.matrix_from_quaternion(joint.q_PJ))
        for joint in assembly.joints
    }
    for body, columns in zip(assembly.aircraft, wrenches, strict=True):
        p, R = places.get(body, (np.zeros(3), np.eye(3)))
        force, torque = np.split(columns, 2)
        blocks.append(np.vstack([R @ force, R @ torque + so3.hat(p) @ R @ force]))
    return np.hstack(blocks)


def rotor_shares(fleet: Sequence[Aircraft], health: Health) -> Array:
    """(8N,) what each rotor's T cos b and T sin b count: what is left of it, and 0 for T sin b of one that is fixed."""
    tilts = np.array([[1.0, float(aircraft.tilt is not None)] for aircraft in fleet])
    shares = health.rotors[..., None] * tilts[:, None]
    return np.asarray(shares.ravel(), dtype=np.float64)
