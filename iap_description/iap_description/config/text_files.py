# SPDX-License-Identifier: BSD-3-Clause
"""Text files that users give, which may be anything: read up to a limit, and refused in one line."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from iap_description.errors import BadInput

MAX_TEXT = 32 << 20  # bytes of a file that is read as a whole
MAX_TABLE = 1 << 30  # bytes of a table, which is read line by line
MAX_LINE = 1 << 16  # characters of a table's line
CUT = "; the file ends within this line: delete it"
_BEGINNINGS = {  # of files that are taken for texts
    b"\xff\xfe": "text in UTF-16: save it in UTF-8",
    b"\xfe\xff": "text in UTF-16: save it in UTF-8",
    b"\x1f\x8b": "packed by gzip: unpack it",
    b"BZh": "packed by bzip2: unpack it",
    b"\xfd7zXZ": "packed by xz: unpack it",
    b"(\xb5/\xfd": "packed by zstd: unpack it",
    b"PK\x03\x04": "a zip archive: unpack it",
}
_OF_MISFITS = (LookupError, TypeError, AttributeError, NameError)  # Python's words say nothing


def is_file(path: Path) -> bool:
    """True if there is such a file, also for a name that no file can have."""
    try:
        return path.is_file()
    except (
        OSError
    ):  # longer than the file system allows, or in a folder that may not be looked into
        return False


def check_yaml_path(name: str) -> None:
    """Refuse the path of something that is no YAML file; what is no path passes.

    Raises:
        BadInput: it is missing, no regular file, or has another suffix.
    """
    is_yaml = name.endswith((".yaml", ".yml"))
    if (is_yaml or os.sep in name) and os.path.exists(name):  # noqa: PTH110 - it takes every name
        check_file(Path(name))
        if not is_yaml:
            raise BadInput(f"{name}: not a YAML file: its name ends in neither .yaml nor .yml")
    if is_yaml:
        raise BadInput(f"{name}: no such file")


def check_file(path: Path, largest: int = MAX_TEXT) -> None:
    """Refuse what is no file on a disk (a pipe, a device, links in a circle), or is too large.

    Raises:
        BadInput: it is missing, no regular file, or larger than so many bytes.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error
    if not stat.S_ISREG(status.st_mode):
        raise BadInput(f"{path}: cannot be read: not a file")
    if status.st_size > largest:
        raise BadInput(f"{path}: cannot be read: longer than {largest >> 20} MiB")


def reason_of(error: Exception) -> str:
    """The reason of a library's exception, without the library's own form."""
    if isinstance(error, UnicodeDecodeError):
        byte = f"byte 0x{error.object[error.start]:02x} is no text in UTF-8: save it in UTF-8"
        return no_text(error.object) or byte
    reason = error.strerror if isinstance(error, OSError) else None
    if isinstance(error, MemoryError):
        return "a length in it is larger than memory"
    if isinstance(error, _OF_MISFITS):
        return "its parts do not fit each other"
    return reason or str(error) or "it is damaged"


def read_bytes(path: Path, largest: int = MAX_TEXT) -> bytes:
    """The bytes of a file.

    Raises:
        BadInput: it cannot be read, see `check_file`.
    """
    check_file(path, largest)
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error


def read_text(path: Path) -> str:
    """A file's text, with or without a byte order mark.

    Raises:
        BadInput: it cannot be read, see `check_file`, or is not UTF-8.
    """
    check_file(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error


def no_text(data: bytes) -> str | None:
    """The kind of file that bytes begin as in place of a text or a log, with the remedy; None if it is not known."""
    return next((kind for mark, kind in _BEGINNINGS.items() if data.startswith(mark)), None)


def remedy_of_cut(line: str) -> str:
    """The remedy where a line has too few columns: the last one of a writer that was ended has no line end."""
    return "" if line.endswith(("\n", "\r")) else CUT


def _zeros_of(line: str) -> str:
    """The cause and remedy of zero bytes in a line."""
    if line.strip("\0 \r\n"):
        return "zero bytes between its letters, as of text in UTF-16: save it in UTF-8"
    return "zero bytes alone, as of a file that was never written out: copy it again"


def table_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a file, ends included, and their numbers, from 1, without blank ones and those that begin with #.

    Raises:
        BadInput: it cannot be read, see `check_file`, is not UTF-8, has zero bytes, or a line longer than `MAX_LINE`.
    """
    number = 0
    check_file(path, MAX_TABLE)
    try:
        with path.open(encoding="utf-8-sig") as file:
            while line := file.readline(MAX_LINE):
                number += 1
                if "\0" in line:
                    raise BadInput(f"{path}: line {number}: {_zeros_of(line)}")
                if len(line) == MAX_LINE:
                    raise BadInput(f"{path}: line {number} is longer than {MAX_LINE} characters")
                if line.strip() and not line.lstrip().startswith("#"):
                    yield number, line
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error
