# SPDX-License-Identifier: BSD-3-Clause
"""Values of keys on the command line (``--set``)."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from iap_bringup.fuzz.corpus import DURATION, Corpus
from iap_bringup.fuzz.damage import VALUES, WORDS, is_long, other_value, paths, yaml_bytes
from iap_bringup.fuzz.file_damage import read_tree
from iap_bringup.fuzz.kind import FLIGHT, FREE, CommandLine
from iap_estimation.navigation.settings import load_settings as estimation_settings
from iap_learning.tasks.task import EXPERIMENTS, TASKS
from iap_simulation.identification.settings import load_settings as identification_settings

SETTABLE = ("hover", "wall_push", "docking", "module_hover", "arm_pick")
NUMBERS = (
    "-1", "0", "1", "nan", "inf", "-inf", "1e9", "1e308", "-1e308", "1e-320", "9" * 30, "x", "", "20000000",
    "--", "-", "=", "ä\u2028b", "\u202e", "\udcff", "x" * 100_000, "[" * 5000, "1:2:3", "a,b", "0.03",
)  # fmt: skip
REPORT = ("--no-plot", "--json")
STUDY = ("--duration", str(DURATION), "--engine", "closed_form", "--workers", "1", *REPORT)
TreeOf = Callable[[Corpus], Any]


class Settable(NamedTuple):
    """A sound command line, the files of the corpus in it, and the tree of the keys that it changes."""

    arguments: tuple[str, ...]
    files: tuple[str, ...]
    tree: TreeOf


def _hover(corpus: Corpus) -> Any:  # noqa: ANN401 - YAML
    return read_tree(corpus["resolved_hover.yaml"][0])


def _estimation(_: Corpus) -> dict[str, Any]:
    return estimation_settings().model_dump(mode="json")


def _identification(_: Corpus) -> dict[str, Any]:
    return identification_settings().model_dump(mode="json")


LOGS = ("log_1.csv", "log_2.csv")
OTHERS: Mapping[str, Settable] = {
    "replay": Settable(("replay", "truth.csv", *FREE), ("truth.csv",), _hover),
    "sweep": Settable(("sweep", "hover", *STUDY), (), _hover),
    "localize": Settable(("localize", "euroc", *REPORT), ("euroc",), _estimation),
    "identify": Settable(
        ("identify", *LOGS, "--model", "second_order", *REPORT), LOGS, _identification
    ),
    "identify dynamic": Settable(
        ("identify", *LOGS, "--model", "dynamic", *REPORT), LOGS, _identification
    ),
    "train": Settable(
        ("train", "hold", "--steps", "64", "--offline", "none"),
        (),
        lambda _: EXPERIMENTS.extended(EXPERIMENTS.file("hold")),
    ),
    "dataset": Settable(
        ("dataset", "docking", "--policy", "script", "--episodes", "1", "--json"),
        (),
        lambda _: TASKS.extended(TASKS.file("docking")),
    ),
}
"""Commands other than ``run``."""


class OtherSettingKind:
    """Any command but ``run`` with one or two damaged values of its keys."""

    share = 12
    verbs = frozenset(each.arguments[0] for each in OTHERS.values())

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A command with such values; one of training is rare, because it is slow."""
        names = sorted(OTHERS)
        weights = [1 if each == "train" else 4 for each in names]
        settable = OTHERS[rng.choices(names, weights)[0]]
        files = [corpus[each][0] for each in settable.files]
        arguments = list(settable.arguments)
        if arguments[0] != "sweep":  # which has processes of its own
            corpus.load(arguments, files)
        for each in files:
            (home / each.name).symlink_to(each)
        _set_values(arguments, settable.tree(corpus), rng)
        return CommandLine(arguments)


class SettingKind:
    """A scenario with one or two damaged values of its keys."""

    share = 16
    verbs = frozenset({"run"})

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A flight with such values."""
        name = rng.choice(SETTABLE)
        resolved = corpus[f"resolved_{name}.yaml"] or corpus["resolved_hover.yaml"]
        tree = read_tree(resolved[0])
        arguments = ["run", name, *FLIGHT]
        corpus.load(arguments, [])
        _set_values(arguments, tree, rng)
        return CommandLine(arguments)


def _set_values(arguments: list[str], tree: Any, rng: Random) -> None:  # noqa: ANN401 - YAML
    known = paths(tree)
    for _ in range(rng.randint(1, 2)):
        key = rng.choice(known)
        other = _other(_value_at(tree, key), rng)
        if not is_long(key.rpartition(".")[2], other):
            arguments += ["--set", f"{key}={other}".replace("\0", "")]


def _other(value: object, rng: Random) -> str:
    """A word, or another value of the same kind, equally often."""
    words = (*WORDS, *map(str, VALUES), *NUMBERS, yaml_bytes(rng.choice(VALUES)).decode())
    others = [json.dumps(other_value(value, rng)) for _ in range(2 * len(words))]
    return rng.choice((*words, *others))


def _value_at(tree: Any, path: str) -> Any:  # noqa: ANN401 - YAML
    """The value below a dotted path."""
    for key in path.split("."):
        tree = tree[int(key)] if isinstance(tree, list) else tree[key]
    return tree
