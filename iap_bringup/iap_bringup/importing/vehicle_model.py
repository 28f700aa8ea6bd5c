# SPDX-License-Identifier: BSD-3-Clause
"""A vehicle as files of other programs describe it, all of it at rest and in the frame of its root."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.assets.poses import Tree
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.aircraft import obey_triangle_inequality

MOMENTS = "xx", "yy", "zz", "xy", "xz", "yz"  # of an inertia, as files name them behind an i
Spin = Literal["ccw", "cw"]


@dataclass(frozen=True, eq=False)
class LinkModel:
    """A rigid part.

    Attributes:
        name: of it.
        mass: [kg].
        center: (3,) its CoM in the root's frame [m].
        inertia: (3, 3) about its CoM, along the root's axes [kg m^2].
        shapes: that are touched, as trees of `Shape`, in the root's frame.
    """

    name: str
    mass: float
    center: Array
    inertia: Array
    shapes: tuple[Tree, ...] = ()


def turned_inertia(moments: Iterable[float], R: Array) -> Array:
    """Inertia (3, 3) along other axes, of moments in the order of `MOMENTS` and the attitude (3, 3) of their axes."""
    xx, yy, zz, xy, xz, yz = moments
    return np.asarray(R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T)


@dataclass(frozen=True, eq=False)
class RotorSource:
    """A rotor as a file has it; None where it says nothing.

    Attributes:
        position: (3,) in the root's frame [m].
        direction: (3,) of its thrust.
        spin: seen from above.
        thrust_coefficient: [N/(rad/s)^2].
        speed_max: [rad/s].
        thrust_max: [N].
        torque_ratio: drag torque per thrust [m].
        time_constants: up and down [s].
    """

    position: Array
    direction: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    spin: Spin | None = None
    thrust_coefficient: float | None = None
    speed_max: float | None = None
    thrust_max: float | None = None
    torque_ratio: float | None = None
    time_constants: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class VehicleModel:
    """A vehicle.

    Attributes:
        name: of it.
        links: all rigid parts, as they are at rest.
        rotors: that the file tells of.
        notes: what of the file is not in the platform.
    """

    name: str
    links: Sequence[LinkModel]
    rotors: Sequence[RotorSource]
    notes: Sequence[str] = ()

    def lumped(self, source: str, *, physical: bool) -> tuple[float, Array, Array]:
        """Mass [kg], CoM (3,) [m] and inertia (3, 3) about it [kg m^2] of all links.

        J = sum R_i J_i R_i^T + m_i (d^2 1 - d d^T), with d from the CoM to the link's.

        Args:
            source: names the file in errors.
            physical: a largest moment that exceeds the sum of the others becomes their sum.

        Raises:
            BadInput: there is no mass, or no body has such an inertia.
        """
        mass = sum(link.mass for link in self.links)
        if not mass > 0.0 or not np.isfinite(mass):
            raise BadInput(f"{source}: its links have no mass")
        center = sum((link.mass * link.center for link in self.links), np.zeros(3)) / mass
        inertia = np.zeros((3, 3))
        for link in self.links:
            d = so3.hat(link.center - center)
            inertia += link.inertia - link.mass * d @ d
        moments, axes = np.linalg.eigh(inertia)
        if not obey_triangle_inequality(*moments.tolist()):
            if not physical:
                a, b, c = moments.tolist()
                raise BadInput(
                    f"{source}: no body has its moments of inertia, {a:.4g} + {b:.4g} < {c:.4g} kg m^2:"
                    " --make-physical takes the sum for the largest"
                )
            inertia = axes @ np.diag([*moments[:2], moments[:2].sum()]) @ axes.T
        return mass, center, inertia
