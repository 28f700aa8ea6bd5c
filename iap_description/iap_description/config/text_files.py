# SPDX-License-Identifier: BSD-3-Clause
"""Text files that users give, which may be anything: read up to a limit, and refused in one line."""

from collections.abc import Iterator
from pathlib import Path

from iap_description.errors import BadInput

MAX_TEXT = 32 << 20  # bytes of a file that is read as a whole
MAX_LINE = 1 << 16  # characters of a table's line


def is_file(path: Path) -> bool:
    """True if there is such a file, also for a name that no file can have."""
    try:
        return path.is_file()
    except (
        OSError
    ):  # longer than the file system allows, or in a folder that may not be looked into
        return False


def read_text(path: Path) -> str:
    """A file's text, with or without a byte order mark.

    Raises:
        BadInput: it is missing, larger than `MAX_TEXT`, or not UTF-8.
    """
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path}: cannot be read: not a file")
        if path.stat().st_size > MAX_TEXT:
            raise BadInput(f"{path}: cannot be read: longer than {MAX_TEXT >> 20} MiB")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error


def table_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a file, ends included, and their numbers, from 1, without blank ones and those that begin with #.

    Raises:
        BadInput: it is missing or not UTF-8, or a line is longer than `MAX_LINE`.
    """
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            while line := file.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE:
                    raise BadInput(f"{path}: line {number} is longer than {MAX_LINE} characters")
                if line.strip() and not line.lstrip().startswith("#"):
                    yield number, line
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
