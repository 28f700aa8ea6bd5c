# SPDX-License-Identifier: BSD-3-Clause
"""Contacts on a vehicle as points and forces, to be displayed."""

import numpy as np

from iap_description.arrays import Array
from iap_physics.engines.engine import Contact
from iap_physics.plant.plant import Plant

Vector = tuple[float, float, float]


def pushes(plant: Plant, vehicle: int) -> Array:
    """Points [m] and forces [N] (n, 2, 3) of the present contacts on a vehicle, world axes."""
    rows = plant.propulsion[vehicle].rows
    pairs = [pair for c in plant.engine.contacts() if (pair := _push_on(rows, c))]
    return np.array(pairs).reshape(-1, 2, 3)


def _push_on(rows: slice, contact: Contact) -> tuple[Vector, Vector] | None:
    """Point and force of a contact on the bodies of some rows; None if it is not on them."""
    x, y, z = contact.force_W
    if rows.start <= contact.body_a < rows.stop:
        return contact.position_W, (x, y, z)
    if rows.start <= contact.body_b < rows.stop:
        return contact.position_W, (-x, -y, -z)
    return None
