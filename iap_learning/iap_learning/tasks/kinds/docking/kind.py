# SPDX-License-Identifier: BSD-3-Clause
"""Docking as a kind of tasks."""

from iap_learning.tasks.kind import SingleRun, TaskKind
from iap_learning.tasks.kinds.docking.agents import DockingAgent
from iap_learning.tasks.kinds.docking.engine_episode import DockingEngineEpisode
from iap_learning.tasks.kinds.docking.episodes import DockingEpisodes
from iap_learning.tasks.kinds.docking.policy_pair import docking_pilot
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_simulation.loop.agents import SCRIPT

DOCKING = TaskKind(
    name="docking",
    task=DockingTask,
    episodes=DockingEpisodes,
    agents={"script": DockingAgent, "wrench": DockingAgent},
    single_run=SingleRun(DockingEngineEpisode, engine="pybullet", script=SCRIPT),
    policy_agent=docking_pilot,
)
