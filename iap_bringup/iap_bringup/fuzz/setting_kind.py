# SPDX-License-Identifier: BSD-3-Clause
"""Values of keys on the command line (``--set``)."""

import json
from pathlib import Path
from random import Random
from typing import Any

from iap_bringup.fuzz.corpus import Corpus
from iap_bringup.fuzz.damage import VALUES, WORDS, other_value, paths, yaml_bytes
from iap_bringup.fuzz.file_damage import read_tree
from iap_bringup.fuzz.kind import FLIGHT, CommandLine

SETTABLE = ("hover", "wall_push", "docking", "module_hover", "arm_pick")
NUMBERS = (
    "-1", "0", "1", "nan", "inf", "-inf", "1e9", "1e308", "-1e308", "1e-320", "9" * 30, "x", "", "20000000",
    "--", "-", "=", "ä\u2028b", "\u202e", "\udcff", "x" * 100_000, "[" * 5000, "1:2:3", "a,b", "0.03",
)  # fmt: skip


class SettingKind:
    """A scenario with one or two damaged values of its keys."""

    share = 16
    verbs = frozenset({"run"})

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A flight with such values."""
        name = rng.choice(SETTABLE)
        resolved = corpus[f"resolved_{name}.yaml"] or corpus["resolved_hover.yaml"]
        tree = read_tree(resolved[0])
        known = paths(tree)
        arguments = ["run", name, *FLIGHT]
        corpus.load(arguments, [])
        for _ in range(rng.randint(1, 2)):
            key = rng.choice(known)
            arguments += ["--set", f"{key}={_other(_value_at(tree, key), rng)}".replace("\0", "")]
        return CommandLine(arguments)


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
