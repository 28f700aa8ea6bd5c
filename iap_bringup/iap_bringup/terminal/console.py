# SPDX-License-Identifier: BSD-3-Clause
"""The terminal, on which words of users stand as they are."""

from rich.console import Console
from rich.markup import escape


def make_console(*, stderr: bool = False) -> Console:
    """A console that takes brackets for letters: files and keys of users may be called ``[/b]``."""
    return Console(stderr=stderr, markup=False)


def headline(name: str, text: str) -> str:
    """A name in bold and a text behind it, to be printed with ``markup=True``."""
    return f"[bold]{escape(name)}[/]: {escape(text)}"
