# SPDX-License-Identifier: BSD-3-Clause
"""Files of learning: tasks, experts, experiments, policies and folders of trainings."""

from collections.abc import Mapping

from iap_bringup.fuzz.kind import EPISODE, FREE, FileKind

OF_TASK = tuple(("evaluate", name, "--task", "@", *EPISODE) for name in ("hold", "script"))
OF_POLICY = (("evaluate", "@", *EPISODE), ("run", "hover", *FREE, "--set", "policy=@"))
OF_EXPERT = (
    ("evaluate", "@", "--task", "docking", *EPISODE),
    ("dataset", "docking", "--policy", "@", "--episodes", "1", "--json"),
)
KINDS: Mapping[str, FileKind] = {
    "task": FileKind(8, ("task_*.yaml",), OF_TASK),
    "expert": FileKind(4, ("expert_*script*.yaml", "expert_*funnel.yaml"), OF_EXPERT),
    "experiment": FileKind(
        3, ("experiment_*.yaml",), (("train", "@", "--steps", "64", "--offline", "none"),)
    ),
    "training": FileKind(3, ("training",), (("train", "--resume", "@"),)),
    "policy": FileKind(10, ("hold*.npz", "navigate.npz"), OF_POLICY),
    "policy of dockings": FileKind(3, ("docking_nominal.npz",), OF_POLICY[:1]),
}
"""By name."""
