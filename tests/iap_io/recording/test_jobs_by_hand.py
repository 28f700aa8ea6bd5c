# SPDX-License-Identifier: BSD-3-Clause
"""The thread that writes recordings, and what a recorder hands to it."""

import threading

import numpy as np
import pytest
from made_up_flights import random_flight
from made_up_sensors import magnetometer, with_sensors

from iap_description.sensors.readings import CloudReading, SensorSource
from iap_io.bags.bag_reading import raw_messages
from iap_io.recording import recorder
from iap_io.recording.note_chunk import Note
from iap_io.recording.recorder import MAX_CHUNK_BYTES, Background, Recorder
from iap_io.runs import topics


def fail():
    raise OSError("full")


def test_jobs_are_done_one_after_another_by_one_thread():
    done, worker = [], Background("a")
    for k in range(10):
        worker.do(lambda k=k: done.append((k, threading.current_thread().name)))
    worker.close()
    assert done == [(k, "a") for k in range(10)]
    worker.close()


def test_after_a_failure_it_is_told_once_and_jobs_are_forgotten():
    done, begin = [], threading.Event()
    worker = Background("a")
    worker.do(begin.wait)
    worker.do(fail)
    worker.do(lambda: done.append(1))
    begin.set()
    while worker._failure is None:
        begin.wait(0.001)
    with pytest.raises(OSError, match="full"):
        worker.do(lambda: done.append(2))
    worker.check()
    worker.do(lambda: done.append(3))
    worker.close()
    assert done == []


def test_a_failure_that_nobody_has_heard_of_is_told_at_the_end():
    worker = Background("a")
    worker.do(fail)
    with pytest.raises(OSError, match="full"):
        worker.close()
    worker.close()


def test_a_recorder_says_what_is_written_and_keeps_descriptions_and_notes(tmp_path):
    flight = random_flight("three_star", 3)
    meta = with_sensors(flight, magnetometer()).model_copy(update={"latches": ("one",)})
    with Recorder(tmp_path, meta) as made:
        made.add_descriptions(["<robot/>"])
        for k in range(3):
            flight.record(made, k)
        made.note(Note(topics.LATCHES, 5, b"\0\1\0\0abcd"))
        assert made.written == 0
    assert made.written == 3
    made.close()
    assert made.written == 3
    found = {}
    kinds = {"/iap/robot_description": None, topics.LATCHES: None}
    for connection, stamp, data in raw_messages(tmp_path / topics.BAG, kinds):
        found[connection.topic] = stamp, bytes(data)
    assert found[topics.LATCHES] == (5, b"\0\1\0\0abcd")
    stamp, data = found["/iap/robot_description"]
    assert stamp == 0 and b"<robot/>" in data


def test_readings_are_handed_over_once_they_are_many(tmp_path, monkeypatch):
    made = Recorder(tmp_path, with_sensors(random_flight("three_star", 1), magnetometer()))
    handed = []
    monkeypatch.setattr(made._archive, "add", lambda *parts: handed.append(parts))
    monkeypatch.setattr(recorder, "MAX_CHUNK_BYTES", 2 * 460)
    assert MAX_CHUNK_BYTES == 8_000_000
    source = SensorSource("/a", "b")
    readings = [
        CloudReading(source, t, np.zeros((5, 3), np.float32), np.zeros(5, np.uint16))
        for t in (0.0, 1.0, 2.0)
    ]
    for each in readings:
        made.receive(each)
    made._thread.do(lambda: None)
    made.close()
    assert [(ticks, got) for _, ticks, got, _ in handed] == [(0, readings[:2]), (0, readings[2:])]
    assert made.written == 0
