# SPDX-License-Identifier: BSD-3-Clause
"""Reaching targets with an end effector in many worlds: velocities in; observations, rewards and ends out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.random_streams import uniforms
from iap_learning.tasks.episodes import CountedEpisodes
from iap_learning.tasks.kinds.arm_reach.judging import Ends, Weights, judge, measure
from iap_learning.tasks.kinds.arm_reach.law import ReachLaw
from iap_learning.tasks.kinds.arm_reach.sight import Sight, Tips
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask
from iap_learning.tasks.scaling import Step, taken
from iap_learning.tasks.terms import Layout
from iap_physics.identified.dynamics import SIZE
from iap_simulation.arm.worlds import ArmWorlds
from iap_simulation.tasks.outcomes import ARRIVED

TARGET = "arm_reach/target"  # name of the stream of an episode's target


class ArmReachEpisodes(CountedEpisodes[ArmWorlds]):
    """A task of reaching targets in B worlds; world i of any B is the same, bit for bit, as alone.

    Args:
        task: what is to be done.
        worlds: B.
        scenario: values of the scenario's keys by their dotted paths, over those of the task.
        platform: none can be chosen: the scenario's `plant` and `arm` fly.

    Attributes:
        task: as given.
        observed: numbers of an observation.
        targets: (B, 3) where the end effectors are to be [m].

    Raises:
        BadInput: a platform, a scenario of no identified plant, or anything unknown or impossible in it.
    """

    def __init__(
        self,
        task: ArmReachTask,
        worlds: int,
        *,
        scenario: Mapping[str, Any] | None = None,
        platform: str | None = None,
    ) -> None:
        if platform is not None:
            raise BadInput(
                f"platform '{platform}': task '{task.name}' flies the scenario's plant and arm"
            )
        self.task = task
        given = {**task.settings, **(scenario or {})}
        super().__init__(ArmWorlds.of(task.scenario, worlds, settings=given), task.repeat, SIZE)
        low, high = np.array(task.action.low), np.array(task.action.high)
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low)
        self._sight = Sight(task.observation)
        self.observed = self._sight.size
        self._weights, self._ends = Weights.of(task, self.dt), Ends.of(task, self.dt)
        self._law = ReachLaw(self.worlds, self.worlds.scenario.control)
        self.targets, self._tips = np.zeros((worlds, 3)), Tips.empty(worlds)
        self._distance, self._kept = np.zeros(worlds), np.zeros(worlds, dtype=np.int64)
        self._begin(np.arange(worlds))

    @property
    def platform(self) -> str:
        """What flies: the arm on its plant."""
        return f"{self.worlds.scenario.arm} on {self.worlds.scenario.plant}"

    @property
    def layout(self) -> Layout:
        """Terms of an observation with their sizes and scales."""
        return self._sight.layout

    @property
    def limit(self) -> int:
        """Steps of an episode that nothing ends."""
        return self._ends.limit

    @property
    def viewpoint(self) -> Array:
        """(3,) place to look at [m]."""
        return np.array(self.worlds.scenario.start.position)

    def report(self) -> dict[str, Array]:
        """What else is known of the episodes, (B,) each: distances of the end effectors from their targets [m]."""
        return {"distance": self._distance.copy()}

    def _begin(self, chosen: Integers) -> None:
        """Draw the targets of worlds that stand at their start, and forget their last episodes."""
        self._count_anew(chosen)
        self._kept[chosen] = 0
        self.targets[chosen] = 0.0
        self._look(chosen)
        c, s = (f(self.worlds.plants.pose[chosen, 3]) for f in (np.cos, np.sin))
        x, y, z = self._tips.p_PE_H[chosen].T
        starts = self.worlds.plants.pose[chosen, :3] + np.stack(
            [c * x - s * y, s * x + c * y, z], 1
        )
        low, high = np.array(self.task.target.low), np.array(self.task.target.high)
        dice = uniforms(self.worlds.seeds[chosen], TARGET, 3)
        self.targets[chosen] = starts + 0.5 * (low + high) + 0.5 * (high - low) * dice
        self._look(chosen)
        measure(chosen, self._tips, self._distance)

    def _look(self, chosen: Integers) -> None:
        self._tips.look(chosen, self.worlds.plants, self.worlds.chain, self.targets)

    def step(self, actions: ArrayLike | None) -> Step:
        """Fly a step of every world, also of those whose episodes are over and that have not been reset.

        Args:
            actions: (B, 7) in [-1, 1], and clipped to it; None lets the scenario's law (27) fly, its speeds as it asks
                for them.

        Raises:
            BadInput: they have another shape.
        """
        self._remember_action()
        worlds, values = self.worlds, np.zeros((self.count, self.size))
        if actions is None:
            self._action[:] = 0.0
        else:
            values = taken(actions, self._middle, self._half, worlds.status, self._action)
        for _ in range(self.task.repeat):
            worlds.fly(self._law(self.targets) if actions is None else values)
        self._look(np.arange(self.count))
        reward = np.empty(self.count)
        judge(
            (self._action, self._before),
            self._tips,
            self._distance,
            worlds.cut,
            self._weights,
            self._ends,
            worlds.status,
            self.steps,
            self._kept,
            self.outcome,
            reward,
        )
        return self._counted(self.observe(), reward, self.outcome == ARRIVED)

    def observe(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """Observations (B, n) of the worlds' present states, or (chosen, n) of some worlds."""
        which = np.arange(self.count) if chosen is None else np.asarray(chosen)
        return self._sight(which, self._tips, self.worlds.plants, self._action)
