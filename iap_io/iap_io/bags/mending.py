# SPDX-License-Identifier: BSD-3-Clause
"""Bags whose frame is faulty though their messages are whole, made readable in a temporary folder.

A recorder that was killed leaves an mcap file without its end: what is whole of it is kept, and an end is added.
``ros2 bag reindex`` leaves the storage's name empty. Channels in other serialisations than CDR are left out. An mcap
file whose head names no profile is one of ROS 2 where its messages are. A recorder of sqlite3 keeps the latest messages
in a journal beside its file, which is brought into the copy. The bag itself is not changed.
"""

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
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
_HEADER, _LONGEST_PROFILE = 0x01, 64  # code of the first record; bytes
_LAST = (0x02, 0x0F)  # codes of the records that end the data
_INFORMATION = "rosbag2_bagfile_information"
_PLUGINS = {".mcap": "mcap", ".db3": "sqlite3"}
_PROFILE = b"ros2"  # of mcap files
_JOURNALS = ("-wal", "-journal")  # behind the name of a sqlite3 file


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
    copied = _mended_copy(path, suffix, target)
    if notes and not copied:
        target.symlink_to(path.resolve())
    notes += copied
    return (target, notes) if notes else (path, ())


def _mended_copy(path: Path, suffix: str, target: Path) -> tuple[str, ...]:
    """Copy a storage file that cannot be read whole as it is, and mend the copy; nothing for a sound one."""
    if suffix == ".db3":
        return _with_journal(path, target)
    if suffix != ".mcap":
        return ()
    is_cut, profile = _is_cut(path), _profile(path)
    if not is_cut and profile in (_PROFILE, None):
        return ()
    if profile not in (_PROFILE, b"", None):
        raise BadInput(
            f"{path}: its messages are those of {shown(profile.decode(errors='replace'))}, not of ROS 2:"
            " convert it to a bag of ROS 2 (rosbags-convert, or 'mcap convert' of its source)"
        )
    if path.stat().st_size > MAX_COPY:
        fault = "no end, as of a recorder that was killed" if is_cut else "no profile in its head"
        raise BadInput(f"{path}: it has {fault}: 'mcap recover' mends it")
    with path.open("rb") as source, target.open("wb") as copy:
        is_empty = not _copy_whole(source, copy)
        copy.write(END)
    if is_empty and is_cut:
        raise BadInput(
            f"{path}: not a readable rosbag: it has no end, as of a recorder that was killed, and no message"
            f" before that; record anew"
        )
    killed = (
        f"{path.name} has no end, as of a recorder that was killed; what is whole of it was read"
    )
    return (killed,) if is_cut else (f"{path.name} names no profile: taken as ROS 2's",)


def _with_journal(path: Path, target: Path) -> tuple[str, ...]:
    """Copy a sqlite3 file with what its recorder had only written to a journal beside it; nothing without one."""
    journals = [path.with_name(path.name + end) for end in _JOURNALS]
    journals = [each for each in journals if each.is_file() and each.stat().st_size]
    if not journals:
        return ()
    if sum(each.stat().st_size for each in (path, *journals)) > MAX_COPY:
        raise BadInput(
            f"{path}: its latest messages are in {journals[0].name}: sqlite3 {path.name} 'PRAGMA"
            " wal_checkpoint(TRUNCATE)' brings them into it"
        )
    shutil.copyfile(path, target)
    for each in journals:
        shutil.copyfile(each, target.with_name(each.name.replace(path.name, target.name, 1)))
    with closing(sqlite3.connect(target)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode=DELETE")
    return (f"{journals[0].name} beside {path.name}, as of a recorder that was killed: read, too",)


def _profile(path: Path) -> bytes | None:
    """The profile that an mcap file's head names; None where it has no head."""
    with path.open("rb") as file:
        head = file.read(len(MAGIC) + _HEAD.size + 4)
        if len(head) < len(MAGIC) + _HEAD.size + 4 or head[len(MAGIC)] != _HEADER:
            return None
        length = struct.unpack("<I", head[-4:])[0]
        return file.read(length) if length < _LONGEST_PROFILE else None


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
        data = source.read(length)
        if code == _HEADER and data[:4] == bytes(4):
            data = struct.pack("<I", len(_PROFILE)) + _PROFILE + data[4:]
            head = _HEAD.pack(code, len(data))
        copy.write(head + data)
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
        if file.is_file():
            notes += _mended_copy(file, file.suffix, folder / file.name)
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
