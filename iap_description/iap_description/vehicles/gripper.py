# SPDX-License-Identifier: BSD-3-Clause
"""Grippers at the end of arms: what they take and when, and the load that they then carry."""

from typing import NamedTuple, Self

import numpy as np
from pydantic import model_validator

from iap_description import so3
from iap_description.arrays import Array
from iap_description.config import Flag, NonNegative, Positive, Record, Vec3
from iap_description.vehicles.chain_inertia import Bodies


class GripperSpec(Record):
    """A gripper at the tip of the first arm, which holds an object of the world by a joint of limited force."""

    object: str  # of the world, one that moves freely
    point: Vec3  # where it is taken, in its frame O [m]
    close: NonNegative  # from then on it takes what is within reach [s]
    open: Positive  # when it lets go [s]
    reach: Positive  # largest distance between tip and point at which it takes the object, and keeps it [m]
    max_force: Positive  # that it holds with [N]
    told: Flag  # whether the platform's controller is told of the load
    target: Vec3  # where the object is to be in the end, its frame O in map [m]

    @model_validator(mode="after")
    def _closes_first(self) -> Self:
        if self.open <= self.close:
            raise ValueError("key 'open': must be later than 'close'")
        return self


class Load(NamedTuple):
    """A body that is fixed to an arm's last link.

    Attributes:
        mass: [kg].
        com: (3,) in the link's frame [m].
        inertia: (3, 3) about the CoM, axes of the link's frame [kg m^2].
    """

    mass: float
    com: Array
    inertia: Array


def carrying(bodies: Bodies, load: Load | None) -> Bodies:
    """The bodies of a chain whose last one carries a load."""
    if load is None:
        return bodies
    masses, coms, inertias = (np.array(each) for each in bodies)
    own, place = masses[-1], coms[-1].copy()
    apart = so3.hat(load.com - place)
    masses[-1] = own + load.mass
    coms[-1] = (own * place + load.mass * load.com) / masses[-1]
    inertias[-1] += load.inertia - own * load.mass / masses[-1] * apart @ apart
    return Bodies(masses, coms, inertias)
