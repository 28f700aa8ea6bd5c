# SPDX-License-Identifier: BSD-3-Clause
"""The renderer in physical light; depth and labels are those of the fast one."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.geometry.tessellation import MeshPart
from iap_description.scenes.scene import Scene
from iap_sensors.cameras.opengl import Artist, OpenGLRenderer
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.physical.light_pass import LightPainter
from iap_sensors.physical.smooth_edges import smoothed, smoothed_light


class PhysicalRenderer(OpenGLRenderer):
    """Renders with OpenGL in physical light; images are equal from run to run on the same machine."""

    SAMPLES = False

    def _artist(self, scene: Scene, bodies: Sequence[Sequence[MeshPart]]) -> Artist:
        return LightPainter(self._context, scene, bodies)

    def _finished(self, image: NDArray[np.uint8], spec: CameraSpec) -> NDArray[np.uint8]:
        return image if spec.antialiasing > 1 else smoothed(image)

    def _finished_light(self, light: NDArray[np.float32], spec: CameraSpec) -> NDArray[np.float32]:
        return light if spec.antialiasing > 1 else smoothed_light(light)
