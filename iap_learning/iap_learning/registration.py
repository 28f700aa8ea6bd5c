# SPDX-License-Identifier: BSD-3-Clause
"""The tasks under their names in gymnasium: `hold` is ``iap/Hold-v0``."""

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from iap_learning.tasks.task import TASKS

VERSION = 0  # of all names; raised where what a name stands for changes what is learned


def name_of(task: str) -> str:
    """The name of a task's environment."""
    return f"iap/{''.join(part.capitalize() for part in task.split('_'))}-v{VERSION}"


def register_all() -> None:
    """Let gymnasium know every task that ships; a second time is fine."""
    for task in TASKS.names():
        if name_of(task) not in gymnasium.registry:
            gymnasium.register(
                name_of(task),
                entry_point="iap_learning.environments.task_env:TaskEnv",
                vector_entry_point="iap_learning.environments.task_env:TaskVectorEnv",
                kwargs={"task": task},
            )


def spec_of(task: str, settings: Mapping[str, Any]) -> EnvSpec:
    """From what gymnasium makes the environment of a task, a name or a file, with other values of some of its keys."""
    shipped = task if task in TASKS.names() else TASKS.names()[0]
    spec = copy.deepcopy(gymnasium.spec(name_of(shipped)))
    spec.kwargs = {"task": task, "settings": dict(settings)}
    return spec
