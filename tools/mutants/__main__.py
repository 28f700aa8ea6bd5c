# SPDX-License-Identifier: BSD-3-Clause
"""Tests on small faults: which of them would the tests of a package notice?

./iap python tools/mutants PACKAGE_OR_PATH... [--count N] [--seed S] [--json FILE] puts N faults into modules, one at a
time and in a copy, and runs the tests that reach the faulty function: the likeliest first, until one fails. A fault
that none notices is a mutant that survives; it is printed as a difference. --note notes for some minutes which
functions each test calls, so that fewer tests are run.
"""

import argparse
import ast
import difflib
import itertools
import json
import os
import random
import sys
import tempfile
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from covering import TestMap
from equivalents import rule
from forks import noticed_in_forks
from small_faults import Mutation, mutations
from sources import Sources
from trial import ENDED, Copy, Outcome

ROOT = Path(__file__).resolve().parents[2]
APART = {
    "nodes",
    "ros",
    "warp",
    "launch",
}  # processes over DDS, and what needs a GPU: only where a path names them


def main() -> int:
    """Run the command."""
    options = _parser().parse_args()
    os.umask(0o077)
    options.scratch.mkdir(parents=True, exist_ok=True)
    packages = sorted(p.name for p in ROOT.iterdir() if (p / p.name / "__init__.py").exists())
    sources = Sources(ROOT, packages)
    tests = TestMap(ROOT, sources, options.notes or options.scratch / "tests.json", options.nice)
    rows: list[dict] = []
    tops = [_modules_at(path) for path in options.paths]
    for file in (file for top in tops for file in _files_at(top) if not _can_be_imported(file)):
        sys.stderr.write(f"left out, for it imports what is not installed: {file}\n")
    for top, count in zip(tops, _counts(tops, options), strict=True):
        package = top.relative_to(ROOT).parts[0]
        if options.note:
            tests.note(_folders_of_tests(package))
        copy = Copy(ROOT, package, options.scratch, tests, sources)
        drawn = _drawn(top, count, options)
        noticed_at_once = noticed_in_forks(
            drawn, ROOT, packages, (tests, sources), options.scratch
        )
        for number, (file, mutation) in enumerate(drawn):
            if number in noticed_at_once:
                outcome = Outcome("killed", 0.0, noticed_at_once[number])
            else:
                faulty, function = mutation.applied(_text(file)), mutation.function
                outcome = copy.try_out(file, faulty, function, options.seconds, options.nice)
            rows.append(_row(package, file, mutation, outcome))
            _print_row(rows[-1])
            _keep(rows, options.json)
        noticed = {row["test"] for row in rows if row["package"] == package and row["test"]}
        named = {test for test in noticed if not test.startswith(ENDED)}
        unsound = copy.unsound(named, options.nice)
        for row in rows:
            if row["test"] in unsound:
                row["outcome"] = "undecided"
                sys.stdout.write(f"fails without a fault, too: {row['test']}\n")
    _keep(rows, options.json)
    _print_sums(rows)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./iap python tools/mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument("paths", nargs="+", help="packages, or folders or modules of one")
    parser.add_argument("--count", type=int, default=10, help="faults for each path (10)")
    parser.add_argument("--in-all", type=int, help="faults over all paths, by their functions")
    parser.add_argument("--seed", type=int, default=0, help="which are drawn (0)")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="of the processor for each one's tests (60)"
    )
    parser.add_argument(
        "--note", action="store_true", help="which functions the quick tests of a package call"
    )
    parser.add_argument("--notes", type=Path, help="a file of what --note has noted")
    parser.add_argument(
        "--again", type=Path, help="a file of --json, whose survivors are tried again"
    )
    parser.add_argument("--json", type=Path, help="where all outcomes are written")
    parser.add_argument("--nice", type=int, default=0, help="priority that the tests lose (0)")
    scratch = Path(tempfile.gettempdir()) / f"iap-mutants-{os.getuid()}"
    parser.add_argument(
        "--scratch", type=Path, default=scratch, help=f"folder of copies and notes ({scratch})"
    )
    return parser


def _modules_at(path: str) -> Path:
    """The folder or module that a package's name or a path stands for."""
    top = ROOT / path / path if (ROOT / path / path).is_dir() else Path(path).resolve()
    if not top.exists() or len(top.relative_to(ROOT).parts) < 2:
        sys.exit(f"{path}: neither a package nor a path within one")
    return top


def _folders_of_tests(package: str) -> list[Path]:
    return sorted({file.parent for file in (ROOT / "tests" / package).rglob("test_*.py")})


def _keep(rows: list[dict], file: Path | None) -> None:
    if file is not None:
        file.write_text(json.dumps(rows, indent=1))


def _counts(tops: list[Path], options: argparse.Namespace) -> list[int]:
    """Number of faults for each path; those of --in-all go by the number of functions that can have one."""
    if options.in_all is None:
        return [options.count] * len(tops)
    sizes = [len({_home(*each) for each in _faults_at(top)}) for top in tops]
    until = [round(options.in_all * part / sum(sizes)) for part in itertools.accumulate(sizes)]
    return [b - a for a, b in itertools.pairwise([0, *until])]


def _files_at(top: Path) -> list[Path]:
    files = [top] if top.is_file() else sorted(top.rglob("*.py"))
    return [file for file in files if not APART & set(file.relative_to(top).parts)]


def _faults_at(top: Path) -> list[tuple[Path, Mutation]]:
    files = [file for file in _files_at(top) if _can_be_imported(file)]
    return [(file, fault) for file in files for fault in mutations(_text(file))]


@cache
def _can_be_imported(file: Path) -> bool:
    """False of a module that imports what is not installed: no test would notice its faults here."""
    names = [
        name
        for node in ast.parse(_text(file)).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [node.names[0].name]
        )
    ]
    return all(find_spec(name.partition(".")[0]) is not None for name in names if name)


def _drawn(top: Path, count: int, options: argparse.Namespace) -> list[tuple[Path, Mutation]]:
    """Faults: of functions drawn alike, of its kinds drawn alike, so that long formulas do not outweigh the rest."""
    faults = _faults_at(top)
    if options.again:
        old = [row for row in json.loads(options.again.read_text()) if row["outcome"] != "killed"]
        return [each for row in old if (each := _same(row, faults)) is not None]
    dice, drawn = random.Random(options.seed), []
    by_function: dict[tuple[str, str], list[tuple[Path, Mutation]]] = {}
    for each in faults:
        by_function.setdefault(_home(*each), []).append(each)
    while len(drawn) < min(count, len(faults)):
        of_it = by_function[dice.choice(sorted(home for home in by_function if by_function[home]))]
        kind = dice.choice(sorted({fault.kind for _, fault in of_it}))
        drawn.append(dice.choice([each for each in of_it if each[1].kind == kind]))
        of_it.remove(drawn[-1])
    return drawn


@cache
def _text(file: Path) -> str:
    """A module's text as it was when its faults were drawn, whatever becomes of it meanwhile."""
    return file.read_text()


def _home(file: Path, fault: Mutation) -> tuple[str, str]:
    """File and function of a fault; all constants of a module stand for one function."""
    return str(file), "" if fault.function.isupper() else fault.function


def _same(row: dict, faults: list[tuple[Path, Mutation]]) -> tuple[Path, Mutation] | None:
    """The fault of an earlier report, wherever its lines are now; None if the code has changed."""
    alike = [
        (file, fault)
        for file, fault in faults
        if str(file.relative_to(ROOT)) == row["file"]
        and (fault.function, fault.kind, fault.text) == (row["function"], row["kind"], row["text"])
    ]
    return min(alike, key=lambda each: abs(each[1].line - row["line"]), default=None)


def _row(package: str, file: Path, mutation: Mutation, outcome: Outcome) -> dict:
    source, name = _text(file), str(file.relative_to(ROOT))
    lines = difflib.unified_diff(
        source.splitlines(), mutation.applied(source).splitlines(), name, name, lineterm="", n=2
    )
    return {
        "package": package, "file": name, "line": mutation.line, "function": mutation.function, "kind": mutation.kind,
        "text": mutation.text, "outcome": outcome.name, "test": outcome.test, "tests": outcome.tests,
        "seconds": round(outcome.seconds, 1), "diff": "\n".join(lines),
        "rule": "" if outcome.name == "killed" else rule(source, mutation),
    }  # fmt: skip


def _print_row(row: dict) -> None:
    mark = f" (equivalent by rule {row['rule']})" if row["rule"] else ""
    place = f"{row['file']}:{row['line']} {row['function']}: {row['kind']}"
    by = f" by {row['test']}" if row["test"] else f" after {row['tests']} tests"
    sys.stdout.write(f"{row['outcome']}{mark}  {place}{by} ({row['seconds']} s)\n")
    if row["outcome"] != "killed":
        sys.stdout.write(f"{row['diff']}\n\n")
    sys.stdout.flush()


def _print_sums(rows: list[dict]) -> None:
    """The sums by package."""
    for package in sorted({row["package"] for row in rows}):
        counts = Counter(row["outcome"] for row in rows if row["package"] == package)
        parts = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        sys.stdout.write(f"{package}: {parts}\n")
    alive = sum(row["outcome"] != "killed" for row in rows)
    equal = Counter(row["rule"] for row in rows if row["rule"])
    if rows:
        sys.stdout.write(f"{alive} of {len(rows)} not noticed ({alive / len(rows):.0%})\n")
    for name, count in sorted(equal.items()):
        sys.stdout.write(f"{count} of them equivalent by rule {name}\n")
    if equal:
        left, of_all = alive - equal.total(), len(rows) - equal.total()
        sys.stdout.write(f"{left} of {of_all} others not noticed ({left / of_all:.0%})\n")


if __name__ == "__main__":
    sys.exit(main())
