# SPDX-License-Identifier: BSD-3-Clause
"""Reading of bags that may be damaged or made to do harm.

rosbags unpacks whatever a file brings along: ten kilobytes become gigabytes. Importing this module puts limits into its
decompressors. `parsing` makes bad input of whatever rosbags meets, and `raw_messages` reads this suite's own bags so.

Messages of this suite's types as another version defined them, brought into today's definition.

A recording has the definitions of its messages. Fields that were unknown then become zero or empty, and those that are
gone are left out.
"""

import bz2
import os
import re
import struct
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lz4.frame  # type: ignore[import-untyped]
import numpy as np
from rosbags.interfaces import Connection, MessageDefinition, MessageDefinitionFormat, Nodetype
from rosbags.rosbag1 import reader as rosbag1_reader
from rosbags.rosbag2 import Reader, storage_mcap
from rosbags.rosbag2 import reader as rosbag2_reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from iap_description.config.plain_yaml import parse_yaml, read_yaml
from iap_description.config.text_files import no_text
from iap_description.errors import BadInput, shown
from iap_io.bags.storage_files import STORAGE_SUFFIXES, suffix_of
from iap_io.wire.cdr import message, message_types, serialised

MESSAGE_PREFIX = "iap_msgs/"
AS_MANY = {
    ("iap_msgs/msg/PlatformState", "rotor_tilt"): "rotor_rpm"
}  # unknown field -> one with as many entries
Renewal = Callable[[bytes], bytes]
METADATA = "metadata.yaml"
LATEST_VERSION = 9  # of metadata that rosbags reads
MAX_CHUNK = 32 << 20  # bytes that a compressed chunk, or message, may come to
MAX_FILE, MAX_RATIO = 256 << 20, 200  # of a compressed storage file: bytes, or else times its size
_WINDOW_LOG = 25  # of zstd: it sets so much memory aside
_REASONS: dict[type[Exception], str] = {
    MemoryError: "a length in it is larger than memory",
    OverflowError: "a length in it is no length",
    AssertionError: "its records contradict each other",
    struct.error: "a record is cut short",
    EOFError: "it ends too early",
}


def renewal(connection: Connection) -> Renewal | None:
    """The conversion of a topic's messages into today's definition, None where they are in it.

    Raises:
        Exception: of rosbags, whatever a damaged definition leads to.
    """
    name = connection.msgtype
    is_known = name.startswith(MESSAGE_PREFIX) and name in message_types().fielddefs
    if not is_known or not connection.msgdef.data or _is_of_today(connection):
        return None
    store = _store_of(connection)
    return lambda data: serialised(_renewed(store.deserialize_cdr(data, name), name))


def _is_of_today(connection: Connection) -> bool:
    """True if the hash of the definition, where the recording has one, is today's."""
    return connection.digest in ("", message_types().hash_rihs01(connection.msgtype))


def _store_of(connection: Connection) -> Typestore:
    """Message types as they were when a recording was made."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = get_types_from_msg(connection.msgdef.data, connection.msgtype)
    store.register({name: each for name, each in types.items() if name.startswith(MESSAGE_PREFIX)})
    return store


def _renewed(old: object, name: str) -> object:
    """A message of today's type with what an older one has of its fields."""
    fields = message_types().fielddefs[name][1]
    known: dict[str, Any] = {
        field: _value(getattr(old, field), *kind) for field, kind in fields if hasattr(old, field)
    }
    for (of, field), like in AS_MANY.items():
        if of == name and field not in known:
            known[field] = np.zeros(len(known[like]))
    return message(name, **known)


def _value(old: Any, kind: Nodetype, detail: Any) -> object:  # noqa: ANN401 - of any message
    if kind == Nodetype.NAME:
        return _renewed(old, detail)
    if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE) and detail[0][0] == Nodetype.NAME:
        return [_renewed(each, detail[0][1]) for each in old]
    return old


def _unpacked(new: Callable[[], Any], data: bytes) -> bytes:
    """Decompress data, one stream of bz2, lz4 or zstd or several.

    Raises:
        ValueError: more than `MAX_CHUNK`, or they end too early.
    """
    parts, room = [], MAX_CHUNK
    while data:
        stream = new()
        parts.append(stream.decompress(data, room + 1))
        room -= len(parts[-1])
        if room < 0:
            raise ValueError(f"a compressed chunk comes to more than {MAX_CHUNK >> 20} MiB")
        if not stream.eof:
            raise ValueError("a compressed chunk ends too early")
        data = stream.unused_data or b""
    return b"".join(parts)


def _zstd_stream() -> object:
    return _zstd.ZstdDecompressor(
        options={_zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
    )


class _LimitedFile:
    """A compressed storage file, unpacked piece by piece as rosbags asks for it."""

    def __init__(self, file: Any, mode: str) -> None:  # noqa: ANN401
        self._file = _zstd.open(file, mode)
        self._room = max(MAX_FILE, MAX_RATIO * os.fstat(file.fileno()).st_size)

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        self._room -= len(data)
        if self._room < 0:
            raise ValueError("a compressed file comes to far more than its size promises")
        return data

    def __enter__(self) -> "_LimitedFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


_zstd: Any = storage_mcap.zstd
_LZ4, _BZ2 = lz4.frame.LZ4FrameDecompressor, bz2.BZ2Decompressor
_msgdef_of: Any = storage_mcap.get_msgdef


def _definition(schema: Any) -> MessageDefinition:  # noqa: ANN401
    """The definition of a channel's type; none of another kind, such as protobuf's, whose channel is not read."""
    try:
        definition: MessageDefinition = _msgdef_of(schema)
    except KeyError:
        return MessageDefinition(MessageDefinitionFormat.NONE, "")
    return definition


class _PlainYAML:
    """rosbags' reader of YAML, with the limits of all other files; its own one in Python is ten times slower."""

    def __init__(self, typ: str) -> None:
        del typ

    def load(self, text: str) -> Any:  # noqa: ANN401 - YAML is untyped
        try:
            return parse_yaml(text, source=METADATA)
        except BadInput as error:
            raise ValueError(str(error)) from error  # `parsing` adds the path


rosbag2_reader.YAML = _PlainYAML  # type: ignore[misc, assignment]
storage_mcap.get_msgdef = _definition
storage_mcap.DECOMPRESSORS["lz4"] = lambda data, _: _unpacked(_LZ4, data)
storage_mcap.DECOMPRESSORS["zstd"] = lambda data, _: _unpacked(_zstd_stream, data)
rosbag1_reader.decompressors["lz4"] = lambda data: _unpacked(_LZ4, data)
rosbag1_reader.decompressors["bz2"] = lambda data: _unpacked(_BZ2, data)
rosbag2_reader.zstd = SimpleNamespace(  # type: ignore[assignment] # the two functions that are used of it
    decompress=lambda data: _unpacked(_zstd_stream, data), open=_LimitedFile
)


# An exception within the text of another one.
_EXCEPTION = re.compile(r"\b\w+(?:Error|Exception)\(['\"]?(.*?)['\"]?\)")


@contextmanager
def parsing(path: Path, what: str = "rosbag") -> Iterator[None]:
    """Report whatever a bag's bytes lead to as bad input; only what decodes them belongs in here."""
    try:
        yield
    except BadInput:
        raise
    # A damaged file can fail anywhere in several parsers and decompressors, each with
    # exceptions of its own.
    except Exception as error:
        raise BadInput(f"{path}: not a readable {what}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return no_text(error.object) or "it is damaged"
    reason = next((text for kind, text in _REASONS.items() if isinstance(error, kind)), None)
    detail = " ".join(_EXCEPTION.sub(r"'\1'", str(error)).split())[:160]
    if "Bag index" in detail or "Bag is not indexed" in detail:
        return "its index is damaged or missing, as of a recorder that was killed: 'rosbag reindex' makes it anew"
    return reason or (f"it is damaged: {detail}" if detail else "it is damaged")


def check_entries(path: Path) -> None:
    """Refuse a folder with what is neither a file nor a folder, such as a pipe, which would be waited for.

    Raises:
        BadInput: one line.
    """
    for each in sorted(path.iterdir()) if path.is_dir() else ():
        if not (each.is_file() or each.is_dir()):
            raise BadInput(f"{each}: cannot be read: not a file")


def check_metadata(path: Path) -> None:
    """Refuse a rosbag2 folder whose metadata.yaml is not what rosbags takes it for, before it is read.

    Raises:
        BadInput: one line.
    """
    check_entries(path)
    if not path.is_dir():
        return
    about = read_yaml(path / METADATA).get("rosbag2_bagfile_information")
    about = about if isinstance(about, dict) else {}
    files = about.get("relative_file_paths")
    topics: Any = about.get("topics_with_message_count")
    is_listed = _are(files, str) and _are(about.get("files", []), dict)
    if not (is_listed and _are(topics, dict) and all(map(_is_counted, topics))):
        raise BadInput(f"{path / METADATA}: the lists of files and topics are damaged")


def fault_of_metadata(path: Path) -> str | None:
    """The reason why the metadata.yaml of a folder cannot be used, in words behind its name; None if it can."""
    try:
        check_metadata(path)
        about = read_yaml(path / METADATA)["rosbag2_bagfile_information"]
    except BadInput:
        return "is damaged"
    if about.get("version") not in range(1, LATEST_VERSION + 1):
        return f"is of version {shown(about.get('version'))}, which is not known"
    files = [path / Path(name).name for name in about["relative_file_paths"]]
    missing = [each.name for each in files if not each.is_file()]
    if missing:
        return f"names {shown(missing[0])}, which is not there"
    is_packed = str(about.get("compression_mode", "")).lower() == "file"
    is_known = about.get("compression_format", "") in ("", "zstd")
    if is_packed and is_known and all(suffix_of(each) in STORAGE_SUFFIXES for each in files):
        return "says that its files are packed, and they are not"
    return None


def _are(items: Any, kind: type) -> bool:  # noqa: ANN401 - of YAML
    return isinstance(items, list) and all(isinstance(each, kind) for each in items)


def _is_counted(topic: dict[str, Any]) -> bool:
    return isinstance(topic.get("message_count"), int)


def raw_messages(
    bag: Path, topics: Container[str], *, start: int | None = None, stop: int | None = None
) -> Iterator[tuple[Connection, int, bytes]]:
    """Serialised messages of some topics of one of this suite's bags, in order of their time.

    Args:
        bag: the bag's folder.
        topics: those that count.
        start: first stamp [ns].
        stop: stamp [ns] before which they end.

    Yields:
        Connection, stamp [ns], and the message in CDR, as this version of the suite defines it.

    Raises:
        BadInput: the bag is damaged.
    """
    with parsing(bag, "recording"):
        check_metadata(bag)
        with Reader(bag) as reader:
            connections = [each for each in reader.connections if each.topic in topics]
            if not connections:  # none is all of them to rosbags
                return
            renewals = {each.id: renewal(each) for each in connections}
            for connection, stamp, data in reader.messages(connections, start=start, stop=stop):
                renew = renewals[connection.id]
                yield connection, stamp, data if renew is None else renew(data)
