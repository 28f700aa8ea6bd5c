# SPDX-License-Identifier: BSD-3-Clause
"""The storage files of bags, known by the bytes that they begin with, whatever they are called."""

from pathlib import Path

from iap_description.config.text_files import is_file, no_text

ROS1_SUFFIX = ".bag"
STORAGE_SUFFIXES = (".mcap", ".db3")
MAGIC = b"\x89MCAP0\r\n"  # of mcap files
_BEGINNINGS = {b"#ROSBAG V": ROS1_SUFFIX, MAGIC: ".mcap", b"SQLite format 3\0": ".db3"}


def suffix_of(path: Path) -> str | None:
    """The suffix that a file of a bag should have, by its first bytes; None for another file, or none."""
    begin = _begin(path)
    return next((kind for mark, kind in _BEGINNINGS.items() if begin.startswith(mark)), None)


def packing_of(path: Path) -> str | None:
    """The packing of a file, with the remedy; None where none is known."""
    return no_text(_begin(path))


def is_bag_file(path: Path) -> bool:
    """True if a file is one of a bag, by its first bytes or its name."""
    return is_file(path) and (
        suffix_of(path) is not None or path.suffix in (ROS1_SUFFIX, *STORAGE_SUFFIXES)
    )


def storage_files(folder: Path) -> list[Path]:
    """The storage files in a folder, in the order of their names; where none has a bag's first bytes, those so called.

    The latter are damaged, which whoever reads one says.
    """
    entries = sorted(folder.iterdir())
    return [each for each in entries if suffix_of(each) in STORAGE_SUFFIXES] or [
        each for each in entries if is_file(each) and each.suffix in STORAGE_SUFFIXES
    ]


def _begin(path: Path) -> bytes:
    if not is_file(path):
        return b""
    try:
        with path.open("rb") as file:
            return file.read(max(map(len, _BEGINNINGS)))
    except OSError:  # whoever reads it says so
        return b""
