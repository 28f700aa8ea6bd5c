# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that are no data set: refused with one line and exit code 2, and nothing is left behind."""

import math
import shutil
import struct
from pathlib import Path

import pytest
from made_up_sensors import record_pairs
from resting_pair import PairBag
from rosbags.rosbag2 import Reader

from iap_bringup.cli import main
from iap_bringup.fuzz.made_recordings import resting, write_euroc
from iap_description.errors import BadInput
from iap_estimation.datasets.opening import open_dataset
from iap_estimation.navigation.fleet_data import MEMS
from iap_io.bags.bag_writer import STORAGE


def _refused(capsys, *arguments: str | Path) -> str:
    """The one line of an error; a folder is not left behind."""
    out = Path(arguments[0]).parent / "out"
    assert main.main(["localize", *map(str, arguments), "--no-plot", "--out", str(out)]) == 2
    assert not out.exists()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.fixture
def euroc(tmp_path: Path) -> Path:
    return write_euroc(tmp_path / "data", resting(0.5))


def test_no_inertial_unit(euroc: Path, capsys) -> None:
    shutil.rmtree(euroc / "mav0" / "imu0")
    assert "no inertial unit: imu0/data.csv is missing" in _refused(capsys, euroc)


def test_no_calibration(euroc: Path, capsys) -> None:
    (euroc / "mav0" / "cam1" / "sensor.yaml").unlink()
    assert "cam1/sensor.yaml" in _refused(capsys, euroc)


def test_half_a_second_camera(euroc: Path, capsys) -> None:
    (euroc / "mav0" / "cam1" / "data.csv").unlink()
    assert "cam1/data.csv: cannot be read" in _refused(capsys, euroc)


def test_left_images_in_the_right_cameras_folder(tmp_path: Path, capsys) -> None:
    pair = resting(0.5)
    pair.images = pair.images[::-1]
    assert "swapped" in _refused(capsys, write_euroc(tmp_path / "data", pair))


def test_an_inertial_units_clock_that_was_set_back(tmp_path: Path, capsys) -> None:
    pair = resting(0.5)
    pair.imu_stamps[50:] = [stamp - 20_000_001 for stamp in pair.imu_stamps[50:]]
    line = _refused(capsys, write_euroc(tmp_path / "data", pair))
    assert "imu0/data.csv: its clock was set back, by about 0.020 s, after 0.245 s" in line


def test_a_cameras_clock_that_was_set_back(tmp_path: Path, capsys) -> None:
    pair = resting(0.8)
    pair.stamps[1][8:] = [stamp - 130_000_000 for stamp in pair.stamps[1][8:]]
    line = _refused(capsys, PairBag("mcap").write(tmp_path, pair))
    assert "/stereo/right/image_raw: its clock was set back" in line


def test_an_image_that_is_missing(euroc: Path, capsys) -> None:
    next((euroc / "mav0" / "cam0" / "data").iterdir()).unlink()
    assert "not a readable image" in _refused(capsys, euroc)


@pytest.mark.parametrize("side", [30_000, 8_193])
def test_images_are_looked_at_before_they_are_unpacked(side: int, euroc: Path, capsys) -> None:
    image = next((euroc / "mav0" / "cam0" / "data").iterdir())
    data = bytearray(image.read_bytes())
    data[16:24] = struct.pack(">II", side, side)
    image.write_bytes(data)
    assert f"an image of {side}x{side} pixels" in _refused(capsys, euroc)
    yaml = euroc / "mav0" / "cam0" / "sensor.yaml"
    yaml.write_text(yaml.read_text().replace("[320, 240]", f"[{side}, {side}]"))
    assert "key 'resolution.0'" in _refused(capsys, euroc)


def test_an_inertial_unit_without_a_data_sheet_is_a_small_one(euroc: Path) -> None:
    (euroc / "mav0" / "imu0" / "sensor.yaml").unlink()
    found = open_dataset(euroc)
    assert found.aircraft[0].noise.tolist() == list(MEMS)
    assert any("imu0/sensor.yaml is missing" in note for note in found.notes)


@pytest.mark.parametrize(
    ("camera", "frontend"),
    [
        ({}, "default"),
        ({"D": (-0.28, 0.07, 0.0, 0.0, 0.0)}, "euroc"),
        ({"noise": 2.0}, "euroc"),
        ({"exposure_time": 0.005}, "euroc"),
    ],
)
def test_recorded_images_of_real_cameras_are_followed_as_such(
    camera: dict, frontend: str, tmp_path: Path
) -> None:
    record_pairs(tmp_path, **camera)
    assert open_dataset(tmp_path).frontend.preset == frontend


def _cut(folder: Path, sensor: str, characters: int) -> None:
    """Let a table end in the middle of a line, as a copy that was cut short does."""
    path = folder / "mav0" / sensor / "data.csv"
    path.write_text(path.read_text()[:-characters])


def test_tables_that_are_cut_short_are_localised_and_reported(euroc: Path, capsys) -> None:
    (euroc / "mav0" / "imu0" / "sensor.yaml").unlink()
    for sensor in ("imu0", "cam0", "state_groundtruth_estimate0"):
        _cut(euroc, sensor, 3)
    assert main.main(["localize", str(euroc), "--no-plot", "--out", str(euroc.parent / "o")]) == 0
    told = capsys.readouterr()
    for sensor in ("imu0", "cam0", "state_groundtruth_estimate0"):
        assert told.out.count(f"{sensor}/data.csv: line") == 1
    assert "a small MEMS unit's noise is taken" in told.out
    assert "front end euroc: images of cameras" in told.out
    assert not told.err


def _keep_truth(folder: Path, rows: int) -> None:
    """Leave so many rows of the truth."""
    path = folder / "mav0" / "state_groundtruth_estimate0" / "data.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: 1 + rows]))


@pytest.mark.slow
def test_a_truth_that_ends_early_is_reported(tmp_path: Path, capsys) -> None:
    folder = write_euroc(tmp_path / "data", resting(2.0))
    _keep_truth(folder, 100)
    assert main.main(["localize", str(folder), "--no-plot", "--out", str(tmp_path / "out")]) == 0
    assert "judged from 0.0 s to 0.4 s, where the truth is known" in capsys.readouterr().out


def test_a_truth_that_ends_before_the_data_is_a_reason(tmp_path: Path, capsys) -> None:
    pair = resting(0.5)
    folder = write_euroc(tmp_path / "data", pair)
    _keep_truth(folder, 20)
    path = folder / "mav0" / "state_groundtruth_estimate0" / "data.csv"
    path.write_text(path.read_text().replace("\n14036365", "\n13036365"))
    assert main.main(["localize", str(folder), "--no-plot", "--out", str(tmp_path / "out")]) == 1
    assert "it begins at the truth of data, which is known from" in capsys.readouterr().err


def test_a_recorded_sample_that_is_no_number(tmp_path: Path) -> None:
    record_pairs(tmp_path)
    file = tmp_path / "bag" / STORAGE
    data, topic = bytearray(file.read_bytes()), "/iap/drone_1/imu"
    with Reader(file) as reader:
        chosen = [each for each in reader.connections if each.topic == topic]
        sample = next(bytes(raw) for _, _, raw in reader.messages(chosen))
    at = (
        data.index(sample) + len(sample) - 10 * 8
    )  # of the covariance's end, and the last specific force
    data[at : at + 8] = struct.pack("<d", math.nan)
    file.write_bytes(data)
    with pytest.raises(BadInput, match=f"{topic}.*: linear_acceleration is not finite"):
        list(open_dataset(tmp_path).events())


def test_a_true_attitude_that_is_none(euroc: Path, capsys) -> None:
    path = euroc / "mav0" / "state_groundtruth_estimate0" / "data.csv"
    path.write_text(path.read_text().replace(",3.0,1.0,0.0,", ",3.0,0.0,0.0,", 1))
    assert "the attitude of row 1 is no unit quaternion" in _refused(capsys, euroc)


def test_a_table_with_a_word_in_it(euroc: Path, capsys) -> None:
    path = euroc / "mav0" / "imu0" / "data.csv"
    path.write_text(path.read_text() + "12345,0,zero,0,0,0,9.81\n")
    assert "finite numbers" in _refused(capsys, euroc)


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ("imu", "no inertial unit"),
        ("info", "no calibration: /stereo/left/camera_info is missing"),
        ("tf", "no /tf_static says where the cameras are"),
    ],
)
def test_bags_without(left_out: str, said: str, tmp_path: Path, capsys) -> None:
    bag = PairBag("ros1")
    bag.left_out = {left_out}
    assert said in _refused(capsys, bag.write(tmp_path, resting(0.2)))


def test_a_bag_whose_cameras_are_swapped(tmp_path: Path, capsys) -> None:
    pair = resting(0.2)
    pair.levers = pair.levers[::-1]
    line = _refused(capsys, PairBag("sqlite3").write(tmp_path, pair))
    assert "/stereo/left/image_raw and /stereo/right/image_raw" in line
    assert "swapped" in line


def test_a_bag_without_a_pair(tmp_path: Path, capsys) -> None:
    bag = PairBag("mcap")
    bag.left_out = {"info", "tf"}
    bag.names |= {"left": "/front", "right": "/back"}
    assert "no stereo pair; choose with --left and --right" in _refused(
        capsys, bag.write(tmp_path, resting(0.2))
    )


def test_a_damaged_bag(tmp_path: Path, capsys) -> None:
    path = PairBag("ros1").write(tmp_path, resting(0.2))
    path.write_bytes(path.read_bytes()[:3000])
    assert "not a readable rosbag" in _refused(capsys, path)


def test_no_data_set_at_all(tmp_path: Path, capsys) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("nothing")
    assert "not a data set" in _refused(capsys, text)
    (tmp_path / "empty").mkdir()
    assert "not a data set" in _refused(capsys, tmp_path / "empty")
    assert "no such file or folder" in _refused(capsys, tmp_path / "nowhere")


def test_a_folder_of_data_sets(tmp_path: Path, capsys) -> None:
    write_euroc(tmp_path / "all" / "MH_01", resting(0.1))
    assert "choose one" in _refused(capsys, tmp_path / "all")


def test_methods(euroc: Path, capsys) -> None:
    assert "no method 'slam': choose vio," in _refused(capsys, euroc, "--method", "slam")
    assert "needs ranges" in _refused(capsys, euroc, "--method", "vio,vio_uwb")
    assert "two or more aircraft" in _refused(capsys, euroc, "--method", "joint")
    assert "each method once" in _refused(capsys, euroc, "--method", "vio,vio")


def test_settings(euroc: Path, capsys) -> None:
    assert "unknown key 'estimator.frames'" in _refused(
        capsys, euroc, "--set", "estimator.frames=3"
    )
    assert "no estimator settings 'best'" in _refused(capsys, euroc, "--preset", "best")


def test_options_of_bags_for_a_folder(euroc: Path, capsys) -> None:
    assert "not a bag" in _refused(capsys, euroc, "--imu", "/imu")


def test_a_start_in_a_fall_without_truth(tmp_path: Path, capsys) -> None:
    pair = resting(0.5)
    pair.imu[:, 3:] *= 0.2
    folder = write_euroc(tmp_path / "data", pair, truth=False)
    assert "a specific force of 1.96 m/s^2 in the median is not gravity's" in _refused(
        capsys, folder
    )
