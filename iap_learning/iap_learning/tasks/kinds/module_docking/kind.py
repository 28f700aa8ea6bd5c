# SPDX-License-Identifier: BSD-3-Clause
"""Docking of modules as a kind of tasks."""

from iap_learning.tasks.kind import SingleRun, TaskKind
from iap_learning.tasks.kinds.module_docking.agents import FunnelAgent
from iap_learning.tasks.kinds.module_docking.engine_episode import ModuleDockingEngineEpisode
from iap_learning.tasks.kinds.module_docking.episodes import ModuleDockingEpisodes
from iap_learning.tasks.kinds.module_docking.policy_guide import PolicyGuide
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask

MODULE_DOCKING = TaskKind(
    name="module_docking",
    task=ModuleDockingTask,
    episodes=ModuleDockingEpisodes,
    agents={"funnel": FunnelAgent},
    single_run=SingleRun(
        ModuleDockingEngineEpisode, engine="pybullet", script=None
    ),  # its coordinator flies it
    policy_guidance=PolicyGuide,
)
