# SPDX-License-Identifier: BSD-3-Clause
"""Picks as a kind of tasks, and their episode in an engine."""

from collections.abc import Mapping

import numpy as np

from iap_description.arrays import Array
from iap_learning.tasks.kinds.arm_pick.agents import PickAgent, PickOracle
from iap_learning.tasks.kinds.arm_pick.counts import PickCounts, PickRules, count, measures
from iap_learning.tasks.kinds.arm_pick.episodes import PickEpisodes
from iap_learning.tasks.kinds.arm_pick.interface import PickInterface
from iap_learning.tasks.kinds.arm_pick.places import Places
from iap_learning.tasks.kinds.arm_pick.task import PickTask
from iap_learning.tasks.touch_episodes import TouchEngineEpisode
from iap_learning.tasks.touch_policy import touch_kind
from iap_physics.arm.gripper import Gripper
from iap_simulation.simulation.simulation import Simulation


class PickEngineEpisode(TouchEngineEpisode):
    """A pick in an engine.

    Args:
        simulation: at the start.
        task: what is to be done.
    """

    def __init__(self, simulation: Simulation, task: PickTask) -> None:
        scenario, row = simulation.scenario, simulation.loop.vehicles[0].timeline.row(0)
        self._places = Places.of(task, scenario, row, 1)
        self._places.draw(0, task, scenario)
        gripper = simulation.plant.part(Gripper)
        assert gripper is not None  # noqa: S101 - as `Places` has looked
        self._gripper, self._counts = gripper, PickCounts.of(1)
        self._rules = PickRules.of(task, scenario.dt)
        super().__init__(simulation, self._counts)

    def _count(self) -> None:
        objects = self._plant.engine.object_states()[self._places.number, :][None]
        forces = np.linalg.norm(self._plant.contact_wrench(0)[None, :3], axis=1)
        holds = np.array([self._gripper.holds])
        shown = self._places.measures(objects)
        count(forces, holds, shown, self._status, self._rules, self._counts)

    def _results(self) -> Mapping[str, Array]:
        return measures(self._counts, self._dt)


ARM_PICK = touch_kind(
    "arm_pick",
    PickTask,
    episodes=PickEpisodes,
    engine_episode=PickEngineEpisode,
    interface=PickInterface,
    agents={"pick": PickAgent, "pick_oracle": PickOracle},
)
