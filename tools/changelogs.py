# SPDX-License-Identifier: BSD-3-Clause
"""Writes each package's CHANGELOG.rst, as ROS 2's release tools read it, from CHANGELOG.md.

Usage: ./iap python tools/changelogs.py

CHANGELOG.md is the one place that people write. A version gets a section once its heading has a date
(``## 1.2.0 (2026-12-01)``); sections that are there stay. An entry goes to the packages that the commit of its first
line has touched, or to iap_suite if that touched none. So this needs the checkout's history.
"""

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$")
WHOLE = "iap_suite"  # the package that stands for what lies in none: docs, tools, tests


class Entry(NamedTuple):
    """An entry of a version: its text in Markdown on one line, and the number of its first line from 0."""

    text: str
    line: int


def sections(lines: Iterable[str]) -> dict[str, tuple[str, list[Entry]]]:
    """Date and entries of each dated version, newest first; the first entry is what the version is about."""
    found: dict[str, tuple[str, list[Entry]]] = {}
    entries: list[Entry] = []
    is_open = False  # whether an entry may go on in the next line
    for number, line in enumerate(lines):
        if line.startswith("## "):
            entries, is_open = [], True
            if heading := VERSION.match(line):
                found[heading[1]] = (heading[2], entries)
        elif line.startswith("- ") or (line and not entries):
            entries.append(Entry(line.removeprefix("- "), number))
            is_open = True
        elif is_open and entries and line.startswith("  "):
            entries[-1] = entries[-1]._replace(text=f"{entries[-1].text} {line.strip()}")
        else:
            is_open = False
    return found


def restructured(text: str) -> str:
    """Markdown's inline markup as that of reStructuredText."""
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)  # links, which would point elsewhere
    words, *rest = text.split("`")
    found = plain(words)
    for code, words in zip(rest[::2], rest[1::2], strict=True):
        before = "" if not found or found[-1] in " '\"([{<-/:" else "\\ "
        behind = "" if not words or words[0] in " '\")]}>-/:.,;!?" else "\\ "
        found += f"{before}``{code}``{behind}{plain(words)}"
    return found


def plain(words: str) -> str:
    """Text without marks of either language."""
    words = words.replace("**", "")
    return re.sub(r"[\\*|]|_(?!\w)", lambda mark: f"\\{mark[0]}", words)


def section(version: str, date: str, texts: Iterable[str]) -> str:
    """The section of one version."""
    title = f"{version} ({date})"
    items = (
        textwrap.fill(
            restructured(text),
            100,
            initial_indent="* ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for text in texts
    )
    return "\n".join([title, "-" * len(title), *items, ""])


def title(package: str) -> str:
    """The head of a package's file."""
    text = f"Changelog for package {package}"
    rule = "^" * len(text)
    return f"{rule}\n{text}\n{rule}\n"


def packages_of_lines(root: Path) -> list[frozenset[str]]:
    """The packages that the commit of each line of CHANGELOG.md has touched."""

    def git(*arguments: str) -> list[str]:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.splitlines()

    @cache
    def touched(commit: str) -> frozenset[str]:
        if not commit.strip("0"):  # lines that are not committed yet, as a version's heading
            return frozenset()
        paths = git("show", "--format=", "--name-only", commit)
        return frozenset(path.split("/")[0] for path in paths if path.startswith("iap_"))

    blamed = git("blame", "-s", "-w", "-M", "CHANGELOG.md")
    return [touched(line.split(" ", 1)[0].lstrip("^")) for line in blamed]


def missing(root: Path) -> dict[Path, list[str]]:
    """The dated versions that each package's file lacks."""
    known = sections((root / "CHANGELOG.md").read_text(encoding="utf-8").splitlines())
    found = {}
    for manifest in sorted(root.glob("iap_*/package.xml")):
        path = manifest.with_name("CHANGELOG.rst")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        newest = re.search(r"^(\d+\.\d+\.\d+) \(", text, re.MULTILINE)
        versions = list(known)
        found[path] = versions[: versions.index(newest[1])] if newest else versions
    return found


def write(root: Path) -> None:
    """Write what the packages' files lack."""
    known = sections((root / "CHANGELOG.md").read_text(encoding="utf-8").splitlines())
    lacking = missing(root)
    if not any(lacking.values()):
        return
    packages = packages_of_lines(root)
    for path, versions in lacking.items():
        name = path.parent.name
        head = title(name)
        old = path.read_text(encoding="utf-8").removeprefix(head) if path.exists() else ""
        new = []
        for version in versions:
            date, (about, *entries) = known[version]
            own = [each for each in entries if name in (packages[each.line] or {WHOLE})]
            new.append((bool(own), section(version, date, (each.text for each in (about, *own)))))
        while not old and len(new) > 1 and not new[-1][0]:
            new.pop()  # from before there was the package
        path.write_text("\n".join([head, *(text for _, text in new)]) + old, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(write(ROOT))
