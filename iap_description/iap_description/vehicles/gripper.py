# SPDX-License-Identifier: BSD-3-Clause
"""Grippers at the end of arms: what they take and when, and the load that they then carry."""

from typing import NamedTuple, Self

import numpy as np
from pydantic import model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Flag, NonNegative, Positive, Vec3
from iap_description.math import so3
from iap_description.vehicles.aircraft import inertia_matrix, obey_triangle_inequality
from iap_description.vehicles.chain_inertia import Bodies

LOAD_SIZE = 10  # numbers of a load
UPPER = np.triu_indices(3)


class GripperSpec(Record):
    """A gripper at the tip of the first arm, which holds an object of the world by a joint of limited force."""

    object: str  # of the world, one that moves freely
    point: Vec3  # where it is taken, in its frame O [m]
    close: (
        NonNegative | None
    )  # from then on it takes what is within reach [s]; None, as `open`: by commands
    open: Positive | None  # when it lets go [s]
    reach: Positive  # largest distance between tip and point at which it takes the object, and keeps it [m]
    max_force: Positive  # that it holds with [N]
    known_load: Flag  # whether the platform's controller counts the load
    target: Vec3  # where the object is to be in the end, its frame O in map [m]

    @model_validator(mode="after")
    def _closes_first(self) -> Self:
        if (self.close is None) != (self.open is None):
            raise ValueError("key 'open': a time like 'close', or null like it")
        if self.close is not None and self.open is not None and self.open <= self.close:
            raise ValueError("key 'open': must be later than 'close'")
        return self

    @property
    def is_commanded(self) -> bool:
        """True if it closes and opens by commands, and not at times."""
        return self.close is None

    def closes_at(self, t: float) -> bool:
        """True if it is closed at a time [s]; one by commands never is by itself."""
        return self.close is not None and self.open is not None and self.close <= t < self.open


class Load(NamedTuple):
    """A body that is fixed to an arm's last link.

    Attributes:
        mass: [kg].
        com: (3,) in the link's frame [m].
        inertia: (3, 3) symmetric, about the CoM, axes of the link's frame [kg m^2].
    """

    mass: float
    com: Array
    inertia: Array

    @classmethod
    def of(cls, row: Array) -> Self | None:
        """The load of a row as `row_of` makes it; None of mass 0."""
        if row[0] == 0.0:
            return None
        xx, xy, xz, yy, yz, zz = row[4:].tolist()
        return cls(float(row[0]), row[1:4].copy(), inertia_matrix((xx, yy, zz, xy, xz, yz)))

    @property
    def is_body(self) -> bool:
        """Physical consistency: positive mass, no principal moment negative or above the sum of both others."""
        a, b, c = np.linalg.eigvalsh(self.inertia).tolist()
        return self.mass > 0.0 and a >= 0.0 and obey_triangle_inequality(a, b, c)


def row_of(load: Load | None) -> Array:
    """(10,) mass [kg], CoM [m], and the inertia's xx, xy, xz, yy, yz, zz [kg m^2] of a load; zeros of nothing.

    They are in the order of a geometry_msgs/Inertia.
    """
    if load is None:
        return np.zeros(LOAD_SIZE)
    return np.concatenate([[load.mass], load.com, load.inertia[UPPER]])


def carrying(bodies: Bodies, load: Load | None) -> Bodies:
    """The bodies of a chain whose last one carries a load."""
    if load is None:
        return bodies
    masses, coms, inertias = (np.array(each) for each in bodies)
    tip_mass, place = masses[-1], coms[-1].copy()
    apart = so3.hat(load.com - place)
    masses[-1] = tip_mass + load.mass
    coms[-1] = (tip_mass * place + load.mass * load.com) / masses[-1]
    inertias[-1] += load.inertia - tip_mass * load.mass / masses[-1] * apart @ apart
    return Bodies(masses, coms, inertias)
