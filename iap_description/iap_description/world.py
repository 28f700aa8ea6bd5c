# SPDX-License-Identifier: BSD-3-Clause
"""The world that vehicles fly in: gravity and the ground."""

from iap_description.config import Flag, NonNegative, Record


class Surface(Record):
    """How a contact with this body behaves."""

    friction: NonNegative  # lateral friction coefficient
    restitution: NonNegative  # 0 = no rebound, 1 = full


class World(Record):
    """Gravity along -z of `map`, and a ground plane at z = 0."""

    gravity: NonNegative = 9.81  # [m/s^2]
    ground: Flag = True
    surface: Surface = Surface(friction=0.8, restitution=0.1)
