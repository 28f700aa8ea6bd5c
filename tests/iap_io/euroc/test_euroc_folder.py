# SPDX-License-Identifier: BSD-3-Clause
"""Folders in EuRoC's layout, their tables, and recordings that were cut."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from made_up_flights import Flight, random_flight, run_meta
from made_up_sensors import Q_OPTICAL, camera, fly, imu, with_sensors

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import ImageReading, ImuReading, Reading
from iap_description.sensors.sensor_info import SensorInfo
from iap_io.euroc.cut_recording import cut
from iap_io.euroc.euroc_folder import EPOCH_NS, EUROC
from iap_io.euroc.tables import read_table
from iap_io.recording.recorder import Recorder
from iap_io.recording.state_chunk import TICKS
from iap_io.runs.run_meta import RecordingSettings

EUROC_TOO = RecordingSettings(compression="none", euroc=True)
HOME = Path(EUROC) / "drone_1" / "mav0"
ROW = "1403636579763555584,0.1,0.2,0.3,0.0,0.0,9.81\n"


def _record(folder: Path, *sensors: SensorInfo, ticks: int = 30) -> tuple[Flight, list[Reading]]:
    flight = random_flight("three_star", ticks)
    with Recorder(folder, with_sensors(flight, *sensors), EUROC_TOO) as recorder:
        taken = fly(recorder, flight, sensors, ticks)
    return flight, taken


def _table(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", comments="#")


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()[1:]


def test_evo_reads_the_truth_of_the_imu(tmp_path: Path) -> None:
    evo = pytest.importorskip("evo.tools.file_interface")
    unit = imu()
    flight, _ = _record(tmp_path, unit)
    truth = tmp_path / HOME / "state_groundtruth_estimate0" / "data.csv"
    trajectory = evo.read_euroc_csv_trajectory(str(truth))
    np.testing.assert_allclose(trajectory.timestamps - EPOCH_NS * 1e-9, flight.t, atol=1e-6)
    for k, row in enumerate(flight.x[:, 1]):
        R_WB = so3.matrix_from_quaternion(row[3:7])
        R_BI = so3.matrix_from_quaternion(np.array(unit.q_BS))
        pose = trajectory.poses_se3[k]
        np.testing.assert_allclose(pose[:3, :3], R_WB @ R_BI, atol=1e-12)
        np.testing.assert_allclose(pose[:3, 3], row[:3] + R_WB @ unit.p_BS_B, atol=1e-12)


def test_true_velocity_is_that_of_the_imu_and_biases_those_of_the_last_sample(
    tmp_path: Path,
) -> None:
    unit = imu(rate=100.0)  # at every other state
    flight, taken = _record(tmp_path, unit, ticks=TICKS + 5)
    rows = _table(tmp_path / HOME / "state_groundtruth_estimate0" / "data.csv")
    for k in (0, 1, 7, TICKS - 1, TICKS, TICKS + 4):
        x = flight.x[k, 1]
        arm_W = so3.matrix_from_quaternion(x[3:7]) @ unit.p_BS_B
        np.testing.assert_allclose(rows[k, 8:11], x[7:10] + np.cross(x[10:], arm_W), atol=1e-12)
        sample = taken[k // 2]
        assert isinstance(sample, ImuReading)
        np.testing.assert_array_equal(rows[k, 11:14], sample.gyro_bias)
        np.testing.assert_array_equal(rows[k, 14:17], sample.accel_bias)


def test_unknown_biases_are_zeros(tmp_path: Path) -> None:
    _record(tmp_path, imu(has_bias=False))
    rows = _table(tmp_path / HOME / "state_groundtruth_estimate0" / "data.csv")
    assert not rows[:, 11:].any()


def test_the_imu_table_is_what_the_imu_said(tmp_path: Path) -> None:
    _, taken = _record(tmp_path, imu())
    rows = _table(tmp_path / HOME / "imu0" / "data.csv")
    stamps = [int(line.split(",")[0]) for line in _lines(tmp_path / HOME / "imu0" / "data.csv")]
    assert stamps == [EPOCH_NS + 5_000_000 * k for k in range(30)]
    samples = [each for each in taken if isinstance(each, ImuReading)]
    np.testing.assert_array_equal(rows[:, 1:4], [each.w_WS_S for each in samples])
    np.testing.assert_array_equal(rows[:, 4:], [each.f_S for each in samples])


def test_opencv_reads_the_images_that_the_table_names(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    _, taken = _record(tmp_path, imu(), camera("left"), camera("right", y=-0.06))
    for name, source in (("cam0", "left"), ("cam1", "right")):
        lines = _lines(tmp_path / HOME / name / "data.csv")
        mine = [each for each in taken if each.source.topic.endswith(source)]
        assert len(lines) == len(mine) == 3
        for line, each in zip(lines, mine, strict=True):
            stamp, file = line.split(",")
            assert int(stamp) == EPOCH_NS + round(each.t * 1e9)
            assert file == f"{stamp}.png" and len(stamp) == 19  # of which tools cut nine digits
            pixels = cv2.imread(str(tmp_path / HOME / name / "data" / file), cv2.IMREAD_UNCHANGED)
            assert isinstance(each, ImageReading)
            np.testing.assert_array_equal(pixels, each.pixels)


def test_the_yaml_of_a_camera_has_its_place_on_the_imu(tmp_path: Path) -> None:
    unit, left = imu(), camera("left", D=(-0.3, 0.1, 1e-3, 2e-4, 0.0))
    _record(tmp_path, unit, left)
    tree = yaml.safe_load((tmp_path / HOME / "cam0" / "sensor.yaml").read_text())
    T_IC = np.array(tree["T_BS"]["data"]).reshape(4, 4)
    R_BI = so3.matrix_from_quaternion(np.array(unit.q_BS))
    R_BC = so3.matrix_from_quaternion(np.array(Q_OPTICAL))
    arm = np.subtract(left.p_BS_B, unit.p_BS_B)
    np.testing.assert_allclose(T_IC[:3, :3], R_BI.T @ R_BC, atol=1e-12)
    np.testing.assert_allclose(T_IC[:3, 3], R_BI.T @ arm, atol=1e-12)
    assert (tree["camera_model"], tree["distortion_model"]) == ("pinhole", "radial-tangential")
    assert tree["intrinsics"] == [32.0, 32.0, 31.5, 23.5]
    assert tree["distortion_coefficients"] == [-0.3, 0.1, 1e-3, 2e-4]
    assert (tree["rate_hz"], tree["resolution"]) == (20, [64, 48])


def test_the_yaml_of_the_imu_has_its_densities(tmp_path: Path) -> None:
    _record(tmp_path, imu(gyro_noise=2e-7))
    tree = yaml.safe_load((tmp_path / HOME / "imu0" / "sensor.yaml").read_text())
    assert tree["gyroscope_noise_density"] == 2e-7
    assert tree["accelerometer_random_walk"] == 0.02
    assert tree["T_BS"]["data"] == np.eye(4).ravel().tolist()


def test_the_third_radial_coefficient_is_not_dropped(tmp_path: Path) -> None:
    _record(tmp_path, camera(D=(0.1, 0.0, 0.0, 0.0, 0.2)))
    tree = yaml.safe_load((tmp_path / HOME / "cam0" / "sensor.yaml").read_text())
    assert tree["distortion_coefficients"] == [0.1, 0.0, 0.0, 0.0, 0.2]


def test_depth_cameras_are_no_part_of_it_and_bodies_without_sensors_have_no_folder(
    tmp_path: Path,
) -> None:
    _record(tmp_path, imu(), imu("drone_2"), camera("depth", outputs=("depth", "rgb8")))
    home = tmp_path / EUROC
    assert sorted(path.name for path in home.iterdir()) == ["drone_1", "drone_2"]
    assert sorted(path.name for path in (tmp_path / HOME).iterdir()) == [
        "body.yaml",
        "cam0",
        "imu0",
        "state_groundtruth_estimate0",
    ]
    image = next((tmp_path / HOME / "cam0" / "data").iterdir())
    assert image.read_bytes()[25] == 2  # of the PNG's header: RGB


def test_two_vehicles_have_a_folder_each(tmp_path: Path) -> None:
    a, b = random_flight("three_star", 3, "a"), random_flight("three_star", 3, "b")
    units = [imu(topic=f"/{n}/drone_1/imu", parent=f"{n}/drone_1") for n in "ab"]
    meta = run_meta(a, b).model_copy(update={"sensors": tuple(units)})
    with Recorder(tmp_path, meta, EUROC_TOO) as recorder:
        for k in range(3):
            a.record(recorder, k, 0)
            b.record(recorder, k, 1)
    for name in "ab":
        assert (tmp_path / EUROC / name / "drone_1/mav0/imu0/sensor.yaml").exists()


def table(folder: Path, text: str) -> Path:
    path = folder / "data.csv"
    path.write_text(f"#timestamp [ns],w,a\n{text}")
    return path


@pytest.mark.parametrize(
    "end",
    [
        "14036365",
        "1403636579768555584,0.1,0.2,",
        ROW.strip().replace("9.81", "-"),
        ROW.strip().replace("9.81", "9."),  # a number, but not the one that was written
    ],
)
def test_a_last_line_that_is_cut_short_is_left_out_and_reported(end: str, tmp_path: Path) -> None:
    found = read_table(table(tmp_path, ROW + ROW + end), 6)
    assert len(found.stamps) == 2
    assert found.note is not None and "line 4, the last one, is cut short" in found.note
    assert read_table(table(tmp_path, ROW + ROW), 6).note is None


@pytest.mark.parametrize(
    "end", ["14036365", "1403636579768555584,140363657976855", "1403636579768555584,x.p"]
)
def test_a_name_that_is_cut_short_is_left_out(end: str, tmp_path: Path) -> None:
    found = read_table(table(tmp_path, f"1403636579763555584,a.png\n{end}"), 0)
    assert found.names == ["a.png"]


def test_a_whole_name_needs_no_end(tmp_path: Path) -> None:
    text = "1403636579763555584,a.png\n1403636579768555584,b.png"
    found = read_table(table(tmp_path, text), 0)
    assert found.names == ["a.png", "b.png"] and found.note is None


def test_a_whole_line_that_is_damaged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3: expected 6 finite numbers"):
        read_table(table(tmp_path, ROW + "1403636579768555584,0.1,0.2,\n"), 6)


@pytest.mark.parametrize("stamp", ["9223372036854775808", "1" * 5000, "-1", "1.5", "x", "²", ""])
def test_a_stamp_is_a_time_in_ns(stamp: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3: the stamp is .* not a time in ns"):
        read_table(table(tmp_path, ROW + ROW.replace("1403636579763555584", stamp)), 6)


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 2 is longer"):
        read_table(table(tmp_path, "1" * 10**6), 6)


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "flight.csv"
    rows = [f"{1_000_000_000 + 500_000_000 * k},{k}.0\n" for k in range(10)]
    path.write_text("#timestamp, x\n" + "".join(rows))
    return path


def test_a_part_has_the_head_and_what_comes_from_its_time_on(recording, tmp_path):
    lines = cut(recording, 3.0, tmp_path).read_text().splitlines()
    assert lines[0] == "#timestamp, x"
    assert [line.split(",")[1] for line in lines[1:]] == ["6.0", "7.0", "8.0", "9.0"]


@pytest.mark.parametrize("since", [4.5, 100.0])
def test_a_part_after_the_end_is_refused(recording, tmp_path, since):
    with pytest.raises(BadInput, match="nothing after that time"):
        cut(recording, since, tmp_path)


def test_stamps_are_needed(tmp_path):
    path = tmp_path / "flight.csv"
    path.write_text("t,x\n1,2\n")
    with pytest.raises(BadInput, match="does not begin with a stamp"):
        cut(path, 1.0, tmp_path)
    with pytest.raises(BadInput, match="no CSV file"):
        cut(tmp_path / "flight.bag", 1.0, tmp_path)
