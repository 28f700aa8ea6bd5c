# SPDX-License-Identifier: BSD-3-Clause
"""Contact points as MuJoCo reports them, and the wrench that they amount to.

A point lies halfway between the two surfaces, and the force acts there on both bodies, where they were when the step
began. Its frame's first row is the normal, from the first body to the second; forces are those on the second.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import Vec, cross, put, scale, sub, vec
from iap_physics.engines.engine import Contact
from iap_physics.engines.mujoco.model import MuJoCoModel


class ContactPoints(NamedTuple):
    """Contact points, n of them.

    Attributes:
        bodies: (n, 2) MuJoCo's, of each point.
        positions_W: (n, 3) [m].
        normals_W: (n, 3) from the second body towards the first.
        distances: (n,) [m].
        forces_W: (n, 3) of the second body on the first [N].
    """

    bodies: Integers
    positions_W: Array
    normals_W: Array
    distances: Array
    forces_W: Array

    @classmethod
    def of(cls, made: MuJoCoModel, data: Any, *, has_forces: bool) -> Self:  # noqa: ANN401
        """The contact points that MuJoCo holds; without forces where there was no step yet."""
        contact = data.contact
        frames_W = np.array(contact.frame).reshape(-1, 3, 3)
        forces_W = np.zeros((len(frames_W), 3))
        rows = np.array(contact.efc_address)
        if has_forces:
            _turn(np.array(data.efc_force), rows, frames_W.reshape(-1, 9), forces_W)
        bodies = made.model.geom_bodyid[np.array(contact.geom).reshape(-1, 2)]
        return cls(
            bodies, np.array(contact.pos), -frames_W[:, 0], np.array(contact.dist), forces_W
        )

    def listed(self, made: MuJoCoModel) -> list[Contact]:
        """As the protocol of engines has them."""
        on_first = self.positions_W + 0.5 * self.distances[:, None] * self.normals_W
        rows = zip(
            made.owners[self.bodies].tolist(),
            on_first.tolist(),
            self.normals_W.tolist(),
            self.distances.tolist(),
            self.forces_W.tolist(),
            strict=True,
        )
        return [
            Contact(a, b, tuple(p), tuple(normal), distance, tuple(force))
            for (a, b), p, normal, distance, force in rows
        ]

    def wrench_on(self, made: MuJoCoModel, row: int, center_W: Array) -> Array:
        """The wrench (6,) on a row's body, and on its arm, about its CoM but for contacts with its own vehicle."""
        wrench = np.zeros(6)
        _add_up(self, made.vehicles, made.owners, row, center_W, wrench)
        return wrench


@njit(cache=True)
def _turn(efc_force: Array, rows: Integers, frames_W: Array, forces_W: Array) -> None:
    """Write the forces (n, 3) on the first bodies of contacts whose first constraints are these, or -1."""
    for i in range(len(rows)):
        if rows[i] >= 0:
            put(forces_W[i], force_on_first(efc_force[rows[i] :], frames_W[i]))


@njit(cache=True)
def force_on_first(f: Array, frame_W: Array) -> Vec:
    """Force [N], world axes, on a contact's first body; f (3+) acts on the second, in axes (9,) of the contact."""
    x = f[0] * frame_W[0] + f[1] * frame_W[3] + f[2] * frame_W[6]
    y = f[0] * frame_W[1] + f[1] * frame_W[4] + f[2] * frame_W[7]
    z = f[0] * frame_W[2] + f[1] * frame_W[5] + f[2] * frame_W[8]
    return (-x, -y, -z)


@njit(cache=True)
def add_force(force_W: Vec, is_first: bool, position_W: Vec, center_W: Vec, wrench: Array) -> None:  # noqa: FBT001
    """Add a contact's force on its first body, or its reaction on the second, to a wrench (6,) about a CoM."""
    force_W = scale(1.0 if is_first else -1.0, force_W)
    torque_W = cross(sub(position_W, center_W), force_W)
    for k in range(3):
        wrench[k] += force_W[k]
        wrench[3 + k] += torque_W[k]


@njit(cache=True)
def _add_up(
    points: ContactPoints,
    vehicles: Integers,
    owners: Integers,
    row: int,
    center_W: Array,
    wrench: Array,
) -> None:
    for i in range(len(points.bodies)):
        a, b = points.bodies[i]
        if vehicles[a] == vehicles[b] or (owners[a] != row and owners[b] != row):
            continue
        force_W, position_W = vec(points.forces_W[i]), vec(points.positions_W[i])
        add_force(force_W, owners[a] == row, position_W, vec(center_W), wrench)
