# SPDX-License-Identifier: BSD-3-Clause
"""Pictures for RViz: a vehicle's path, thrusts, turning rotors and contact forces, and the objects around it."""

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Rgba, Shape
from iap_description.math import euler, so3
from iap_description.states import P, Q
from iap_description.vehicles.aircraft import ROTORS, Aircraft
from iap_description.vehicles.assembly import Assembly

METRES_PER_NEWTON = 0.02  # of a thrust arrow
CONTACT_METRES_PER_NEWTON = 0.05  # of a contact's arrow, as the suite's view draws wrenches
PATH_STEP = 0.05  # between points of the path [m]
PATH_POINTS = 1000


class PathMarker:
    """The way that a body took, as points some way apart; the oldest are forgotten."""

    def __init__(self) -> None:
        self._points = np.empty((PATH_POINTS, 3))
        self._count = 0

    def reset(self) -> None:
        """Forget the way."""
        self._count = 0

    def add(self, p: Array) -> None:
        """Note a position (3,) [m] if it is far enough from the last one."""
        points, n = self._points, self._count
        if n and np.linalg.norm(p - points[n - 1]) < PATH_STEP:
            return
        if n == PATH_POINTS:
            points[:-1] = points[1:].copy()
            n -= 1
        points[n] = p
        self._count = n + 1

    @property
    def points(self) -> Array:
        """(n, 3) the way so far [m]."""
        return self._points[: self._count]


def _directions(aircraft: Aircraft) -> tuple[Array, Array, Array]:
    """Of four rotors, 0 for those that are not there: turns per spin (4,), directions (4, 3) untilted and sideways."""
    spin, ahead, sideways = np.zeros(ROTORS), np.zeros((ROTORS, 3)), np.zeros((ROTORS, 3))
    for k, rotor in enumerate(aircraft.rotors):
        spin[k], ahead[k] = 1.0 if rotor.spin == "ccw" else -1.0, rotor.ahead
        if aircraft.tilt is not None:
            sideways[k] = rotor.sideways
    return spin, ahead, sideways


class Rotors:
    """Angles and thrusts of a vehicle's rotors."""

    def __init__(self, assembly: Assembly, fleet: Sequence[Aircraft]) -> None:
        self._bodies = list(assembly.aircraft)
        self._there = np.array([each.presence for each in fleet]) > 0.0
        spins, ahead, sideways = zip(*map(_directions, fleet), strict=True)
        self._rad_per_second = np.array(spins) * 2.0 * math.pi / 60.0  # per rpm
        self._coefficient = np.array([each.rotor.c_f for each in fleet])
        self._ahead_B, self._sideways_B = np.array(ahead), np.array(sideways)
        self.angle = np.zeros((len(self._bodies), 4))
        self.speed = np.zeros_like(self.angle)
        self.tilt, self.tilt_rate = np.zeros_like(self.angle), np.zeros_like(self.angle)
        self.tilts = any(each.tilt is not None for each in fleet)

    def turn(self, rpm: Array, tilt: Array, dt: float) -> None:
        """Turn with speeds (N, 4) [rpm] for `dt` [s] to tilts (N, 4) [rad].

        `angle` [rad] and `speed` [rad/s] are about +z, `tilt` and the mean `tilt_rate` about the arms.
        """
        if dt > 0.0:
            np.divide(tilt - self.tilt, dt, out=self.tilt_rate)
        self.tilt[:] = tilt
        np.multiply(rpm, self._rad_per_second, out=self.speed)
        self.angle += dt * self.speed
        np.remainder(self.angle, 2.0 * math.pi, out=self.angle)

    @property
    def joints(self) -> tuple[Array, Array]:
        """Positions [rad] and velocities [rad/s] of the joints of rotors, then of their tilts if there are any."""
        there = self._there
        if not self.tilts:
            return self.angle[there], self.speed[there]
        positions, velocities = (self.angle, self.tilt), (self.speed, self.tilt_rate)
        return np.array([a[there] for a in positions]), np.array([a[there] for a in velocities])

    def thrust_arrows(self, x: Array, rpm: Array) -> Array:
        """Feet and heads (N, 2, 3) [m] of arrows along the thrust of every aircraft, of state rows (bodies, 13)."""
        rows, thrust = x[self._bodies], self._coefficient[:, None] * np.square(rpm)
        up, across = thrust * np.cos(self.tilt), thrust * np.sin(self.tilt)
        force_B = up[..., None] * self._ahead_B + across[..., None] * self._sideways_B
        along = so3.rotate(rows[:, Q], force_B.sum(axis=1))
        return np.stack([rows[:, P], rows[:, P] + METRES_PER_NEWTON * along], axis=1)


def contact_arrows(pushes: Array) -> Array:
    """Feet and heads (n, 2, 3) [m] of arrows along the forces of contacts, (n, 2, 3) points and forces."""
    arrows = pushes[pushes[:, 1].any(axis=1)]
    arrows[:, 1] = arrows[:, 0] + CONTACT_METRES_PER_NEWTON * arrows[:, 1]
    return arrows


class Solid(NamedTuple):
    """Something that RViz can draw, in the frame of an object.

    Attributes:
        kind: its form; triangles are corners in threes.
        pose: (7,) position [m] and quaternion.
        scale: (3,) extent along its own axes [m]; 1 for triangles.
        corners: (n, 3) of the triangles [m], else (0, 3).
        color: red, green, blue, alpha.
    """

    kind: Literal["box", "cylinder", "sphere", "triangles"]
    pose: Array
    scale: Array
    corners: Array
    color: Rgba


def solids(pieces: Iterable[Shape]) -> list[Solid]:
    """The pieces of an object as what RViz draws: whatever is made of triangles is one of them."""
    out: list[Solid] = []
    corners = []
    for piece in pieces:
        if piece.vertices is not None and piece.faces is not None:
            pose = _pose_of(piece)
            vertices = so3.rotate(pose[Q], np.array(piece.vertices)) + pose[P]
            corners.append(vertices[np.array(piece.faces)].reshape(-1, 3))
            color = piece.color
        else:
            out += _round_or_square(piece)
    if corners:
        at_origin = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        out.append(Solid("triangles", at_origin, np.ones(3), np.concatenate(corners), color))
    return out


def placed(solid: Solid, row: Array) -> Array:
    """Pose (7,) in the world of a solid whose object is at a row (7+)."""
    p = row[P] + so3.rotate(row[Q], solid.pose[P])
    return np.concatenate([p, so3.multiply(row[Q], solid.pose[Q])])


def _round_or_square(piece: Shape) -> list[Solid]:
    pose, nothing = _pose_of(piece), np.zeros((0, 3))
    if piece.size is not None:
        return [Solid("box", pose, np.array(piece.size), nothing, piece.color)]
    width, length = 2.0 * (piece.radius or 0.0), piece.length or 0.0
    ball = np.full(3, width)
    if piece.shape == "sphere":
        return [Solid("sphere", pose, ball, nothing, piece.color)]
    out = [Solid("cylinder", pose, np.array([width, width, length]), nothing, piece.color)]
    if piece.shape == "capsule":
        for end in (-0.5, 0.5):
            there = pose.copy()
            there[P] += so3.rotate(pose[Q], np.array([0.0, 0.0, end * length]))
            out.append(Solid("sphere", there, ball, nothing, piece.color))
    return out


def _pose_of(piece: Shape) -> Array:
    """Pose (7,) of a piece in its object."""
    q = euler.quaternion_from_rpy_deg(piece.rpy_deg)
    return np.concatenate([piece.position, q])
