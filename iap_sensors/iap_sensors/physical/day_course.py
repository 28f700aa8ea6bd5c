# SPDX-License-Identifier: BSD-3-Clause
"""The light of a scene over time, where the sun passes."""

from dataclasses import replace

from iap_description.scenes.lighting import Lighting
from iap_description.scenes.scene import Scene
from iap_sensors.physical.environment import Environment

STEP = 60.0  # of solar time between two skies [s]: the sun moves by 0.25 deg, half its width


class DayCourse:
    """Environments of a scene, one for each step of solar time.

    Images stay exposed for the start: a camera's own exposure follows the light.

    Args:
        scene: with its light.

    Attributes:
        environment: of the step that `advance` went to last.

    Raises:
        BadInput: there is no light at the start.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene, self._step = scene, 0
        self.environment = Environment.of(scene)

    def advance(self, t: float) -> bool:
        """Go to a time of the flight [s]; False where the light is as it was."""
        day, lighting = self._scene.time_of_day, self._scene.lighting or Lighting()
        if day is None or lighting.sun is not None or lighting.sky is not None:
            return False
        step = int(day.rate * t // STEP)
        if step == self._step:
            return False
        self._step = step
        scene = replace(self._scene, time_of_day=day.after(step * STEP))
        later = Environment.of(scene, may_be_dark=True)
        self.environment = replace(later, exposed_for=self.environment.exposed_for)
        return True
