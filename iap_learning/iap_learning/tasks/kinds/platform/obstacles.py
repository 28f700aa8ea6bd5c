# SPDX-License-Identifier: BSD-3-Clause
"""How far the platforms of many worlds are from the objects around them, and what their depth cameras see."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.sensors.mounts import optical
from iap_description.states import P
from iap_description.world.distances import Surroundings
from iap_learning.tasks.kinds.platform.depth_numbers import DepthNumbers
from iap_learning.tasks.kinds.platform.task import DepthImage
from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds
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


class ImageGeometry(NamedTuple):
    """How the numbers of an image become points.

    Attributes:
        ways_B: (pixels, 3) of the middles of blocks, of length 1 along the view, in the frame of the body that carries
            the camera.
        p_BS_B: (3,) place of the camera on it [m].
    """

    ways_B: Array
    p_BS_B: Array


class DepthCamera(DepthNumbers):
    """Depth images of many worlds as numbers.

    Args:
        image: what a task says of them.
        worlds: that fly.

    Attributes:
        view: where blocks look.

    Raises:
        BadInput: no such preset or key, one that is no camera's, or blocks that do not fill the image.
    """

    def __init__(self, image: DepthImage, worlds: Worlds) -> None:
        self._sensor = WorldRaySensor.of(worlds, image.preset, **image.settings)
        sensor = self._sensor.sensor
        super().__init__(image, sensor.pattern.shape, sensor.spec.range_max)
        self.view = self._view()

    def _view(self) -> ImageGeometry:
        sensor = self._sensor.sensor
        ways_S = sensor.pattern.bundle.ways_S / sensor.pattern.cosines[:, None]
        rows, columns = self.blocks
        blocks = ways_S.reshape(self.shape[0], rows, self.shape[1], columns, 3)
        mount = self._sensor.mount
        ways_B = so3.rotate(optical(mount.q_BS), blocks.mean(axis=(1, 3)).reshape(-1, 3))
        return ImageGeometry(ways_B, np.array(mount.p_BS_B))

    def __call__(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """(B, numbers) at the present states, row by row; or those of some worlds."""
        return self.of(self._sensor.images(chosen)["depth"])
