# SPDX-License-Identifier: BSD-3-Clause
"""An experiment: a task, and all numbers of its training, read from ``data/experiments/NAME.yaml``."""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import yaml
from pydantic import Field, model_validator

from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import ExtendedRecord, Record, override, validate
from iap_description.config.values import Count, FileName, Magnitude, NonNegative, Seed
from iap_description.errors import BadInput
from iap_io.runs.run_folder import write_file
from iap_learning.policies.layout import AnyBlock
from iap_learning.tasks.task import EXPERIMENTS
from iap_learning.training.bc import BC
from iap_learning.training.curriculum import Curriculum
from iap_learning.training.dagger import Dagger
from iap_learning.training.iql import IQL
from iap_learning.training.ppo import PPO
from iap_learning.training.td3bc import TD3BC

FILE = "experiment.yaml"  # in the folder of a training
WIDEST = 1 << 14  # units of a layer
MOST_WEIGHTS = 1 << 24  # between hidden layers: 64 MiB, and as much for each moment of Adam

Layers = Annotated[tuple[Count, ...], Field(max_length=16)]


class Networks(ExtendedRecord):
    """Sizes of hidden layers, of which each has at most `WIDEST` units and all have `MOST_WEIGHTS` between them.

    Attributes:
        actor: of policies.
        critic: of values.
        blocks: of policies, before their perceptron.
    """

    LATER: ClassVar[tuple[str, ...]] = ("blocks",)

    actor: Layers
    critic: Layers
    blocks: Annotated[tuple[AnyBlock, ...], Field(max_length=8)] = ()

    @model_validator(mode="after")
    def _fit_into_memory(self) -> Self:
        for name, sizes in (("actor", self.actor), ("critic", self.critic)):
            if max(sizes, default=1) > WIDEST:
                raise ValueError(f"key '{name}': {max(sizes)} units in a layer, at most {WIDEST}")
            weights = sum(a * b for a, b in pairwise(sizes))
            if weights > MOST_WEIGHTS:
                raise ValueError(
                    f"key '{name}': {weights} weights between hidden layers, at most {MOST_WEIGHTS}"
                )
        return self


class Normalisation(Record):
    """Normalisation of observations to mean 0 and deviation 1.

    Attributes:
        least: deviation below which none is taken.
        until: steps online after which mean and deviation stay as they are.
    """

    least: Magnitude
    until: NonNegative


class Data(Record):
    """Recorded episodes.

    Attributes:
        folder: of a data set; None lets an expert fly anew for each training.
        policy: the expert.
        episodes: that it flies.
        keep: all episodes, or successes alone.
    """

    folder: str | None
    policy: str
    episodes: Count
    keep: Literal["all", "success"]


class Offline(Record):
    """Learning from recorded episodes.

    Attributes:
        method: which of those below.
        data: to learn from.
        together: updates in one report.
        bc: behaviour cloning.
        td3bc: TD3+BC.
        iql: implicit Q-learning.
    """

    method: Literal["bc", "td3bc", "iql"]
    data: Data
    together: Count
    bc: BC
    td3bc: TD3BC
    iql: IQL


class Online(ExtendedRecord):
    """Learning in episodes.

    Attributes:
        method: which of those below.
        curriculum: draws that widen while the policy succeeds; None flies the whole task from the start.
        steps: of all worlds together.
        together: iterations after which worlds begin anew, the policy is judged, and a checkpoint is written.
        ppo: proximal policy optimisation.
    """

    LATER: ClassVar[tuple[str, ...]] = ("curriculum",)

    method: Literal["ppo"]
    curriculum: Curriculum | None = None
    steps: Count
    together: Count
    ppo: PPO


class Experiment(ExtendedRecord):
    """An experiment.

    Attributes:
        name: of its file.
        description: one sentence.
        task: its name or file.
        settings: of the task's keys, by their dotted paths.
        scenario: of the scenario's keys while it learns alone; the policy is of the task without them.
        seed: of all that is drawn.
        worlds: side by side.
        threads: that share them; no result depends on how many.
        networks: their sizes.
        normalisation: of observations.
        reward: factor on rewards as learners see them.
        offline: stage; None leaves it out.
        dagger: stage that follows; None leaves it out.
        online: stage that follows; None leaves it out.
    """

    LATER: ClassVar[tuple[str, ...]] = ("dagger",)

    name: FileName
    description: str
    task: str
    settings: dict[str, Any]
    scenario: dict[str, Any] = Field(default_factory=dict)
    seed: Seed
    worlds: Count
    threads: Count
    networks: Networks
    normalisation: Normalisation
    reward: Magnitude
    offline: Offline | None
    dagger: Dagger | None = None
    online: Online | None

    @model_validator(mode="after")
    def _trains_what_it_can(self) -> Self:
        if self.networks.blocks and self.offline is not None:
            raise ValueError(
                "key 'networks.blocks': stage 'offline' trains perceptrons alone; 'offline: null' leaves it out"
            )
        return self

    @model_validator(mode="after")
    def _has_a_step_for_every_part(self) -> Self:
        if self.online is not None:
            parts, steps = self.online.ppo.minibatches, self.worlds * self.online.ppo.horizon
            if parts > steps:
                raise ValueError(
                    f"key 'online.ppo.minibatches': {parts} parts of an epoch's {steps} steps (worlds x horizon)"
                )
        return self


class Choice(Record):
    """Options of the command line; None leaves the experiment as it is.

    Attributes:
        offline: method, or ``none``.
        online: method, or ``none``.
        seed: of all that is drawn.
        steps: online.
        assignments: ``KEY=VALUE`` each.
    """

    offline: str | None = None
    online: str | None = None
    seed: int | None = None
    steps: int | None = None
    assignments: tuple[str, ...] = ()


def experiment_tree(name: str) -> dict[str, Any]:
    """The tree of an experiment by name or path, on top of the one that its key `extends` names, if any."""
    path = EXPERIMENTS.file_or_path(name)
    return {"name": path.stem, **EXPERIMENTS.extended(path)}


def make_experiment(name: str, choice: Choice) -> Experiment:
    """An experiment by name, or by the path of a YAML file.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    tree, source = experiment_tree(name), str(EXPERIMENTS.file_or_path(name))
    for stage in ("offline", "online"):
        _choose(tree, stage, getattr(choice, stage), source)
    if choice.seed is not None:
        tree["seed"] = choice.seed
    if choice.steps is not None:
        tree = override(tree, [f"online.steps={choice.steps}"])
    made = validate(
        Experiment, override(tree, list(choice.assignments)), source=source, typed=_typed(choice)
    )
    if made.offline is None and made.dagger is None and made.online is None:
        raise BadInput(
            f"{source}: keys 'offline', 'dagger' and 'online' are all null: nothing is trained"
        )
    return made


def _typed(choice: Choice) -> dict[str, str]:
    """The options of a choice by the keys that they set, for errors."""
    typed = {each.partition("=")[0]: f"--set {each}" for each in choice.assignments}
    numbers = {"seed": ("seed", choice.seed), "online.steps": ("steps", choice.steps)}
    given = {
        key: f"--{name} {value}" for key, (name, value) in numbers.items() if value is not None
    }
    return given | typed


def _choose(tree: dict[str, Any], stage: str, method: str | None, source: str) -> None:
    """Take another method in a stage, or leave the stage out."""
    if method == "none":
        tree[stage] = None
    elif method is not None:
        if not isinstance(tree.get(stage), dict):
            raise BadInput(f"--{stage} {method}: {source} has no numbers for it in key '{stage}'")
        tree[stage] = {**tree[stage], "method": method}


def write_experiment(folder: Path, experiment: Experiment) -> None:
    """Write an experiment as it has been resolved."""
    tree = experiment.model_dump(mode="json")
    write_file(folder / FILE, yaml.safe_dump(tree, sort_keys=False).encode())


def read_experiment(folder: Path) -> Experiment:
    """Read the experiment of a training.

    Raises:
        BadInput: there is none, or it cannot be used.
    """
    path = folder / FILE
    return validate(Experiment, read_yaml(path), source=str(path))
