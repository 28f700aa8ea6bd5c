# SPDX-License-Identifier: BSD-3-Clause
"""Parts of what opens data sets: cameras of bags, aircraft of fleets, runs of this suite, tables, by hand."""

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets import bag_source, euroc_source, fleet_bag_source, run_source
from iap_estimation.datasets.bag_clocks import BagClocks
from iap_estimation.datasets.bag_topics import TopicChoice
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.measurements import Tally
from iap_estimation.virpo.messages import CENTRE, ImuSample, Ranges, Tilt

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # about z


def _info(shift, frame="cam", topic="/left/image", R=None):
    P = np.array([200.0, 0.0, 32.0, shift, 0.0, 200.0, 24.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    message = SimpleNamespace(
        width=64, height=48, distortion_model="plumb_bob", K=P[[0, 1, 2, 4, 5, 6, 8, 9, 10]], D=np.zeros(5),
        R=np.eye(3).ravel() if R is None else R.ravel(), P=P,
    )  # fmt: skip
    return bag_source._Info(topic, message, frame)


@pytest.mark.parametrize(
    ("shifts", "apart", "is_refused"),
    [
        ((0.0, -20.0), 0.1, False), ((0.0, -23.9), 0.1, False), ((0.0, -16.1), 0.1, False), ((0.0, -24.1), 0.1, True),
        ((0.0, -15.9), 0.1, True), ((0.0, 0.0), 0.1, False), ((4.0, -16.0), 0.1, False), ((0.0, 20.0), 0.1, True),
        ((0.0, np.nan), 0.1, True), ((-50.0,), 0.1, False),
    ],
)  # fmt: skip
def test_baselines_of_projection_and_frames_agree_within_a_fifth(shifts, apart, is_refused):
    pair = SimpleNamespace(p_RL_R=np.array([-apart, 0.0, 0.0]))
    infos = [_info(shift) for shift in shifts]
    if is_refused:
        with pytest.raises(
            BadInput, match="^bag: /tf_static says 0.1 m between them, P.3. of CameraInfo"
        ):
            bag_source._check_baseline(infos, pair, "bag")
    else:
        bag_source._check_baseline(infos, pair, "bag")


def test_a_right_camera_in_the_left_ones_frame_is_beside_it_by_the_projection():
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = so3.matrix_from_quaternion(QUARTER), [1.0, 2.0, 3.0]
    turned = so3.matrix_from_quaternion(so3.quaternion_exp(np.array([0.0, 0.1, 0.0])))
    left, right = _info(0.0, R=turned), _info(-30.0, topic="/right/image", R=turned)
    camera, found = bag_source._beside([left, right], [("left", T), ("right", None)], "bag")
    assert camera == "right"
    # The images' axes are turned back by R, along whose x the right camera is 0.15 m away.
    np.testing.assert_allclose(found[:3, 3], T[:3, 3] + T[:3, :3] @ turned.T @ [0.15, 0.0, 0.0])
    np.testing.assert_allclose(found[:3, :3], T[:3, :3], atol=1e-12)
    for shift, words in (
        (30.0, r"P\[3\] of /right/image is 30, .*exchanged"),
        (0.0, "both have the frame 'cam'"),
    ):
        with pytest.raises(BadInput, match=words):
            bag_source._beside(
                [left, _info(shift, topic="/right/image")], [("l", T), ("r", None)], "bag"
            )


def test_images_that_come_late_by_far_are_asked_about_with_both_options():
    picked = TopicChoice(("/cam", "/other"), "/imu")
    assert bag_source._doubt(picked, BagClocks()) is None
    text = bag_source._doubt(picked, BagClocks(late_s=0.456))
    assert text.startswith("/cam comes 0.46 s later than the inertial unit by their stamps")
    assert text.endswith(
        "? --image-delay 0 takes stamps as they are, --image-delay -0.46 times of reception"
    )


# fleets


def dataset(name="one", start=0, events=(), end=None, truth=None):
    one = fleet_bag_source.replace(AIRCRAFT, name=name, truth=truth)
    about = {"source": name, "name": name, "start_ns": start, "notes": (), "frontend": None}
    return SensorDataset(
        **about, aircraft=(one,), tally=Tally(late=1), events=lambda: iter(events), end=end
    )


@dataclass(frozen=True)
class _Aircraft:
    name: str = ""
    truth: Truth | None = None


AIRCRAFT = _Aircraft()


def test_an_aircraft_of_a_fleet_has_times_since_the_first_of_all():
    events = [(0, ImuSample(0.5, np.zeros(3), np.zeros(3)))]
    truth = Truth(np.array([0.0, 1.0]), np.zeros((2, 7)))
    later = fleet_bag_source._beginning(
        dataset(start=3_000_000_000, events=events, end=2.0, truth=truth), 1_000_000_000
    )
    assert (later.start_ns, later.end) == (1_000_000_000, 4.0)
    assert later.aircraft[0].truth.t.tolist() == [2.0, 3.0]
    ((who, measured),) = later.events()
    assert (who, measured.t) == (0, 2.5)
    alone = fleet_bag_source._beginning(dataset(start=5), 5)
    assert alone.end is None and alone.aircraft[0].truth is None


def test_events_of_a_fleet_are_merged_and_what_was_odd_is_added():
    parts = [
        dataset(events=[(0, ImuSample(t, np.zeros(3), np.zeros(3))) for t in times])
        for times in ((0.0, 0.2), (0.1, 0.3))
    ]
    tally = Tally(late=99)
    found = [(who, m.t) for who, m in fleet_bag_source._joined(parts, None, tally)]
    assert found == [(0, 0.0), (1, 0.1), (0, 0.2), (1, 0.3)]
    assert tally.late == 2


# runs of this suite


def test_a_run_of_one_vehicle_needs_no_choice():
    one, two = (SimpleNamespace(meta=SimpleNamespace(name=name)) for name in ("a", "b"))
    alone, both = SimpleNamespace(vehicles=[one]), SimpleNamespace(vehicles=[one, two])
    assert run_source._vehicle_run(Path("run"), alone, None) is one
    assert run_source._vehicle_run(Path("run"), both, "b") is two
    for run, name in ((both, None), (both, "c"), (alone, "c")):
        with pytest.raises(BadInput, match="^run: choose a vehicle with --vehicle: a"):
            run_source._vehicle_run(Path("run"), run, name)


def test_every_aircraft_of_a_platform_carries_its_sensors():
    meta = SimpleNamespace(bodies=["c", "d1", "d2"], aircraft=[1, 2], platform="line", count=2)
    run, good, blind = (
        SimpleNamespace(meta=meta),
        SimpleNamespace(cameras=(1, 2)),
        SimpleNamespace(cameras=None),
    )
    run_source._check_count(Path("run"), run, [good, good])
    for groups, words in (
        ([good, None], r"1 of them \(d2\)"),
        ([blind, None], r"2 of them \(d1, d2\)"),
    ):
        with pytest.raises(BadInput, match=f"^run: line has 2 aircraft, but {words} came without"):
            run_source._check_count(Path("run"), run, groups)


@pytest.mark.parametrize(
    ("is_estimated", "flown", "clean", "preset", "reason"),
    [
        (True, "default", True, "default", "as in flight"), (False, "euroc", True, "euroc", "as in flight"),
        (False, "default", True, "default", "rendered"), (False, "default", False, "euroc", "images of cameras"),
    ],
)  # fmt: skip
def test_a_run_has_the_front_end_of_its_flight_or_of_its_images(
    is_estimated, flown, clean, preset, reason
):
    meta = SimpleNamespace(is_estimated=is_estimated, frontend=flown)
    camera = SimpleNamespace(is_clean=clean)
    groups = [
        SimpleNamespace(cameras=(SimpleNamespace(is_clean=True), camera)),
        SimpleNamespace(cameras=None),
    ]
    found = run_source._frontend(meta, groups)
    assert found.preset == preset and found.reason.startswith(reason)


def test_the_truth_of_a_unit_moves_with_its_lever_arm():
    x = np.zeros((2, 2, 13))
    x[:, 1, :3], x[:, 1, 3:7], x[:, 1, 7:10], x[:, 1, 10:] = (
        [1, 2, 3],
        QUARTER,
        [1, 0, 0],
        [0, 0, 2.0],
    )
    run = SimpleNamespace(columns=SimpleNamespace(x=x, t=np.array([0.0, 1.0])))
    unit = SimpleNamespace(p_BS_B=(0.5, 0.0, 0.0), q_BS=QUARTER)
    found = run_source._truth_of(run, 1, unit)
    np.testing.assert_allclose(found.poses[1, :3], [1.0, 2.5, 3.0])
    np.testing.assert_allclose(found.v_W[1], [1.0 - 1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(
        np.abs(so3.quaternion_log(found.poses[1, 3:])), [0.0, 0.0, np.pi], atol=1e-6
    )
    body = run_source._truth_of(run, 1, None)
    np.testing.assert_allclose(body.poses[0], [1, 2, 3, *QUARTER])
    np.testing.assert_allclose(body.v_W[0], [1.0, 0.0, 0.0])


def test_numbers_of_recorded_samples_are_numbers():
    good = ImuSample(1.25, np.zeros(3), np.zeros(3))
    n = np.array([0.0, np.nan, 0.0])
    run_source._check_finite("bag", (0, good))
    odd = [
        replace(good, w_B=n), replace(good, f_B=n), Tilt(1.25, np.append(n, 1.0), good.w_B, good.f_B),
        Tilt(1.25, LEVEL, n, n), Ranges(1.25, np.arange(3), np.zeros((3, 3)), np.zeros(3), n),
    ]  # fmt: skip
    for measured in odd:
        with pytest.raises(BadInput, match="^bag: a sample at 1.250000 s is not finite$"):
            run_source._check_finite("bag", (CENTRE, measured))


# tables


def test_times_of_a_table_are_seconds_since_a_start_and_names_are_files(tmp_path):
    table = SimpleNamespace(stamps=np.array([5_000_000_000, 5_500_000_001]))
    assert euroc_source._times(table, 4_000_000_000) == pytest.approx(
        [1.0, 1.500000001], abs=1e-12
    )
    (tmp_path / "1.png").write_text("")
    for name in ("1.png", "elsewhere/1.png", "C:\\flights\\1.png"):
        assert euroc_source._image_file(tmp_path, name) == tmp_path / "1.png"
    assert euroc_source._image_file(tmp_path, "x/2.png") == tmp_path / "2.png"
    with pytest.raises(BadInput, match="1.png: not a readable image"):
        euroc_source._read(tmp_path / "1.png")
