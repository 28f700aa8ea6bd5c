# SPDX-License-Identifier: BSD-3-Clause
"""Text files that users give."""

from pathlib import Path

from iap_description.errors import BadInput


def read_text(path: Path) -> str:
    """A file's text, with or without a byte order mark.

    Raises:
        BadInput: it is missing or not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error


def table_lines(path: Path) -> list[tuple[int, str]]:
    """Lines of a file and their numbers, from 1, without blank ones and those that begin with #.

    Raises:
        BadInput: it is missing or not UTF-8.
    """
    lines = enumerate(read_text(path).splitlines(), 1)
    return [(n, line) for n, line in lines if line.strip() and not line.lstrip().startswith("#")]
