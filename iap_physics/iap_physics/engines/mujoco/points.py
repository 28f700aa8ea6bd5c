# SPDX-License-Identifier: BSD-3-Clause
"""Contact points as MuJoCo reports them, and the wrench that they amount to.

A point lies halfway between the two surfaces, and the force acts there on both bodies, where they were when the step
began. Its frame's first row is the normal, from the first body to the second; forces are those on the second.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import cross, scale, sub, vec
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
        felt = np.flatnonzero(rows >= 0)
        if has_forces and len(felt):
            forces = np.array(data.efc_force)[rows[felt, None] + np.arange(3)]
            forces_W[felt] = -np.einsum("ni,nij->nj", forces, frames_W[felt])
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
        force_W = scale(1.0 if owners[a] == row else -1.0, vec(points.forces_W[i]))
        torque_W = cross(sub(vec(points.positions_W[i]), vec(center_W)), force_W)
        for k in range(3):
            wrench[k] += force_W[k]
            wrench[3 + k] += torque_W[k]
