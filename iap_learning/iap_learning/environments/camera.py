# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of worlds by the suite's own renderer."""

import math

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_learning.tasks.episodes import AnyEpisodes, CameraPlacement
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.rig_state import RigState
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario

WIDTH, HEIGHT = 480, 360  # [pixels]
FOCAL = 0.8  # focal length over the width
CAMERA = "onlooker"
BACK, ABOVE = 3.5, 1.5  # where it stands, seen from where worlds start [m]


def not_drawn(episodes: AnyEpisodes) -> str:
    """Reason why worlds without a viewpoint have no pictures."""
    return f"task '{episodes.task.name}' has no bodies to be drawn"


class WorldCamera:
    """Stands behind where worlds start and looks at where they are flown to.

    The renderer is made with the first picture, and anew with each seed that draws obstacles.

    Args:
        episodes: whose states it takes.
    """

    def __init__(self, episodes: AnyEpisodes) -> None:
        self._episodes, self._viewpoint = episodes, episodes.viewpoint
        self._renderer: Renderer | None = None
        self._cameras: MountedCameras | None = None
        self._drawn: int | None = None  # seed whose obstacles it sees

    def picture(self, world: int) -> NDArray[np.uint8]:
        """(HEIGHT, WIDTH, 3) the present state of one world.

        Raises:
            BadInput: this machine cannot draw, or nobody can.
        """
        if self._viewpoint is None:
            raise BadInput(f"pictures: {not_drawn(self._episodes)}")
        worlds = self._episodes.worlds
        seed, t = int(self._episodes.episode_seeds[world]), float(worlds.times[world])
        scenario = worlds.scenario.model_copy(update={"seed": seed})
        cameras = self._cameras_in(scenario, self._viewpoint)
        (objects,) = worlds.objects.states(np.array([world]))
        state = RigState(worlds.state[world], objects, worlds.tilt[world])
        (reading,) = cameras.shoot(cameras.cameras, t, state)
        return np.array(reading.pixels)

    def _cameras_in(self, scenario: Scenario, viewpoint: CameraPlacement) -> MountedCameras:
        """The camera among the obstacles of a scenario's seed."""
        drawn = None if placed_world(scenario) is scenario.world else scenario.seed
        if self._cameras is None or self._drawn != drawn:
            self.close()
            position = viewpoint.start + [-BACK, 0.0, ABOVE]
            x, y, z = viewpoint.goal - position
            spec = CameraSpec.for_pictures(
                (WIDTH, HEIGHT),
                FOCAL,
                position=tuple(position.tolist()),
                rpy_deg=(
                    0.0,
                    math.degrees(math.atan2(-z, math.hypot(x, y))),
                    math.degrees(math.atan2(y, x)),
                ),
                rate=scenario.rates.control_hz,
                outputs=("rgb8",),
            )
            rig = rig_spec(scenario.model_copy(update={"cameras": {CAMERA: spec}}))
            cameras = [each for each in mounted_cameras_of(rig) if each.parent == MAP]
            self._renderer = make_renderer(scenario.renderer)
            self._cameras = MountedCameras(rig, cameras, self._renderer)
            self._drawn = drawn
        return self._cameras

    def close(self) -> None:
        """Give back what the renderer holds; a second time is fine."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = self._cameras = None
