# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that a system call takes in part, files that only grow, and images whose end is missing."""

import errno
import os
import struct

import pytest

from iap_io.bags import bag_writer
from iap_io.bags.bag_writer import GrowingFile, RecordingFailed, put
from iap_io.bags.encoded_images import _PNG, _is_whole_png, _size


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("buffers", [1, 2, 50])
def test_what_a_call_leaves_is_written_by_the_next(most, buffers, tmp_path, monkeypatch):
    calls, real = [], os.pwritev

    def some(file, views, at):
        data = b"".join(bytes(each) for each in views)[:most]
        calls.append(len(views))
        return real(file, [data], at)

    monkeypatch.setattr(bag_writer.os, "pwritev", some)
    monkeypatch.setattr(bag_writer, "_BUFFERS", buffers)
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    file = os.open(path, os.O_RDWR)
    put(file, 2, b"ab", b"", memoryview(b"cdefg"), b"h")
    put(file, 0)
    os.close(file)
    assert path.read_bytes() == b"01abcdefgh"
    assert max(calls) <= buffers


def test_a_file_grows_by_whole_pieces_and_is_let_go_of(tmp_path, monkeypatch):
    path = tmp_path / "a"
    grown = GrowingFile(path)
    assert path.stat().st_mode & 0o777 == 0o644 & ~_umask()
    grown.append("aé")
    real = bag_writer.put

    def full(file, at, *parts):
        real(file, at, b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bag_writer, "put", full)
    with pytest.raises(RecordingFailed, match=r"a: cannot be written: No space left on device"):
        grown.append("half of it")
    monkeypatch.setattr(bag_writer, "put", real)
    grown.append("b\n")
    assert path.read_text(encoding="utf-8") == "aéb\n"
    number = grown._file
    grown.close()
    grown.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)
    with pytest.raises(FileExistsError):
        GrowingFile(path)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def chunk(name, data=b""):
    return struct.pack(">I", len(data)) + name + data + b"crc."


def test_a_png_is_whole_up_to_its_end_chunk():
    whole = _PNG + chunk(b"IHDR", bytes(13)) + chunk(b"IDAT", b"IEND") + chunk(b"IEND")
    assert _is_whole_png(whole) and _is_whole_png(whole + b"more")
    for end in range(len(_PNG), len(whole)):
        assert not _is_whole_png(whole[:end])
    assert _is_whole_png(_PNG + chunk(b"IEND"))
    assert not _is_whole_png(_PNG + struct.pack(">I", 1 << 31) + b"IDAT" + bytes(100))


def test_sizes_are_those_of_the_head():
    png = _PNG + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 640, 480)
    assert len(png) == 24 and _size(png) == (640, 480)
    frame = b"\xff\xc0" + struct.pack(">HBHH", 17, 8, 480, 640)
    for before in (b"", b"\xff\xe0" + struct.pack(">H", 4) + b"ab", b"\xff" * 3):
        assert _size(b"\xff\xd8" + before + frame) == (640, 480)
    for odd in (png[:23], b"", b"\xff\xd8", b"\xff\xd8" + frame[:8], b"\xff\xd8ab" + frame):
        with pytest.raises(ValueError, match="neither a PNG nor a JPEG"):
            _size(odd)
