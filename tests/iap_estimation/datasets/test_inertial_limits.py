# SPDX-License-Identifier: BSD-3-Clause
"""Limits of checks of inertial samples, each from both sides."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets import inertial_checks as checks
from iap_estimation.datasets import stream_checks as streams
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.virpo.messages import ImuSample

G = 9.81
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def sample_of(f, w=None, dt=0.005, **more):
    """A data set of specific forces (n, 3) and rates, with what else it has."""
    f = np.asarray(f, float)
    w = np.zeros_like(f) if w is None else np.asarray(w, float)
    one = SimpleNamespace(**{"truth": None, "calibration": None, **more.pop("one", {})})
    dataset = SimpleNamespace(
        source="bag", gravity=G, aircraft=(one,), tally=SimpleNamespace(unpaired=0)
    )
    samples = [ImuSample(*each) for each in zip(dt * np.arange(len(f)), w, f, strict=True)]
    return DataSample(dataset, samples, **more)


def resting(size, n=100):
    return sample_of(np.tile([0.0, 0.0, size], (n, 1)))


def told(check, sample):
    """The line of a check, or its refusal."""
    try:
        return check(sample)
    except BadInput as refused:
        return f"refused: {refused}"


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0.61 * G, "specific force 5.98 m/s^2 in the median"),
        (1.59 * G, "specific force 15.60 m/s^2"),
        (1.61 * G, "is not gravity's (9.81): --accel-scale FACTOR"),
        (0.59 * G, "a specific force of 5.79 m/s^2 in the median is not gravity's"),
        (1.0, "says 1 in the median, which is gravity in g, not in m/s^2: --accel-scale 9.80665"),
        (0.81, "gravity in g,"),
        (0.79, "is not gravity's"),
        (1.19, "gravity in g,"),
        (1.21, "is not gravity's"),
        (990.0, "gravity in cm/s^2 (Gal) or mg, not in m/s^2: --accel-scale 0.01 or 0.00980665"),
        (9810.0, "gravity in mm/s^2, not in m/s^2: --accel-scale 0.001"),
    ],
)
def test_the_unit_of_an_accelerometer_is_that_in_which_it_measures_gravity(size, said):
    assert said in told(checks.force_size, resting(size))


@pytest.mark.parametrize(("mean", "has_gravity"), [(0.52, True), (0.46, False)])
def test_forces_that_vary_without_a_mean_have_no_gravity_in_them(mean, has_gravity):
    size = np.tile([0.5, 1.0, 1.0, 1.6], 25)
    z = mean * np.sqrt(1.0 - 0.0) * size  # the rest is across, to all sides
    turn = np.linspace(0.0, 2.0 * np.pi, 100, endpoint=False)
    across = np.sqrt(size**2 - z**2)
    f = np.column_stack([across * np.cos(turn), across * np.sin(turn), z])
    said = told(checks.force_size, sample_of(f))
    assert ("have no gravity in them" in said) != has_gravity


@pytest.mark.parametrize(
    ("lean", "said"),
    [
        (44.0, "44.0 deg off the truth's vertical"),
        (46.0, "46 deg off: is the truth's z axis up"),
        (134.0, "134 deg off: is the truth's z axis up"),
        (136.0, "136 deg off: its sign is flipped: --accel-scale -1"),
    ],
)
def test_the_truth_s_vertical_is_within_45_degrees_of_the_accelerometer_s(lean, said):
    q = so3.quaternion_exp(np.array([np.radians(lean), 0.0, 0.0]))
    truth = SimpleNamespace(
        t=np.array([0.0, 9.0]),
        poses=np.tile([0.0, 0, 0, *q], (2, 1)),
        has_attitude=True,
        is_turned=False,
    )
    sample = sample_of(np.tile([0.0, 0.0, G], (50, 1)), one={"truth": truth})
    assert said in told(checks.vertical_of_truth, sample)
    truth.is_turned = True
    assert checks.vertical_of_truth(sample) is None


@pytest.mark.parametrize(
    ("up_C", "said"),
    [
        ((0.0, -1.0, 0.0), None),  # the camera's y axis points down
        ((0.0, 0.49, 0.5), None),
        ((0.0, 0.51, 0.5), "the camera stands on its head"),
        ((0.0, -0.2, 0.69), None),
        ((0.0, -0.2, 0.71), "the camera looks up"),
    ],
)
def test_a_camera_on_its_head_or_that_looks_up_asks_for_the_accelerometer_s_sign(up_C, said):
    f = np.array(up_C)
    f[0] = np.sqrt(1.0 - f @ f)
    calibration = SimpleNamespace(q_BC=LEVEL[None])
    for is_scaled in (False, True):
        sample = sample_of(
            np.tile(G * f, (9, 1)), one={"calibration": calibration}, is_scaled=is_scaled
        )
        found = told(checks.vertical_of_camera, sample)
        if said is None:
            assert found is None
        elif is_scaled:
            assert found == said
        else:
            assert f"by the accelerometer {said}: its sign is flipped, --accel-scale -1" in found


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (19e3, None),
        (
            21e3,
            "21000 inertial samples a second: its stamps are in us, not in ns: multiply those of all tables by 1000",
        ),
        (200e6, "its stamps are in ms, not in ns: multiply those of all tables by 1000000"),
    ],
)
def test_samples_faster_than_any_unit_are_stamped_in_another_one(rate, said):
    found = told(streams.times, sample_of(np.zeros((9, 3)), dt=1.0 / rate))
    assert found is None if said is None else said in found


@pytest.mark.parametrize(
    ("images", "said"),
    [([0.0, 0.2], None), ([-1.0, 0.0], None), ([0.495, 2.0], None), ([1.495, 2.0], "1.00 s or more before its images"),
     ([-2.0, -0.7], "0.70 s or more after its images")],
)  # fmt: skip
def test_samples_and_images_have_a_time_in_common(images, said):
    found = told(streams.times, sample_of(np.zeros((100, 3)), image_times=images))
    assert found is None if said is None else said in found


@pytest.mark.parametrize(("n", "is_refused"), [(49, False), (50, True)])
def test_fifty_samples_of_one_number_beside_a_sensor_that_measures_are_refused(n, is_refused):
    noise = np.random.default_rng(1).normal(size=(n, 3))
    for w, f, name in (
        (noise, 0.0 * noise + 1.0, "accelerometer"),
        (0.0 * noise, noise, "gyroscope"),
    ):
        said = told(streams.constant, sample_of(f, w))
        assert (f"the {name} says one number in all {n} samples" in str(said)) == is_refused
    assert told(streams.constant, sample_of(0.0 * noise, 0.0 * noise)) is None


@pytest.mark.parametrize(("empty", "is_refused"), [(9, False), (10, True)])
def test_a_tenth_of_the_samples_without_any_force_is_refused(empty, is_refused):
    f = np.ones((100, 3))
    f[:empty] = 0.0
    said = told(streams.in_halves, sample_of(f))
    assert (said is not None) == is_refused
    assert said is None or "10% of the inertial samples have no specific force" in said


@pytest.mark.parametrize(
    ("held", "said"),
    [([1], None), ([2], "50% of its samples repeat the one before: it measures at 100 Hz"), ([5], "measures at 40 Hz"),
     ([1, 4, 1, 8], None)],
)  # fmt: skip
def test_a_unit_that_is_read_faster_than_it_measures_is_told_by_even_repetitions(held, said):
    new = np.random.default_rng(2).normal(size=(80, 3))
    f = np.repeat(new, np.resize(held, 80), axis=0)
    found = streams.repeated(sample_of(f, f))
    assert found is None if said is None else said in found


@pytest.mark.parametrize(
    ("at_end", "values", "is_told"), [(12, 400, True), (8, 400, False), (12, 90, False)]
)
def test_numbers_that_stop_at_an_end_of_their_range_are_told(at_end, values, is_told):
    x = np.concatenate([np.linspace(-1.0, 1.0, values), np.full(at_end, 1.0)])
    f = np.column_stack([0.0 * x, x, 0.0 * x])
    said = streams.saturated(sample_of(f, 0.0 * f))
    if is_told:
        assert said.startswith(
            "the accelerometer stops at 1 m/s^2 along y in 3% of samples: saturated"
        )
    else:
        assert said is None


def test_two_cameras_without_a_common_image_are_refused():
    pair = SimpleNamespace(right="camera")
    sample = sample_of(np.ones((9, 3)), one={"calibration": pair})
    sample.dataset.tally.unpaired = 7
    assert "none of 7 images has a partner of the other camera within" in told(
        streams.unpaired, sample
    )
    sample.image_times.append(0.1)
    assert streams.unpaired(sample) is None
    alone = sample_of(np.ones((9, 3)), one={"calibration": SimpleNamespace(right=None)})
    alone.dataset.tally.unpaired = 7
    assert streams.unpaired(alone) is None


class Misfits:
    """A sample whose turns miss those of images by so much, in each unit."""

    dataset = SimpleNamespace(source="bag")
    samples, pairs = [1, 2], [1]

    def __init__(self, still, now, degrees=1.0):
        self._least = {0.0: still, 1.0: now, np.pi / 180.0: degrees}

    def misfits(self, factor):
        return SimpleNamespace(least=self._least.get(factor, 1.0))


@pytest.mark.parametrize(
    ("still", "now", "degrees", "said"),
    [
        (0.01, 0.0059, 1.0, "its turns fit the images'"),
        (0.01, 0.0061, 1.0, "its turns do not fit the images': are its axes"),
        (0.0014, 0.00149, 1.0, "images do not turn enough to say whether its turns fit"),
        (0.0014, 0.0016, 1.0, "images do not turn enough"),
        (0.0014, 0.0022, 1.0, "its turns do not fit"),
        (0.0016, 0.0014, 1.0, "its turns do not fit"),
        (
            0.01,
            0.02,
            0.0059,
            "does not fit the turns of the images in rad/s, but in deg/s: --gyro-scale 0.0174533",
        ),
        (0.01, 0.02, 0.0061, "its turns do not fit"),
        (0.01, 0.009, 0.0026, "but in deg/s"),
        (0.01, 0.009, 0.0028, "its turns do not fit"),
    ],
)
def test_turns_of_a_gyroscope_fit_those_of_images_or_do_in_another_unit(still, now, degrees, said):
    assert said in told(checks.rate_unit, Misfits(still, now, degrees))
