# SPDX-License-Identifier: BSD-3-Clause
"""How far the platforms of many worlds are from the objects around them, and what their depth cameras see."""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.states import P
from iap_description.world.distances import Surroundings
from iap_learning.tasks.task import DepthImage
from iap_simulation.parallel.ray_sensor import WorldRaySensor
from iap_simulation.parallel.worlds import Worlds
from iap_simulation.scenario.randomization import placed_world


class Clearance:
    """Distances of the platforms' origins from the objects of their worlds.

    Args:
        worlds: that fly.

    Raises:
        BadInput: an object moves.
    """

    def __init__(self, worlds: Worlds) -> None:
        scenario = worlds.scenario
        self._worlds, self._is_drawn = worlds, placed_world(scenario) is not scenario.world
        self._seeds = worlds.seeds.copy()
        drawn = [placed_world(worlds.world(i)) for i in range(len(self._seeds))]
        self._around = Surroundings(drawn)

    def __call__(self) -> Array:
        """(B,) at the worlds' present states [m], zero inside of an object and infinite where there is none."""
        if self._is_drawn:
            self._renew()
        return self._around.distances(self._worlds.state[:, 0, P])

    def _renew(self) -> None:
        """Take the obstacles of seeds that have changed."""
        for i in np.flatnonzero(self._seeds != self._worlds.seeds).tolist():
            self._around.set_world(i, placed_world(self._worlds.world(i)))
        self._seeds[:] = self._worlds.seeds


class Sight:
    """Depth images as numbers from 0 to 1, the camera's largest depth; 1 where nothing is measured.

    Args:
        image: what a task says of them.
        worlds: that fly.

    Attributes:
        shape: rows and columns.

    Raises:
        BadInput: no such preset or key, or one that is no camera's.
    """

    def __init__(self, image: DepthImage, worlds: Worlds) -> None:
        self._sensor = WorldRaySensor.of(worlds, image.preset, **image.settings)
        self._far = self._sensor.sensor.spec.range_max
        self.shape = self._sensor.sensor.pattern.shape

    @property
    def size(self) -> int:
        """Pixels of an image."""
        return self.shape[0] * self.shape[1]

    def __call__(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """(B, pixels) at the present states, row by row; or those of some worlds."""
        depth = self._sensor.images(chosen)["depth"]
        share = depth.reshape(len(depth), self.size) / np.float32(self._far)
        return np.fmin(share, np.float32(1.0))  # errors may exceed the range
