# SPDX-License-Identifier: BSD-3-Clause
"""Renders the images of all cameras of a rig: one renderer, always of the newest state, whose stamp they get.

In real time physics never waits for it: a renderer that is too slow leaves states out, and diagnostics have the
rate that each camera keeps. The frames of the cameras in the world are published here, once.
"""

import sys
from collections.abc import Mapping
from typing import Any

from iap_description.sensors.readings import ImageReading
from iap_io.ros.process import program
from iap_io.ros.static_frames import publish_static_frames
from iap_io.sensor_messages.static_transforms import fixed_frames
from iap_io.transports.compressed_jpeg import QUALITY
from iap_io.transports.table import OFFERS, offered
from iap_sensors.cameras.make import make_renderer
from iap_sensors.mounted.cameras import IN_THE_WORLD, MountedCameras, mounted_cameras_of
from iap_sensors.mounted.rig_state import RigState
from iap_sensors.nodes.sensor_base import StateSensorNode


class CameraNode(StateSensorNode):
    """All cameras between states and images."""

    def __init__(self, namespace: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__("camera_node", namespace, parameters, depth=1)
        what = "How images are compressed for who asks for it; jpeg and h264 lose, and depth is quantised in each."
        compression = self.choice("compression", OFFERS, what)
        what = "Quality of images in JPEG."
        quality = self.parameter("jpeg_quality", QUALITY, what, limits=(1, 100))
        transports = offered(compression, quality)
        cameras = mounted_cameras_of(self.rig)
        notes = [each.sampling.note for each in cameras if each.sampling.note]
        self.advertise([each.info for each in cameras], notes=notes, transports=transports)
        self._renderer = make_renderer(self.rig.renderer)
        self._cameras = MountedCameras(self.rig, cameras, self._renderer)
        self.get_logger().info(f"{len(cameras)} cameras, renderer {self.rig.renderer}")
        in_the_world = [each.info for each in cameras if each.mount.body == IN_THE_WORLD]
        publish_static_frames(self, fixed_frames([], in_the_world))
        self.start_sampling([each.sampling.every for each in cameras])

    def sample(self, number: int, k: int, t: float, state: RigState) -> list[ImageReading]:
        """The images of one camera."""
        return self._cameras.shoot([self._cameras.cameras[number]], t, state)

    def restart(self) -> None:
        """Start noise anew."""
        self._cameras.reset(self.rig.seed)

    def close(self) -> None:
        """Give the renderer back."""
        self._renderer.close()


main = program("camera_node", CameraNode)

if __name__ == "__main__":
    sys.exit(main())
