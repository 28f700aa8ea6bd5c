# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of a few objects, and a box that is like no other along any axis."""

import numpy as np

from iap_description.config.record import validate
from iap_description.world.world import World

COLOR = (0.1, 0.2, 0.3, 1.0)
SURFACE = {"friction": 0.4, "restitution": 0.0}
BOX = {"type": "box", "position": [1.0, 2.0, 3.0], "size": [2.0, 4.0, 6.0], "surface": SURFACE}
HALF = float(np.sqrt(0.5))


def world(**objects):
    """The world of these objects."""
    return validate(World, {"objects": objects}, source="test")
