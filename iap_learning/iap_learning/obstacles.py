# SPDX-License-Identifier: BSD-3-Clause
"""How far the platforms of many worlds are from the objects around them, and what their depth cameras see."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description import so3
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.sensors.mounts import optical
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


class View(NamedTuple):
    """How the numbers of an image become points.

    Attributes:
        ways_B: (pixels, 3) of the middles of blocks, of length 1 along the view, in the frame of the body that carries
            the camera.
        p_BS_B: (3,) place of the camera on it [m].
    """

    ways_B: Array
    p_BS_B: Array


class Sight:
    """Depth images as numbers from 0 to 1, a number for each block of pixels, the nearest of them.

    A number is the depth over the camera's largest, 1 where nothing is measured; or the least depth of which the task
    speaks over the depth, 0 where nothing is measured.

    Args:
        image: what a task says of them.
        worlds: that fly.

    Attributes:
        shape: rows and columns of blocks.
        view: where these look.

    Raises:
        BadInput: no such preset or key, one that is no camera's, or blocks that do not fill the image.
    """

    def __init__(self, image: DepthImage, worlds: Worlds) -> None:
        self._sensor = WorldRaySensor.of(worlds, image.preset, **image.settings)
        self._far, self._least = self._sensor.sensor.spec.range_max, image.inverse
        rows, columns = self._sensor.sensor.pattern.shape
        self._blocks = image.blocks
        if rows % image.blocks[0] or columns % image.blocks[1]:
            raise BadInput(
                f"key 'depth.blocks': {rows} rows and {columns} columns are no multiples of"
                f" {image.blocks[0]} and {image.blocks[1]}"
            )
        self.shape = (rows // image.blocks[0], columns // image.blocks[1])
        self.view = self._view()

    @property
    def size(self) -> int:
        """Numbers of an image."""
        return self.shape[0] * self.shape[1]

    @property
    def term(self) -> tuple[str, int, float]:
        """Name of the numbers, how many, and by what they are divided."""
        if self._least is None:
            return "depth", self.size, 1.0
        return "inverse_depth", self.size, 1.0 / self._least

    def _view(self) -> View:
        sensor = self._sensor.sensor
        ways_S = sensor.pattern.bundle.ways_S / sensor.pattern.cosines[:, None]
        rows, columns = self._blocks
        blocks = ways_S.reshape(self.shape[0], rows, self.shape[1], columns, 3)
        mount = self._sensor.mount
        ways_B = so3.rotate(optical(mount.q_BS), blocks.mean(axis=(1, 3)).reshape(-1, 3))
        return View(ways_B, np.array(mount.p_BS_B))

    def __call__(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """(B, numbers) at the present states, row by row; or those of some worlds."""
        depth = self._sensor.images(chosen)["depth"]
        nearest = np.empty((len(depth), self.size), np.float32)
        _take_nearest(depth, *self._blocks, nearest)
        if self._least is None:
            share = nearest / np.float32(self._far)
            return np.minimum(share, np.float32(1.0))  # errors may exceed the range
        share = np.float32(self._least) / np.maximum(nearest, np.float32(self._least))
        return share.astype(np.float32, copy=False)

    def depths(self, numbers: NDArray[np.float32]) -> Array:
        """Depths (B, numbers) that an image's numbers stand for [m], infinite where nothing is measured."""
        if self._least is None:
            return np.where(numbers < 1.0, numbers.astype(np.float64) * self._far, math.inf)
        with np.errstate(divide="ignore"):
            return self._least / numbers.astype(np.float64)


@njit(cache=True)
def _take_nearest(
    depth: NDArray[np.float32], rows: int, columns: int, out: NDArray[np.float32]
) -> None:
    """Write the least depth of each block of every image (B, height, width); infinite where nothing is measured."""
    across = depth.shape[2] // columns
    for b in range(len(out)):
        out[b] = np.inf
        for v in range(depth.shape[1]):
            for u in range(depth.shape[2]):
                k = (v // rows) * across + u // columns
                if depth[b, v, u] < out[b, k]:  # which NaN is not
                    out[b, k] = depth[b, v, u]
