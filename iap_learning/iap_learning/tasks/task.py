# SPDX-License-Identifier: BSD-3-Clause
"""Keys that tasks of all kinds have, and their files, ``data/tasks/NAME.yaml``."""

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator

from iap_description.config.record import ExtendedRecord, Presets, Record, override
from iap_description.config.values import Count, FileName, Positive
from iap_learning.tasks.own_functions import NOTHING_OWN, OwnFunctions
from iap_learning.tasks.scaling import ActionRange
from iap_learning.tasks.user_terms import is_user_function

TASKS = Presets(Path(__file__).parents[1] / "data" / "tasks", "task")
EXPERIMENTS = Presets(Path(__file__).parents[1] / "data" / "experiments", "experiment")
OF_SCENARIO = "settings."  # before keys of the scenario that a task changes
LONGEST_EPISODE = 3600.0  # of which a batch is flown for each gradient [s]


def task_tree(name: str, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The plain tree of a task's file, on top of the one that its key `extends` names; arguments as those of `Task.of`.

    Raises:
        BadInput: there is no such task or key.
    """
    path = TASKS.file_or_path(name)
    defaults: dict[str, Any] = {"name": path.stem, "own": {}}
    return changed({**defaults, **TASKS.extended(path)}, settings or {})


def changed(tree: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A task's tree with values of its keys by their dotted paths.

    ``settings.PATH`` changes the scenario's key of that path, and leaves the other keys of `settings` as they are.

    Raises:
        BadInput: there is no such key.
    """
    out = dict(tree)
    for key, value in settings.items():
        scenario_key = key.removeprefix(OF_SCENARIO)
        if scenario_key != key and isinstance(known := out.get("settings"), Mapping):
            out["settings"] = {**known, scenario_key: value}
        else:
            out = override(out, [f"{key}={json.dumps(value)}"])
    return out


DEFAULT_KIND = "platform"  # of files without the key `episodes`


class Task(ExtendedRecord):
    """A task; each kind adds keys of its own.

    Attributes:
        name: of its file.
        description: one sentence.
        scenario: its name or file, which says what flies.
        settings: of the scenario's keys, by their dotted paths.
        action: what is commanded.
        observation: its terms, and by what each is divided.
        seconds: time limit of an episode [s].
        repeat: control periods of a step.
        own: functions of the user's own that reward and end episodes beside what the kind does.
    """

    TERMS: ClassVar[Collection[str]]  # names of the terms that there are
    LATER: ClassVar[tuple[str, ...]] = ("own",)

    name: FileName
    description: str
    scenario: str
    settings: dict[str, Any]
    action: ActionRange
    observation: Annotated[dict[str, Positive], Field(min_length=1)]
    seconds: Annotated[Positive, Field(le=LONGEST_EPISODE)]
    repeat: Count
    own: OwnFunctions = NOTHING_OWN

    @field_validator("observation")
    @classmethod
    def _are_known(cls, observation: dict[str, float]) -> dict[str, float]:
        for name in observation:
            if name not in cls.TERMS and not is_user_function(name):
                raise ValueError(
                    f"no term '{name}': choose {', '.join(cls.TERMS)}, module:function"
                )
        return observation

    @property
    def kind(self) -> str:
        """Name of its kind, the key `episodes` of its file."""
        return str(getattr(self, "episodes", DEFAULT_KIND))

    @property
    def platform_name(self) -> str | None:
        """Name of the platform that flies in place of the scenario's; None flies the scenario's."""
        return getattr(self, "platform", None)

    @property
    def function_keys(self) -> list[str]:
        """Keys that name functions of the user's own, but for those of a kind."""
        keys = [f"observation.{name}" for name in self.observation if is_user_function(name)]
        keys += [] if self.action.function is None else ["action.function"]
        return [*keys, *self.own.keys.values()]

    @property
    def definition(self) -> dict[str, Any] | None:
        """All its keys; None of a task that ships, which its name finds everywhere."""
        return None if self.name in TASKS.names() else self.model_dump(mode="json")

    @property
    def digest(self) -> str:
        """SHA-256 of all its keys as JSON, in hexadecimal."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def reward_weights(reward: Record, step: float) -> dict[str, Any]:
    """Weights of a reward, those of its key `potential` among them, of which that of time is of a step [s]."""
    weights = reward.model_dump()
    return {**weights.pop("potential", {}), **weights, "time": step * weights["time"]}
