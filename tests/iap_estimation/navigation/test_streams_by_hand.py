# SPDX-License-Identifier: BSD-3-Clause
"""Stamps of sensors, readings of a suite's sensors and made-up views, of few numbers worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import ImageReading, ImuReading, RangeReading, SensorSource
from iap_description.sensors.sensor_info import CameraSensorInfo, ImuInfo, UwbInfo
from iap_estimation.navigation import warm_up
from iap_estimation.navigation.fleet_data import AircraftData, CentreData, fleet_of
from iap_estimation.navigation.measurements import Images, Tally
from iap_estimation.navigation.reading_adapter import (
    ReadingAdapter,
    aircraft_data_of,
    centre_of,
    sensors_of_body,
)
from iap_estimation.navigation.streams import Clock, Pairing, Sorter, _period, by_stamp
from iap_estimation.virpo.messages import CENTRE, ImuSample
from iap_estimation.virpo.spec import load_spec

LEVEL = (0.0, 0.0, 0.0, 1.0)
QUARTER = (0.0, 0.0, 0.5**0.5, 0.5**0.5)  # about z


def test_a_clock_goes_on_or_repeats_and_notes_gaps_of_a_second():
    tally = Tally()
    clock = Clock("imu", tally)
    assert [clock.goes_on(t) for t in (-0.5, 0.0, 0.0, 0.99, 1.99)] == [
        True,
        True,
        False,
        True,
        True,
    ]
    assert (tally.repeated, tally.gaps) == (1, ["imu: nothing from 0.990 s to 1.990 s"])
    with pytest.raises(BadInput, match="^imu: stamps go backwards: 1.500000 s after 1.990000 s$"):
        clock.goes_on(1.5)


def _sorted(times, horizon=0.25):
    tally = Tally()
    return [t for t, _ in by_stamp(((t, None) for t in times), "imu", tally, horizon)], tally


def test_late_messages_fill_the_holes_that_they_left():
    grid = [round(0.1 * k, 3) for k in range(10)]
    found, tally = _sorted([*grid[:5], *grid[6:8], 0.5, *grid[8:]])
    assert found == grid and (tally.late, tally.misplaced, tally.repeated) == (1, 0, 0)
    found, tally = _sorted([*grid, 0.45])
    assert found == grid and (tally.late, tally.misplaced) == (0, 1)
    found, tally = _sorted([*grid, 0.5, 0.5])
    assert found == grid and tally.repeated == 2
    with pytest.raises(BadInput, match="stamps go backwards: 0.050000 s after 0.600000 s"):
        _sorted([*grid[1:], 0.05])  # later than the horizon


def test_a_hole_is_of_one_and_a_half_periods():
    for wide, late in ((0.149, 0), (0.151, 1)):
        times = [0.0, 0.1, 0.2, 0.3, 0.4, 0.4 + wide, 0.5 + wide, 0.6 + wide]
        assert _sorted([*times, 0.45], horizon=1.0)[1].late == late


def test_a_clock_that_was_set_back_is_refused_with_the_time():
    grid = [round(0.1 * k, 3) for k in range(10)]
    with pytest.raises(
        BadInput, match=r"imu: its clock was set back, by about 0.550 s, after 0.900 s: cut"
    ):
        _sorted([*grid, 0.45, 0.55])
    assert _sorted([*grid, 0.45, 1.0, 0.55, 1.1])[1].misplaced == 2, "each of them is alone"
    with pytest.raises(BadInput, match="its clock was set back, by about 0.500 s"):
        _sorted([*grid, 0.5, 0.6, 0.7, 0.8, 0.5])
    assert _sorted([*grid, 0.5, 0.6, 0.7, 0.8])[1].repeated == 4


def test_messages_are_passed_on_once_their_place_is_sure():
    sorter = Sorter("imu", Tally(), 0.25)
    passed = [[t for t, _ in sorter.add(t, None)] for t in (0.0, 0.1, 0.25, 0.26, 0.5)]
    assert passed == [[], [], [], [0.0], [0.1]]
    assert [t for t, _ in sorter.end()] == [0.25, 0.26, 0.5]


def test_a_period_is_known_from_five_stamps_on():
    assert _period([0.0, 1.0, 2.0, 3.0]) == 0.0
    assert _period([0.0, 1.0, 3.0, 4.0, 9.0]) == 1.5


def test_images_wait_for_partners_within_three_milliseconds():
    tally = Tally()
    pairing = Pairing(tally)
    assert pairing.add(0, 1.0, "a") is None
    assert pairing.add(1, 1.0029, "b") == (1.0, "a", "b")
    assert pairing.add(1, 2.0, "c") is None
    assert pairing.add(0, 1.9971, "d") == (1.9971, "d", "c")
    assert pairing.add(0, 3.0, "e") is None
    assert pairing.add(1, 3.0032, "f") is None and tally.unpaired == 1
    for k in range(21):
        assert pairing.add(1, 4.0 + k, "g") is None
    assert tally.unpaired == 3, "of 22 that wait two are left out"
    pairing.end()
    assert tally.unpaired == 23


def test_what_was_odd_is_added_by_its_kind():
    one, other = (
        Tally(unpaired=1, blind=0.5, unlisted={"a": 1}),
        Tally(unpaired=2, late=3, gaps=["x"], unlisted={"a": 2, "b": 4}),
    )
    one.add(other)
    assert one == Tally(unpaired=3, late=3, blind=0.5, gaps=["x"], unlisted={"a": 3, "b": 4})


# sensors of this suite

MOUNT = {"parent": "iap/one", "p_BS_B": (0.0, 0.0, 0.0), "q_BS": LEVEL, "rate": 100.0}


def imu(topic="/imu", **changes):
    numbers = {"gyro_noise": 1e-3, "gyro_walk": 3e-5, "accel_noise": 2e-2, "accel_walk": 4e-4}
    return ImuInfo(**{**MOUNT, "topic": topic, "frame": topic, **numbers, **changes})


def camera(topic, shift, outputs=("rgb8", "mono8"), **changes):
    K = (100.0, 0.0, 16.0, 0.0, 100.0, 12.0, 0.0, 0.0, 1.0)
    about = {"width": 32, "height": 24, "K": K, "D": (0.0,) * 5, "distortion_model": "plumb_bob"}
    P = (100.0, 0.0, 16.0, shift, 0.0, 100.0, 12.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    made = {
        **MOUNT,
        "topic": topic,
        "frame": topic,
        **about,
        "P": P,
        "outputs": outputs,
        **changes,
    }
    return CameraSensorInfo.model_construct(**made)


LEFT, RIGHT = camera("/left", 0.0), camera("/right", -10.0, p_BS_B=(0.1, 0.0, 0.0))
TAG = UwbInfo(**{**MOUNT, "p_BS_B": (0.0, 0.0, 0.2)}, topic="/uwb", frame="/uwb")


def test_sensors_of_a_body_are_those_on_its_frame():
    other = imu("/other", parent="iap/two")
    found = sensors_of_body("iap/one", [other, TAG, LEFT, RIGHT, imu(), imu("/second")])
    assert found.imu.topic == "/imu" and found.cameras == (LEFT, RIGHT) and found.tag is TAG
    assert [each.topic for each in found.all] == ["/imu", "/left", "/right", "/uwb"]
    alone = sensors_of_body("iap/one", [imu(), RIGHT])
    assert alone.cameras is None and alone.tag is None and alone.all == [alone.imu]
    assert sensors_of_body("iap/one", [other, LEFT, RIGHT]) is None
    down = camera("/down", 0.0)
    assert sensors_of_body("iap/one", [imu(), down, LEFT, RIGHT]).cameras == (LEFT, RIGHT)
    assert sensors_of_body("iap/one", [imu(), down, LEFT]).cameras is None
    depth = camera("/depth", 0.0, outputs=("32FC1",))
    assert sensors_of_body("iap/one", [imu(), depth, LEFT, RIGHT]).cameras == (LEFT, RIGHT)


def test_an_aircraft_is_known_from_its_inertial_unit():
    unit = imu(p_BS_B=(1.0, 2.0, 3.0), q_BS=QUARTER, gyro_scale=0.02)
    group = sensors_of_body("iap/one", [unit, LEFT, RIGHT, TAG])
    found = aircraft_data_of("one", group, "iap")
    assert found.name == "one" and found.gyro_scale == 0.02 and found.truth is None
    assert found.noise.tolist() == [1e-3, 2e-2, 3e-5, 4e-4]
    # In axes that are a quarter turn to the left, (1, 2, 3) is at (2, -1, 3).
    np.testing.assert_allclose(found.p_BJ_B, [-2.0, 1.0, -3.0], atol=1e-12)
    np.testing.assert_allclose(found.p_BA_B, [-2.0, 1.0, -2.8], atol=1e-12)
    np.testing.assert_allclose(
        found.cameras.p_BC_B, [[-2.0, 1.0, -3.0], [-2.0, 0.9, -3.0]], atol=1e-12
    )
    turn = so3.quaternion_log(found.cameras.q_BC[0])
    np.testing.assert_allclose(turn, [0.0, 0.0, -0.5 * np.pi], atol=1e-12)


def test_a_centre_is_known_with_and_without_an_inertial_unit():
    d = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    none = centre_of(d, None)
    assert (none.tilt_deviation, none.gyro_scale, none.noise.tolist()) == (0.0, 0.0, [0.0] * 4)
    found = centre_of(d, imu(p_BS_B=(0.1, 0.2, 0.3), attitude_deviation=0.05, gyro_scale=0.03))
    assert (found.tilt_deviation, found.gyro_scale) == (0.05, 0.03)
    assert found.p_B0I_B0.tolist() == [0.1, 0.2, 0.3]
    assert found.noise.tolist() == [1e-3, 2e-2, 3e-5, 4e-4]
    assert centre_of(d, imu()).tilt_deviation == 0.0


def test_a_fleet_has_least_noise_and_tilt():
    errors = load_spec().inertial.model_copy(
        update={"gyro_noise": None, "accel_noise": 0.5, "gyro_walk": None, "accel_walk": None, "gyro_scale": 0.1}
    )  # fmt: skip
    spec = load_spec().model_copy(update={"inertial": errors})
    one = AircraftData("one", None, np.zeros(4), np.ones(3), np.full(3, 2.0))
    centre = CentreData(np.zeros((1, 3)), np.array([1.0, 2.0, 3.0, 4.0]), 1e-4)
    fleet = fleet_of([one], centre, spec, 9.0)
    scale = 0.1 * np.sqrt(2.0 * errors.scale_memory)
    np.testing.assert_allclose(fleet.aircraft[0].noise, [1e-5, 0.5, 1e-7, 1e-6, scale])
    np.testing.assert_allclose(fleet.turn_noise, [1.0, 3.0, scale])
    np.testing.assert_allclose(fleet.force_noise, [0.5, 4.0])
    assert fleet.tilt_deviation == 1e-3 and fleet.gravity == 9.0
    assert fleet_of([one], None, spec, 9.0).d is None
    wide = CentreData(np.zeros((1, 3)), np.ones(4), 0.2)
    assert fleet_of([one], wide, spec, 9.0).tilt_deviation == 0.2


def source(info):
    return SensorSource(info.topic, info.frame)


def test_readings_become_measurements_of_their_aircraft():
    two = imu("/two/imu", parent="iap/two")
    central = imu("/centre/imu", parent="iap/centre", q_BS=QUARTER)
    groups = [
        sensors_of_body("iap/two", [two]),
        sensors_of_body("iap/one", [imu(), LEFT, RIGHT, TAG]),
    ]
    tally = Tally()
    adapter = ReadingAdapter(groups, central, tally)
    w, f = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    who, sample = adapter(ImuReading(source(two), 0.5, w, f))
    assert who == 0 and isinstance(sample, ImuSample)
    assert (sample.t, sample.w_B.tolist(), sample.f_B.tolist()) == (0.5, [1, 2, 3], [4, 5, 6])
    who, tilt = adapter(ImuReading(source(central), 0.5, w, f, np.array(LEVEL)))
    assert who == CENTRE
    np.testing.assert_allclose(tilt.w_B0, [-2.0, 1.0, 3.0])
    np.testing.assert_allclose(tilt.f_B0, [-5.0, 4.0, 6.0])
    assert adapter(ImuReading(source(central), 0.6, w, f)) is None, "it has no attitude"
    assert adapter(ImuReading(SensorSource("/else", "x"), 0.5, w, f)) is None
    grey, depth = np.full((24, 32), 7, np.uint8), np.ones((24, 32), np.float32)
    assert adapter(ImageReading(source(RIGHT), 1.0, "mono8", grey + 1)) is None
    assert not adapter.accepts(
        ImageReading(source(LEFT), 1.0, "rgb8", np.zeros((24, 32, 3), np.uint8))
    )
    assert not adapter.accepts(ImageReading(source(LEFT), 1.0, "32FC1", depth))
    who, images = adapter(ImageReading(source(LEFT), 1.001, "mono8", grey))
    assert who == 1 and isinstance(images, Images) and images.t == 1.001
    assert (images.left[0, 0], images.right[0, 0]) == (7, 8)
    adapter(ImageReading(source(LEFT), 2.0, "mono8", grey))
    adapter.end()
    assert tally.unpaired == 1


def test_anchors_get_their_numbers_as_they_appear():
    adapter = ReadingAdapter([sensors_of_body("iap/one", [imu(), TAG])])
    p = np.arange(9.0).reshape(3, 3)

    def heard(ids, p_W, d, valid):
        about = np.array(d), np.array([0.1, 0.2, 0.3]), np.array(valid)
        return adapter(RangeReading(source(TAG), 0.1, ids, p_W, *about))

    _, first = heard(("b", "a", "c"), p, [1.0, 2.0, 3.0], [True, False, True])
    assert first.anchors.tolist() == [0, 2] and first.ranges.tolist() == [1.0, 3.0]
    assert first.deviations.tolist() == [0.1, 0.3] and first.p_W.tolist() == p[[0, 2]].tolist()
    _, second = heard(("c", "d", "a"), p, [1.0, np.nan, 3.0], [True, True, True])
    assert second.anchors.tolist() == [2, 1]
    assert heard(("c", "d", "a"), p, [1.0, 2.0, 3.0], [False] * 3) is None
    assert heard(("c", "d", "a"), p * np.nan, [1.0, 2.0, 3.0], [True] * 3) is None


def test_made_up_views_are_those_of_points_before_both_cameras():
    pair = aircraft_data_of("one", sensors_of_body("iap/one", [imu(), LEFT, RIGHT]), "iap").cameras
    views = warm_up._views(pair)
    assert views.shape == (12, 4) and np.isfinite(views).all()
    np.testing.assert_allclose(views[:, :2] * warm_up.POINTS[:, 2:], warm_up.POINTS[:, :2])
    np.testing.assert_allclose(views[:, 0] - views[:, 2], 0.1 / warm_up.POINTS[:, 2])
    np.testing.assert_allclose(views[:, 1], views[:, 3])


def test_an_estimator_that_stands_still_hears_all_its_sensors():
    heard = []
    note = lambda name: lambda *given: heard.append((name, *given))  # noqa: E731
    mute = SimpleNamespace(**{name: note(name) for name in ("tilt", "tracks", "ranges", "imu")})
    places = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    warm_up._step(mute, 20, 9.0, places, ["a", "b"])
    assert [each[0] for each in heard] == ["tilt", *["tracks", "ranges", "imu"] * 2]
    assert heard[1][2].views == "a" and heard[4][2].views == "b" and heard[4][1] == 1
    assert heard[2][2].ranges.tolist() == pytest.approx([4.0, 26.0**0.5, 26.0**0.5])
    assert heard[3][2].f_B.tolist() == [0.0, 0.0, 9.0] and heard[3][2].t == pytest.approx(0.1)
    heard.clear()
    warm_up._step(mute, 21, 9.0, places, ["a", "b"])
    assert [each[0] for each in heard] == ["tilt", "imu", "imu"]
