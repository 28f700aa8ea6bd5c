# SPDX-License-Identifier: BSD-3-Clause
"""Bodies that renderers draw: those of vehicles, links of arms, the world's objects, and rotors that tilt."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.geometry.tessellation import MeshPart, parts_by_color
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.arm_links import ArmLinks
from iap_description.vehicles.body_parts import BODY_LABEL, body_parts, propeller_parts
from iap_description.world.scene_objects import OBJECT_LABEL, object_parts
from iap_sensors.mounted.rig_spec import RigSpec

Parts = tuple[MeshPart, ...]


def visible_bodies(rig: RigSpec) -> list[Parts]:
    """The drawn parts of every vehicle's bodies; each has a label of its own.

    Rotors that tilt are not among them, see `TiltingRotors`.
    """
    bodies = [body for vehicle in rig.vehicles for body in vehicle.assembly.bodies]
    return [body_parts(body, label=BODY_LABEL + row) for row, body in enumerate(bodies)]


def visible_links(rig: RigSpec) -> list[Parts]:
    """The drawn parts of the links of all arms; each has a label of its own, behind those of bodies."""
    links = ArmLinks.of([vehicle.assembly for vehicle in rig.vehicles])
    return [
        parts_by_color(link.name, link.visual, BODY_LABEL + row)
        for row, link in enumerate(links.bodies, start=links.first)
    ]


def visible_objects(rig: RigSpec) -> list[Parts]:
    """The drawn parts of the world's objects; each has a label of its own."""
    items = rig.world.objects.values()
    return [object_parts(item, label=OBJECT_LABEL + k) for k, item in enumerate(items)]


@dataclass(frozen=True, eq=False)
class TiltingRotors:
    """All rotors of a rig that tilt.

    Attributes:
        parts: of each, in the frame of its disc; labelled as its body.
        bodies: (n,) of each, among all bodies.
        indices: (n, 2) of each in the table of all tilts, aircraft and rotor.
        positions: (n, 3) of each in its body [m].
        axes: (n, 3) about which each tilts, in its body.
        attitudes: (n, 4) of each at no tilt, in its body, xyzw.
    """

    parts: tuple[tuple[MeshPart, ...], ...]
    bodies: Integers
    indices: Integers
    positions: Array
    axes: Array
    attitudes: Array

    @classmethod
    def of(cls, rig: RigSpec) -> Self:
        """The rotors of a rig, in the order of vehicles, aircraft and rotors."""
        propellers, first, aircraft = [], 0, 0
        for vehicle in rig.vehicles:
            for i in vehicle.assembly.aircraft:
                body = vehicle.assembly.bodies[i]
                if body.tilt is not None:
                    parts = propeller_parts(body, label=BODY_LABEL + first + i)
                    for k, rotor in enumerate(body.rotors):
                        propellers.append((parts, first + i, (aircraft, k), rotor))
                aircraft += 1
            first += len(vehicle.assembly.bodies)
        rotors = [each[3] for each in propellers]
        return cls(
            tuple(parts for parts, *_ in propellers),
            np.array([row for _, row, *_ in propellers], np.int64),
            np.array([place for *_, place, _ in propellers], np.int64).reshape(-1, 2),
            np.array([each.position for each in rotors], float).reshape(-1, 3),
            np.array([each.axis for each in rotors], float).reshape(-1, 3),
            np.array([each.attitude() for each in rotors], float).reshape(-1, 4),
        )

    def poses(self, x: Array, tilts: Array) -> Array:
        """(n, 7) p_WR_W [m] and q_WR of each, of bodies (bodies, 13) and tilts (aircraft, 4) of all vehicles [rad]."""
        rows, b = x[self.bodies], tilts[self.indices[:, 0], self.indices[:, 1]]
        q_BR = so3.multiply(so3.quaternion_exp(b[:, None] * self.axes), self.attitudes)
        p_W = rows[:, P] + so3.rotate(rows[:, Q], self.positions)
        return np.hstack([p_W, so3.multiply(rows[:, Q], q_BR)])

    def carried_by(self, bodies: Collection[int]) -> tuple[int, ...]:
        """Numbers of those that are on some bodies."""
        return tuple(np.flatnonzero(np.isin(self.bodies, list(bodies))).tolist())
