# SPDX-License-Identifier: BSD-3-Clause
"""The depth camera or lidar of a policy in many worlds."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.sensors.mounts import optical
from iap_learning.tasks.depth_numbers import DepthImage, DepthNumbers
from iap_sensors.rays.clouds import lengths
from iap_simulation.batch.ray_sensor import SensedWorlds, WorldRaySensor, ray_sensor_spec


class ImageGeometry(NamedTuple):
    """Geometry by which the numbers of an image become points.

    Attributes:
        ways_B: (pixels, 3) of the middles of blocks, of length 1 along the view, in the frame of the body that carries
            the camera.
        p_BS_B: (3,) place of the camera on it [m].
    """

    ways_B: Array
    p_BS_B: Array


class DepthCamera(DepthNumbers):
    """Depth images of many worlds as numbers, a camera's along its view and a lidar's of its points.

    Args:
        image: what a task says of them.
        worlds: that fly.
        vehicle: whose first aircraft carries it.

    Attributes:
        view: where blocks look.

    Raises:
        BadInput: no such preset or key, or blocks that do not fill the image.
    """

    def __init__(self, image: DepthImage, worlds: SensedWorlds, vehicle: int = 0) -> None:
        is_camera = ray_sensor_spec(image.preset, image.settings).IS_CAMERA
        self._output = "depth" if is_camera else "points"
        settings = image.settings
        self._sensor = WorldRaySensor.of(
            worlds, image.preset, (self._output,), vehicle=vehicle, **settings
        )
        sensor = self._sensor.sensor
        super().__init__(image, sensor.pattern.shape, sensor.spec.range_max)
        self.view = self._view()

    def _view(self) -> ImageGeometry:
        sensor = self._sensor.sensor
        ways_S = sensor.pattern.bundle.ways_S / sensor.pattern.cosines[:, None]
        rows, columns = self.blocks
        blocks = ways_S.reshape(self.shape[0], rows, self.shape[1], columns, 3)
        mount = self._sensor.mount
        turn = mount.q_BS if self._output == "points" else optical(mount.q_BS)
        ways_B = so3.rotate(turn, blocks.mean(axis=(1, 3)).reshape(-1, 3))
        return ImageGeometry(ways_B, np.array(mount.p_BS_B))

    def __call__(self, indices: Integers | None = None) -> NDArray[np.float32]:
        """(B, numbers) at the present states, row by row; or those of some worlds."""
        pixels = self._sensor.images(indices)[self._output]
        return self.of(pixels if self._output == "depth" else lengths(pixels))
