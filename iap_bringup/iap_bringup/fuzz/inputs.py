# SPDX-License-Identifier: BSD-3-Clause
"""The table of all kinds of input, and a case of one of them."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

from iap_bringup.fuzz.circumstance_kinds import EnvironmentKind, InterruptKind, LimitKind
from iap_bringup.fuzz.corpus import Corpus
from iap_bringup.fuzz.file_kinds import FILE_KINDS
from iap_bringup.fuzz.kind import Command, Kind
from iap_bringup.fuzz.option_kind import OptionKind
from iap_bringup.fuzz.setting_kind import SettingKind

OUT = "o"  # folder that a case makes
MAKING = {
    "run",
    "replay",
    "sweep",
    "dataset",
    "evaluate",
    "train",
    "localize",
    "identify",
    "render",
}
KINDS: Mapping[str, Kind] = {
    **FILE_KINDS,
    "set": SettingKind(),
    "options": OptionKind(),
    "environment": EnvironmentKind(),
    "interrupts": InterruptKind(),
    "limits": LimitKind(),
}
"""By name."""


class Case(NamedTuple):
    """A command on damaged input.

    Attributes:
        kind: name of its kind.
        command: it, and what happens to it.
        out: the folder that it makes; None where it makes none, or goes on with one.
    """

    kind: str
    command: Command
    out: Path | None


def drawn_kind(rng: Random) -> str:
    """The name of a kind, by their shares."""
    return rng.choices(list(KINDS), [kind.share for kind in KINDS.values()])[0]


def make_case(name: str, corpus: Corpus, home: Path, rng: Random) -> Case:
    """Damage a copy of sound input of a kind in an empty folder."""
    command = KINDS[name].draw(corpus, home, rng)
    named = any(each.startswith(("--out", "--resume")) for each in command.arguments)
    if command.arguments[0] not in MAKING or named:
        return Case(name, command, None)
    command = command._replace(arguments=[*command.arguments, "--out", OUT])
    return Case(name, command, home / OUT)
