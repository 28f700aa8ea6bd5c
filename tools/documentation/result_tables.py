# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the pages that are made of measured figures: measured anew, written into the pages, and checked."""

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iap_bringup import __version__
from iap_bringup.experiments.page_tables import PageTables, filled, load_figures, value_at
from iap_bringup.experiments.readme_figures import DATA, FLIGHT, fly
from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
MORE = {"evaluate": ["--no-record", "--no-plot"]}  # verb -> options that change no figure


def printed(command: str) -> Any:  # noqa: ANN401 - JSON
    """Figures that a command prints by ``--json``; single flights are flown without a recording.

    Raises:
        BadInput: it does not end well.
    """
    if command.startswith(FLIGHT):
        return fly(command.removeprefix(FLIGHT))
    words = shlex.split(command)
    iap = [sys.executable, "-P", "-m", "iap_bringup.cli.main", *words, "--json"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*iap, *MORE.get(words[0], [])], cwd=folder, stdout=subprocess.PIPE, check=False
        )
    if done.returncode:
        raise BadInput(f"docs: ./iap {command} ended with {done.returncode}")
    return json.loads(done.stdout.decode().strip().splitlines()[-1])


def keep_figures(command: str, tree: Any, paths: Sequence[str]) -> None:  # noqa: ANN401 - JSON
    """Keep the figures of a command that the tables show, with the version that made them."""
    path = ROOT / DATA / "figures.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    figures = {each: value_at(tree, each) for each in paths}
    known[command] = {"version": __version__, "figures": figures}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def measure(commands: Sequence[str]) -> int:
    """Run commands of the tables, all if none are named, and keep their figures; returns the exit code."""
    paths = PageTables.load(ROOT / DATA).paths()
    for command in commands:
        if command not in paths:
            sys.stderr.write(
                f"iap: docs: no table has '{command}': {alternatives(command, paths)}\n"
            )
            return 2
    for command in commands or paths:
        keep_figures(command, printed(command), paths[command])
        sys.stdout.write(f"{command}\n")
        sys.stdout.flush()
    return write_tables()


def pages() -> list[Path]:
    """README and the pages that are not made by the build."""
    docs = [
        page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "generated"
    ]
    return [ROOT / "README.md", *docs]


def stale_pages() -> dict[Path, str]:
    """Pages whose tables differ from the measured figures, and their text with the right ones.

    Raises:
        BadInput: a page names an unknown table, or a figure was not measured.
    """
    tables, figures = PageTables.load(ROOT / DATA), load_figures(ROOT / DATA)
    out = {}
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := filled(text, tables, figures)) != text:
            out[page] = new
    return out


def write_tables() -> int:
    """Write the tables of all pages; returns the exit code."""
    for page, text in stale_pages().items():
        page.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{page}\n")
    return 0
