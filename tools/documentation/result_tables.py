# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the pages that are made of measured figures: measured anew, written into the pages, and checked."""

import json
import re
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
MORE = {  # verb -> options that change no figure
    "evaluate": ["--no-record", "--no-plot"],
    "replay": ["--no-plot"],
}
RECORDING = re.compile(r"\.csv\b")  # in commands that fly a recording


def printed(command: str, recordings: Path | None = None) -> Any:  # noqa: ANN401 - JSON
    """Figures that a command prints by ``--json``; single flights are flown without a recording.

    Args:
        command: text behind ``iap``.
        recordings: folder of files that it names.

    Raises:
        BadInput: it does not end well.
    """
    if command.startswith(FLIGHT):
        return fly(command.removeprefix(FLIGHT))
    words = shlex.split(command)
    iap = [sys.executable, "-P", "-m", "iap_bringup.cli.main", *words, "--json"]
    with tempfile.TemporaryDirectory() as folder:
        for path in recordings.iterdir() if recordings else ():
            (Path(folder) / path.name).symlink_to(path.resolve())
        done = subprocess.run(
            [*iap, *MORE.get(words[0], [])], cwd=folder, stdout=subprocess.PIPE, check=False
        )
    if done.returncode:
        raise BadInput(f"docs: ./iap {command} ended with {done.returncode}")
    return last_line(done.stdout.decode())


def keep_figures(command: str, tree: Any, paths: Sequence[str]) -> None:  # noqa: ANN401 - JSON
    """Keep the figures of a command that the tables show, with the version that made them."""
    path = ROOT / DATA / "figures.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    figures = {each: value_at(tree, each) for each in paths}
    known[command] = {"version": __version__, "figures": figures}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def measure(commands: Sequence[str], recordings: Path | None, made: Path | None) -> int:
    """Run commands of the tables, all if none are named, and keep their figures; returns the exit code.

    Args:
        commands: texts behind ``iap``.
        recordings: folder of recordings; None leaves out commands that fly one, unless they are named.
        made: file with what the only command has printed already; None runs it.

    Raises:
        BadInput: a command does not end well, or there is a file for several.
    """
    paths = PageTables.load(ROOT / DATA).paths()
    for command in commands:
        if command not in paths:
            raise BadInput(f"docs: no table has '{command}': {alternatives(command, paths)}")
    if made is not None and len(commands) != 1:
        raise BadInput("docs: --printed: a file is of one command: --figures COMMAND")
    if recordings is not None and not recordings.is_dir():
        raise BadInput(f"docs: --recordings {recordings}: no such folder")
    for command in commands or [
        each for each in paths if recordings or not RECORDING.search(each)
    ]:
        tree = printed(command, recordings) if made is None else printed_before(made)
        keep_figures(command, tree, paths[command])
        sys.stdout.write(f"{command}\n")
        sys.stdout.flush()
    return write_tables()


def last_line(text: str) -> Any:  # noqa: ANN401 - JSON
    """JSON of the last line of a text."""
    return json.loads(text.strip().splitlines()[-1])


def printed_before(path: Path) -> Any:  # noqa: ANN401 - JSON
    """Figures that a command has printed into a file by ``--json``.

    Raises:
        BadInput: it cannot be read, or that line is none.
    """
    try:
        return last_line(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, IndexError) as error:
        raise BadInput(f"docs: --printed {path}: no line of JSON: {error}") from error


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
