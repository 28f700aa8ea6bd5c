# SPDX-License-Identifier: BSD-3-Clause
"""Policies and baselines by the words of a user, each with the task that it is evaluated on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from iap_description.config.alternatives import alternatives
from iap_description.config.text_files import check_file, is_file
from iap_description.errors import BadInput
from iap_learning.evaluation.flyers import (
    BASELINES,
    EvaluatedAgent,
    baseline,
    is_agent_file,
    of_policy,
)
from iap_learning.policies.policy import SUFFIX, Policy, shipped_policies
from iap_learning.tasks.kinds.registry import make_task, task_of_policy
from iap_learning.tasks.task import TASKS, Task

NOMINAL = "nominal"  # preset that is the task itself


class EvaluatedPolicy(NamedTuple):
    """A policy or a baseline, and the task that it is evaluated on.

    Attributes:
        task: what is to be done.
        flyer: who does it.
        policy: that flies; None for a baseline.
    """

    task: Task
    flyer: EvaluatedAgent
    policy: Policy | None


def subject_of(
    name: str,
    task: str | None,
    preset: str | None,
    settings: Mapping[str, Any] | None = None,
) -> EvaluatedPolicy:
    """The policy or baseline of a name, and its task.

    Args:
        name: of a policy, its file, a task, or a baseline.
        task: that is flown; None takes the policy's.
        preset: of the task.
        settings: values of keys of the task by their dotted paths, see `make_task`.

    Raises:
        BadInput: there is no such one, or a baseline without a task.
    """
    if is_agent_file(name):
        check_file(Path(name))
    if name in BASELINES or is_agent_file(name):
        if task is None:
            raise BadInput(
                f"evaluate {name}: --task is missing (tasks: {', '.join(TASKS.names())})"
            )
        return EvaluatedPolicy(make_task(preset_of(task, preset), settings), baseline(name), None)
    known = (*TASKS.names(), *shipped_policies(), *BASELINES)
    if name not in known and not name.endswith(SUFFIX) and is_file(Path(name)):
        raise BadInput(
            f"{name}: no policy of this suite, whose files end in {SUFFIX}: 'iap train' writes them"
        )
    if name not in known and not name.endswith(SUFFIX):
        raise BadInput(
            f"no policy '{name}', nor task or baseline: {alternatives(name, known)} (or an {SUFFIX} file)"
        )
    flies = _policy_name(name, preset)
    if name in TASKS.names() and flies not in shipped_policies():
        raise BadInput(
            f"task '{name}' has no shipped policy: 'iap evaluate WHO --task {name}' flies yours or a baseline,"
            " which 'iap list policies' has"
        )
    policy = Policy.load(flies)
    header = policy.header
    policy_task = name if name in TASKS.names() else header.task
    task_name = task or (policy_task if preset is None else base_of(policy_task))
    if task_name == header.task and preset is None:
        made = task_of_policy(policy, settings)
    else:
        made = make_task(preset_of(task_name, preset), {**header.settings, **(settings or {})})
    return EvaluatedPolicy(made, of_policy(policy), policy)


def _policy_name(name: str, preset: str | None) -> str:
    """The policy that stands for a task, or the name itself.

    Raises:
        BadInput: the task has no such preset.
    """
    if name not in TASKS.names():
        return name
    preset_of(name, preset)
    policy = f"{name}_{preset or NOMINAL}"
    return policy if policy in shipped_policies() else name


def base_of(task: str) -> str:
    """The task of which another one is a preset: docking of docking_hard; itself where it is none."""
    presets = [each for each in TASKS.names() if task.startswith(f"{each}_")]
    return max(presets, key=len, default=task)


def preset_of(task: str, preset: str | None) -> str:
    """Name of a task's preset.

    Raises:
        BadInput: there is none.
    """
    if preset in (None, NOMINAL):
        return task
    if f"{task}_{preset}" not in TASKS.names():
        presets = [each for each in TASKS.names() if each.startswith(f"{task}_")]
        known = ", ".join([NOMINAL, *(each.removeprefix(f"{task}_") for each in presets)])
        raise BadInput(f"--preset {preset}: task '{task}' has {known}")
    return f"{task}_{preset}"
