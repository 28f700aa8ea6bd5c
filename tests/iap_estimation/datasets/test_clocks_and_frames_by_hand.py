# SPDX-License-Identifier: BSD-3-Clause
"""Clocks, noise, cameras and topics of bags, of few messages whose numbers are worked out by hand."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets.bag_clocks import (
    SPAN_NS,
    BagClocks,
    _delay,
    _header_ns,
    _is_unset,
    compare_clocks,
    late_sentence,
)
from iap_estimation.datasets.bag_messages import (
    camera_of,
    focal_of,
    in_left_frame,
    rectified_turn,
    shift_of,
)
from iap_estimation.datasets.bag_samples import inertial, noise_of
from iap_estimation.datasets.bag_topics import (
    COMPRESSED,
    IMAGE,
    IMU,
    TopicNames,
    info_topic,
    pick,
)
from iap_estimation.navigation.measurements import Tally

MS = 1_000_000
SAME_TIMES = "the inertial unit's at the same times of reception"


def test_times_of_messages_are_stamps_and_a_shift_or_those_of_reception():
    clocks = BagClocks(10, {"/cam": 5})
    assert (clocks.ticks("/cam", 100, 900), clocks.ticks("/imu", 100, 900)) == (105, 100)
    assert BagClocks(is_by_reception=True).ticks("/cam", 100, 900) == 900


@pytest.mark.parametrize(
    ("delay", "clock", "start", "said"),
    [
        (None, "bag", 1000 * MS, ()),
        (119 * MS, "header", 1000 * MS, ()),
        (125 * MS, "header", 1105 * MS, (f"stamps of /vicon are 0.105 s behind {SAME_TIMES}",)),
        (-85 * MS, "header", 895 * MS, (f"stamps of /vicon are 0.105 s ahead of {SAME_TIMES}",)),
        (30 * MS, "bag", 1010 * MS, (f"stamps of /vicon are 0.010 s behind {SAME_TIMES}",)),
    ],
)
def test_a_truth_that_is_a_tenth_of_a_second_off_begins_when_it_came(delay, clock, start, said):
    recorded = SimpleNamespace(start_ns=1000 * MS, delay_ns=delay, clock=clock)
    expected = tuple(f"{text}: its times of reception count" for text in said)
    assert BagClocks(20 * MS).start_of(recorded, "/vicon") == (start, expected)
    by_reception = BagClocks(20 * MS, is_by_reception=True).start_of(recorded, "/vicon")
    assert by_reception == (1000 * MS + (delay or 0), ())


@pytest.mark.parametrize(
    ("header", "unset"),
    [
        ([0], False),
        ([7, 7], True),
        ([7, 8], False),
        ([0, 8, 9], False),
        ([1, 0, 9], True),
        ([5, *[0] * 20, *range(1, 1981)], False),
        ([5, *[0] * 21, *range(1, 1980)], True),
        ([5, -1, 3], True),
    ],
)
def test_stamps_are_not_set_where_one_of_a_hundred_is_zero_or_all_are_alike(header, unset):
    assert bool(_is_unset(np.array(header))) is unset


def test_the_usual_delay_is_the_median():
    stamps = np.array([0, 10, 20]) + 1_700_000_000_000_000_000
    assert _delay(stamps, stamps + [3, 90, 5]) == 5
    assert _delay(stamps[:0], stamps[:0]) == 0
    assert (
        late_sentence("/cam", 1.234)
        == "/cam comes 1.23 s later than the inertial unit by their stamps: on its way, or by another clock"
    )


@pytest.mark.parametrize(
    ("is_ros1", "raw", "stamp"),
    [
        (True, struct.pack("<III", 9, 2_200_000_000, 7), 2_200_000_000_000_000_007),
        (False, struct.pack("<4sII", b"\0\1\0\0", 3, 8), 3_000_000_008),
        (False, struct.pack(">4sII", b"\0\0\0\0", 4, 9), 4_000_000_009),
        (False, struct.pack("<4siI", b"\0\1\0\0", -2, 5), -1_999_999_995),
    ],
)
def test_a_stamp_is_read_from_the_bytes_of_its_header(is_ros1, raw, stamp):
    assert _header_ns(SimpleNamespace(path="walk.bag", is_ros1=is_ros1), raw) == stamp


class _Bag:
    """Messages of topics whose stamps are some ms before they come."""

    path, is_ros1, start_ns = "walk.bag", True, 500

    def __init__(self, **late):
        self.late, self.stops = late, []

    def raw(self, topics, stop):
        self.stops.append(stop)
        for k in range(5):
            received = (10_000 + 40 * k) * MS
            seconds, rest = divmod(received - self.late[topics[0]] * MS, 1000 * MS)
            yield topics[0], received, struct.pack("<III", k, seconds, rest)

    def decoded(self, _, received, raw):
        return None, SimpleNamespace(ticks=received - 6 * MS), received


@pytest.mark.parametrize(
    ("late", "shift", "doubt"),
    [
        (20, None, None),
        (-279, None, None),
        (-320, -340, None),
        (280, None, None),
        (320, None, 0.3),
        (4980, None, 4.96),
        (5100, 5080, None),
    ],
)
def test_a_clock_is_another_from_so_far_before_or_behind_on(late, shift, doubt):
    bag = _Bag(imu=20, cam=late)
    found = compare_clocks(bag, "imu", ("cam",))
    assert found.delay_ns == 20 * MS
    assert dict(found.shifts_ns) == ({} if shift is None else {"cam": shift * MS})
    way = "behind" if late > 0 else "ahead of"
    text = f"stamps of cam are {abs(late - 20) / 1e3:.3f} s {way} {SAME_TIMES}: taken out"
    assert found.notes == (() if shift is None else (text,))
    assert found.late_s == (pytest.approx(doubt) if doubt is not None else None)
    assert bag.stops == [500 + SPAN_NS] * 2 and SPAN_NS == 20_000 * MS


def test_stamps_beside_the_header_are_read_by_their_own_way():
    found = compare_clocks(_Bag(imu=20, uwb=9999), "imu", ("uwb",), {"uwb": lambda m: m.ticks})
    assert found == BagClocks(20 * MS)


def _imu(t, rates=0.0, forces=0.0):
    stamp = SimpleNamespace(sec=0, nanosec=int(t * 1e9))
    return SimpleNamespace(
        header=SimpleNamespace(stamp=stamp),
        angular_velocity_covariance=np.diag([rates, 2.0 * rates, 3.0 * rates]).ravel(),
        linear_acceleration_covariance=np.diag([forces] * 3).ravel(),
    )


@pytest.mark.parametrize(
    ("rates", "forces", "noise", "said"),
    [
        (2e-4, 0.04, [2.828427e-3, 0.0282843], "walk of the biases"),
        (0.0, 0.04, [1e-3, 0.0282843], "noise of the angular velocity and walk of the biases"),
        (2e-4, -1.0, [2.828427e-3, 1e-2], "noise of the linear acceleration and walk of the biases"),
        (2.1, 410.0, [1e-3, 1e-2],
         "noise of the angular velocity and noise of the linear acceleration and walk of the biases"),
    ],
)  # fmt: skip
def test_densities_are_variances_over_the_rate(rates, forces, noise, said):
    found, note = noise_of([_imu(0.02 * k, rates, forces) for k in range(6)])
    np.testing.assert_allclose(found, [*noise, 1e-4, 1e-2], rtol=1e-5)
    assert note == f"{said} of the inertial unit: not known, a small MEMS unit's is taken"
    assert noise_of([_imu(0.0, rates, forces)])[0].tolist() == [1e-3, 1e-2, 1e-4, 1e-2]


def test_a_sample_is_its_rates_and_forces_unless_one_is_no_number():
    vectors = [SimpleNamespace(x=1.0, y=2.0, z=3.0), SimpleNamespace(x=4.0, y=5.0, z=6.0)]
    message = SimpleNamespace(angular_velocity=vectors[0], linear_acceleration=vectors[1])
    tally = Tally()
    found = inertial(7.5, message, tally)
    assert (found.t, found.w_B.tolist(), found.f_B.tolist()) == (7.5, [1, 2, 3], [4, 5, 6])
    vectors[1].y = np.nan
    assert inertial(7.5, message, tally) is None and tally.numberless == 1


QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def _info(upper=True, R=QUARTER, shift=-42.0):
    numbers = {
        "K": [300.0, 0.0, 160.0, 0.0, 310.0, 120.0, 0.0, 0.0, 1.0],
        "D": [0.1, 0.0, 0.0, 0.0, 0.0],
        "R": np.ravel(R),
        "P": [280.0, 0.0, 150.0, shift, 0.0, 290.0, 110.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    }
    named = {name if upper else name.lower(): np.array(x) for name, x in numbers.items()}
    return SimpleNamespace(width=320, height=240, distortion_model="plumb_bob", **named)


@pytest.mark.parametrize("upper", [True, False], ids=["ros1", "ros2"])
@pytest.mark.parametrize(
    ("topic", "is_rectified"),
    [
        ("/left/image_raw", False),
        ("/rect/left/image", False),
        ("/left_rect/image", False),
        ("/left/image_rect/compressed", True),
        ("/left/rectified", True),
    ],
)
def test_a_camera_is_that_of_its_images(upper, topic, is_rectified):
    camera, turn = camera_of(_info(upper), topic, "bag")
    expected = (
        ([280.0, 290.0], [150.0, 110.0]) if is_rectified else ([300.0, 310.0], [160.0, 120.0])
    )
    assert (camera.focal.tolist(), camera.center.tolist()) == expected
    assert (camera.width, camera.height) == (320, 240)
    assert camera.lens.D[0] == (0.0 if is_rectified else 0.1)
    np.testing.assert_array_equal(turn, QUARTER if is_rectified else np.eye(3))


def test_the_projection_says_where_a_right_camera_is():
    info = _info()
    assert (shift_of(info), focal_of(info)) == (-42.0, 280.0)
    T = in_left_frame(info, np.eye(3))
    np.testing.assert_allclose(T[:3, 3], [0.15, 0.0, 0.0])
    np.testing.assert_allclose(T[:3, :3], QUARTER)
    np.testing.assert_allclose(in_left_frame(info, QUARTER)[:3, :3], np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(rectified_turn(_info(R=np.zeros((3, 3)))), np.eye(3))


def _topics(*images, imus=("/imu",), kind=IMAGE):
    kinds = {**dict.fromkeys(images, kind), **dict.fromkeys(imus, IMU)}
    return {name: SimpleNamespace(msgtype=each, messages=9) for name, each in kinds.items()}


def _picked(topics, names=None, shifts=None):
    names = names or TopicNames()
    return pick("bag", topics, names, lambda name: (shifts or {}).get(name))


def test_topics_are_found_by_their_names_and_by_their_projections():
    left, right = "/stereo/left/image", "/stereo/right/image"
    found = _picked(_topics(right, left, "/stereo/depth/image"))
    assert (found.images, found.imu) == ((left, right), "/imu")
    shifts = {"/a/image": 0.0, "/b/image": -30.0, "/c/image": 30.0}
    assert _picked(_topics(*shifts), shifts=shifts).images == ("/a/image", "/b/image")
    named = _picked(_topics("/a/image", "/b/image"), TopicNames("/b/image", "/a/image"))
    assert named.images == ("/b/image", "/a/image")
    assert _picked(_topics("/a/image", "/b/image"), TopicNames("/b/image")).images == ("/b/image",)
    both = {**_topics("/a/image"), **_topics("/a/image/compressed", kind=COMPRESSED)}
    assert _picked(both).images == ("/a/image",)
    assert info_topic("/a/image/compressed") == info_topic("/a/image") == "/a/camera_info"


@pytest.mark.parametrize(
    ("topics", "names", "words"),
    [
        (_topics("/a/image"), TopicNames(imu="/a/image"), "no topic /a/image of type sensor_msgs/msg/Imu"),
        (_topics("/a/image"), TopicNames(left="/imu"), "no topic /imu of type sensor_msgs/msg/Image"),
        (_topics("/a/image"), TopicNames(right="/none"), "no topic /none of type sensor_msgs/msg/Image"),
        (_topics("/a/image", imus=()), TopicNames(), "no inertial unit: no topic of type"),
        (_topics("/a/image", "/b/image"), TopicNames(), "no stereo pair; choose with --left and --right"),
        (_topics("/a/image"), TopicNames(right="/a/image"), "no stereo pair; choose with --left and"),
        (_topics("/a/left", "/a/right", "/b/left", "/b/right"), TopicNames(),
         "several stereo pairs; choose .* from: /a/left and /a/right; /b/left and /b/right"),
        (_topics("/a/image", imus=("/x/imu", "/y/imu")), TopicNames(),
         "several inertial units; choose with --imu from: /x/imu, /y/imu"),
    ],
)  # fmt: skip
def test_topics_that_leave_a_choice_are_listed(topics, names, words):
    with pytest.raises(BadInput, match=f"^bag: {words}"):
        _picked(topics, names)


def test_the_inertial_unit_is_the_cameras_own_and_not_one_below_its_name():
    topics = _topics("/cam/left", imus=("/cam/imu", "/other/imu", "/cam/imu/raw"))
    assert _picked(topics).imu == "/cam/imu"
    assert _picked(topics, TopicNames(imu="/other/imu")).imu == "/other/imu"
