# SPDX-License-Identifier: BSD-3-Clause
"""Experts, who fly a task without learning, by the names of their files: ``data/experts/NAME.yaml``.

The key `guide` of a file says which class flies it.
"""

from iap_description.errors import BadInput, shown
from iap_learning.datasets.rollouts import Flyer
from iap_learning.tasks.agents import EXPERTS
from iap_learning.tasks.kinds.arm_reach.episodes import ArmReachEpisodes
from iap_learning.tasks.kinds.arm_reach.experts import KinematicExpert
from iap_learning.tasks.kinds.docking.episodes import DockingEpisodes
from iap_learning.tasks.kinds.docking.experts import Expert as DockingExpert
from iap_learning.tasks.kinds.docking.experts import ExpertSettings as DockingSettings
from iap_learning.tasks.kinds.module_docking.episodes import ModuleDockingEpisodes
from iap_learning.tasks.kinds.module_docking.experts import FunnelExpert
from iap_learning.tasks.kinds.navigate.experts import FieldExpert, PotentialExpert
from iap_learning.tasks.kinds.platform.episodes import Episodes
from iap_learning.tasks.kinds.registry import Episodic

GUIDES = (
    "script",
    "wrench",
    FieldExpert.guide,
    PotentialExpert.guide,
    FunnelExpert.guide,
    KinematicExpert.guide,
)


def expert_of(name: str, episodes: Episodic) -> Flyer:
    """The expert of a name, or of a YAML file, for episodes at their start.

    Raises:
        BadInput: there is no such expert, or it does not fly this task.
    """
    path = EXPERTS.file_or_path(name)
    guide = EXPERTS.extended(path).get("guide")
    if guide not in GUIDES:
        raise BadInput(f"{path}: key 'guide': choose {', '.join(GUIDES)} (got {shown(guide)})")
    for kind in (FieldExpert, PotentialExpert):
        if guide == kind.guide:
            return kind.of(name, _flown(name, episodes))
    if guide == FunnelExpert.guide:
        return FunnelExpert.of(name, _docking_modules(name, episodes))
    if guide == KinematicExpert.guide:
        return KinematicExpert.of(name, _reaching(name, episodes))
    if not isinstance(episodes, DockingEpisodes):
        raise BadInput(f"expert '{name}' flies dockings, not task '{episodes.task.name}'")
    return DockingExpert(DockingSettings.of(name), episodes)


def _flown(name: str, episodes: Episodic) -> Episodes:
    """Episodes that an expert of navigation flies."""
    if not isinstance(episodes, Episodes) or episodes.task.action.kind != "velocity":
        raise BadInput(f"expert '{name}' flies by velocities, not task '{episodes.task.name}'")
    return episodes


def _docking_modules(name: str, episodes: Episodic) -> ModuleDockingEpisodes:
    """Episodes that an expert of docking modules flies."""
    if not isinstance(episodes, ModuleDockingEpisodes) or episodes.task.action.kind != "velocity":
        raise BadInput(
            f"expert '{name}' docks modules by velocities, not task '{episodes.task.name}'"
        )
    return episodes


def _reaching(name: str, episodes: Episodic) -> ArmReachEpisodes:
    """Episodes that the kinematic law flies."""
    if not isinstance(episodes, ArmReachEpisodes):
        raise BadInput(f"expert '{name}' moves an end effector, not task '{episodes.task.name}'")
    return episodes
