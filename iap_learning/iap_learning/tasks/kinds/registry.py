# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tasks by name, and tasks, episodes and agents by the names of their files.

A task is a file: ``data/tasks/NAME.yaml``, or another one by its path. Its key `episodes` names its kind, one of the
table or ``module:NAME`` of your own; a file without it is a task of one platform. A preset of a task is a file that
`extends` it: ``docking_hard`` is ``docking`` in another scenario.
"""

from collections.abc import Mapping
from typing import Any

from iap_description.config.plugins import load_named
from iap_description.config.record import validate
from iap_description.errors import BadInput, shown
from iap_learning.policies.policy import Policy
from iap_learning.tasks.agents import EXPERTS
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kind import AnyAgent, TaskKind
from iap_learning.tasks.kinds.arm_pick.kind import ARM_PICK
from iap_learning.tasks.kinds.arm_reach.kind import ARM_REACH
from iap_learning.tasks.kinds.docking.kind import DOCKING
from iap_learning.tasks.kinds.hinge_turn.kind import HINGE_TURN
from iap_learning.tasks.kinds.module_docking.kind import MODULE_DOCKING
from iap_learning.tasks.kinds.navigate.dynamic_window import DynamicWindowAgent
from iap_learning.tasks.kinds.navigate.field import FieldAgent
from iap_learning.tasks.kinds.navigate.potential_field import PotentialFieldAgent
from iap_learning.tasks.kinds.peg_in_hole.kind import PEG_IN_HOLE
from iap_learning.tasks.kinds.perch_on_wall.kind import PERCH_ON_WALL
from iap_learning.tasks.kinds.platform.kind import PLATFORM
from iap_learning.tasks.kinds.push_object.kind import PUSH_OBJECT
from iap_learning.tasks.kinds.slide_along_wall.kind import SLIDE_ALONG_WALL
from iap_learning.tasks.kinds.wall_push.kind import WALL_PUSH
from iap_learning.tasks.task import DEFAULT_KIND, TASKS, Task, changed, task_tree

KINDS: dict[str, TaskKind] = {
    kind.name: kind
    for kind in (
        PLATFORM._replace(
            agents={
                "field": FieldAgent,
                "potential_field": PotentialFieldAgent,
                "dynamic_window": DynamicWindowAgent,
            }
        ),
        DOCKING,
        MODULE_DOCKING,
        ARM_REACH,
        ARM_PICK,
        WALL_PUSH,
        PEG_IN_HOLE,
        HINGE_TURN,
        SLIDE_ALONG_WALL,
        PUSH_OBJECT,
        PERCH_ON_WALL,
    )
}


def kind_named(name: object, source: str) -> TaskKind:
    """A kind of tasks by name, or a user's own as ``module:NAME``.

    Raises:
        BadInput: there is none.
    """
    text = str(name)
    if text in KINDS:
        return KINDS[text]
    if ":" not in text:
        known = f"{', '.join(list(KINDS)[1:])}, or module:NAME of your own"
        raise BadInput(f"{source}: key 'episodes': {known} is expected (got {shown(name)})")
    kind = load_named(text, key="episodes")
    if not isinstance(kind, TaskKind):
        raise BadInput(f"{source}: key 'episodes': '{text}' is no TaskKind")
    return kind._replace(name=text)


def kind_of(task: Task) -> TaskKind:
    """The kind of a task."""
    return kind_named(task.kind, f"task '{task.name}'")


def make_task(name: str, settings: Mapping[str, Any] | None = None) -> Task:
    """A task by name, or by the path of a YAML file.

    Args:
        name: of it.
        settings: values of its keys by their dotted paths, such as ``{"action.kind": "wrench"}``; those of its
            scenario behind ``settings.``.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    return task_of(task_tree(name, settings), str(TASKS.file_or_path(name)))


def task_of(tree: Mapping[str, Any], source: str) -> Task:
    """A task by all its keys.

    Args:
        tree: keys and values.
        source: for errors.

    Raises:
        BadInput: a key is unknown, missing or impossible.
    """
    kind = kind_named(tree.get("episodes", DEFAULT_KIND), source)
    return validate(kind.task, tree, source=source)


def task_of_policy(policy: Policy, settings: Mapping[str, Any] | None = None) -> Task:
    """The task that a policy was trained for.

    Args:
        policy: that was trained.
        settings: values of keys that are others now, see `make_task`.

    Raises:
        BadInput: there is no such one by now.
    """
    header = policy.header
    if header.definition is None:
        return make_task(header.task, {**header.settings, **(settings or {})})
    tree = changed(header.definition, settings or {})
    return task_of(tree, f"{policy.source}: key 'definition'")


def make_episodes(
    task: str | Task,
    worlds: int,
    *,
    settings: Mapping[str, Any] | None = None,
    scenario: Mapping[str, Any] | None = None,
    platform: str | None = None,
    threads: int = 1,
) -> AnyEpisodes:
    """A task in many worlds.

    Args:
        task: its name, the path of its file, or a task that has been made.
        worlds: B.
        settings: values of the task's keys by their dotted paths.
        scenario: values of the scenario's keys, over those of the task.
        platform: that flies, in place of the task's.
        threads: that share the worlds; no result depends on how many.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    if isinstance(task, str):
        task = make_task(task, settings)
    elif settings:
        raise BadInput("a task that has been made takes no settings: make it with them")
    make = kind_of(task).part("episodes", f"task '{task.name}'")
    episodes: AnyEpisodes = make(
        task, worlds, scenario=scenario, platform=platform, threads=threads
    )
    if episodes.functions is None and task.function_keys:
        raise BadInput(
            f"task '{task.name}': key '{task.function_keys[0]}': kind '{task.kind}' takes no functions"
        )
    return episodes


def agent_of(name: str, episodes: AnyEpisodes) -> AnyAgent:
    """The hand-written agent of a name, or of a YAML file, for episodes at their start.

    Raises:
        BadInput: there is no such agent, or it does not fly this task.
    """
    path = EXPERTS.file_or_path(name)
    value, kind = EXPERTS.extended(path).get("guide"), kind_of(episodes.task)
    guide = str(value)  # what is no text is no agent's name, either
    if guide in kind.agents:
        return kind.agents[guide].of(name, episodes)
    others = {key: agent for each in KINDS.values() for key, agent in each.agents.items()}
    if guide not in others:
        known = ", ".join([*kind.agents, *(key for key in others if key not in kind.agents)])
        raise BadInput(f"{path}: key 'guide': choose {known} (got {shown(value)})")
    raise BadInput(f"expert '{name}' {others[guide].refusal(episodes.task)}")
