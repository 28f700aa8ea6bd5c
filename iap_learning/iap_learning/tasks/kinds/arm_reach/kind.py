# SPDX-License-Identifier: BSD-3-Clause
"""Reaching of targets as a kind of tasks, and its hand-written agent; its plant is in no engine."""

from typing import Literal

from iap_control.laws.end_effector import Four
from iap_description.arrays import Array
from iap_description.config.record import Flag, Positive
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.kind import TaskKind
from iap_learning.tasks.kinds.arm_reach.episodes import ArmReachEpisodes, ReachLaw
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask


class KinematicSettings(AgentSettings):
    """Gains of the agent; what is not named here is the scenario's.

    Attributes:
        slope: K_1 [1/s].
        speed: K_2 [m/s], [rad/s].
        weights: of the velocities.
        static_inverse: whether velocities become the commands at which the plant holds them.
    """

    guide: Literal["kinematic"]
    slope: Four
    speed: Four
    weights: tuple[Positive, ...]
    static_inverse: Flag


class KinematicAgent(ScriptedAgent[KinematicSettings, ArmReachEpisodes]):
    """The kinematic law (27) with gains of its own; it knows the whole state and the plant's model."""

    SETTINGS = KinematicSettings
    TASKS = "moves an end effector"

    def __init__(self, settings: KinematicSettings, episodes: ArmReachEpisodes) -> None:
        keys = settings.model_dump(exclude={*AgentSettings.model_fields, "static_inverse"})
        gains = episodes.worlds.motion.control.model_copy(update=keys)
        self._law = ReachLaw(episodes.worlds, gains, inverts=settings.static_inverse)
        super().__init__(settings, episodes)

    def values(self) -> Array:
        """(B, 7) velocities of platform and joints at the present instant."""
        return self._law(self.episodes.targets)


ARM_REACH = TaskKind(
    name="arm_reach",
    task=ArmReachTask,
    episodes=ArmReachEpisodes,
    agents={"kinematic": KinematicAgent},
)
