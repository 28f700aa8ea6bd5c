# SPDX-License-Identifier: BSD-3-Clause
"""The last line of a command: what to type next."""

import shlex
from pathlib import Path

from rich.console import Console

from iap_bringup.terminal.program import program


def show_next(console: Console, what: str, *words: str | Path) -> None:
    """Print what one does next, and the words behind `program` that do it."""
    command = shlex.join([program(), *map(str, words)])
    console.print(f"{what}: {command}", soft_wrap=True, highlight=False, markup=False)


def show_view(console: Console, folder: Path) -> None:
    """Print the command that shows a folder of a run, or of many, in the browser."""
    show_next(console, "look at it", "view", folder)
