# SPDX-License-Identifier: BSD-3-Clause
"""Recorded readings come back as they were, a finished bag becomes a data set, and the space is told before."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from made_up_flights import Flight, random_flight, run_meta
from made_up_sensors import all_sensors, camera, fly, imu, reading, with_sensors

from iap_bringup.plots.contact_sheet import SHEET, write_contact_sheet
from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_io.euroc.euroc_export import export
from iap_io.euroc.euroc_folder import EUROC
from iap_io.recording.disk_use import disk_use
from iap_io.recording.recorder import Recorder
from iap_io.recording.state_chunk import TICKS
from iap_io.runs.run_meta import PLAIN, RecordingSettings
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.sensor_messages.sensor_reader import Decoder, read_sensors

PACKED = RecordingSettings(compression="png", euroc=True)
LOOKS = ("mono8", "rgb8", "depth", "segmentation")


def _record(
    folder: Path,
    sensors: tuple[SensorInfo, ...],
    ticks: int = 60,
    recording: RecordingSettings = PLAIN,
) -> tuple[Flight, list[Reading]]:
    flight = random_flight("three_star", ticks)
    with Recorder(folder, with_sensors(flight, *sensors), recording) as recorder:
        return flight, fly(recorder, flight, sensors, ticks)


def _assert_equal(a: Reading, b: Reading) -> None:
    for field in fields(a):
        one, other = getattr(a, field.name), getattr(b, field.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        else:
            assert one == pytest.approx(other) if field.name == "t" else one == other


@pytest.mark.parametrize("recording", [PLAIN, PACKED])
def test_readings_come_back_as_they_were(recording: RecordingSettings, tmp_path: Path) -> None:
    sensors = (*all_sensors(), camera("front", outputs=LOOKS))
    _, taken = _record(tmp_path, sensors, recording=recording)
    found = list(read_sensors(tmp_path / BAG, sensors))

    def by_sensor(reading: Reading) -> tuple[str, str, float]:
        return reading.source.topic, getattr(reading, "encoding", ""), reading.t

    assert len(found) == len(taken)
    for a, b in zip(sorted(taken, key=by_sensor), sorted(found, key=by_sensor), strict=True):
        _assert_equal(a, b)


def test_lossy_recordings_keep_stamps_frames_and_labels(tmp_path: Path) -> None:
    """JPEG is near the image, labels are exact, and depth is as near as its quantisation."""
    eye = camera("front", outputs=LOOKS)
    lossy = RecordingSettings(compression="jpeg", euroc=True, jpeg_quality=100)
    _, taken = _record(tmp_path, (eye,), recording=lossy)
    found = list(read_sensors(tmp_path / BAG, (eye,)))
    assert len(found) == len(taken)
    for a, b in zip(taken, found, strict=True):
        assert (a.source, a.encoding, b.t) == (b.source, b.encoding, pytest.approx(a.t))
        assert a.pixels.dtype == b.pixels.dtype
        if a.encoding == "16UC1":
            np.testing.assert_array_equal(a.pixels, b.pixels)
        elif a.encoding == "32FC1":
            is_seen = (a.pixels > 0.2) & (a.pixels < 100.0)
            z, back = a.pixels[is_seen], b.pixels[is_seen]
            assert (np.abs(back - z) <= 1.01 * z * back / 10100.0).all()
        elif a.encoding == "mono8":
            assert np.abs(a.pixels - b.pixels.astype(float)).max() <= 3


def test_a_sample_whose_biases_are_lost_on_the_way_is_kept() -> None:
    unit, rng = imu(), np.random.default_rng(1)
    encode, decode = encoder(unit), Decoder([unit])
    taken = [each for k in range(3) for each in reading(unit, k * 0.005, rng)]
    sent = [(name, b"".join(parts)) for each in taken for name, parts in encode(each)]
    lost = sent[3]  # the biases of the second sample
    found = [decode(*each) for each in sent if each is not lost]
    assert [each.t for each in found if each is not None] == pytest.approx([0.0, 0.005, 0.010])
    assert [getattr(each, "gyro_bias", None) is None for each in found if each] == [
        False,
        True,
        False,
    ]


def test_some_sensors_are_read_for_some_time(tmp_path: Path) -> None:
    _record(tmp_path, all_sensors())
    found = list(read_sensors(tmp_path / BAG, [imu()], start=50_000_000, stop=100_000_000))
    assert [each.t for each in found] == pytest.approx(np.arange(10, 20) * 0.005)


def test_a_finished_bag_becomes_the_data_set_of_the_run(tmp_path: Path) -> None:
    sensors = (imu(), camera("left"), camera("right", y=-0.06))
    _record(tmp_path, sensors, TICKS + 20, PACKED)
    export(tmp_path, tmp_path / "again")
    files = sorted(path for path in (tmp_path / EUROC).rglob("*") if path.is_file())
    assert len(files) == 2 * 54 + 9
    for path in files:
        again = tmp_path / "again" / path.relative_to(tmp_path / EUROC)
        assert again.read_bytes() == path.read_bytes()
    with pytest.raises(BadInput, match="exists already"):
        export(tmp_path, tmp_path / "again")


def test_a_run_without_sensors_is_no_data_set(tmp_path: Path) -> None:
    _record(tmp_path, ())
    with pytest.raises(BadInput, match="neither inertial units nor cameras"):
        export(tmp_path, tmp_path / "out")
    with pytest.raises(BadInput, match="no camera was recorded"):
        write_contact_sheet(tmp_path)


@pytest.mark.parametrize("recording", [PLAIN, PACKED])
def test_the_space_is_checked_before(recording: RecordingSettings, tmp_path: Path) -> None:
    sensors = (*all_sensors(), camera("big", width=320, height=240))
    flight, _ = _record(tmp_path, sensors, 400, recording)
    told = disk_use(with_sensors(flight, *sensors), recording, 400 * 0.005)
    taken = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    share = 0.9 if recording is PLAIN else 0.6  # these images are noise, which PNG cannot shorten
    assert share * taken < told < 1.1 * taken


def test_the_space_of_a_run_without_sensors(tmp_path: Path) -> None:
    flight, _ = _record(tmp_path, (), 400)
    taken = (tmp_path / BAG / "bag_0.mcap").stat().st_size
    assert disk_use(run_meta(flight), PLAIN, 2.0) == pytest.approx(taken, rel=0.1)


def _size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_the_contact_sheet_has_a_column_for_each_body(tmp_path: Path) -> None:
    sensors = [
        camera(side, topic=f"/iap/drone_{i}/{side}", parent=f"iap/drone_{i}")
        for i in (1, 2, 3)
        for side in ("left", "right")
    ]
    _record(tmp_path, tuple(sensors))
    sheet = write_contact_sheet(tmp_path)
    assert sheet == tmp_path / "plots" / SHEET
    width, height = _size(sheet)
    assert width / height == pytest.approx(3 * 2.46 / (2 * 2.02 + 0.28), rel=0.03)
    assert len(list(tmp_path.glob("plots/*"))) == 1


def test_the_contact_sheet_of_one_body_shows_all_that_it_sees(tmp_path: Path) -> None:
    _record(tmp_path, (camera("front", outputs=LOOKS),))
    width, height = _size(write_contact_sheet(tmp_path, tmp_path / "sheet.png", t=0.1))
    assert width / height == pytest.approx(4 * 2.46 / (2.02 + 0.28), rel=0.03)
    with pytest.raises(BadInput, match=r"no images from t = 9\.000 s on"):
        write_contact_sheet(tmp_path, tmp_path / "sheet.png", t=9.0)
