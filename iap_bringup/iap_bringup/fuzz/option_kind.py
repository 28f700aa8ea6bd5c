# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of every command: values that its options do not have, and places that are no files."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from random import Random

from iap_bringup.fuzz.corpus import DURATION, Corpus
from iap_bringup.fuzz.damage import is_long
from iap_bringup.fuzz.file_damage import STRANGE_FILES
from iap_bringup.fuzz.kind import EPISODE, FREE, CommandLine
from iap_bringup.fuzz.setting_kind import NUMBERS

NAMES = (
    "hover",
    "a[/b]",
    "hold",
    "docking",
    "f450",
    "uwb",
    "vio",
    "./nowhere.yaml",
    "/proc/none/x.yaml",
    "/",
    ".",
    "..",
)
PLACES = (
    "pipe",
    "folder",
    "empty",
    "circle",
    "zeros",
    "above",
    "none",
    "huge",
)  # made by STRANGE_FILES
STUDY = (
    "--duration",
    str(DURATION),
    "--engine",
    "closed_form",
    "--workers",
    "1",
    "--no-plot",
    "--json",
)
SOUND: Mapping[str, tuple[str, ...]] = {
    "run": ("run", "hover", *FREE),
    "replay": ("replay", "truth.csv", *FREE),
    "sweep": ("sweep", "hover", *STUDY),
    "dataset": ("dataset", "hover", *STUDY, "--count", "2"),
    "dataset of episodes": ("dataset", "docking", "--policy", "script", "--episodes", "1", "--json"),
    "cluster": ("cluster", "nowhere:1"),
    "evaluate": ("evaluate", "hold", *EPISODE),
    "train": ("train", "hold", "--steps", "64", "--offline", "none"),
    "inspect": ("inspect", "flight.bin", "--json"),
    "localize": ("localize", "euroc", "--json", "--no-plot"),
    "identify": ("identify", "log_1.csv", "log_2.csv", "--model", "second_order", "--json", "--no-plot"),
    "list": ("list",),
    "doctor": ("doctor", "--json"),
    "completion": ("completion", "bash"),
    "urdf": ("urdf", "three_star"),
    "import": ("import", "nowhere.urdf"),
    "view": ("view", "nowhere", "--no-browser"),
    "plot": ("plot", "run", "overview"),
    "render": ("render", "run"),
    "experiment": ("experiment", "virpo_units", "--flights", "nowhere"),
    "fuzz": ("fuzz", "--cases", "1", "--kind", "no_such_kind"),
    "bench": ("bench", "no_such_benchmark"),
}  # fmt: skip
"""Command lines that are short: files among them come from the corpus."""
FILES = ("truth.csv", "flight.bin", "euroc", "log_1.csv", "log_2.csv", "run")
LOADED = {"run", "replay", "evaluate", "inspect", "localize", "identify", "list", "urdf", "plot"}
KEPT = {  # what stays, since other values begin long work or serve pages until an interrupt
    ("bench", "name"), ("experiment", "name"), ("cluster", "head"), ("view", "folders"), ("run", "view"),
    ("replay", "view"),
}  # fmt: skip


class OptionKind:
    """One or two values of any command."""

    share = 30
    verbs = frozenset(each[0] for each in SOUND.values())

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A sound command line with such values."""
        arguments = list(SOUND[rng.choice(sorted(SOUND))])
        used = set(FILES).intersection(arguments)
        if arguments[0] in LOADED:
            corpus.load(arguments, [corpus[name][0] for name in used])
        for name in used:
            (home / name).symlink_to(corpus[name][0])
        for name, make in zip(PLACES, STRANGE_FILES, strict=True):
            (home / name).touch()
            make(home / name)
        parser = corpus.parser_of(arguments)
        for _ in range(rng.randint(1, 2)):
            _change(arguments, parser, rng)
        return CommandLine(arguments)


def _change(arguments: list[str], parser: argparse.ArgumentParser, rng: Random) -> None:
    """Add an option with another value, or replace what stands at a place."""
    actions = [
        each
        for each in parser._actions
        if each.nargs != 0 and (arguments[0], each.dest) not in KEPT
    ]
    if not actions:
        return
    action = rng.choice(actions)
    words = (*NUMBERS, *NAMES, *PLACES, *map(str, action.choices or ()))
    word = rng.choice([each for each in words if not is_long(action.dest, each)])
    if action.option_strings:
        count = action.nargs if isinstance(action.nargs, int) else 0
        name = action.option_strings[0]
        arguments += [name, *[word] * count] if count else [f"{name}={word}"]
    else:
        arguments[1:2] = [word]
