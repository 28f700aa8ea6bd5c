# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of flights, as someone sees them who stands beside."""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.frames import MAP
from iap_description.states import STATE_SIZE
from iap_description.world.world import World
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario

Picture = NDArray[np.uint8]
Size = tuple[int, int]  # width and height [pixels]

NAME = "onlooker"
FOCAL = 0.8  # focal length over the picture's width


class Onlooker:
    """A camera that stands in the world of a scenario.

    Args:
        scenario: what is seen.
        position: (3,) where it stands [m].
        target: (3,) where it looks at [m].
        size: of its pictures.

    Raises:
        BadInput: this machine cannot draw.
    """

    def __init__(self, scenario: Scenario, position: Array, target: Array, size: Size) -> None:
        x, y, z = np.asarray(target) - position
        width, height = size
        spec = CameraSpec(
            position=tuple(np.asarray(position).tolist()),
            rpy_deg=(
                0.0,
                *np.degrees([np.arctan2(-z, np.hypot(x, y)), np.arctan2(y, x)]).tolist(),
            ),
            width=width,
            height=height,
            fx=FOCAL * width,
            fy=FOCAL * width,
            cx=0.5 * (width - 1),
            cy=0.5 * (height - 1),
            rate=scenario.rates.control_hz,
            outputs=("rgb8",),
            near=0.1,
            far=100.0,
            antialiasing=4,
        )
        rig = rig_spec(scenario.model_copy(update={"cameras": {NAME: spec}}))
        own = [each for each in mounted_cameras_of(rig) if each.parent == MAP]
        self._renderer = make_renderer(scenario.renderer)
        self._cameras = MountedCameras(rig, own, self._renderer)

    def picture(self, t: float, x: Array, objects: Array, tilts: Array | None = None) -> Picture:
        """(height, width, 3) RGB of a state, see `MountedCameras.shoot`."""
        (reading,) = self._cameras.shoot(self._cameras.cameras, t, x, objects, tilts)
        return np.array(reading.pixels)

    def close(self) -> None:
        """Give back what the renderer holds; a second time is fine."""
        self._renderer.close()


def object_states(world: World, t: float) -> Array:
    """(objects, 13) states of a world's objects, of which none moves freely."""
    rows = [item.row(t) for item in world.objects.values()]
    return np.array(rows).reshape(-1, STATE_SIZE)
