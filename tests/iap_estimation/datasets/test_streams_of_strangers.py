# SPDX-License-Identifier: BSD-3-Clause
"""Sensors' numbers as strangers' drivers and exports write them: held, saturated, in halves, in another order."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refusal
from swaying_camera import Sway, motion

from iap_bringup.fuzz.made_recordings import camera_yaml, resting, write_euroc
from iap_estimation.datasets import stream_checks
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.datasets.euroc_calibration import read_sensor
from iap_estimation.datasets.inertial_checks import force_size
from iap_estimation.datasets.opening import open_dataset
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import ImuSample

T = np.arange(0.0, 6.0, 0.005)
W, F = Sway()._inertial(T)
Array = np.ndarray


def sample_of(
    w: Array = W, f: Array = F, t: Array = T, noise: float = 1e-3, truth: Truth | None = None
) -> DataSample:
    """Inertial samples of a camera that sways, whose images nobody looks at."""
    rng = np.random.default_rng(4)
    w, f = (x + noise * rng.normal(size=x.shape) if x.any() and noise else x for x in (w, f))
    dataset = Sway().dataset()
    one = replace(dataset.aircraft[0], truth=truth)
    samples = [ImuSample(*each) for each in zip(t.tolist(), w, f, strict=True)]
    return DataSample(replace(dataset, aircraft=(one,)), samples)


CHECKS = (
    stream_checks.times, stream_checks.constant, stream_checks.in_halves, stream_checks.repeated,
    stream_checks.saturated, stream_checks.truth_in_time,
)  # fmt: skip


def test_of_a_sound_unit_nothing_is_said() -> None:
    sample = sample_of()
    assert [check(sample) for check in CHECKS] == [None] * len(CHECKS)


@pytest.mark.parametrize(("unit", "factor"), [("us", 1000), ("ms", 1_000_000)])
def test_stamps_in_another_unit_than_ns_are_refused_by_its_name(unit: str, factor: int) -> None:
    text = refusal(stream_checks.times, sample_of(t=T / factor))
    assert f"its stamps are in {unit}, not in ns" in text and f"by {factor}" in text


@pytest.mark.parametrize(("shift", "way"), [(9.0, "before"), (-9.0, "after")])
def test_inertial_samples_that_have_no_image_beside_them_are_refused(
    shift: float, way: str
) -> None:
    sample = sample_of()
    sample.image_times += [0.5, 2.5]
    assert stream_checks.times(sample) is None
    sample.image_times[:] = [0.5 + shift, 2.5 + shift]
    text = refusal(stream_checks.times, sample)
    assert f"s or more {way} its images" in text and "clocks of their own" in text


@pytest.mark.parametrize(
    ("w", "f", "name"),
    [(0.0 * W, F, "gyroscope"), (W, np.tile(F[0], (len(F), 1)), "accelerometer")],
)
def test_a_sensor_that_says_one_number_is_named(w: Array, f: Array, name: str) -> None:
    """Drivers that have a topic for each sensor fill the other one's fields with zeros."""
    rng = np.random.default_rng(0)
    w, f = (
        x + 1e-3 * rng.normal(size=x.shape) if np.ptp(x) > 1.0 or x is W else x for x in (w, f)
    )
    f = f if name == "gyroscope" else np.tile(F[0], (len(F), 1))
    assert f"the {name} says one number in all" in refusal(
        stream_checks.constant, sample_of(w, f, noise=0.0)
    )


def test_a_unit_that_rests_without_noise_is_left_alone() -> None:
    rest = np.tile([0.0, 0.0, 9.81], (len(T), 1))
    sample = sample_of(0.0 * W, rest, noise=0.0)
    assert [check(sample) for check in CHECKS] == [None] * len(CHECKS)


def test_gyroscope_and_accelerometer_in_turns_are_refused() -> None:
    odd = (np.arange(len(T)) % 2 == 1)[:, None]
    text = refusal(stream_checks.in_halves, sample_of(np.where(odd, W, 0), np.where(odd, 0, F), noise=0.0))  # fmt: skip
    assert "50% of the inertial samples have no specific force" in text and "interpolate" in text


@pytest.mark.parametrize("count", [4, 10])
def test_samples_that_repeat_the_one_before_say_the_rate_that_is_measured(count: int) -> None:
    index = np.arange(len(T)) // count * count
    rng = np.random.default_rng(1)
    w, f = (x + 1e-3 * rng.normal(size=x.shape) for x in (W, F))
    line = stream_checks.repeated(sample_of(w[index], f[index], noise=0.0))
    assert line is not None and f"it measures at {200 / count:.0f} Hz" in line


def test_coarse_numbers_are_not_held_ones_nor_saturated() -> None:
    w, f = np.round(W / 0.1) * 0.1, np.round(F)
    sample = sample_of(w, f, noise=0.0)
    assert stream_checks.repeated(sample) is None and stream_checks.saturated(sample) is None


@pytest.mark.parametrize(
    ("w", "f", "words"),
    [
        (np.minimum(W, 0.15), F, "the gyroscope stops at 0.15 rad/s along"),
        (W, np.maximum(F, -0.5), "the accelerometer stops at -0.5 m/s^2 along"),
    ],
)
def test_numbers_at_the_end_of_a_range_are_said_to_be_saturated(
    w: Array, f: Array, words: str
) -> None:
    rng = np.random.default_rng(2)
    w, f = (np.clip(x + 1e-3 * rng.normal(size=x.shape), x.min(), x.max()) for x in (w, f))
    line = stream_checks.saturated(sample_of(w, f, noise=0.0))
    assert line is not None and words in line and "saturated" in line


def test_forces_without_gravity_are_called_so_and_given_no_scale() -> None:
    text = refusal(force_size, sample_of(f=F - [0.0, 0.0, 9.81]))
    assert "gravity in them: it was taken out" in text and "--accel-scale" not in text


@pytest.mark.parametrize("late", [0.3, -0.8])
def test_a_truth_of_another_clock_is_brought_to_the_gyroscopes(late: float) -> None:
    truth = Truth(T + late, np.hstack(motion(T, True)))
    sample = sample_of(truth=truth)
    line = stream_checks.truth_in_time(sample)
    said = (
        f"the truth is {1e3 * abs(late):.0f} ms {'late' if late > 0.0 else 'early'} by its turns"
    )
    assert line == f"{said} and the gyroscope's: taken out"
    mended = sample.dataset.aircraft[0].truth
    assert mended is not None
    np.testing.assert_allclose(mended.t, T, atol=0.02)


@pytest.mark.parametrize("late", [0.0, 0.02])
def test_a_truth_in_time_is_left_as_it_is(late: float) -> None:
    truth = Truth(T + late, np.hstack(motion(T, True)))
    sample = sample_of(truth=truth)
    assert stream_checks.truth_in_time(sample) is None
    assert sample.dataset.aircraft[0].truth is truth


def test_cameras_that_are_not_triggered_together_are_no_pair(tmp_path: Path) -> None:
    pair = resting(0.6)
    pair.stamps[1][:] = [stamp + 10_000_000 for stamp in pair.stamps[1]]
    dataset = open_dataset(write_euroc(tmp_path / "apart", pair))
    assert not [one for _, one in dataset.events() if isinstance(one, Images)]
    sample = DataSample(dataset)
    assert "has a partner of the other camera within 3 ms" in refusal(stream_checks.unpaired, sample)  # fmt: skip


# --- tables and files ----------------------------------------------------------------------------


def change(path: Path, edit: Callable[[list[str]], list[str]]) -> None:
    """Lines of a table, the first one of names, made anew."""
    path.write_text("\n".join(edit(path.read_text().splitlines())) + "\n")


def test_columns_of_an_inertial_table_are_read_by_their_names(tmp_path: Path) -> None:
    """Accelerations stand before rates in some exports."""
    path = write_euroc(tmp_path / "a", resting(0.5))
    expected = [one for _, one in open_dataset(path).events() if isinstance(one, ImuSample)]

    def swap(lines: list[str]) -> list[str]:
        names = "#timestamp [ns],a_RS_S_x [m s^-2],a_RS_S_y,a_RS_S_z,w_RS_S_x [rad s^-1],w_RS_S_y,w_RS_S_z"
        rows = (line.split(",") for line in lines[1:])
        return [names, *(",".join([row[0], *row[4:], *row[1:4]]) for row in rows)]

    change(path / "mav0/imu0/data.csv", swap)
    found = [one for _, one in open_dataset(path).events() if isinstance(one, ImuSample)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.r_[one.w_B, one.f_B], np.r_[other.w_B, other.f_B])


def test_a_truth_whose_names_have_w_last_is_read_so(tmp_path: Path) -> None:
    path = write_euroc(tmp_path / "a", resting(0.5))
    q = (0.6, 0.0, 0.0, 0.8)  # w x y z
    names = (
        "#timestamp,p_RS_R_x [m],p_RS_R_y [m],p_RS_R_z [m],q_RS_x [],q_RS_y [],q_RS_z [],q_RS_w []"
    )

    def turned(lines: list[str]) -> list[str]:
        stamps = (line.split(",")[0] for line in lines[1:])
        return [names, *(f"{stamp},1,2,3,{q[1]},{q[2]},{q[3]},{q[0]}" for stamp in stamps)]

    change(path / "mav0/state_groundtruth_estimate0/data.csv", turned)
    truth = open_dataset(path).aircraft[0].truth
    assert truth is not None
    np.testing.assert_allclose(truth.poses[0], [1.0, 2.0, 3.0, 0.0, 0.0, 0.8, 0.6], atol=1e-12)


@pytest.mark.parametrize("before", ["cam0/data/", "C:\\flights\\data\\", "/home/me/"])
def test_of_names_of_images_with_another_machines_path_the_last_part_counts(
    tmp_path: Path, before: str
) -> None:
    path = write_euroc(tmp_path / "a", resting(0.3))
    for side in (0, 1):
        change(
            path / f"mav0/cam{side}/data.csv",
            lambda lines: [lines[0], *(line.replace(",", f",{before}") for line in lines[1:])],
        )
    assert [one for _, one in open_dataset(path).events() if isinstance(one, Images)]


@pytest.mark.parametrize(
    ("keys", "tool"),
    [
        ("cam0:\n  T_cam_imu: [[1]]\n", "Kalibr"),
        ("image_width: 320\ncamera_matrix:\n  data: [1]\n", "ROS"),
        ("%YAML:1.0\n---\nmodel_type: PINHOLE\nprojection_parameters:\n  fx: 200\n", "VINS"),
        ("%YAML:1.0\n---\nK1: !!opencv-matrix\n  data: [1.]\n", "OpenCV"),
        ('%YAML:1.0\nCamera1.fx: 200.0\nCamera.type: "PinHole"\n', "ORB-SLAM3"),
    ],
)
def test_calibrations_of_other_tools_are_called_by_name(
    tmp_path: Path, keys: str, tool: str
) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text(keys)
    text = refusal(read_sensor, path)
    assert f"it is a calibration of {tool}" in text and "T_BS" in text


def test_a_sensor_yaml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sensor.yaml"
    path.write_text(camera_yaml(np.zeros(3)))
    assert "T_BS" in read_sensor(path)
