# SPDX-License-Identifier: BSD-3-Clause
"""Bores of worlds: where they are, where they are believed to be, and how deep a rod's tip is in them."""

from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import type_of
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_learning.tasks.kinds.peg_in_hole.task import PegTask
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario

AXIS = np.array([-1.0, 0.0, 0.0])  # along which things enter, in the frame of a funnel and in P


class Holes(NamedTuple):
    """The bores of B worlds.

    Attributes:
        positions: (B, 3) where they begin [m].
        attitudes: (B, 4) of the funnels' frames.
        tip_P: (3,) the tip of the rod in P [m].
        believed: (3,) where they are believed to begin, as the scenario has it and no seed [m].
    """

    positions: Array
    attitudes: Array
    tip_P: Array
    believed: Array

    @classmethod
    def of(cls, task: PegTask, scenario: Scenario, batch: int) -> Self:
        """Bores of so many worlds, all where the scenario has them.

        Raises:
            BadInput: the scenario has several vehicles, no tool or no such funnel.
        """
        vehicle, source = scenario.vehicles[0], f"task '{task.name}'"
        if len(scenario.vehicles) > 1 or vehicle.platform.tool is None:
            raise BadInput(f"{source}: the scenario needs one vehicle with a tool")
        objects = scenario.world.objects
        funnels = [name for name, item in objects.items() if type_of(item) == "funnel"]
        if task.hole not in funnels:
            known = ", ".join(funnels) or "none"
            raise BadInput(f"{source}: key 'hole': no funnel '{task.hole}' (funnels: {known})")
        hole = objects[task.hole]
        tip_P = Assembly.of(vehicle.platform, vehicle.name).tool_tip_P
        assert tip_P is not None  # noqa: S101 - there is a tool
        place = np.array(hole.position)
        rows = np.tile(place, (batch, 1)), np.tile(hole.q_WO, (batch, 1))
        return cls(*rows, tip_P, place)

    def draw(self, world: int, name: str, scenario: Scenario) -> None:
        """Take the bore of a world's seed."""
        hole = placed_world(scenario).objects[name]
        self.positions[world], self.attitudes[world] = hole.position, hole.q_WO

    def tips(self, x: Array) -> Array:
        """(B, 3) tips of central bodies (B, 13) [m]."""
        tips: Array = x[:, P] + so3.rotate(x[:, Q], self.tip_P)
        return tips

    def inside(self, tips: Array) -> Array:
        """(B, 3) of tips (B, 3) in the bores: depth, and both ways off the axis [m]."""
        there = so3.rotate(so3.conjugate(self.attitudes), tips - self.positions)
        return np.column_stack([-there[:, 0], there[:, 1:]])

    def axes(self) -> Array:
        """(B, 3) along which things enter, world axes."""
        axes: Array = so3.rotate(self.attitudes, AXIS)
        return axes
