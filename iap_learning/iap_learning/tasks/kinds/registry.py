# SPDX-License-Identifier: BSD-3-Clause
"""What trainers, evaluations and environments know of a task in many worlds, and how one is made by its name.

A task is a file: ``data/tasks/NAME.yaml``, or another one by its path. Its key `episodes` says which class flies it; a
file without it is a task of one platform. A preset of a task is a file that `extends` it: ``docking_hard`` is
``docking`` in another scenario.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array, Integers
from iap_description.config.record import validate
from iap_description.errors import BadInput, shown
from iap_learning.tasks.files import TASKS, task_tree
from iap_learning.tasks.kinds.arm_reach.episodes import ArmReachEpisodes
from iap_learning.tasks.kinds.arm_reach.task import ArmReachTask
from iap_learning.tasks.kinds.docking.episodes import DockingEpisodes
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.kinds.module_docking.episodes import ModuleDockingEpisodes
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_learning.tasks.kinds.platform.episodes import Episodes
from iap_learning.tasks.kinds.platform.task import Task
from iap_learning.tasks.scaling import Step
from iap_learning.tasks.terms import Layout
from iap_simulation.arm.worlds import ArmWorlds
from iap_simulation.scenario.scenario import Scenario

AnyTask = Task | DockingTask | ModuleDockingTask | ArmReachTask
KINDS: dict[str, type[DockingTask | ModuleDockingTask | ArmReachTask]] = {
    "docking": DockingTask,
    "module_docking": ModuleDockingTask,
    "arm_reach": ArmReachTask,
}


class Flying(Protocol):
    """Worlds that are flown, as pictures need them."""

    @property
    def scenario(self) -> Scenario:
        """That all fly."""

    @property
    def state(self) -> Array:
        """(B, bodies, 13) state rows in the order of the scenario's vehicles."""

    @property
    def times(self) -> Array:
        """(B,) since each world's reset [s]."""


class Episodic(Protocol):
    """A task in B worlds; world i of any B is the same, bit for bit, as alone with its seed and actions.

    Attributes:
        size: numbers of an action.
        observed: numbers of an observation.
        seeds: (B,) that the worlds were given.
        episodes: (B,) number of each world's episode since then.
        outcome: (B,) of each episode, see `iap_simulation.tasks.outcomes.OUTCOMES`.
        steps: (B,) of each so far.
        returns: (B,) sum of its rewards.
    """

    size: int
    observed: int
    seeds: Integers
    episodes: Integers
    outcome: Integers
    steps: Integers
    returns: Array

    @property
    def task(self) -> AnyTask:
        """What is to be done."""

    @property
    def worlds(self) -> Flying | ArmWorlds:
        """That fly."""

    @property
    def platform(self) -> str:
        """Name of what flies."""

    @property
    def count(self) -> int:
        """Number of worlds."""

    @property
    def dt(self) -> float:
        """Length of a step [s]."""

    @property
    def limit(self) -> int:
        """Steps of an episode that nothing ends."""

    @property
    def flown(self) -> Integers:
        """(B,) seeds of the present episodes."""

    @property
    def layout(self) -> Layout:
        """Terms of an observation with their sizes and scales."""

    @property
    def viewpoint(self) -> Array:
        """(3,) place to look at [m]."""

    def report(self) -> dict[str, Array]:
        """What else is known of the episodes, (B,) each; NaN where there has been none."""

    def reset(
        self, worlds: ArrayLike | None = None, seeds: Sequence[int] | None = None
    ) -> NDArray[np.float32]:
        """Begin new episodes of some worlds, or of all; returns their observations."""

    def step(self, actions: ArrayLike | None) -> Step:
        """Fly a step of every world under actions (B, size) in [-1, 1]; None: what flies without learning."""

    def observe(self, chosen: Integers | None = None) -> NDArray[np.float32]:
        """Observations of the worlds' present states, or of some worlds."""


def make_task(name: str, settings: Mapping[str, Any] | None = None) -> AnyTask:
    """A task by name, or by the path of a YAML file.

    Args:
        name: of it.
        settings: values of its keys by their dotted paths, such as ``{"action.kind": "wrench"}``.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    return task_of(task_tree(name, settings), str(TASKS.file_or_path(name)))


def task_of(tree: Mapping[str, Any], source: str) -> AnyTask:
    """A task by all its keys.

    Args:
        tree: keys and values.
        source: for errors.

    Raises:
        BadInput: a key is unknown, missing or impossible.
    """
    kind = tree.get("episodes")
    if kind is None:
        return validate(Task, tree, source=source)
    if kind not in KINDS:
        known = f"{', '.join(list(KINDS)[:-1])} or {list(KINDS)[-1]}"
        raise BadInput(f"{source}: key 'episodes': {known} is expected (got {shown(kind)})")
    return validate(KINDS[kind], tree, source=source)


def make_episodes(
    task: str | AnyTask,
    worlds: int,
    *,
    settings: Mapping[str, Any] | None = None,
    scenario: Mapping[str, Any] | None = None,
    platform: str | None = None,
    threads: int = 1,
) -> Episodic:
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
    if not isinstance(task, str) and settings:
        raise BadInput("a task that has been made takes no settings: make it with them")
    made = make_task(task, settings) if isinstance(task, str) else task
    if isinstance(made, DockingTask):
        return DockingEpisodes(made, worlds, scenario=scenario, platform=platform, threads=threads)
    if isinstance(made, ModuleDockingTask):
        return ModuleDockingEpisodes(
            made, worlds, scenario=scenario, platform=platform, threads=threads
        )
    if isinstance(made, ArmReachTask):
        return ArmReachEpisodes(made, worlds, scenario=scenario, platform=platform)
    return Episodes(made, worlds, scenario=scenario, platform=platform, threads=threads)
