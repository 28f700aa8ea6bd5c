# SPDX-License-Identifier: BSD-3-Clause
"""Contact points as PyBullet reports them, and the wrench that they amount to.

A point's friction directions hold for body a, like its normal. The impulse acts on each body at
that body's own point, where it was when the step began.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.states import P
from iap_physics.engines.engine import WORLD, Contact
from iap_physics.engines.pybullet.client import bullet

Point = tuple[Any, ...]
Vector = tuple[float, float, float]


class StepContacts:
    """Contact points of the last step, which are asked for once.

    Args:
        client: PyBullet's.
        raw: (bodies, 13) state rows with CoMs and principal axes, written in every step.

    Attributes:
        acted_at: (bodies, 3) places of the CoMs when the last step began [m].
    """

    def __init__(self, client: int, raw: Array) -> None:
        self._client, self._raw = client, raw
        self._points: tuple[Point, ...] | None = None
        self.acted_at = raw[:, P].copy()

    def begin(self) -> None:
        """Note where the CoMs are before a step."""
        self.acted_at[:] = self._raw[:, P]

    def forget(self) -> None:
        """Forget the points of the step before."""
        self._points = None

    def listed(self, rows: Mapping[tuple[int, int], int]) -> list[Contact]:
        """The points, of bodies with these numbers; with force 0 those that are only about to touch."""
        return [contact_of(point, rows) for point in self._all()]

    def wrench(self, row: int, rows: Mapping[tuple[int, int], int]) -> Array:
        """The wrench (6,) on a body about its CoM."""
        x, y, z = self.acted_at[row].tolist()
        return wrench_on(row, rows, (x, y, z), self._all())

    def _all(self) -> tuple[Point, ...]:
        """All of them: PyBullet's own selection by body turns normals round, but not friction."""
        if self._points is None:
            self._points = tuple(bullet.getContactPoints(physicsClientId=self._client))
        return self._points


def contact_of(point: Point, rows: Mapping[tuple[int, int], int]) -> Contact:
    """A contact point by the numbers of its bodies."""
    _, body_a, body_b, link_a, link_b, p_a, _, normal, distance, *_ = point
    a, b = rows.get((body_a, link_a), WORLD), rows.get((body_b, link_b), WORLD)
    return Contact(a, b, p_a, normal, distance, _force_on_a(point))


def wrench_on(
    row: int, rows: Mapping[tuple[int, int], int], center_W: Vector, points: Iterable[Point]
) -> Array:
    """The wrench (6,) of contacts on a body: force [N] and torque about its CoM [N m], world axes.

    Contacts with other bodies of its own vehicle are left out.

    Args:
        row: the body's number; of a central body with an arm that of the links, too.
        rows: numbers of bodies by PyBullet's body and link.
        center_W: the body's CoM when the step began [m].
        points: all contact points of the step.
    """
    wrench = [0.0] * 6
    for point in points:
        if not point[9] or point[1] == point[2]:  # about to touch only, or within the vehicle
            continue
        if rows.get((point[1], point[3])) == row:
            force_W, at_W = _force_on_a(point), point[5]
        elif rows.get((point[2], point[4])) == row:
            (x, y, z), at_W = _force_on_a(point), point[6]
            force_W = (-x, -y, -z)
        else:
            continue
        wrench = [a + b for a, b in zip(wrench, _about(center_W, at_W, force_W), strict=True)]
    return np.array(wrench)


def _force_on_a(point: Point) -> Vector:
    (nx, ny, nz), push = point[7], point[9]
    slip_1, (ax, ay, az), slip_2, (bx, by, bz) = point[10:14]
    return (
        push * nx + slip_1 * ax + slip_2 * bx,
        push * ny + slip_1 * ay + slip_2 * by,
        push * nz + slip_1 * az + slip_2 * bz,
    )


def _about(center_W: Vector, at_W: Vector, force_W: Vector) -> tuple[float, ...]:
    """Force and torque about a centre of a force at a point."""
    x, y, z = at_W[0] - center_W[0], at_W[1] - center_W[1], at_W[2] - center_W[2]
    fx, fy, fz = force_W
    return fx, fy, fz, y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
