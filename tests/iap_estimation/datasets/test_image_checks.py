# SPDX-License-Identifier: BSD-3-Clause
"""Notes on images, calibrations and the begin of one camera, and refusals of these; matrices and stamps, too."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets import image_checks
from iap_estimation.datasets.data_sample import GreyLevels
from iap_estimation.datasets.image_rotation import RayPairs
from iap_estimation.datasets.virtual_ranges import with_virtual_ranges
from iap_estimation.frontend.calibration import _matrix, rigid
from iap_estimation.navigation.streams import SENSOR_GAP, Clock

SOUND = GreyLevels(20.0, 100.0, 200.0, 0.0, 0.0)


def sample_of(aircraft=None, **more):
    return SimpleNamespace(dataset=SimpleNamespace(source="bag", aircraft=[aircraft]), **more)


def camera(focal=(300.0, 300.0), center=(320.0, 240.0)):
    K = np.array([[focal[0], 0.0, center[0]], [0.0, focal[1], center[1]], [0.0, 0.0, 1.0]])
    return SimpleNamespace(width=640, height=480, focal=np.array(focal), K=K)


def calibrated(left=None, right=None, place=(0.1, 0.0, 0.0), apart=0.1):
    pair = SimpleNamespace(
        left=left or camera(),
        right=right,
        p_BC_B=np.array([place]),
        p_RL_R=np.array([apart, 0, 0]),
    )
    return sample_of(SimpleNamespace(calibration=pair, truth=None))


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (calibrated(), None),
        (calibrated(right=camera()), None),
        (sample_of(SimpleNamespace(calibration=None)), None),
        (calibrated(camera((52.0, 52.0))), None),  # 0.08 of the width
        (calibrated(camera((51.0, 51.0))), "640x480 pixels with focal lengths of 51 and 51"),
        (calibrated(camera((300.0, 0.5))), "they are expected in pixels of these images"),
        (calibrated(camera((19000.0, 19000.0))), None),
        (calibrated(camera((300.0, 19300.0))), "expected in pixels"),
        (calibrated(camera(center=(600.0, 240.0))), None),
        (calibrated(camera(center=(610.0, 240.0))), "its centre at 610, 240"),
        (calibrated(camera(center=(320.0, 20.0))), "expected in pixels"),
        (calibrated(right=camera((0.3, 0.3))), "focal lengths of 0.3 and 0.3"),
        (calibrated(place=(4.9, 0.0, 0.0)), None),
        (calibrated(place=(3.0, 4.1, 0.0)), "the left camera is 5.08 m from the inertial unit: T_BS"),
        (calibrated(right=camera(), apart=0.002), "from the inertial unit, the pair 0.002 m apart: T_BS"),
        (calibrated(right=camera(), apart=120.0), "the pair 120 m apart"),
        (calibrated(apart=120.0), None),  # no second camera
    ],
)  # fmt: skip
def test_a_calibration_that_no_camera_has_is_refused_with_the_unit_that_may_be_meant(pair, said):
    if said is None:
        assert image_checks.calibration(pair) is None
    else:
        with pytest.raises(BadInput, match=f"bag: .*{said}"):
            image_checks.calibration(pair)


@pytest.mark.parametrize(
    ("odd", "count", "said"),
    [
        (SOUND._replace(black=0.95, high=12.0), 3, "30% of the images are black"),
        (SOUND._replace(saturated=0.91), 10, "100% of the images are saturated"),
        (SOUND._replace(low=20.0, high=27.9), 4, "40% of the images are without contrast"),
        (SOUND._replace(low=20.0, high=28.0), 10, None),
        (SOUND._replace(black=0.95), 2, None),  # two in ten are not worth a word
        (SOUND._replace(saturated=0.89), 10, None),
    ],
)  # fmt: skip
def test_images_that_show_nothing_are_told_by_their_share(odd, count, said):
    levels = [odd] * count + [SOUND] * (10 - count)
    found = image_checks.contents(sample_of(levels=levels))
    low, high = np.median([each[0] for each in levels]), np.median([each[2] for each in levels])
    assert found == (said and f"{said} (grey levels {low:.0f} to {high:.0f} of 255)")
    assert image_checks.contents(sample_of(levels=[])) is None


@pytest.mark.parametrize(
    ("repeated", "said"),
    [(3, None), (4, "4 of 100 images repeat the one before: did the camera hang?")],
)
def test_images_that_repeat_the_one_before_are_counted(repeated, said):
    assert image_checks.repeated(sample_of(repeated=repeated, image_times=[0.0] * 100)) == said


def beginning(rate, *, right=None, truth=None, can_be_seen=True):
    """A camera whose still points move by some rad/s across the view, while it turns, too."""
    t = np.linspace(0.0, 1.0, 101)
    w = np.outer(np.ones(101), [0.0, 0.5, 0.0])
    pairs = []
    for k in range(6):
        begin, end = 0.1 * k, 0.1 * (k + 1)
        here, there = (
            np.array([0.0, 0.0, 1.0]),
            np.array([0.0, np.sin(0.1 * rate), np.cos(0.1 * rate)]),
        )
        c, s = np.cos(0.05), np.sin(0.05)  # of the turn in a tenth of a second
        turned = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]) @ there
        pairs.append(RayPairs((begin, end), np.stack([[here] * 5, [turned] * 5])))
    one = SimpleNamespace(calibration=SimpleNamespace(right=right), truth=truth)
    return sample_of(one, turns_can_be_seen=can_be_seen, pairs=pairs, t=t, w_B=w)


def test_one_camera_alone_begins_at_rest_or_is_refused_with_the_remedies():
    assert (
        image_checks.rest_of_one_camera(beginning(0.03))
        == "begins at rest (its view moves by 0.030 rad/s)"
    )
    with pytest.raises(
        BadInput, match=r"view moves by 0.05 rad/s, turns taken out.*--from SECONDS"
    ):
        image_checks.rest_of_one_camera(beginning(0.05))
    for known in (
        beginning(0.5, right="camera"),
        beginning(0.5, truth=SimpleNamespace(has_attitude=True)),
        beginning(0.5, can_be_seen=False),
    ):
        assert image_checks.rest_of_one_camera(known) is None
    with pytest.raises(BadInput, match="one camera alone"):
        image_checks.rest_of_one_camera(beginning(0.5, truth=SimpleNamespace(has_attitude=False)))


def test_a_delay_is_looked_for_where_turns_can_be_seen():
    assert image_checks.delay_of(sample_of(turns_can_be_seen=False)) is None


K = [300.0, 0, 320, 0, 300, 240, 0, 0, 1]


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (0, 0.0, "the camera is not calibrated, K has focal lengths"),
        (4, -1.0, "the camera is not calibrated"),
        (2, np.nan, "the camera is not calibrated"),
        (1, 0.5, "K is no camera matrix without skew"),
        (3, 0.5, "no camera matrix"),
        (6, 0.5, "no camera matrix"),
        (7, 0.5, "no camera matrix"),
        (8, 2.0, "no camera matrix"),
    ],
)
def test_what_is_no_camera_matrix_is_refused(place, value, said):
    numbers = [value if i == place else each for i, each in enumerate(K)]
    with pytest.raises(BadInput, match=f"^left: .*{said}"):
        _matrix(numbers, "left")
    np.testing.assert_array_equal(_matrix(K, "left"), np.reshape(K, (3, 3)))
    with pytest.raises(BadInput, match="left: K has 8 numbers, not 9"):
        _matrix(K[:8], "left")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda T: T[:15], "T_BS has 15 numbers, not 16"),
        (lambda T: [T[0], -T[1], *T[2:]], "no rotation and translation"),  # a reflection
        (lambda T: [T[0], 1.01 * T[1], *T[2:]], "no rotation and translation"),
        (lambda T: [*T[:12], 0.1, *T[13:]], "no rotation and translation"),
        (lambda T: [*T[:15], 2.0], "no rotation and translation"),
    ],
)
def test_what_is_no_rigid_motion_is_refused(change, said):
    T = [0.0, -1, 0, 1, 1, 0, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1]
    place, q = rigid(T, "T_BS")
    assert place.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(np.abs(q), [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    with pytest.raises(BadInput, match=said):
        rigid(change(T), "T_BS")


def test_a_clock_goes_on_repeats_or_is_refused_and_its_gaps_are_noted():
    tally = SimpleNamespace(repeated=0, gaps=[])
    clock = Clock("bag: imu", tally)
    late = 1.0 + 1.01 * SENSOR_GAP
    assert [clock.goes_on(t) for t in (0.5, 0.5, 1.0, late)] == [True, False, True, True]
    assert tally.repeated == 1
    assert tally.gaps == [f"bag: imu: nothing from 1.000 s to {late:.3f} s"]
    with pytest.raises(BadInput, match=r"bag: imu: stamps go backwards: 0.900000 s after"):
        clock.goes_on(0.9)


def test_a_choice_of_ranges_is_a_file_with_anchors():
    with pytest.raises(
        BadInput, match="--ranges real: expected virtual:FILE, a YAML file with anchors"
    ):
        with_virtual_ranges(SimpleNamespace(), "real")
