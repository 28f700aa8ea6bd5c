# SPDX-License-Identifier: BSD-3-Clause
"""Passive decomposition of velocities across a line of joints, iap_simulator eqs. (12)-(14)."""

from typing import NamedTuple

import numpy as np

from iap_control.allocation.model import PlatformModel
from iap_control.laws.five import Mat5, mat5
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Mat6,
    Vec,
    formula,
    mat6,
    vec,
)

MIN_LEVER = 1e-6  # of the CoM about the line, below which the platform does not hang [m]


class Decomposition(NamedTuple):
    """The split of velocities, iap_simulator eqs. (12), (13).

    Attributes:
        Delta: (6, 6) columns [Delta_a | Delta_u]: xi = Delta [v_a; v_u].
        Delta_inverse: its inverse.
        Delta_T: its transpose: u = Delta^T U.
        Omega_T: inverse of Delta_T: U = Omega^T u.
        M_a: (5, 5) inertia of the actuated part, eq. (14).
        line: (3,) direction of the joints' line in P.
        basis: (3, 2) two directions across the line.
        d_0: (3,) CoM in P [m].
        p_line: (3,) the line's point nearest to P's origin, in P [m].
        up: (3,) direction in P from the CoM to the line, which is upwards at rest; zero if the CoM is on the line.
    """

    Delta: Array
    Delta_inverse: Array
    Delta_T: Array
    Omega_T: Array
    M_a: Array
    line: Array
    basis: Array
    d_0: Array
    p_line: Array
    up: Array

    @classmethod
    def of(cls, model: PlatformModel) -> "Decomposition":
        """Decompose a platform with collinear joints.

        Delta_u = [-r x p; r] is the twist that leaves every joint in place: a turn about their line, of direction r
        through p [m]. Delta_a (6, 5) are the three translations and the two turns across the line, without their
        M-component along Delta_u: Delta_a = N - Delta_u (Delta_u' M N) / (Delta_u' M Delta_u). All are in P.
        """
        assert model.line is not None  # noqa: S101 - the law of collinear joints
        (r, p_line), M = model.line, model.inertia.M
        Delta_u = np.concatenate([-np.cross(r, p_line), r])
        across = np.linalg.svd(r[None])[2][1:].T
        across = across * np.sign(across[np.argmax(np.abs(across), axis=0), [0, 1]])
        natural = np.zeros((6, 5))
        natural[:3, :3], natural[3:, 3:] = np.eye(3), across
        Delta_a = natural - np.outer(Delta_u, Delta_u @ M @ natural) / (Delta_u @ M @ Delta_u)
        Delta = np.column_stack([Delta_a, Delta_u])
        Delta_T = np.ascontiguousarray(Delta.T)
        lever = p_line - model.inertia.d_0
        lever = lever - r * (r @ lever)
        length = float(np.linalg.norm(lever))
        return cls(
            Delta,
            np.linalg.inv(Delta),
            Delta_T,
            np.linalg.inv(Delta_T),
            Delta_a.T @ M @ Delta_a,
            np.ascontiguousarray(r),
            np.ascontiguousarray(across),
            model.inertia.d_0,
            p_line,
            lever / length if length > MIN_LEVER else np.zeros(3),
        )

    def drop_turn_about_line(self, wrench_P: Array) -> None:
        """Change a wrench's torque about the line so that it does not turn the platform, in place.

        No thrusts can make that torque; left in, it would count as a force through the inertia's coupling.
        """
        wrench_P[3:] -= self.line * (self.Delta[:, 5] @ wrench_P)


class DecompositionNumbers(NamedTuple):
    """`Decomposition` in numbers."""

    Delta: Mat6
    Delta_inverse: Mat6
    Omega_T: Mat6
    M_a: Mat5
    line: Vec
    basis: tuple[Vec, Vec]
    p_line: Vec
    up: Vec


@formula
def decomposition_numbers(split: Decomposition) -> DecompositionNumbers:
    """The numbers of a decomposition."""
    B = split.basis
    return DecompositionNumbers(
        mat6(split.Delta),
        mat6(split.Delta_inverse),
        mat6(split.Omega_T),
        mat5(split.M_a),
        vec(split.line),
        ((B[0, 0], B[1, 0], B[2, 0]), (B[0, 1], B[1, 1], B[2, 1])),
        vec(split.p_line),
        vec(split.up),
    )
