# SPDX-License-Identifier: BSD-3-Clause
"""A recording whose sensors say something else than they should is mended, or refused with what mends it."""

import math

import numpy as np
import pytest
from swaying_camera import Sway

from iap_description.errors import BadInput
from iap_estimation.datasets.understanding import Corrections, DatasetSummary, understand
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import ImuSample


def _understood(sway: Sway, **corrections) -> DatasetSummary:
    return understand(sway.dataset(), Corrections(**corrections))


def _refusal(sway: Sway, **corrections) -> str:
    with pytest.raises(BadInput, match="^sway: ") as refused:
        _understood(sway, **corrections)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def _image_times(understanding: DatasetSummary) -> np.ndarray:
    events = [one for _, one in understanding.dataset.events()]
    stamps = [one.t for one in events]
    assert stamps == sorted(stamps)
    return np.array([one.t for one in events if isinstance(one, Images)])


def test_a_sound_recording_is_taken_as_it_is_and_reported_in_a_few_lines() -> None:
    sway = Sway(has_truth=True)
    understanding = _understood(sway)
    assert len(understanding.lines) == 3
    inertial, images, clock = understanding.lines
    assert "200 Hz" in inertial and "its turns fit the images'" in inertial
    assert "one camera, plumb_bob, 320x240 at 20 Hz" in images
    assert "left as they are" in clock
    assert abs(understanding.record["image_delay_s"]) < 0.005
    assert _image_times(understanding)[0] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("late", [0.1, -0.06])
def test_stamps_of_images_that_are_off_the_gyroscopes_are_set_right(late: float) -> None:
    understanding = _understood(Sway(late=late))
    assert understanding.record["image_delay_s"] == pytest.approx(late, abs=0.004)
    np.testing.assert_allclose(_image_times(understanding)[0], 0.0, atol=0.004)
    assert "taken out" in understanding.lines[-1]


def test_a_delay_that_is_named_is_not_looked_for() -> None:
    understanding = _understood(Sway(late=0.1, has_truth=True), image_delay=0.02)
    assert _image_times(understanding)[0] == pytest.approx(0.08)
    assert understanding.lines[-1] == "clock: images 20.0 ms late, as given"


@pytest.mark.parametrize(
    ("unit", "factor"), [("g", 9.80665), pytest.param("mm/s^2", 1e-3, marks=pytest.mark.slow)]
)
def test_specific_force_in_another_unit_is_refused_by_its_name(unit: str, factor: float) -> None:
    sway = Sway(accel=1.0 / factor, begins_still=False)
    assert f"gravity in {unit}, not in m/s^2: --accel-scale {factor:g}" in _refusal(sway)
    mended = Sway(accel=1.0 / factor)
    samples = [
        one
        for _, one in _understood(mended, accel_scale=factor).dataset.events()
        if isinstance(one, ImuSample)
    ]
    sizes = [np.linalg.norm(one.f_B) for one in samples]
    assert np.median(sizes) == pytest.approx(9.81, rel=0.03)


def test_units_that_hardly_differ_are_both_named_the_nearer_one_first() -> None:
    text = _refusal(Sway(accel=100.0, begins_still=False))
    assert "gravity in cm/s^2 (Gal) or mg" in text and "--accel-scale 0.01 or 0.00980665" in text


def test_a_specific_force_of_no_unit_is_refused() -> None:
    assert "m/s^2 in the median is not gravity's (9.81)" in _refusal(Sway(accel=2.6))


@pytest.mark.parametrize("has_truth", [pytest.param(True, marks=pytest.mark.slow), False])
def test_an_accelerometer_of_the_opposite_sign_is_refused(has_truth: bool) -> None:
    assert "sign is flipped" in _refusal(Sway(accel=-1.0, has_truth=has_truth))
    understanding = _understood(Sway(accel=-1.0, has_truth=has_truth), accel_scale=-1.0)
    assert "head" not in understanding.lines[0]


def test_a_camera_that_stands_on_its_head_is_taken_where_the_user_says_so() -> None:
    line = _understood(Sway(accel=-1.0), accel_scale=1.0).lines[0]
    assert "the camera stands on its head" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gyro", "remedy"),
    [(180.0 / math.pi, "in deg/s: --gyro-scale 0.0174533"), (-1.0, "--gyro-scale -1")],
)
def test_turns_in_another_unit_or_sense_are_refused(gyro: float, remedy: str) -> None:
    assert remedy in _refusal(Sway(gyro=gyro))
    line = _understood(Sway(gyro=gyro), gyro_scale=1.0 / gyro).lines[0]
    assert "its turns fit the images'" in line


@pytest.mark.slow
def test_one_camera_alone_that_begins_in_motion_is_refused_and_from_rest_it_is_not() -> None:
    assert "begin where it stands with --from SECONDS" in _refusal(Sway(begins_still=False))
    assert "begins at rest" in _understood(Sway()).lines[1]
    _understood(Sway(begins_still=False, has_truth=True))


@pytest.mark.parametrize(("gain", "kind"), [(0.01, "black"), (30.0, "saturated")])
def test_images_that_show_nothing_are_named(gain: float, kind: str) -> None:
    assert f"100% of the images are {kind}" in _understood(Sway(gain=gain)).lines[1]


def test_what_is_before_a_beginning_does_not_count() -> None:
    dataset = _understood(Sway(has_truth=True), begin=1.0).dataset
    assert min(one.t for _, one in dataset.events()) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signs", "axes"), [((-1, -1, 1), "-x, -y, z"), ((1, -1, -1), "x, -y, -z")]
)
def test_an_inertial_unit_that_is_mounted_otherwise_is_named_by_its_axes(
    signs: tuple[int, ...], axes: str
) -> None:
    turn = np.array(signs)
    text = _refusal(Sway(accel=turn, gyro=turn, has_truth=True))
    assert f"are its {axes}" in text and "T_BS" in text


@pytest.mark.parametrize(
    ("truth_map", "text"),
    [
        (1000.0 * np.eye(3), "times as much: are they in another unit"),
        (np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]), "in other directions"),
    ],
)
def test_a_truth_in_another_unit_or_other_axes_is_refused(
    truth_map: np.ndarray, text: str
) -> None:
    assert text in _refusal(Sway(has_truth=True, truth_map=truth_map))
