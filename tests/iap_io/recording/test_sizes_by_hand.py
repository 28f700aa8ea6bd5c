# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of recordings and places of messages in chunks, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_flights import random_flight, run_meta, vehicle_meta
from made_up_sensors import camera, imu, lidar, magnetometer, uwb, with_sensors

from iap_description.sensors.readings import (
    CloudReading,
    ImageReading,
    MagneticReading,
    SensorSource,
)
from iap_io.bags.mcap_format import MESSAGE_HEADER
from iap_io.recording.disk_use import _sensor_rate, _state_rate, disk_use, free_space
from iap_io.recording.note_chunk import Note, NoteChunk
from iap_io.recording.recorder import _size
from iap_io.recording.run_files import JOINED, RunFiles, SensorChunk
from iap_io.recording.state_chunk import Slots, StateChunk, size_of
from iap_io.runs import topics
from iap_io.runs.run_meta import PLAIN, RecordingSettings, Track, WrenchTrack
from iap_io.wire.cdr import MessageLayout, in_frame
from iap_io.wire.sample_views import OdometryMessage, WrenchMessage

EUROC = RecordingSettings(compression="none", euroc=True)
PACKED = RecordingSettings(compression="png", euroc=False)
BOTH = RecordingSettings(compression="png", euroc=True)
COARSE = RecordingSettings(compression="jpeg", euroc=False, jpeg_quality=90)
SOURCE = SensorSource("/iap/drone_1/mag", "iap/drone_1_imu")


class Bag:
    """Gives channels from 1 and keeps what is written."""

    def __init__(self):
        self.topics, self.chunks = [], []

    def add_topic(self, name, kind, *, is_latched=False):
        self.topics.append((name, kind))
        return len(self.topics)

    def write_chunk(self, parts, index):
        self.chunks.append((b"".join(map(bytes, parts)), index))


@pytest.mark.parametrize(
    ("sensor", "recording", "rate"),
    [
        (imu(has_bias=False), PLAIN, 400 * 200.0),
        (imu(), PLAIN, 2 * 400 * 200.0),
        (imu(), EUROC, 2 * 400 * 200.0 + 140 * 200.0 + 340 * 250.0),
        (lidar(), PLAIN, (16 * 100 + 400) * 10.0),
        (uwb(), EUROC, 1200 * 50.0),
        (magnetometer(), PLAIN, 400 * 100.0),
        (camera(), PLAIN, (3072 + 800) * 20.0),
        (camera(), EUROC, (3072 * 1.65 + 800) * 20.0),
        (camera(), PACKED, (3072 * 0.65 + 800) * 20.0),
        (camera(), BOTH, (3072 * 1.3 + 800) * 20.0),
        (camera(), COARSE, (3072 * 0.5 + 800) * 20.0),
        (camera(outputs=("rgb8",)), EUROC, (3 * 3072 * 1.65 + 800) * 20.0),
        (camera(outputs=("segmentation",)), EUROC, (2 * 3072 + 800) * 20.0),
        (camera(outputs=("mono8", "depth")), EUROC, (3072 * 1.65 + 4 * 3072 + 1600) * 20.0),
    ],
)
def test_bytes_per_second_of_a_sensor(sensor, recording, rate):
    assert _sensor_rate(sensor, recording, 250.0) == pytest.approx(rate)


@pytest.mark.parametrize("hz", [50.0, 400.0])
def test_bytes_per_second_of_a_vehicle_and_of_frames(hz):
    meta = vehicle_meta("three_star")
    layouts = topics.layouts(meta).values()
    slow = [each for each in layouts if each.msgtype == OdometryMessage.TYPE]
    whole = sum(31 + each.template.size + 16 for each in layouts)
    seldom = sum(31 + each.template.size + 16 for each in slow)
    assert len(slow) >= 4 and MESSAGE_HEADER.itemsize == 31
    rate = (whole - seldom) * hz + seldom * min(hz, 100.0)
    assert _state_rate(meta, hz) == pytest.approx(rate)
    flight = random_flight("three_star", 1)
    run = with_sensors(flight, uwb(), magnetometer()).model_copy(update={"control_hz": hz})
    frames = 31 + topics.frames_layout(run.vehicles).template.size + 16
    told = rate + frames * min(hz, 100.0) + 1200 * 50.0 + 400 * 100.0
    assert disk_use(run, PLAIN, 3.0) == round(3.0 * told)


def test_space_is_that_of_the_first_folder_that_is_there(tmp_path, monkeypatch):
    asked = []
    usage = lambda place: asked.append(place) or SimpleNamespace(free=77)  # noqa: E731
    monkeypatch.setattr("iap_io.recording.disk_use.shutil.disk_usage", usage)
    (tmp_path / "file").touch()
    assert free_space(tmp_path / "a" / "b") == free_space(tmp_path) == 77
    (tmp_path / "link").symlink_to(tmp_path / "not" / "yet")
    free_space(tmp_path / "link")
    free_space(tmp_path / "file")
    assert asked == [tmp_path.resolve()] * 4


def test_readings_count_what_they_hold():
    points = np.zeros((5, 3), np.float32)
    assert _size(CloudReading(SOURCE, 0.0, points, np.zeros(5, np.uint16))) == 400 + 60
    assert _size(MagneticReading(SOURCE, 0.0, np.zeros(3))) == 400
    assert _size(ImageReading(SOURCE, 0.0, "mono8", np.zeros((3, 7), np.uint8))) == 21


def test_messages_stand_in_blocks_and_are_counted_by_their_share_of_the_ticks():
    layout = MessageLayout.of(in_frame(WrenchMessage.TYPE, "a"))
    size = size_of(layout)
    buffer = np.zeros(3 * (2 * size + 10), np.uint8)
    slots = Slots(buffer, layout, 7, shape=(3, 2), strides=(2 * size + 10, size), at=10)
    starts = [10, 10 + size, 20 + 2 * size, 20 + 3 * size, 30 + 4 * size, 30 + 5 * size]
    stamps = np.arange(12).reshape(3, 4) + 100
    for ticks, count in ((12, 6), (11, 6), (10, 5), (5, 3), (2, 1), (1, 1)):
        channel, (found, offsets) = slots.entry(stamps, ticks)
        assert channel == 7
        assert found.tolist() == [100, 101, 104, 105, 108, 109][:count]
        assert offsets.tolist() == starts[:count]
    for start, stamp in zip(starts, (100, 101, 104, 105, 108, 109), strict=True):
        head = np.frombuffer(buffer[start : start + 31].tobytes(), MESSAGE_HEADER)[0]
        length = 22 + layout.template.size
        assert head.tolist() == (5, length, 7, 0, stamp, stamp)
        assert buffer[start + 31 : start + size].tobytes() == layout.template.tobytes()


@pytest.mark.parametrize(
    ("hz", "ticks"), [(1000.0, 510), (200.0, 512), (100.0, 512), (30.0, 512), (100_000.0, 1000)]
)
def test_a_chunk_has_whole_blocks_between_odometries(hz, ticks):
    run = run_meta(random_flight("three_star", 1)).model_copy(update={"control_hz": hz})
    bag = Bag()
    assert StateChunk(bag, run).ticks == ticks
    assert bag.topics[-1][0] == topics.FRAMES


def test_short_parts_of_readings_are_joined_and_long_ones_stay():
    bag = Bag()
    big = lidar().model_copy(update={"points": 2000})
    chunk = SensorChunk(bag, [magnetometer(), big], transports=(), pack=None)
    assert [name for name, _ in bag.topics] == ["/iap/drone_1/mag", "/iap/drone_1/lidar/points"]
    field = MagneticReading(SOURCE, 1.0, np.ones(3))
    cloud = SensorSource(big.topic, big.frame)
    few, many = (
        CloudReading(cloud, t, np.ones((n, 3), np.float32), np.zeros(n, np.uint16))
        for t, n in ((2.0, 3), (3.0, JOINED // 16))
    )
    parts, index = chunk.fill([field, few, many, field], 50)
    assert [len(each) >= JOINED for each in parts] == [False, True, False]
    assert len(parts[1]) == JOINED
    data = b"".join(map(bytes, parts))
    assert index[1][0].tolist() == [10**9, 10**9] and index[2][0].tolist() == [
        2 * 10**9,
        3 * 10**9,
    ]
    places = [index[1][1][0], *index[2][1], index[1][1][1]]
    assert places[0] == 50
    for place, after in zip(places, [*places[1:], 50 + len(data)], strict=True):
        head = np.frombuffer(data, MESSAGE_HEADER, 1, place - 50)[0]
        assert head["op"] == 5 and head["length"] + 9 == after - place
    parts, index = chunk.fill([], 0)
    assert b"".join(parts) == b"" and index == {}


def test_notes_have_the_topics_that_a_run_has():
    bare = run_meta(random_flight("three_star", 1))
    bag = Bag()
    NoteChunk(bag, bare)
    assert {name for name, _ in bag.topics}.isdisjoint(
        {topics.LATCHES, topics.JOINTS, topics.OBJECTS}
    )
    for field, name in (
        ("latches", topics.LATCHES),
        ("joints", topics.JOINTS),
        ("objects", topics.OBJECTS),
    ):
        bag = Bag()
        notes = NoteChunk(bag, bare.model_copy(update={field: ("one",)}))
        assert bag.topics[0][0] == name
        (data,), index = notes.fill([Note(name, 5, b"abc"), Note(name, 6, b"wxyz")], 10)
        assert index[1][0].tolist() == [5, 6] and index[1][1].tolist() == [10, 10 + 31 + 3]
        assert data[31:34] == b"abc" and data[-4:] == b"wxyz" and len(data) == 62 + 7
        assert notes.fill([], 10) == ([], {})


def test_tracks_are_written_once_as_far_as_ticks_have_come(tmp_path):
    run = run_meta(random_flight("three_star", 1))
    files = RunFiles(tmp_path, run, PLAIN)
    files._bag.close()
    files._bag = bag = Bag()
    poses, wrenches = np.arange(42.0).reshape(6, 7), np.arange(12.0).reshape(2, 6)
    times = np.array([-0.01, 0.0, 0.005, 0.0125, 0.02, 0.03])
    files.add_track(0, topics.REFERENCE_POSE, Track(times, poses))
    files.add_track(0, topics.ACTUAL_WRENCH, WrenchTrack(times[2:4], wrenches))
    body = run.vehicles[0].bodies[0]
    assert bag.topics == [
        (f"/iap/{topics.REFERENCE_POSE}", topics.POSE),
        (f"/iap/{topics.ACTUAL_WRENCH}", WrenchMessage.TYPE),
    ]
    assert files._tracks[1].layout.template.tobytes().find(f"iap/{body}".encode()) > 0
    said = []
    for t in ([0.0, 0.005], [0.01, 0.015], [0.016, 0.017], [0.018, 0.02]):
        files._write_tracks(np.array(t))
        for data, index in bag.chunks:
            ((channel, (stamps, _)),) = index.items()
            field = files._tracks[channel - 1]
            count = len(stamps)
            rows = np.ndarray(count, field.layout.dtype, data, 31, size_of(field.layout))
            said.append(
                (channel, (np.array(stamps) // 10**5).tolist(), rows[field.field][:, 0].tolist())
            )
        bag.chunks.clear()
    assert said == [
        (1, [0, 50], [7.0, 14.0]),
        (2, [50], [0.0]),
        (1, [125], [21.0]),
        (2, [125], [6.0]),
        (1, [200], [28.0]),
    ]
