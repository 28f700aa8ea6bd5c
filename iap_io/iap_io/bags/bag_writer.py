# SPDX-License-Identifier: BSD-3-Clause
"""Writes a rosbag2 folder (mcap) chunk by chunk so that the bag on disk is complete at any time.

Behind the data always stands the index that an mcap file ends with; the next chunk overwrites it
and brings a longer one along, in one system call. So a run that is killed leaves a bag that opens,
and when the disk is full the old index goes back to its old place, which needs no new space. A
chunk arrives as one buffer with arrays of stamps and offsets, so that a message costs no Python
call (rosbags' own writer takes some microseconds for each).
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rosbags.typesys.store import Typestore

from iap_description.errors import IapError
from iap_io.bags import mcap_format
from iap_io.bags.mcap_format import Content, Index, Topics, message_head

STORAGE = "bag_0.mcap"
METADATA = "metadata.yaml"
_RESERVE = 1 << 16  # bytes set aside so that a run on a full disk can still be finished
_PENDING = 1 << 20  # bytes of single messages in a chunk; what is read does not depend on it
_BUFFERS = os.sysconf("SC_IOV_MAX")  # that one system call takes
_FLAGS = os.O_CREAT | os.O_EXCL | os.O_RDWR

Buffer = bytes | memoryview


class RecordingFailed(IapError):
    """The recording could not go on; the bag holds everything up to its last complete chunk."""


class BagWriter:
    """One bag being written.

    Args:
        folder: the bag's folder; must not exist.
        store: message types.
        custom: texts stored in the bag's metadata.yaml.

    Raises:
        RecordingFailed: the folder cannot be written.
    """

    def __init__(
        self, folder: Path, store: Typestore, custom: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self._custom = dict(custom or {})
        self._topics = Topics(store)
        self._fresh: list[bytes] = []  # announcements that are not in the data part yet
        self._pending = bytearray()
        self._pending_index: list[tuple[int, int, int]] = []  # channel, stamp, offset
        self._failed = False
        self._file = self._meta = -1
        self._reserve = folder / ".reserve"
        self._content = Content(len(mcap_format.head()))
        try:
            folder.mkdir(parents=True)
            self._file = os.open(folder / STORAGE, _FLAGS, 0o644)
            self._meta = os.open(folder / METADATA, _FLAGS, 0o644)
            self._reserve.write_bytes(bytes(_RESERVE))
            put(self._file, 0, mcap_format.head())
            self._finish(self._content)
        except OSError as error:
            self._release()
            raise RecordingFailed(f"{folder}: cannot be made: {error.strerror}") from error

    def add_topic(self, name: str, msgtype: str, *, is_latched: bool = False) -> int:
        """Announce a topic by its absolute name; returns its channel.

        A player gives the last message of a latched topic to late listeners too.
        """
        self._fresh += self._topics.add(name, msgtype, is_latched=is_latched)
        self._content = replace(self._content, counts=(*self._content.counts, 0))
        return len(self._topics.names)

    def append(self, channel: int, stamp: int, data: bytes) -> None:
        """Add one serialised message; it reaches the disk with its chunk.

        Args:
            channel: from `add_topic`.
            stamp: simulation time [ns].
            data: the message in CDR, encapsulation header included.
        """
        self._pending_index.append((channel, stamp, len(self._pending)))
        self._pending += message_head(channel, stamp, len(data)) + data
        if len(self._pending) >= _PENDING:
            self.flush()

    def flush(self) -> None:
        """Write the messages that `append` collected."""
        if not self._pending_index:
            return
        table = np.array(self._pending_index, np.int64)
        index = {int(c): table[table[:, 0] == c, 1:].T for c in np.unique(table[:, 0])}
        self.write_chunk([bytes(self._pending)], {c: (s, o) for c, (s, o) in index.items()})
        self._pending.clear()
        self._pending_index.clear()

    def write_chunk(self, parts: Sequence[Buffer], index: Index) -> None:
        """Append one chunk of message records and complete the file behind it.

        Args:
            parts: buffers that follow each other in the file.
            index: per channel the stamps [ns] and the offsets of its records within the chunk.

        Raises:
            RecordingFailed: the disk is full or cannot be written; the bag then ends before this
                chunk, and takes no more.
        """
        if self._failed:
            return
        start, size = self._content.end + mcap_format.total(self._fresh), mcap_format.total(parts)
        before, behind, content = mcap_format.chunk(self._content, start, size, index)
        tail = mcap_format.tail(content, self._topics)
        try:
            put(self._file, self._content.end, *self._fresh, before, *parts, behind, tail)
            self._describe(content)
        except OSError as error:
            self._failed = True
            self._reserve.unlink(missing_ok=True)
            self._finish(self._content)  # overwrites what is there already
            stop = self._content.stop_ns * 1e-9
            kept = f"it is kept up to t = {stop:.3f} s" if stop else "nothing could be recorded"
            text = f"{self.folder}: recording stopped, {error.strerror}; {kept}"
            raise RecordingFailed(text) from error
        self._content = content
        self._fresh.clear()

    def close(self) -> None:
        """Complete the bag and let go of it; may be called again, and after a failure."""
        if self._file < 0:
            return
        try:
            self.flush()
            self._finish(self._content)
            os.ftruncate(self._meta, len(self._metadata(self._content)))
        finally:
            self._release()

    def _release(self) -> None:
        if self._reserve.exists():
            self._reserve.unlink()
        for file in (self._file, self._meta):
            if file >= 0:
                os.close(file)
        self._file = self._meta = -1

    def _finish(self, content: Content) -> None:
        """End both files with `content`."""
        tail = mcap_format.tail(content, self._topics)
        put(self._file, content.end, tail)
        os.ftruncate(self._file, content.end + len(tail))
        self._describe(content)

    def _describe(self, content: Content) -> None:
        """Bring metadata.yaml up to date, padded so that its size, and its space, stay."""
        text = self._metadata(content)
        put(self._meta, 0, text + b" " * (-len(text) % 4096))

    def _metadata(self, content: Content) -> bytes:
        return mcap_format.metadata(content, self._topics, STORAGE, self._custom)


def put(file: int, at: int, *parts: Buffer) -> None:
    """Write the parts one after another from position `at`, in one system call if that takes it.

    Raises:
        OSError: they do not all fit.
    """
    views = [memoryview(part).cast("B") for part in parts if len(part)]
    while views:
        written = os.pwritev(file, views[:_BUFFERS], at)
        at += written
        while views and written >= len(views[0]):
            written -= len(views.pop(0))
        if written:
            views[0] = views[0][written:]


class GrowingFile:
    """A new text file that only grows, and holds whole pieces only, also on a full disk.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        self._file = os.open(path, _FLAGS, 0o644)

    def append(self, text: str) -> None:
        """Write a piece at the end, whole or not at all.

        Raises:
            RecordingFailed: the disk is full or cannot be written.
        """
        data = text.encode()
        try:
            put(self._file, self._size, data)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise RecordingFailed(f"{self._path}: cannot be written: {error.strerror}") from error
        self._size += len(data)

    def close(self) -> None:
        """Let go of the file; may be called again."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1
