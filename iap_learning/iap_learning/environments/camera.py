# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of worlds by the suite's own renderer."""

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_learning.tasks.episodes import AnyEpisodes, CameraPlacement
from iap_simulation.runs.video import Onlooker, object_states
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.scenario import Scenario

WIDTH, HEIGHT = 480, 360  # [pixels]
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
        self._onlooker: Onlooker | None = None
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
        onlooker = self._onlooker_in(scenario, self._viewpoint)
        return onlooker.picture(t, worlds.state[world], object_states(scenario.world, t))

    def _onlooker_in(self, scenario: Scenario, viewpoint: CameraPlacement) -> Onlooker:
        """Pictures among the obstacles of a scenario's seed."""
        drawn = None if placed_world(scenario) is scenario.world else scenario.seed
        if self._onlooker is None or self._drawn != drawn:
            self.close()
            position = viewpoint.start + [-BACK, 0.0, ABOVE]
            self._onlooker = Onlooker(scenario, position, viewpoint.goal, (WIDTH, HEIGHT))
            self._drawn = drawn
        return self._onlooker

    def close(self) -> None:
        """Give back what the renderer holds; a second time is fine."""
        if self._onlooker is not None:
            self._onlooker.close()
            self._onlooker = None
