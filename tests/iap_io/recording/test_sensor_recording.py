# SPDX-License-Identifier: BSD-3-Clause
"""Sensors in the bag: every reading is there with its stamp, whatever ends the run."""

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_flights import random_flight, run_meta
from made_up_sensors import all_sensors, camera, fly, imu, with_sensors
from rosbags.rosbag2 import Reader

from iap_description.sensors.readings import ImageReading, Reading
from iap_io.bags import bag_writer
from iap_io.bags.bag_reading import raw_messages
from iap_io.bags.bag_writer import STORAGE, GrowingFile, RecordingFailed
from iap_io.euroc.euroc_folder import EUROC
from iap_io.recording import run_files
from iap_io.recording.recorder import MAX_CHUNK_BYTES, Recorder
from iap_io.recording.state_chunk import TICKS
from iap_io.runs.run_folder import load_run
from iap_io.runs.run_meta import RecordingSettings
from iap_io.runs.topics import BAG
from iap_io.wire.cdr import message_types

PLAIN = RecordingSettings(compression="none", euroc=False)
EUROC_TOO = RecordingSettings(compression="none", euroc=True)


def _messages(folder: Path) -> dict[str, list[tuple[int, Any]]]:
    """Stamps and messages of a bag by topic."""
    found: dict[str, list[tuple[int, Any]]] = {}
    with Reader(folder / BAG) as reader:
        for connection, stamp, data in reader.messages(reader.connections):
            message = message_types().deserialize_cdr(data, connection.msgtype)
            found.setdefault(connection.topic, []).append((stamp, message))
    return found


def _record(
    folder: Path, ticks: int, *, recording: RecordingSettings, seed: int = 0
) -> list[Reading]:
    flight, sensors = random_flight("three_star", ticks), all_sensors()
    with Recorder(folder, with_sensors(flight, *sensors), recording) as recorder:
        return fly(recorder, flight, sensors, ticks, seed)


def test_every_reading_is_in_the_bag_with_the_stamp_of_its_state(tmp_path: Path) -> None:
    taken = _record(tmp_path, 101, recording=EUROC_TOO)
    found = _messages(tmp_path)
    states = {stamp for stamp, _ in found["/iap/state"]}
    for name, suffix in (("imu", ""), ("mag", ""), ("uwb", ""), ("lidar", "/points")):
        mine = [each for each in taken if each.source.topic == f"/iap/drone_1/{name}"]
        stamps = [stamp for stamp, _ in found[f"/iap/drone_1/{name}{suffix}"]]
        assert stamps == [round(each.t * 1e9) for each in mine]
        assert states.issuperset(stamps)
    assert np.ptp(np.diff([stamp for stamp, _ in found["/iap/drone_1/imu"]])) == 0
    images = [each for each in taken if each.source.topic == "/iap/drone_1/left"]
    recorded = found["/iap/drone_1/left/image_raw"]
    assert len(images) == len(recorded) == len(found["/iap/drone_1/left/camera_info"]) == 11
    for image, (stamp, message) in zip(images, recorded, strict=True):
        assert stamp == round(image.t * 1e9)
        assert message.header.stamp.nanosec == stamp % 10**9
        assert isinstance(image, ImageReading)
        assert message.data.tobytes() == image.pixels.tobytes()


def test_the_bag_says_where_its_sensors_are(tmp_path: Path) -> None:
    fixed = camera("hall", topic="/cameras/hall", frame="hall_optical", parent="map")
    flight = random_flight("three_star", 3)
    with Recorder(tmp_path, with_sensors(flight, imu(), fixed)) as recorder:
        fly(recorder, flight, (imu(), fixed), 3)
    ((_, message),) = _messages(tmp_path)["/tf_static"]
    frames = {each.child_frame_id: each for each in message.transforms}
    left = frames["iap/drone_1_left_camera"]
    assert left.header.frame_id == "iap/drone_1"
    assert left.transform.translation.x == 0.198
    assert frames["iap/drone_1_left_camera_optical"].header.frame_id == "iap/drone_1_left_camera"
    assert frames["hall_optical"].header.frame_id == "map"
    assert frames["iap/tool"].header.frame_id == "iap/base_link" if "iap/tool" in frames else True
    with Reader(tmp_path / BAG) as reader:
        (channel,) = (each for each in reader.connections if each.topic == "/tf_static")
    (quality,) = channel.ext.offered_qos_profiles
    assert quality.durability.name == "TRANSIENT_LOCAL"
    assert load_run(tmp_path).meta.sensors == (imu(), fixed)


def test_equal_runs_give_equal_data_sets(tmp_path: Path) -> None:
    for name in ("a", "b"):
        _record(tmp_path / name, TICKS + 30, recording=EUROC_TOO)
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*")]
    assert len([path for path in files if path.suffix == ".png"]) == 2 * 55
    for path in files:
        if (tmp_path / "a" / path).is_file():
            assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()


def test_files_do_not_depend_on_which_buffers_are_joined_nor_messages_on_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _record(tmp_path / "usual", 40, recording=PLAIN)
    monkeypatch.setattr(run_files, "JOINED", 100)
    _record(tmp_path / "apart", 40, recording=PLAIN)
    usual, apart = (next((tmp_path / name / BAG).glob("*.mcap")) for name in ("usual", "apart"))
    assert usual.read_bytes() == apart.read_bytes()
    for name, pending in (("one", 1 << 20), ("many", 300)):
        monkeypatch.setattr(bag_writer, "_PENDING", pending)
        bag = bag_writer.BagWriter(tmp_path / name, message_types())
        channel = bag.add_topic("/t", "std_msgs/msg/String")
        for k in range(9):
            bag.append(channel, k, bytes([0, 1, 0, 0, 2, 0, 0, 0, 65 + k, 0]) + bytes(90))
        bag.close()
    one, many = (
        [x[1:] for x in raw_messages(tmp_path / name, {"/t"})] for name in ("one", "many")
    )
    assert len(one) == 9 and one == many
    sizes = [next((tmp_path / name).glob("*.mcap")).stat().st_size for name in ("one", "many")]
    assert sizes[0] < sizes[1]  # more chunks have more heads


def test_mcap_library_reads_the_sensors_too(tmp_path: Path) -> None:
    mcap = pytest.importorskip("mcap.reader")
    taken = _record(tmp_path, 50, recording=EUROC_TOO)
    with (tmp_path / BAG / STORAGE).open("rb") as file:
        reader = mcap.make_reader(file, validate_crcs=True)
        found = [(channel.topic, m.log_time) for _, channel, m in reader.iter_messages()]
    assert [stamp for _, stamp in found] == sorted(stamp for _, stamp in found)
    assert len([topic for topic, _ in found if topic == "/iap/drone_1/imu"]) == 50
    assert len(taken) == 50 + 25 + 13 + 2 * 5 + 3


def test_many_images_fill_chunks_of_their_own(tmp_path: Path) -> None:
    big = camera(width=640, height=480)
    flight = random_flight("f450", 300)
    with Recorder(tmp_path, with_sensors(flight, big)) as recorder:
        taken = fly(recorder, flight, (big,), 300)
    found = _messages(tmp_path)["/iap/drone_1/left/image_raw"]
    assert len(found) == 30 > MAX_CHUNK_BYTES / 640 / 480
    for image, (_, message) in zip(taken, found, strict=True):
        assert isinstance(image, ImageReading)
        assert message.data.tobytes() == image.pixels.tobytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_run_keeps_every_reading(
    error: type[BaseException], tmp_path: Path
) -> None:
    flight = random_flight("f450", 25)
    with pytest.raises(error), Recorder(tmp_path, with_sensors(flight, imu())) as recorder:
        fly(recorder, flight, (imu(),), 25)
        raise error
    assert len(_messages(tmp_path)["/iap/drone_1/imu"]) == 25


def _with_a_small_disk(limit: int, do: Callable[[], None]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        do()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_ends_the_data_set_with_whole_lines_and_images(tmp_path: Path) -> None:
    flight, sensors = random_flight("three_star", 3 * TICKS), (imu(), camera())
    recorder = Recorder(tmp_path, with_sensors(flight, *sensors), EUROC_TOO)

    def record() -> None:
        with pytest.raises(RecordingFailed) as failure:
            fly(recorder, flight, sensors, 3 * TICKS)
            recorder.close()
        assert "\n" not in str(failure.value)
        recorder.close()

    _with_a_small_disk(3_000_000, record)
    home = tmp_path / EUROC / "drone_1" / "mav0"
    for table in home.glob("*/data.csv"):
        assert table.read_bytes().endswith(b"\n")
    named = (home / "cam0" / "data.csv").read_text().splitlines()[1:]
    assert all((home / "cam0/data" / line.split(",")[1]).exists() for line in named)
    x = load_run(tmp_path).vehicles[0].columns.x
    np.testing.assert_array_equal(x, flight.x[: len(x)])
    assert len(x) >= TICKS


def test_a_png_that_cannot_be_written_is_one_line_and_leaves_no_half_file(tmp_path: Path) -> None:
    big = camera(width=640, height=480)
    flight = random_flight("three_star", 1)
    packed = RecordingSettings(compression="png", euroc=True)
    recorder = Recorder(tmp_path, with_sensors(flight, big), packed)

    def record() -> None:
        fly(recorder, flight, (big,), 1)
        with pytest.raises(
            RecordingFailed,
            match=r"cam0/data/1400000000000000000\.png: cannot be written: File too",
        ):
            recorder.close()

    _with_a_small_disk(200_000, record)  # a PNG of noise takes 308 kB
    assert (tmp_path / EUROC / "drone_1/mav0/cam0/data").is_dir()
    assert not list((tmp_path / EUROC).rglob("*.png"))


def test_a_table_on_a_full_disk_keeps_whole_lines(tmp_path: Path) -> None:
    file = GrowingFile(tmp_path / "data.csv")
    file.append("1,2\n")

    def fill() -> None:
        with pytest.raises(RecordingFailed, match=r"data\.csv: cannot be written"):
            file.append("3,4\n" * 300)

    _with_a_small_disk(1000, fill)
    file.close()
    assert (tmp_path / "data.csv").read_text() == "1,2\n"


def test_without_sensors_there_is_nothing_of_them(tmp_path: Path) -> None:
    flight = random_flight("f450", 3)
    with Recorder(tmp_path, run_meta(flight), EUROC_TOO) as recorder:
        fly(recorder, flight, (), 3)
    assert set(_messages(tmp_path)) == {
        "/iap/state",
        "/iap/reference",
        "/iap/command",
        "/iap/odom",
        "/tf",
        "/tf_static",
    }
    assert not (tmp_path / EUROC).exists()
