# SPDX-License-Identifier: BSD-3-Clause
"""Bags whose frame is faulty though their messages are whole, made readable in a temporary folder.

A recorder that was killed leaves an mcap file without its end: what is whole of it is kept, and an end is added.
``ros2 bag reindex`` leaves the storage's name empty. Channels in other serialisations than CDR are left out. The
bag itself is not changed.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import yaml

from iap_description.config.plain_yaml import read_yaml
from iap_description.errors import BadInput, shown
from iap_io.bags.bag_reading import METADATA, check_metadata, parsing
from iap_io.bags.storage_files import MAGIC, STORAGE_SUFFIXES, suffix_of

END = struct.pack("<BQI", 0x0F, 4, 0) + struct.pack("<BQQQI", 0x02, 20, 0, 0, 0) + MAGIC
MAX_COPY = 2 << 30  # bytes of a file that is copied to be mended
_HEAD = struct.Struct("<BQ")  # code and length of a record
_LAST = (0x02, 0x0F)  # codes of the records that end the data
_INFORMATION = "rosbag2_bagfile_information"
_PLUGINS = {".mcap": "mcap", ".db3": "sqlite3"}


@contextmanager
def mended(path: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The path to open in place of a bag's, and what had to be mended.

    Raises:
        BadInput: it has no end and is too large, or holds nothing whole.
    """
    if path.is_dir():
        check_metadata(path)
    with TemporaryDirectory(prefix="iap_bag_") as folder:
        with parsing(path):
            out = (
                _mended_folder(path, Path(folder))
                if path.is_dir()
                else _mended_file(path, Path(folder))
            )
        yield out


def _mended_file(path: Path, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """A storage file, a link to it with the name that rosbags expects, or its copy with an end."""
    suffix = suffix_of(path) or path.suffix
    target, notes = folder / f"{path.stem}{suffix}", tuple[str, ...]()
    if path.suffix != suffix and suffix in STORAGE_SUFFIXES:
        notes = (f"{path.name} is a {suffix} file by its first bytes",)
    if suffix != ".mcap" or not _is_cut(path):
        if notes:
            target.symlink_to(path.resolve())
        return (target, notes) if notes else (path, ())
    if path.stat().st_size > MAX_COPY:
        raise BadInput(
            f"{path}: it has no end, as of a recorder that was killed: 'mcap recover' mends it"
        )
    with path.open("rb") as source, target.open("wb") as copy:
        is_empty = not _copy_whole(source, copy)
        copy.write(END)
    if is_empty:
        raise BadInput(
            f"{path}: not a readable rosbag: it has no end, as of a recorder that was killed, and no message"
            f" before that; record anew"
        )
    return target, (
        *notes,
        f"{path.name} has no end, as of a recorder that was killed; what is whole of it was read",
    )


def _is_cut(path: Path) -> bool:
    """True if an mcap file begins as one and does not end as one."""
    with path.open("rb") as file:
        begins = file.read(len(MAGIC)) == MAGIC
        size = file.seek(0, 2)
        file.seek(max(0, size - len(MAGIC)))
        return begins and (size < 2 * len(MAGIC) or file.read() != MAGIC)


def _copy_whole(source: BinaryIO, copy: BinaryIO) -> bool:
    """Copy the records that are whole; returns whether a message or a chunk of messages is among them."""
    size = source.seek(0, 2)
    source.seek(0)
    copy.write(source.read(len(MAGIC)))
    has_messages = False
    while len(head := source.read(_HEAD.size)) == _HEAD.size:
        code, length = _HEAD.unpack(head)
        if code in _LAST or length > size - source.tell():
            break
        copy.write(head + source.read(length))
        has_messages |= code in (0x05, 0x06)
    return has_messages


def _mended_folder(path: Path, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """A rosbag2 folder, or a copy of its metadata beside links to its files."""
    if not (path / METADATA).exists():
        return path, ()
    tree: dict[str, Any] = read_yaml(path / METADATA)
    about = tree[_INFORMATION]
    _check_packing(path, about)
    files = [path / Path(name).name for name in about["relative_file_paths"]]
    notes = _mend_storage(about, files) + _mend_topics(about)
    for file in files:
        if file.suffix == ".mcap" and file.is_file() and _is_cut(file):
            notes += _mended_file(file, folder)[1]
    if not notes:
        return path, ()
    for file in files:
        if not (folder / file.name).exists():
            (folder / file.name).symlink_to(file.resolve())
    (folder / METADATA).write_text(yaml.safe_dump(tree))
    return folder, notes


def _check_packing(path: Path, about: dict[str, Any]) -> None:
    """Refuse a packing of files or messages that is not rosbag2's own."""
    kind = about.get("compression_format") or "zstd"
    if about.get("compression_mode") and kind != "zstd":
        raise BadInput(
            f"{path}: packed by {shown(kind)}, not zstd: unpack its files and name them, or 'ros2 bag convert' it"
        )


def _mend_storage(about: dict[str, Any], files: list[Path]) -> tuple[str, ...]:
    """Name the storage by its files where metadata name none or another one."""
    kinds = {_PLUGINS[kind] for each in files if (kind := suffix_of(each)) in _PLUGINS}
    named = about.get("storage_identifier")
    if len(kinds) != 1 or named in kinds:
        return ()
    about["storage_identifier"] = kinds.pop()
    names = (
        "no storage, as after 'ros2 bag reindex'" if not named else f"the storage {shown(named)}"
    )
    return (f"{METADATA} names {names}; it was taken from the files",)


def _mend_topics(about: dict[str, Any]) -> tuple[str, ...]:
    """Leave out the topics in other serialisations."""
    topics = about["topics_with_message_count"]
    formats = [
        topic.get("topic_metadata", {}).get("serialization_format", "cdr") for topic in topics
    ]
    if set(formats) <= {"cdr"} or "cdr" not in formats:
        return ()
    about["topics_with_message_count"] = [
        topic for topic, kind in zip(topics, formats, strict=True) if kind == "cdr"
    ]
    others = ", ".join(sorted(set(map(str, formats)) - {"cdr"}))
    return (f"topics in other serialisations ({others}) were left out",)
