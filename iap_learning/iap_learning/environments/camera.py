# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of worlds by the suite's own renderer."""

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_learning.episodic import Episodic
from iap_simulation.arm.worlds import ArmWorlds
from iap_simulation.video import Onlooker

WIDTH, HEIGHT = 480, 360  # [pixels]
NOT_DRAWN = "an identified plant has no bodies to be drawn"
BACK, ABOVE = 3.5, 1.5  # where it stands, seen from what it looks at [m]


class Camera:
    """Stands in every world and looks at where it is flown to; the renderer is made with the first picture.

    Args:
        episodes: whose states it takes.
    """

    def __init__(self, episodes: Episodic) -> None:
        self._worlds, self._viewpoint = episodes.worlds, episodes.viewpoint
        self._onlooker: Onlooker | None = None

    def picture(self, world: int) -> NDArray[np.uint8]:
        """(HEIGHT, WIDTH, 3) the present state of one world.

        Raises:
            BadInput: this machine cannot draw, or nobody can.
        """
        worlds = self._worlds
        if isinstance(worlds, ArmWorlds):
            raise BadInput(f"pictures: {NOT_DRAWN}")
        if self._onlooker is None:
            position = self._viewpoint + [-BACK, 0.0, ABOVE]
            self._onlooker = Onlooker(worlds.scenario, position, self._viewpoint, (WIDTH, HEIGHT))
        objects = np.zeros((0, worlds.state.shape[2]))
        return self._onlooker.picture(float(worlds.times[world]), worlds.state[world], objects)

    def close(self) -> None:
        """Give back what the renderer holds; a second time is fine."""
        if self._onlooker is not None:
            self._onlooker.close()
            self._onlooker = None
