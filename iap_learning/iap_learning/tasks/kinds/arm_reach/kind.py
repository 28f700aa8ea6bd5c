# SPDX-License-Identifier: BSD-3-Clause
"""Reaching of targets as a kind of tasks; its plant is in no engine."""

from iap_learning.tasks.kind import TaskKind
from iap_learning.tasks.kinds.arm_reach.agents import KinematicAgent
from iap_learning.tasks.kinds.arm_reach.episodes import ArmReachEpisodes
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask

ARM_REACH = TaskKind(
    name="arm_reach",
    task=ArmReachTask,
    episodes=ArmReachEpisodes,
    agents={"kinematic": KinematicAgent},
)
