# SPDX-License-Identifier: BSD-3-Clause
"""Distances of platforms' origins from objects and from other vehicles, in many worlds and in a single run."""

import numpy as np

from iap_description.arrays import Array
from iap_description.states import P
from iap_description.vehicles.assembly import Assembly
from iap_description.world.distances import BodyShapes, Surroundings
from iap_simulation.batch.worlds import Worlds
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.tasks.monitor import ObservedPlant


def shapes_of_others(scenario: Scenario) -> BodyShapes:
    """Shapes of contact of the bodies of all vehicles but the first, in their order; links of arms are left out."""
    others = [Assembly.of(each.platform, each.name) for each in scenario.vehicles[1:]]
    return [body.collision for each in others for body in each.bodies]


class Clearance:
    """Distances of the first platforms' origins from the objects and the other vehicles of their worlds.

    Args:
        worlds: that fly.
    """

    def __init__(self, worlds: Worlds) -> None:
        self._worlds, self._seeds = worlds, worlds.seeds.copy()
        drawn = [worlds.objects.world(i) for i in range(len(self._seeds))]
        others = shapes_of_others(worlds.scenario)
        self._around, self._count = Surroundings(drawn, others), len(others)

    def __call__(self) -> Array:
        """(B,) at the worlds' present states [m], zero inside of a solid and infinite where there is none."""
        worlds = self._worlds
        if worlds.objects.is_drawn:
            self._renew()
        rows = worlds.object_states
        if self._count:
            rows = np.hstack([rows, worlds.bodies[:, -self._count :]])
        return self._around.distances(worlds.state[:, 0, P], rows)

    def _renew(self) -> None:
        """Take the objects of seeds that have changed."""
        for i in np.flatnonzero(self._seeds != self._worlds.seeds).tolist():
            self._around.set_world(i, self._worlds.objects.world(i))
        self._seeds[:] = self._worlds.seeds


class FlightClearance:
    """The distance of the first vehicle's origin from objects and other vehicles in a single run.

    Args:
        scenario: that is flown.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._world, self._vehicles = placed_world(scenario), len(scenario.vehicles)
        self._around = Surroundings([self._world], shapes_of_others(scenario))

    def __call__(self, plant: ObservedPlant) -> Array:
        """(1,) at the present state [m]."""
        free = self._world.has_free_objects
        objects = plant.object_states() if free else self._world.object_states(plant.t)
        others = [plant.state(i)[0] for i in range(1, self._vehicles)]
        return self._around.distances(plant.state(0)[:, 0, P], np.vstack([objects, *others])[None])
