# SPDX-License-Identifier: BSD-3-Clause
"""Renders the images of all cameras of a scenario: one renderer, always of the newest state, whose stamp they get.

In real time physics never waits for it: a renderer that is too slow leaves states out, and
diagnostics say what rate each camera keeps.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.readings import ImageReading
from iap_io.ros.node import run
from iap_io.ros.static_frames import StaticFrames
from iap_io.sensor_messages.static_transforms import fixed_frames
from iap_io.wire.message_views import MAP
from iap_sensors.cameras.make import make_renderer
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.nodes.sensor_base import LookingNode

Array = NDArray[np.float64]


class CameraNode(LookingNode):
    """All cameras between states and images."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("camera_node", namespace, depth=1)
        what = "Whether images are also published compressed without loss, as PNG, to those who ask for it."
        compressed = self.parameter("compressed", True, what)
        eyes = mounted_cameras_of(self.scenario)
        self.show([eye.meta for eye in eyes], compressed=compressed)
        in_world = [eye.meta for eye in eyes if eye.meta.parent == MAP]
        self._frames = StaticFrames(self, fixed_frames([], in_world))
        self._renderer = make_renderer(self.scenario.renderer)
        self._eyes = MountedCameras(self.scenario, eyes, self._renderer)
        self.get_logger().info(f"{len(eyes)} cameras, renderer {self.scenario.renderer}")
        self.look([eye.sampling.every for eye in eyes])

    def sense(
        self, number: int, k: int, t: float, x: list[Array], objects: Array
    ) -> list[ImageReading]:
        """The images of one camera."""
        return self._eyes.shoot([self._eyes.eyes[number]], t, np.vstack(x), objects)

    def restart(self) -> None:
        """Noise starts anew."""
        self._eyes.reset(self.scenario.seed)

    def close(self) -> None:
        """Give the renderer back."""
        self._renderer.close()


def main() -> int:
    """Run the node."""
    return run("camera_node", lambda: [CameraNode()])


if __name__ == "__main__":
    sys.exit(main())
