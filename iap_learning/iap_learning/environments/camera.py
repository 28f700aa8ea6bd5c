# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of worlds by the suite's own renderer."""

import numpy as np
from numpy.typing import NDArray

from iap_learning.episodic import Episodic
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_simulation.scenario.rig_spec import rig_spec

WIDTH, HEIGHT = 480, 360  # [pixels]
BACK, ABOVE = 3.5, 1.5  # where it stands, seen from what it looks at [m]
NAME = "watching"


class Camera:
    """Stands in every world and looks at where it is flown to; the renderer is made with the first picture.

    Args:
        episodes: whose states it takes.
    """

    def __init__(self, episodes: Episodic) -> None:
        self._worlds, self._viewpoint = episodes.worlds, episodes.viewpoint
        self._renderer: Renderer | None = None

    def picture(self, world: int) -> NDArray[np.uint8]:
        """(HEIGHT, WIDTH, 3) the present state of one world.

        Raises:
            BadInput: this machine cannot draw.
        """
        if self._renderer is None:
            self._open()
        worlds = self._worlds
        objects = np.zeros((0, worlds.state.shape[2]))
        time = float(worlds.times[world])
        (reading,) = self._cameras.shoot(self._cameras.cameras, time, worlds.state[world], objects)
        return np.array(reading.pixels)

    def _open(self) -> None:
        worlds = self._worlds
        pitch = np.degrees(np.arctan2(ABOVE, BACK))
        spec = CameraSpec(
            position=tuple((self._viewpoint + [-BACK, 0.0, ABOVE]).tolist()),
            rpy_deg=(0.0, float(pitch), 0.0),
            width=WIDTH,
            height=HEIGHT,
            fx=0.8 * WIDTH,
            fy=0.8 * WIDTH,
            cx=0.5 * (WIDTH - 1),
            cy=0.5 * (HEIGHT - 1),
            rate=worlds.scenario.rates.control_hz,
            outputs=("rgb8",),
            near=0.1,
            far=100.0,
            antialiasing=4,
        )
        rig = rig_spec(worlds.scenario.model_copy(update={"cameras": {NAME: spec}}))
        self._renderer = make_renderer(worlds.scenario.renderer)
        self._cameras = MountedCameras(rig, mounted_cameras_of(rig), self._renderer)

    def close(self) -> None:
        """Give back what the renderer holds; a second time is fine."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
