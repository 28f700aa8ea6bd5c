# SPDX-License-Identifier: BSD-3-Clause
r"""The air between modules that fly close to each other: they are pushed apart, and down.

For the gap g between two faces,

.. math::
    F(g) = F_{max}\, \frac{g}{l}\, e^{1 - g / l},

largest at g = l, none far apart, and none where the faces touch and no air flows between them. An assumption that
tells a controller what it does not know of; BEATLE's housing is there to keep such forces small, and gives no numbers.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.states import P
from iap_description.vehicles.proximity import Proximity
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant_spec import PlantSpec


class ModuleProximity(PlantPart):
    """The forces between modules that may be joined.

    Args:
        proximity: their size.
        pairs: numbers of two vehicles each.
        distances: of the CoMs of each pair where faces touch [m].
    """

    def __init__(
        self, proximity: Proximity, pairs: Sequence[tuple[int, int]], distances: Sequence[float]
    ) -> None:
        self._proximity, self._pairs, self._distances = proximity, pairs, distances

    @classmethod
    def of(cls, spec: PlantSpec) -> Self | None:
        """The neighbourhoods of a plant; None where the air between modules is left out."""
        modules = spec.modules
        if modules is None or modules.proximity is None or not modules.proximity.acts:
            return None
        modules.check([vehicle.name for vehicle in spec.vehicles])
        number = {vehicle.name: i for i, vehicle in enumerate(spec.vehicles)}
        joints = modules.joints.values()
        pairs = [(number[each.leader], number[each.follower]) for each in joints]
        return cls(modules.proximity, pairs, [float(np.linalg.norm(each.way)) for each in joints])

    def add_wrenches(self, times: Array, x: Array, out: Array) -> None:
        """Add the forces of air between modules: push s along the line between a pair, and sink s downwards [N], in W.

        s = g exp(1 - g), with g the gap over `length`; it is largest, 1, at g = 1.

        Args:
            times: (B,) of the worlds [s].
            x: (B, bodies, 13) states.
            out: (B, bodies, 6) wrenches that are added to.
        """
        p_W = x[:, :, P]
        for (a, b), touching in zip(self._pairs, self._distances, strict=True):
            way_W = p_W[:, b] - p_W[:, a]
            distance = np.linalg.norm(way_W, axis=1)
            gap = np.maximum(distance - touching, 0.0) / self._proximity.length
            share = gap * np.exp(1.0 - gap)
            push_W = (self._proximity.push * share / distance)[:, None] * way_W
            out[:, a, :3] -= push_W
            out[:, b, :3] += push_W
            for each in (a, b):
                out[:, each, 2] -= self._proximity.sink * share
