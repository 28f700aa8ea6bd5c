# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of runs that are interrupted or killed, miss ticks, or write to a slow or full disk."""

import resource
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hang import HANG
from made_up_flights import random_flight, run_meta
from rosbags.rosbag2 import Reader

from iap_io.bags.bag_writer import STORAGE, BagWriter, RecordingFailed
from iap_io.recording.recorder import MAX_JOBS, Background, Recorder
from iap_io.recording.state_chunk import TICKS
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG
from iap_io.wire.cdr import message_types


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_run_keeps_every_tick(error: type[BaseException], tmp_path: Path) -> None:
    flight = random_flight("three_star", TICKS + 9)
    with pytest.raises(error), Recorder(tmp_path, run_meta(flight)) as recorder:
        for k in range(TICKS + 9):
            flight.record(recorder, k)
        raise error
    np.testing.assert_array_equal(load_run(tmp_path).vehicles[0].columns.x, flight.x)


def test_a_tick_that_one_vehicle_misses_is_dropped(tmp_path: Path) -> None:
    a, b = random_flight("three_star", 9, "a"), random_flight("three_star", 9, "b")
    with Recorder(tmp_path, run_meta(a, b)) as recorder:
        for k in range(9):
            a.record(recorder, k, 0)
            if k < 8:
                b.record(recorder, k, 1)
    assert [len(v.columns.t) for v in load_run(tmp_path).vehicles] == [8, 8]


def test_a_vehicle_that_is_never_recorded_is_an_error(tmp_path: Path) -> None:
    a, b = random_flight("f450", TICKS + 1, "a"), random_flight("f450", 1, "b")
    with pytest.raises(ValueError, match="every vehicle"):
        with Recorder(tmp_path, run_meta(a, b)) as recorder:
            for k in range(TICKS + 1):
                a.record(recorder, k, 0)


def test_an_interrupt_while_the_loop_waits_for_the_disk_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flight = random_flight("three_star", TICKS + 1)
    recorder = Recorder(tmp_path, run_meta(flight))
    for k in range(TICKS):
        flight.record(recorder, k)
    with monkeypatch.context() as patch:
        patch.setattr(Background, "do", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            flight.record(recorder, TICKS)
    recorder.close()
    np.testing.assert_array_equal(load_run(tmp_path).vehicles[0].columns.x, flight.x[:TICKS])


def test_a_killed_run_leaves_a_bag_that_opens(tmp_path: Path) -> None:
    flight = random_flight("three_star", 2 * TICKS + 100)
    recorder = Recorder(tmp_path / "run", run_meta(flight))
    for k in range(2 * TICKS + 100):
        flight.record(recorder, k)
    file = tmp_path / "run" / BAG / STORAGE
    x, sizes, end = [], [0], time.monotonic() + HANG
    while len(x) < 2 * TICKS:  # until the thread has had the time for all of its work
        assert time.monotonic() < end
        time.sleep(0.05)
        sizes.append(file.stat().st_size)
        if len(set(sizes[-4:])) == 1 and sizes[-1] > 1_000_000:
            killed = shutil.copytree(tmp_path / "run", tmp_path / f"killed_{len(sizes)}")
            x = load_run(killed).vehicles[0].columns.x  # what the disk holds at this moment
    recorder.close()
    np.testing.assert_array_equal(x, flight.x[: 2 * TICKS])


def test_a_full_disk_is_one_line_and_keeps_the_rest(tmp_path: Path) -> None:
    flight = random_flight("three_star", 4 * TICKS)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    recorder = Recorder(tmp_path, run_meta(flight))
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, hard))  # two chunks and a half
        with pytest.raises(RecordingFailed, match=r"kept up to t = 5\.115 s") as failure:
            for k in range(4 * TICKS):
                flight.record(recorder, k)
            recorder.close()
        recorder.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(failure.value)
    x = load_run(tmp_path).vehicles[0].columns.x
    np.testing.assert_array_equal(x, flight.x[: 2 * TICKS])
    assert not (tmp_path / BAG / ".reserve").exists()


def test_a_bag_is_whole_at_once_when_the_disk_is_full(tmp_path: Path) -> None:
    """Not only once it is closed: the process may be killed before."""
    writer = BagWriter(tmp_path / "bag", message_types())
    channel = writer.add_topic("/t", "std_msgs/msg/UInt64")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        with pytest.raises(RecordingFailed):
            for k in range(1000):
                writer.append(channel, k, bytes(1000))
                writer.flush()
        shutil.copytree(tmp_path / "bag", tmp_path / "killed")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        writer.close()
    with Reader(tmp_path / "killed") as reader:
        stamps = [stamp for _, stamp, _ in reader.messages()]
        assert stamps == list(range(reader.message_count)) and len(stamps) > 50
    data = (tmp_path / "killed" / STORAGE).read_bytes()
    assert data.endswith(b"\x89MCAP0\r\n")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingFailed, match="cannot be made"):
        Recorder(tmp_path / "file", run_meta(random_flight("f450", 1)))


def test_the_loop_waits_for_a_slow_disk_and_nothing_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = (MAX_JOBS + 4) * TICKS
    flight = random_flight("f450", ticks)
    put, waiting, is_full = BagWriter.write_chunk, list[int](), threading.Event()

    def slowly(self: BagWriter, *args: Any) -> None:
        is_full.wait(HANG)
        time.sleep(0.03)
        put(self, *args)

    monkeypatch.setattr(BagWriter, "write_chunk", slowly)
    with Recorder(tmp_path, run_meta(flight)) as recorder:
        for k in range(ticks):
            flight.record(recorder, k)
            waiting.append(recorder._thread._jobs.qsize())
            if waiting[-1] == MAX_JOBS:
                is_full.set()
    assert max(waiting) == MAX_JOBS
    np.testing.assert_array_equal(load_run(tmp_path).vehicles[0].columns.x, flight.x)
