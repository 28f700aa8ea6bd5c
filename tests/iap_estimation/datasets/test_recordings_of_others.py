# SPDX-License-Identifier: BSD-3-Clause
"""Peculiarities of others' recordings: late rows, other names, missing numbers, one frame."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from range_bag import ANCHORS, mapping, write_bag
from resting_pair import PairBag

from iap_bringup.fuzz.made_recordings import BASELINE, FOCAL_LENGTH, resting, write_euroc
from iap_description.errors import BadInput
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.datasets.understanding import Corrections, understand
from iap_estimation.navigation.fleet_data import MEMS
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import ImuSample, Ranges


def _samples(path: Path) -> tuple[np.ndarray, list[str]]:
    """Times, angular velocities and specific forces (n, 7) of a data set, and what is to be known of their order."""
    dataset = open_dataset(path)
    rows = [
        np.r_[one.t, one.w_B, one.f_B] for _, one in dataset.events() if isinstance(one, ImuSample)
    ]
    return np.array(rows), dataset.tally.sentences()


def _later(values: list, at: int, by: int) -> list:
    """A list in which one value comes some places later."""
    return [*values[:at], *values[at + 1 : at + 1 + by], values[at], *values[at + 1 + by :]]


@pytest.mark.parametrize("by", [1, 3])
def test_inertial_samples_that_were_written_late_are_put_in_their_places(
    by: int, tmp_path: Path
) -> None:
    pair = resting(0.5)
    right, _ = _samples(write_euroc(tmp_path / "right", pair))
    pair.imu_stamps = _later(pair.imu_stamps, 60, by)
    pair.imu = np.array(_later(list(pair.imu), 60, by))
    for path in (write_euroc(tmp_path / "late", pair), PairBag("mcap").write(tmp_path, pair)):
        sorted_ones, notes = _samples(path)
        np.testing.assert_allclose(sorted_ones[:, 1:], right[:, 1:])
        np.testing.assert_allclose(np.diff(sorted_ones[:, 0]), np.diff(right[:, 0]), atol=1e-9)
        assert notes == [
            "1 messages came after younger ones of their sensor: sorted by their stamps"
        ]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_an_inertial_sample_with_a_number_that_is_none_is_left_out_and_counted(
    value: float, tmp_path: Path
) -> None:
    pair = resting(0.3)
    pair.imu[20, 4] = value
    rows, notes = _samples(PairBag("mcap").write(tmp_path, pair))
    assert len(rows) == len(pair.imu) - 1 and np.isfinite(rows).all()
    assert any(note.startswith("1 inertial samples had a number that is none") for note in notes)


def test_an_image_with_the_stamp_of_another_time_is_left_out(tmp_path: Path) -> None:
    pair = resting(0.6)
    pair.stamps[1][8] = pair.stamps[1][6] - 1
    dataset = open_dataset(PairBag("mcap").write(tmp_path, pair))
    pairs = [one for _, one in dataset.events() if isinstance(one, Images)]
    assert len(pairs) == len(pair.stamps[0]) - 1
    assert all(one.left[0, 0] == one.right[0, 0] for one in pairs)
    assert dataset.tally.misplaced == 1


def test_a_rectified_pair_in_one_frame_has_the_baseline_of_its_projection(tmp_path: Path) -> None:
    bag = PairBag("mcap")
    right = open_dataset(bag.write(tmp_path, resting(0.2))).aircraft[0].cameras
    bag.frames["right"] = bag.frames["left"]
    (tmp_path / "one").mkdir()
    pair = open_dataset(bag.write(tmp_path / "one", resting(0.2))).aircraft[0].cameras
    np.testing.assert_allclose(pair.p_RL_R, [-BASELINE, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(pair.p_BC_B, right.p_BC_B, atol=1e-12)


@pytest.mark.parametrize(
    ("frame", "shift", "said"),
    [
        ("left_optical", FOCAL_LENGTH * BASELINE, "are --left and --right exchanged"),
        ("left_optical", -BASELINE, "the pair 0.000625 m apart: .* times the baseline in metres"),
        ("left_optical", -1000.0 * FOCAL_LENGTH * BASELINE, "the pair 100 m apart"),
        ("left_optical", np.nan, "no P.3. of their CameraInfo says the baseline"),
        (
            "right_optical",
            -2.0 * FOCAL_LENGTH * BASELINE,
            "says 0.1 m between them, P.3. of CameraInfo 0.2 m",
        ),
        (
            "right_optical",
            FOCAL_LENGTH * BASELINE,
            "says 0.1 m between them, P.3. of CameraInfo -0.1 m",
        ),
    ],
)
def test_baselines_of_another_unit_or_sign_are_refused(
    frame: str, shift: float, said: str, tmp_path: Path
) -> None:
    bag = PairBag("mcap")
    bag.frames["right"], bag.shift = frame, shift
    with pytest.raises(BadInput, match=said) as refused:
        understand(open_dataset(bag.write(tmp_path, resting(0.2))), Corrections())
    assert "--calibration" in str(refused.value) or "--left" in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("intrinsics", [2.4, 2.4, 159.5, 119.5], "focal lengths of 2.4 and 2.4"),
        ("intrinsics", [160.0, 160.0, 0.0, 0.0], "its centre at 0, 0"),
        (
            "T_BS",
            1000.0,
            "is 206.2 m from the inertial unit, the pair 206 m apart: T_BS .* metres",
        ),
    ],
)
def test_calibrations_in_another_unit_are_refused(
    key: str, value: Any, said: str, tmp_path: Path
) -> None:
    folder = write_euroc(tmp_path, resting(0.2))
    file = folder / "mav0" / "cam0" / "sensor.yaml"
    tree = yaml.safe_load(file.read_text())
    if key == "T_BS":
        tree[key]["data"] = [
            x * (value if k % 4 == 3 and k < 12 else 1.0) for k, x in enumerate(tree[key]["data"])
        ]
    else:
        tree[key] = value
    file.write_text(yaml.safe_dump(tree))
    with pytest.raises(BadInput, match=said):
        understand(open_dataset(folder), Corrections())


def test_a_fisheye_with_a_fifth_zero_is_a_fisheye(tmp_path: Path) -> None:
    bag = PairBag("mcap")
    bag.lens, bag.D = "equidistant", np.array([0.01, 0.002, 0.0, 0.0, 0.0])
    pair = open_dataset(bag.write(tmp_path, resting(0.2))).aircraft[0].cameras
    assert pair.left.lens.model == "equidistant"
    np.testing.assert_array_equal(pair.left.lens.D, bag.D[:4])


@pytest.mark.parametrize("value", [0.0, 1e-9, 50.0])
def test_noise_that_no_inertial_unit_has_is_a_small_units(value: float, tmp_path: Path) -> None:
    folder = write_euroc(tmp_path, resting(0.2))
    file = folder / "mav0" / "imu0" / "sensor.yaml"
    tree = yaml.safe_load(file.read_text())
    tree["accelerometer_noise_density"] = value
    file.write_text(yaml.safe_dump(tree))
    dataset = open_dataset(folder)
    assert dataset.aircraft[0].noise.tolist() == [0.0017, MEMS[1], 1e-5, 3e-3]
    (note,) = (note for note in dataset.notes if "accelerometer_noise_density" in note)
    assert f"{value:g}: 0.01 m/s^2/sqrt(Hz)" in note and "sensor.yaml" in note


def test_ranges_that_are_no_length_or_to_nobody_are_left_out_and_counted(tmp_path: Path) -> None:
    def change(d: float, rng: np.random.Generator) -> float:
        return float(rng.choice([np.nan, np.inf, -1.0])) if rng.random() < 0.2 else d

    anchors = [{"id": one, "position": list(p)} for one, p in ANCHORS.items() if one != 9524]
    bag, file = write_bag(tmp_path, 4.0, change), mapping(tmp_path, anchors=anchors)
    dataset = open_dataset(bag, Choices(mapping=file))
    rounds = [one for _, one in dataset.events() if isinstance(one, Ranges)]
    lengths = np.concatenate([one.ranges for one in rounds])
    assert np.isfinite(lengths).all() and (lengths > 0.0).all()
    assert len(lengths) + dataset.tally.lengthless + sum(dataset.tally.unlisted.values()) > 250
    assert dataset.tally.lengthless > 20 and list(dataset.tally.unlisted) == ["9524"]
    assert any("9524" in note for note in dataset.tally.sentences())


@pytest.mark.parametrize(("gain", "base"), [(4, 7000), (20, 300)])
def test_images_of_16_bits_are_spread_over_the_levels_that_they_use(
    gain: int, base: int, tmp_path: Path
) -> None:
    pair = resting(0.3)
    pair.images = tuple(gain * image.astype(np.uint16) + base for image in pair.images)
    for path in (
        write_euroc(tmp_path / "folder", pair),
        PairBag("mcap", compressed=True).write(tmp_path, pair),
    ):
        dataset = open_dataset(path)
        (image, *_) = (one.left for _, one in dataset.events() if isinstance(one, Images))
        assert image.dtype == np.uint8
        assert np.ptp(image[1:, 1:]) > 180
        assert any("images of 16 bits that use few" in note for note in dataset.notes)


def test_levels_of_16_bits_that_are_used_are_left(tmp_path: Path) -> None:
    pair = resting(0.3)
    pair.images = tuple(257 * image.astype(np.uint16) for image in pair.images)
    dataset = open_dataset(write_euroc(tmp_path, pair))
    (image, *_) = (one.left for _, one in dataset.events() if isinstance(one, Images))
    np.testing.assert_array_equal(image[1:, 1:], pair.images[0][1:, 1:] >> 8)
