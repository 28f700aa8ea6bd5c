# SPDX-License-Identifier: BSD-3-Clause
"""The last lines of a command: where its files are, and what to type next."""

import shlex
from pathlib import Path

from rich.console import Console

from iap_bringup.terminal.program import program


def show_path(console: Console, path: str | Path, what: str = "") -> None:
    """Print where something is, whole and as it is spelt, behind what it is."""
    text = f"{what}: {path}" if what else str(path)
    console.print(text, soft_wrap=True, highlight=False)


def show_next(console: Console, what: str, *words: str | Path) -> None:
    """Print what one does next, and the words behind `program` that do it."""
    command = shlex.join([program(), *map(str, words)])
    console.print(f"{what}: {command}", soft_wrap=True, highlight=False)


def show_view(console: Console, folder: Path) -> None:
    """Print the command that shows a folder of a run, or of many, in the browser."""
    show_next(console, "look at it", "view", folder)
