# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap fuzz``."""

import argparse
import json
import secrets
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from iap_bringup.cli.arguments.verbs import VERBS, command_parser
from iap_bringup.cli.main import main
from iap_bringup.cli.options import check_counts
from iap_bringup.fuzz.corpus import Corpus
from iap_bringup.fuzz.inputs import KINDS, drawn_kind, make_case
from iap_bringup.fuzz.trials import fault_of, run_command
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import CountLine
from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput

EXIT_DONE, EXIT_FAULTS = 0, 1


def run(options: argparse.Namespace) -> int:
    """Try so many cases; the exit code is 1 where one has a fault."""
    check_counts(options, "cases")
    unknown = set(options.kind) - set(KINDS)
    if unknown:
        name = min(unknown)
        raise BadInput(f"--kind {name}: {alternatives(name, KINDS)}")
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    numbers = range(options.cases) if options.only is None else [options.only]
    faults, counts = list[dict[str, Any]](), Counter[str]()
    line = CountLine(make_console(stderr=True), len(numbers))
    with tempfile.TemporaryDirectory(prefix="iap_fuzz_") as place:
        corpus = Corpus(main, command_parser, Path(place) / "corpus")
        corpus.home.mkdir()
        _import_commands()
        try:
            for done, number in enumerate(numbers):
                line.show(done, f"cases, {len(faults)} faults")
                result = _tried(corpus, Path(place) / "case", Random(f"{seed} {number}"), options)
                if result is None:
                    continue
                counts[f"{result['kind']}, exit code {result['code']}"] += 1
                if result["fault"]:
                    faults.append({"seed": seed, "case": number, **result})
                    line.end()
                    sys.stderr.write(json.dumps(faults[-1], ensure_ascii=False) + "\n")
        finally:  # also of a night that Ctrl-C ends
            line.end()
            done = sum(counts.values())
            _show(options, {"seed": seed, "cases": done, "faults": faults, "counts": counts})
    return EXIT_FAULTS if faults else EXIT_DONE


def _import_commands() -> None:
    """Import the module of every command, which all processes then have."""
    for name, verb in VERBS.items():
        for options in ([], *([option] for option in verb.by_option)):
            command_parser([name, *options]).get_default("run").load()


def _tried(
    corpus: Corpus, home: Path, rng: Random, options: argparse.Namespace
) -> dict[str, Any] | None:
    """The result of a case; None of one that is of another kind."""
    kind = drawn_kind(rng)
    if options.kind and kind not in options.kind:
        return None
    home.mkdir()
    try:
        case = make_case(kind, corpus, home, rng)
        arguments, circumstances = case.command
        ending = run_command(main, arguments, home, circumstances)
        fault = fault_of(arguments, ending, case.out)
        if options.keep is not None and (fault or options.only is not None):
            _keep(home, options.keep)
    finally:
        shutil.rmtree(home)
    return {
        "kind": case.kind,
        "command": shlex.join(["iap", *arguments]),
        "interrupt": circumstances.interrupt,
        "limits": circumstances.limits,
        "code": ending.code,
        "seconds": round(ending.seconds, 2),
        "fault": fault,
    }


def _keep(home: Path, folder: Path) -> None:
    """Copy the files of a case into the next folder, without pipes and devices."""
    number = len(list(folder.glob("*")))
    special = [each.name for each in home.rglob("*") if not (each.is_file() or each.is_dir())]
    ignored = shutil.ignore_patterns(*special)
    shutil.copytree(home, folder / str(number), symlinks=True, ignore=ignored)


def _show(options: argparse.Namespace, summary: dict[str, Any]) -> None:
    if options.json:
        sys.stdout.write(json.dumps(summary) + "\n")
        return
    for name, count in sorted(summary["counts"].items()):
        sys.stdout.write(f"{count:6} {name}\n")
    sys.stdout.write(
        f"{len(summary['faults'])} faults in {summary['cases']} cases of seed {summary['seed']}\n"
    )
