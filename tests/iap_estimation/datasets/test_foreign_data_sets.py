# SPDX-License-Identifier: BSD-3-Clause
"""One recording as a folder in EuRoC's layout and as bags of ROS 1 and 2 says the same."""

import re
from pathlib import Path

import numpy as np
import pytest
from resting_pair import PairBag

from iap_bringup.fuzz.made_bags import FORMATS, ROS1
from iap_bringup.fuzz.made_recordings import (
    BASELINE,
    FOCAL_LENGTH,
    IMU_STEP,
    LEVERS,
    R_BC,
    START,
    camera_yaml,
    imu_yaml,
    placed,
    resting,
    write_euroc,
    write_table,
)
from iap_description.math import so3
from iap_estimation.datasets.bag_topics import IMAGE, IMU, SIDES, TopicNames, pick
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.navigation.fleet_data import MEMS
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import ImuSample
from iap_io.trajectories.topics import Topic


def _check_says_the_pair(dataset: SensorDataset, pair) -> None:
    events = [said for _, said in dataset.events()]
    samples = [said for said in events if isinstance(said, ImuSample)]
    images = [said for said in events if isinstance(said, Images)]
    stamps = [round(each.t * 1e9) + dataset.start_ns for each in samples]
    assert stamps == pair.imu_stamps
    np.testing.assert_array_equal([[*s.w_B, *s.f_B] for s in samples], pair.imu)
    assert [round(each.t * 1e9) + dataset.start_ns for each in images] == pair.stamps[0]
    for k, each in enumerate(images):
        np.testing.assert_array_equal(each.left, pair.image(0, k))
        np.testing.assert_array_equal(each.right, pair.image(1, k))
    times = [said.t for said in events]
    assert times == sorted(times)
    assert abs(dataset.end - times[-1]) < 0.2, "a bar knows where the data end"
    for before, after in zip(events[:-1], events[1:], strict=True):
        if before.t == after.t:
            assert isinstance(before, ImuSample), "a sample comes before the images of its time"
    assert dataset.tally.sentences() == []


def _check_calibration(dataset: SensorDataset) -> None:
    calibration = dataset.aircraft[0].calibration
    np.testing.assert_allclose(calibration.p_BC_B, LEVERS, atol=1e-12)
    R = so3.matrix_from_quaternion(calibration.q_BC)
    np.testing.assert_allclose(R, [R_BC, R_BC], atol=1e-12)
    assert calibration.left.focal.tolist() == [FOCAL_LENGTH, FOCAL_LENGTH]


def test_a_folder_in_eurocs_layout(tmp_path: Path) -> None:
    pair = resting()
    dataset = open_dataset(write_euroc(tmp_path, pair))
    _check_calibration(dataset)
    _check_says_the_pair(dataset, pair)
    _check_says_the_pair(dataset, pair)  # a second reading is like the first
    assert dataset.aircraft[0].noise.tolist() == [0.0017, 0.02, 1e-5, 3e-3]
    truth = dataset.aircraft[0].truth
    assert truth is not None
    assert truth.poses[0].tolist() == [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    assert truth.biases is None, "zeros stand for biases that are not known"


def test_a_calibration_as_opencv_writes_it(tmp_path: Path) -> None:
    pair = resting()
    folder = write_euroc(tmp_path, pair)
    for file in folder.glob("mav0/*/sensor.yaml"):
        text = file.read_text().replace("T_BS:", "T_BS: !!opencv-matrix")
        file.write_text(f"%YAML:1.0\n---\n{text}")
    dataset = open_dataset(folder)
    _check_calibration(dataset)
    _check_says_the_pair(dataset, pair)


def test_mav0_itself_may_be_named(tmp_path: Path) -> None:
    write_euroc(tmp_path / "MH_01", resting(0.2))
    named = open_dataset(tmp_path / "MH_01" / "mav0")
    assert named.name == open_dataset(tmp_path / "MH_01").name == "MH_01"


@pytest.mark.parametrize("kind", FORMATS)
def test_bags(kind: str, tmp_path: Path) -> None:
    pair = resting()
    dataset = open_dataset(PairBag(kind).write(tmp_path, pair))
    _check_calibration(dataset)
    _check_says_the_pair(dataset, pair)


def test_a_bag_whose_recorder_was_killed_and_one_that_was_reindexed(tmp_path: Path) -> None:
    pair = resting(0.2)
    path = PairBag("mcap").write(tmp_path, pair)
    (storage,) = path.glob("*.mcap")
    storage.write_bytes(storage.read_bytes()[:-40])
    metadata = (path / "metadata.yaml").read_text()
    text = re.sub(r"storage_identifier: \S+", "storage_identifier: ''", metadata)
    (path / "metadata.yaml").write_text(text)
    _check_says_the_pair(open_dataset(path), pair)


def test_compressed_images(tmp_path: Path) -> None:
    pair = resting(0.3)
    _check_says_the_pair(open_dataset(PairBag(ROS1, compressed=True).write(tmp_path, pair)), pair)


def test_covariances_of_samples_are_densities(tmp_path: Path) -> None:
    bag = PairBag("mcap")
    assert open_dataset(bag.write(tmp_path, resting(0.2))).aircraft[0].noise.tolist() == list(MEMS)
    (tmp_path / "told").mkdir()
    bag.variances = 0.0016**2 * 200.0, 0.03**2 * 200.0  # at 200 Hz
    noise = open_dataset(bag.write(tmp_path / "told", resting(0.2))).aircraft[0].noise
    np.testing.assert_allclose(noise, [0.0016, 0.03, *MEMS[2:]], rtol=1e-6)


def test_a_bag_calibrated_by_files(tmp_path: Path) -> None:
    bag = PairBag("mcap")
    bag.left_out = {"tf", "info"}
    pair = resting(0.2)
    path = bag.write(tmp_path, pair)
    files = []
    texts = [camera_yaml(LEVERS[0]), camera_yaml(LEVERS[1]), imu_yaml()]
    for name, text in zip(("left", "right", "imu"), texts, strict=True):
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(text)
    dataset = open_dataset(path, Choices(calibration=tuple(files)))
    _check_calibration(dataset)
    assert dataset.aircraft[0].noise.tolist() == [0.0017, 0.02, 1e-5, 3e-3]


def test_sides_are_distinguished_by_the_projection_where_names_do_not(tmp_path: Path) -> None:
    bag = PairBag(ROS1)
    bag.names |= {"left": "/cam_b", "right": "/cam_a"}
    pair = resting(0.2)
    _check_says_the_pair(open_dataset(bag.write(tmp_path, pair)), pair)


def test_sides_as_the_user_names_them(tmp_path: Path) -> None:
    bag = PairBag(ROS1)
    bag.names |= {"left": "/one", "right": "/two"}
    pair = resting(0.2)
    chosen = TopicNames("/one/image_raw", "/two/image_raw", "/imu/data")
    _check_says_the_pair(open_dataset(bag.write(tmp_path, pair), Choices(topics=chosen)), pair)


def test_of_several_inertial_units_the_one_that_is_named_like_the_cameras() -> None:
    units = {name: Topic(IMU, 1) for name in ("/b/imu", "/a/imu/bias", "/a/imu", "/imu")}
    images = {f"/{body}/{side}/image_raw": Topic(IMAGE, 1) for body in "ab" for side in SIDES[0]}
    for body in "ab":
        chosen = TopicNames(left=f"/{body}/left/image_raw")
        picked = pick("a bag", {**units, **images}, chosen, lambda _: None)
        assert picked.imu == f"/{body}/imu"
        assert picked.images[1] == f"/{body}/right/image_raw"


def test_images_without_a_partner_are_left_out_and_counted(tmp_path: Path) -> None:
    pair = resting()
    del pair.stamps[0][3], pair.stamps[1][10:12]
    for stamps in pair.stamps:
        stamps[5] += int(1e6) if stamps is pair.stamps[1] else 0  # near enough to be one time
    for dataset in (
        open_dataset(write_euroc(tmp_path / "euroc", pair)),
        open_dataset(PairBag("mcap").write(tmp_path, pair)),
    ):
        images = [said for _, said in dataset.events() if isinstance(said, Images)]
        assert len(images) == 21 - 3
        assert dataset.tally.unpaired == 3
        assert "3 images" in dataset.tally.sentences()[0]


def test_a_gap_is_reported_and_passed_on(tmp_path: Path) -> None:
    pair = resting(3.0)
    keep = [s for s in pair.imu_stamps if not 1e9 < s - START < 2.1e9]
    pair.imu = pair.imu[[s in set(keep) for s in pair.imu_stamps]]
    pair.imu_stamps = keep
    dataset = open_dataset(write_euroc(tmp_path, pair))
    assert sum(isinstance(said, ImuSample) for _, said in dataset.events()) == len(keep)
    assert len(dataset.tally.gaps) == 1
    assert "start over" in dataset.tally.sentences()[0]


def test_the_truth_of_markers_is_moved_to_the_inertial_unit(tmp_path: Path) -> None:
    pair = resting(0.2)
    write_euroc(tmp_path, pair, truth=False)
    T_BS = np.eye(4)
    T_BS[:3, :3], T_BS[:3, 3] = so3.exp(np.array([0.1, 0.2, -0.3])), (0.3, -0.1, 0.2)
    T_WB = np.eye(4)
    T_WB[:3, :3], T_WB[:3, 3] = so3.exp(np.array([0.5, -0.2, 1.0])), (1.0, 2.0, 3.0)
    T_WS = T_WB @ T_BS
    q = np.roll(so3.quaternion_from_matrix(T_WS[:3, :3]), 1)
    rows = [(s, [*T_WS[:3, 3], *q]) for s in pair.imu_stamps]
    write_table(tmp_path / "mav0" / "vicon0", placed("truth", T_BS), rows)
    truth = open_dataset(tmp_path).aircraft[0].truth
    assert truth is not None
    np.testing.assert_allclose(truth.poses[4, :3], T_WB[:3, 3], atol=1e-12)
    R = so3.matrix_from_quaternion(truth.poses[4, 3:])
    np.testing.assert_allclose(R, T_WB[:3, :3], atol=1e-12)


def test_the_truth_of_a_prism_is_its_place_alone(tmp_path: Path) -> None:
    pair = resting(0.2)
    write_euroc(tmp_path, pair, truth=False)
    T_BS = np.eye(4)
    T_BS[:3, 3] = 0.0, 0.0, 0.1
    rows = [(s, [1.0, 2.0, 3.0]) for s in pair.imu_stamps]
    write_table(tmp_path / "mav0" / "leica0", placed("truth", T_BS), rows)
    truth = open_dataset(tmp_path).aircraft[0].truth
    assert truth is not None
    assert not truth.has_attitude
    upside_down = np.array([[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(truth.point(upside_down), [[1.0, 2.0, 2.9]], atol=1e-12)


def test_stamps_count_from_the_first_word(tmp_path: Path) -> None:
    dataset = open_dataset(write_euroc(tmp_path, resting(0.2)))
    assert dataset.start_ns == START - IMU_STEP
    assert next(iter(dataset.events()))[1].t == 0.0


def test_the_baseline_is_that_of_the_projection(tmp_path: Path) -> None:
    calibration = (
        open_dataset(PairBag("mcap").write(tmp_path, resting(0.1))).aircraft[0].calibration
    )
    np.testing.assert_allclose(calibration.p_RL_R, [-BASELINE, 0.0, 0.0], atol=1e-12)
