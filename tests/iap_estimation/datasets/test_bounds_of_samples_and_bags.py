# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of what samples, bags and tables of data sets say, and the names and defaults of their parts."""

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets import (
    bag_source,
    euroc_source,
    fleet_bag_source,
    inertial_checks,
    run_source,
    stereo_scale,
)
from iap_estimation.datasets.accelerometer_axes import gravity_of
from iap_estimation.datasets.bag_source import TruthPoses
from iap_estimation.datasets.bag_topics import TopicNames, _fits
from iap_estimation.datasets.data_sample import DataSample, _nearness, sample_of
from iap_estimation.datasets.noise_densities import DENSITIES, plausible
from iap_estimation.evaluation.truth import Truth
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.navigation import fleet_data
from iap_estimation.navigation.measurements import Images, Tally
from iap_estimation.virpo.messages import CENTRE, ImuSample

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
K = [[200.0, 0.0, 80.0], [0.0, 200.0, 60.0], [0.0, 0.0, 1.0]]
CAMERA = CameraCalibration.of((160, 120), K, np.zeros(5), model="plumb_bob", source="x")
PAIR = StereoCalibration.of(CAMERA, CAMERA, [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], [LEVEL, LEVEL])


# densities


@pytest.mark.parametrize(
    ("i", "least", "most", "usual"),
    [(0, 1e-5, 0.2, 1e-3), (1, 1e-4, 2.0, 1e-2), (2, 1e-7, 0.1, 1e-4), (3, 1e-6, 1.0, 1e-2)],
)
def test_a_density_is_one_of_a_unit_between_its_bounds(i, least, most, usual):
    for value, is_good in (
        (1.01 * least, True), (0.99 * least, False), (0.99 * most, True), (1.01 * most, False),
    ):  # fmt: skip
        given = np.array([1e-3, 1e-2, 1e-4, 1e-2])
        given[i] = value
        taken, said = plausible(given, "unit.yaml")
        assert (said is None) == is_good and taken[i] == (value if is_good else usual)
        assert is_good or said.endswith(
            f"is taken: {DENSITIES[i].key} {value:g}: {usual:g} {DENSITIES[i].unit}"
        )


def test_densities_have_the_keys_and_units_of_a_sensors_file():
    assert [tuple(each) for each in DENSITIES] == [
        ("gyroscope_noise_density", "rad/s/sqrt(Hz)"), ("accelerometer_noise_density", "m/s^2/sqrt(Hz)"),
        ("gyroscope_random_walk", "rad/s^2/sqrt(Hz)"), ("accelerometer_random_walk", "m/s^3/sqrt(Hz)"),
    ]  # fmt: skip
    one = fleet_data.AircraftData("one", None, np.zeros(4))
    assert (one.gyro_scale, one.p_BA_B.tolist(), one.p_BJ_B.tolist()) == (0.01, [0.0] * 3, [0.0] * 3)  # fmt: skip
    assert (fleet_data.MIN_TILT_DEVIATION, fleet_data.MIN_RANGE_DEVIATION) == (1e-3, 1e-3)


# samples


def still(seconds):
    t = np.arange(0.0, seconds, 0.01)
    force = np.array([0.0, 0.0, 9.81])
    return DataSample(
        SimpleNamespace(source="x"), [ImuSample(each, np.zeros(3), force) for each in t]
    )


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 0), (0.005, 0), (2.15, 0), (2.25, 3), (2.65, 4)])  # fmt: skip
def test_gravity_is_looked_at_every_four_tenths_of_a_second_from_three_times_on(seconds, count):
    found = gravity_of(still(seconds))
    assert (0 if found is None else len(found.q)) == count
    assert found is None or (found.misses(), found.tilts) == pytest.approx((0.0, 0.0), abs=1e-5)


def picture(x=0, y=0):
    rng = np.random.default_rng(1)
    coarse = rng.integers(0, 255, (20, 24)).astype(np.uint8)
    fine = np.kron(coarse, np.ones((8, 8), np.uint8))
    return np.ascontiguousarray(fine[20 - y : 140 - y, 16 - x : 176 - x])


@pytest.mark.parametrize(("rows", "is_seen"), [(0, True), (1, True), (3, False), (-3, False)])
def test_corners_two_rows_off_their_line_have_no_distance(rows, is_seen):
    pixels = np.array([[x, y] for x in range(40, 120, 8) for y in range(36, 90, 8)], float) + [0.0, 4.0]  # fmt: skip
    found = _nearness(PAIR, picture(), picture(-6, rows), pixels)
    assert (np.isfinite(found).sum() > 10) == is_seen


def test_the_beginning_of_a_data_set_is_twenty_seconds_from_its_own_first_time():
    samples = [(0, ImuSample(t, np.zeros(3), np.zeros(3))) for t in (100.0, 119.9, 120.1, 120.2)]
    one = SimpleNamespace(cameras=PAIR)
    data = SimpleNamespace(aircraft=[one], has_cameras=True, events=lambda: iter(samples))
    assert [each.t for each in sample_of(data).samples] == [100.0, 119.9]
    dark = np.zeros((8, 8), np.uint8)
    images = [(0, Images(0.01 * k, dark, None)) for k in range(300)]
    data.events = lambda: iter(images)
    assert len(sample_of(data).image_times) == 241


@pytest.mark.parametrize(("span", "sizes"), [(11.9, [60]), (12.1, [30, 30])])
def test_windows_of_ways_are_of_spans_and_not_of_times(span, sizes):
    t = np.linspace(100.0, 100.0 + span, 60)
    ways = stereo_scale._Ways(np.stack([t, t], axis=1), np.zeros((60, 3)))
    assert [len(each.t) for each in stereo_scale._windows(ways)] == sizes


# truths


def moving(size=1.0, axes=((1, 0, 0), (0, 1, 0), (0, 0, 1)), amplitude=1.0):
    """Six seconds of a unit that swings along x and y, and a truth of these places in other axes."""
    t = np.arange(0.0, 6.0, 0.01)
    p = amplitude * np.stack([np.sin(4.0 * t), np.cos(5.0 * t), 0.0 * t], axis=1)
    forces = p * [-16.0, -25.0, 0.0] + [0.0, 0.0, 9.81]
    poses = np.hstack([size * p @ np.array(axes, float).T, np.tile(LEVEL, (len(t), 1))])
    one = SimpleNamespace(truth=Truth(t, poses))
    samples = [ImuSample(*each) for each in zip(t.tolist(), 0.0 * forces, forces, strict=True)]
    return DataSample(SimpleNamespace(source="x", aircraft=[one]), samples)


def test_a_truth_in_other_axes_is_told_from_one_in_another_unit():
    assert inertial_checks.motion_of_truth(moving()) is None
    with pytest.raises(
        BadInput,
        match="but in other directions: are they in other axes than its attitudes[?] Conv",
    ):
        inertial_checks.motion_of_truth(moving(axes=((0, 1, 0), (1, 0, 0), (0, 0, 1))))
    with pytest.raises(
        BadInput, match="but 3.49 times as much: are they in another unit than metres"
    ):
        inertial_checks.motion_of_truth(moving(size=3.5))
    assert inertial_checks.motion_of_truth(moving(size=3.35)) is None, "a half is left at 3.41"


@pytest.mark.parametrize(("rms", "is_judged"), [(0.095, False), (0.105, True)])
def test_places_say_something_from_a_tenth_of_a_metre_per_second_squared_on(rms, is_judged):
    one = moving()
    _, mean = inertial_checks._mean_accelerations(np.zeros((600, 3)), one.f_B)
    amplitude = rms / np.sqrt(np.mean(np.sum(mean**2, axis=1)))
    weak = moving(size=4.0, amplitude=amplitude)
    if is_judged:
        with pytest.raises(BadInput, match="3.99 times as much"):
            inertial_checks.motion_of_truth(weak)
    else:
        assert inertial_checks.motion_of_truth(weak) is None


def test_biases_of_a_truth_are_those_of_the_last_sample(monkeypatch):
    rows = {
        "angular_velocity": np.arange(9.0).reshape(3, 3), "linear_acceleration": 10.0 * np.ones((3, 3)),
        "header": np.array([1.0, 2.0, 3.0]),
    }  # fmt: skip
    raw = [("t", 0, b"") for _ in range(3)]
    monkeypatch.setattr(run_source, "raw_messages", lambda bag, topics: raw)
    monkeypatch.setattr(run_source, "records_of", lambda kind, data: rows)
    monkeypatch.setattr(run_source, "stamps_of", lambda header: header)
    monkeypatch.setattr(run_source, "seconds", lambda stamps: stamps)
    truth = Truth(np.array([0.5, 1.0, 2.9, 9.0]), np.zeros((4, 7)))
    found = run_source._with_biases(truth, Path("bag"), "/biases")
    assert found.biases[:, 0].tolist() == [0.0, 0.0, 3.0, 6.0]
    assert found.biases[3, 3:].tolist() == [10.0] * 3
    raw.clear()
    assert run_source._with_biases(truth, Path("bag"), "/biases") is truth


# bags and tables


@pytest.mark.parametrize(
    ("left", "right", "fits"),
    [
        (None, None, True), ("/a", None, True), (None, "/b", True), ("/a", "/b", True), ("/b", None, False),
        (None, "/a", False), ("/a", "/a", False), ("/b", "/b", False),
    ],
)  # fmt: skip
def test_a_pair_of_topics_fits_the_sides_that_are_named(left, right, fits):
    assert _fits(("/a", "/b"), TopicNames(left, right)) == fits


def test_images_are_placed_by_their_frame_and_their_own_turn(monkeypatch):
    turn, T = so3.matrix_from_euler(np.array([0.1, 0.2, 0.3])), np.eye(4)
    T[:3, :3], T[:3, 3] = so3.matrix_from_euler(np.array([0.4, -0.3, 0.2])), [1.0, 2.0, 3.0]
    expected = T.copy()
    expected[:3, :3] = T[:3, :3] @ turn.T
    monkeypatch.setattr(bag_source, "camera_of", lambda message, topic, source: (source, turn))
    tf = SimpleNamespace(
        between=lambda base, frame: T if (base, frame) == ("imu", "cam") else None
    )
    info = bag_source._Info("/left/image_raw", None, "cam")
    source, found = bag_source._placed(Path("bag"), info, tf, "imu")
    assert source == "bag: /left/camera_info"
    np.testing.assert_allclose(found, expected)


def test_images_that_stay_alone_at_the_end_are_counted(tmp_path):
    stamps = ([0, 10**9, 2 * 10**9, 3 * 10**9], [10**9])
    tables = [
        SimpleNamespace(stamps=np.array(each), names=[f"{k}.png" for k in each]) for each in stamps
    ]
    tally = Tally()
    ((t, left, right),) = euroc_source._pairs(tmp_path, tables, 0, tally)
    assert (t, left, right) == (
        1.0, tmp_path / "cam0" / "data" / "1000000000.png", tmp_path / "cam1" / "data" / "1000000000.png",
    )  # fmt: skip
    assert tally.unpaired == 3
    alone = list(euroc_source._pairs(tmp_path, tables[:1], 10**9, Tally()))
    assert [each[0] for each in alone] == [-1.0, 0.0, 1.0, 2.0] and {len(x) for x in alone} == {2}


@pytest.mark.parametrize("has_truth", [False, True])
def test_an_aircraft_of_a_bag_is_opened_by_its_own_topics(monkeypatch, has_truth):
    truth = {"topic": "/vicon", "body": "b", "frame": "f"} if has_truth else None
    given = {"imu": "/i", "left": "/l", "right": "/r", "calibration": ["a.yaml"], "truth": truth}
    topics = fleet_bag_source._AircraftTopics.model_validate(given)
    monkeypatch.setattr(fleet_bag_source, "open_bag", lambda *all_of_them: all_of_them)
    found = fleet_bag_source._part(Path("bag"), Path("home") / "fleet.yaml", "one", topics)
    poses = TruthPoses("/vicon", "b", "f") if has_truth else TruthPoses()
    assert found == (Path("bag"), TopicNames("/l", "/r", "/i"), (Path("home") / "a.yaml",), poses)
    centre = fleet_bag_source._CentreTopics.model_validate({"imu": "/c", "joints": {}})
    assert (centre.tilt_deg, centre.position, centre.rpy_deg) == (1.0, (0.0,) * 3, (0.0,) * 3)


def refuse(*_):
    raise BadInput("no such topic")


def test_what_is_wrong_with_one_aircraft_of_a_bag_names_it(monkeypatch):
    monkeypatch.setattr(fleet_bag_source, "open_bag", refuse)
    topics = fleet_bag_source._AircraftTopics.model_validate({"imu": "/i", "left": "/l"})
    with pytest.raises(BadInput, match="^fleet.yaml: key 'aircraft.one': no such topic$"):
        fleet_bag_source._part(Path("bag"), Path("fleet.yaml"), "one", topics)


def inertial_message(t, q, first=0.0):
    vector = lambda x, y, z: SimpleNamespace(x=x, y=y, z=z)  # noqa: E731
    return SimpleNamespace(
        t=t, orientation=SimpleNamespace(x=q[0], y=q[1], z=q[2], w=q[3]), orientation_covariance=[first],
        angular_velocity=vector(0.1, 0.2, 0.3), linear_acceleration=vector(1.0, 2.0, 3.0),
    )  # fmt: skip


def tilts(monkeypatch, messages, q_BS=LEVEL):
    @contextmanager
    def opened(path):
        yield SimpleNamespace(messages=lambda topic: ((each, 7) for each in messages))

    monkeypatch.setattr(fleet_bag_source, "opened", opened)
    monkeypatch.setattr(fleet_bag_source, "header_ns", lambda message: message.t)
    clocks = SimpleNamespace(ticks=lambda topic, stamp, received: stamp + received)
    unit = fleet_bag_source._CentreUnit(Path("bag"), "/centre", 1_000_000_007, clocks, q_BS)
    tally = Tally()
    return list(fleet_bag_source._tilts(unit, tally)), tally


def test_tilts_of_a_bag_are_unit_quaternions_at_times_since_its_start(monkeypatch):
    quarter = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    odd = inertial_message(1_600_000_000, LEVEL)
    odd.angular_velocity.y = np.nan
    first, last = (
        inertial_message(1_500_000_000, 1.009 * LEVEL),
        inertial_message(1_750_000_000, LEVEL),
    )
    found, tally = tilts(monkeypatch, [first, odd, last], quarter)
    assert [(who, one.t) for who, one in found] == [(CENTRE, 0.5), (CENTRE, 0.75)]
    for _, one in found:
        np.testing.assert_allclose(one.q_WB0, so3.conjugate(quarter), atol=1e-12)
        np.testing.assert_allclose(one.w_B0, [-0.2, 0.1, 0.3], atol=1e-12)
    assert tally.numberless == 1


@pytest.mark.parametrize(
    ("q", "first"),
    [(1.011 * LEVEL, 0.0), (0.989 * LEVEL, 0.0), (LEVEL, -1.0), (np.nan * LEVEL, 0.0)],
)
def test_a_unit_of_the_centre_without_an_attitude_is_refused(monkeypatch, q, first):
    with pytest.raises(
        BadInput, match="^bag: /centre: key 'center.imu': no attitude at 0.500 s; leave 'center'"
    ):
        tilts(monkeypatch, [inertial_message(1_500_000_000, q, first)])
