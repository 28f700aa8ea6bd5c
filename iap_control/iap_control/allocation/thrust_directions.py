# SPDX-License-Identifier: BSD-3-Clause
"""Directions in which aircraft can thrust by their joints, and the wrenches that these make together."""

from typing import NamedTuple, Self

import numpy as np

from iap_control.allocation.allocation import RANK_TOLERANCE, allocation_matrix
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import AXES
from iap_description.vehicles.assembly import Assembly, Joint

FIXED, HINGED, CROSSED, FREE = range(
    4
)  # how an aircraft's thrust turns: not, in a plane, by roll and pitch, freely
COLUMNS = (1, 2, 3, 3)  # directions that are linearly independent, of each
COSINE_TOLERANCE = 1e-6  # between an axis and the thrust: perpendicular below
NAMED = 0.05  # a wrench is told without its parts below this share of the largest
UP = np.array([0.0, 0.0, 1.0])


def swings_of(assembly: Assembly) -> tuple[Integers, Array]:
    """Kinds (N,) of turning of each aircraft's thrust, and its axes (N, 2, 3) in the aircraft at rest.

    The two axes of a universal joint are turned so that their cross product is the thrust.

    Raises:
        BadInput: the thrust would turn on a cone, or a universal joint has an axis that is not across it.
    """
    kinds, axes = [FIXED] * len(assembly.aircraft), np.zeros((len(assembly.aircraft), 2, 3))
    for i, joint in enumerate(assembly.joints):
        where = f"vehicle '{assembly.name}': key 'platform.joints.{i}"
        kinds[i], axes[i] = _swing(joint, where)
    return np.array(kinds, dtype=np.int64), axes


def _swing(joint: Joint, where: str) -> tuple[int, Array]:
    axes, count = np.zeros((2, 3)), len(joint.axes)
    axes[:count] = joint.axes
    if joint.kind.turns_freely or not joint.kind.is_free or joint.is_sprung:
        return (FREE if joint.kind.turns_freely else FIXED), axes
    if not count:
        raise BadInput(f"{where}.type': there is no control law for joints of type '{joint.type}'")
    if joint.p_CJ_C.any():
        raise BadInput(
            f"{where}.offset': a joint of type '{joint.type}' off the aircraft's CoM passes on the thrust's torque, for"
            " which there is no control law"
        )
    along = np.abs(joint.axes @ UP)
    if (along < COSINE_TOLERANCE).all():
        if count == 2:
            axes[1] *= np.sign(np.cross(*axes) @ UP)
        return (HINGED, CROSSED)[count - 1], axes
    if count == 1 and 1.0 - along[0] < COSINE_TOLERANCE:
        return FIXED, axes
    raise BadInput(
        f"{where}.axes': there is no control law for a joint of type '{joint.type}' with an axis that is not across its"
        " aircraft's thrust"
    )


def thrust_directions(q_PB: Array, swings: Integers, axes: Array) -> Array:
    """Unit vectors in P along which aircraft can push, as columns of a block for each.

    An aircraft on a spherical joint has three: x, y and z. One on a hinge has two, which span the plane of its thrust.
    A fixed one has its z axis.

    Args:
        q_PB: (N, 4) attitudes at rest.
        swings: (N,) kinds of joints.
        axes: (N, ., 3) axes of the hinges, in the aircraft's frames.

    Returns:
        (3N, n), block-diagonal.
    """
    directions = []
    for i, (q, kind) in enumerate(zip(q_PB, swings.tolist(), strict=True)):
        directions_P = np.eye(3)
        if kind == HINGED:
            directions_P = so3.rotate(q, np.stack([UP, np.cross(axes[i, 0], UP)])).T
        elif kind == FIXED:
            directions_P = so3.rotate(q, UP[None]).T
        block = np.zeros((3 * len(swings), directions_P.shape[1]))
        block[3 * i : 3 * i + 3] = directions_P
        directions.append(block)
    return np.hstack(directions)


class Reach(NamedTuple):
    """The wrenches that thrusts make together.

    Attributes:
        rank: their dimension.
        singular: (6,) singular values of thrusts to [force; torque / span].
        left: (6 - rank, 6) orthonormal wrenches, torques per span, that thrusts cannot make.
    """

    rank: int
    singular: Array
    left: Array

    @classmethod
    def of(cls, places: Array, directions: Array | None = None) -> Self:
        """Of aircraft at places (N, 3) in P [m] that push along directions (3N, n), or any.

        Rank 6 is full actuation, 5 collinear after iap_simulator eq. (8), 3 a single joint. Offsets count from their
        mean and per span, so that the answer does not depend on the platform's size.
        """
        offsets = places - places.mean(axis=0)
        span = np.linalg.norm(offsets, axis=1).max() or 1.0
        B = allocation_matrix(offsets / span)
        return cls.of_map(B if directions is None else B @ directions)

    @classmethod
    def of_map(cls, wrenches: Array) -> Self:
        """Of thrusts, each of which makes a wrench, columns (6, n) with torques per span."""
        u, s, _ = np.linalg.svd(wrenches)
        singular = np.zeros(6)
        singular[: len(s)] = s
        rank = int((singular > RANK_TOLERANCE).sum())
        return cls(rank, singular, u[:, rank:].T)

    @property
    def lacking(self) -> str:
        """The wrenches that thrusts cannot make, by the axes that they have parts along."""
        texts = []
        for wrench in self.left:
            size = np.abs(wrench)
            texts.append(" with ".join(AXES[i] for i in np.flatnonzero(size > NAMED * size.max())))
        return ", ".join(texts)
