# SPDX-License-Identifier: BSD-3-Clause
"""Values of options that several commands take."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iap_bringup.cli.arguments.options import POSE_OPTIONS
from iap_description.config.bounds import MAX_COUNT, MAX_SEED
from iap_description.config.plain_yaml import parse_yaml
from iap_description.errors import BadInput
from iap_physics.batch.threads import MAX_THREADS
from iap_simulation.scenario.resolving import Options

COUNTS = {  # bounds of options that count
    "episodes": (1, MAX_COUNT),
    "seed": (0, MAX_SEED),
    "threads": (1, MAX_THREADS),
    "cases": (1, MAX_COUNT),
}


def check_counts(options: argparse.Namespace, *names: str) -> None:
    """Refuse options of these names that are no numbers of episodes or runs, of threads, or of a first seed.

    Raises:
        BadInput: naming the option.
    """
    for name in names:
        value, (least, most) = getattr(options, name), COUNTS[name]
        if not least <= value <= most:
            bound = f"at least {least}" if value < least else f"at most {most}"
            raise BadInput(f"--{name} {value}: {bound} is expected")


def check_exists(*folders: Path) -> None:
    """Refuse run folders that are not there, under the name that was typed.

    Raises:
        BadInput: naming the folder.
    """
    for folder in folders:
        if not folder.is_dir():
            what = "a file, no folder" if folder.exists() else "no such folder"
            raise BadInput(f"{folder}: {what}; name that of a run, such as runs/hover-001")


def parsed_settings(assignments: Sequence[str]) -> dict[str, Any]:
    """Values of keys by their dotted paths, of ``KEY=VALUE`` each.

    Raises:
        BadInput: one has another form.
    """
    values = {}
    for each in assignments:
        key, equals, text = each.partition("=")
        if not (equals and key):
            raise BadInput(f"--set {each}: expected KEY=VALUE")
        values[key] = parse_yaml(text, source=f"--set {each}")
    return values


def pose_keys(options: argparse.Namespace) -> dict[str, Any]:
    """The keys of `Replay` that were typed."""
    values = {option.key: getattr(options, option.key) for option in POSE_OPTIONS}
    return {key: value for key, value in values.items() if value is not None}


def pose_words(options: argparse.Namespace) -> dict[str, str]:
    """The options of `pose_keys` as they were typed, by their keys."""
    keys = pose_keys(options)
    return {each.key: f"{each.flag} {keys[each.key]}" for each in POSE_OPTIONS if each.key in keys}


def scenario_options(options: argparse.Namespace) -> Options:
    """The values of `add_scenario_options`.

    Raises:
        BadInput: a duration that is none.
    """
    if options.duration is not None and not options.duration > 0.0:
        raise BadInput(f"--duration {options.duration}: must be above 0")
    own = ("assignments", "words")
    values = {name: getattr(options, name) for name in Options.model_fields if name not in own}
    return Options(**values, assignments=tuple(options.assignments))
