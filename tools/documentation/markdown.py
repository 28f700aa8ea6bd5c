# SPDX-License-Identifier: BSD-3-Clause
"""Tables and headings in Markdown."""

from collections.abc import Iterable, Sequence

MADE = "<!-- made by tools/documentation -->\n\n"


def cell(text: str) -> str:
    """One line of a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """A name or value as code; nothing for nothing."""
    return f"`{text}`" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, with an empty line behind it."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, row))} |" for row in lines) + "\n\n"
