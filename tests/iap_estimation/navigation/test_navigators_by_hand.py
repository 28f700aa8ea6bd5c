# SPDX-License-Identifier: BSD-3-Clause
"""Navigators told by stand-ins of their estimators, and front ends of aircraft: states, refusals, counts."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput, FlightFailed
from iap_description.math import so3
from iap_description.sensors.readings import ImuReading, PoseReading, SensorSource
from iap_estimation.navigation import aircraft_frontend, capture_navigator
from iap_estimation.navigation.aircraft_frontend import (
    AircraftFrontend,
    FleetFrontend,
    FrontendStats,
)
from iap_estimation.navigation.attitude_predictor import AttitudePredictor
from iap_estimation.navigation.capture_navigator import CaptureNavigator
from iap_estimation.navigation.health import Worst
from iap_estimation.navigation.jump_blend import JumpBlend
from iap_estimation.navigation.measurements import Images
from iap_estimation.navigation.navigator import Navigator
from iap_estimation.navigation.settings import load_settings
from iap_estimation.navigation.vision_log import VisionLog
from iap_estimation.virpo.messages import CENTRE, Estimate, ImuSample, Tracks
from iap_estimation.virpo.window.failure_checks import Fault

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
GREY = np.zeros((4, 6), np.uint8)


def told(t, x=0.0):
    zero = np.zeros(3)
    return Estimate(t, np.array([x, 0.0, 0.0]), LEVEL, zero, zero, zero, (x + 1.0) * np.eye(15))


class _Localizer:
    def __init__(self, *known):
        self.known, self.faults = list(known), []

    def propagated(self, a):
        return self.known[a]

    def estimates(self):
        return [one for one in self.known if one is not None]


def navigator(*known, is_joined=False):
    """A navigator of some aircraft whose states are the numbers of their estimates."""
    made = Navigator.__new__(Navigator)
    made.method = "vio"
    made._localizer = _Localizer(*known)
    made._fleet = SimpleNamespace(d=np.zeros((len(known), 3)) if is_joined else None)
    made._centre, made._blend = AttitudePredictor(), JumpBlend()

    def fill(estimates, centre, t, out):
        out[:] = 0.0
        out[: len(estimates), 0] = [one.p_WB_W[0] for one in estimates]

    made._sensor_set = SimpleNamespace(
        name="iap", aircraft=[None] * len(known), rows=list(range(len(known))), fill_rows=fill
    )
    made._start, made._x = np.full((len(known), 13), 7.0), np.zeros((len(known), 13))
    return made


def test_states_are_the_start_until_there_are_estimates_or_half_a_second_is_over():
    made = navigator(told(0.1, 3.0), None)
    assert made.state(0.5)[0, 0] == 7.0
    with pytest.raises(FlightFailed, match="iap: vio: no estimate within 0.5 s"):
        made.state(0.51)
    made._localizer.known[1] = told(0.2, 4.0)
    assert made.state(0.6)[:, 0].tolist() == [3.0, 4.0]
    with pytest.raises(FlightFailed, match="iap: vio: no inertial samples for 0.5 s"):
        made.state(0.61)
    joined = navigator(told(0.1, 3.0), is_joined=True)
    assert joined.state(0.3)[0, 0] == 7.0, "the centre is not known yet"


def test_a_navigator_ends_with_a_fault_and_with_what_is_no_number():
    made = navigator(told(0.1, np.nan))
    with pytest.raises(FlightFailed, match="the estimate is not a number"):
        made.state(0.2)
    made = navigator(told(0.1, 3.0))
    made._localizer.faults = [Fault(0.1, "speed of 99"), Fault(0.2, "later")]
    with pytest.raises(FlightFailed, match="iap: vio: speed of 99"):
        made.state(0.2)
    assert made.faults[1].reason == "later"


def test_covariances_are_by_row_and_of_all_aircraft_or_of_none():
    made = navigator(told(0.1, 1.0), told(0.1, 2.0))
    found = made.covariances()
    assert sorted(found) == [0, 1]
    np.testing.assert_allclose(found[1], 3.0 * np.eye(3))
    assert navigator(told(0.1), None).covariances() == {}


# a capture


def capture(t=1.0, t_pose=1.0):
    made = CaptureNavigator.__new__(CaptureNavigator)
    heard = []
    made._filter = SimpleNamespace(
        t=t, t_pose=t_pose, deviation=0.5, put_row=lambda at, out: out.__setitem__(slice(None), at),
        take_sample=heard.append, take_pose=heard.append, begin=lambda at, row: heard.append((at, row[0])),
        capture=SimpleNamespace(latency=0.01, rate=100.0),
    )  # fmt: skip
    made._name, made._topics, made._x, made.faults = (
        "iap",
        ("/imu", "/capture"),
        np.zeros((1, 13)),
        (),
    )
    made.begin(np.full((1, 13), 4.0))
    assert heard.pop() == (0.0, 4.0)
    return made, heard


def test_a_capture_gives_states_while_samples_and_poses_come():
    made, _ = capture()
    assert made.state(1.5)[0, 3] == 1.5
    for t, t_pose, words in (
        (1.0, 1.0, "no inertial samples for 0.5 s"),
        (3.2, 1.0, "no pose of the motion capture for 2.0 s"),
    ):
        made._filter.t, made._filter.t_pose = t, t_pose
        with pytest.raises(FlightFailed, match=f"iap: capture_inertial: {words}"):
            made.state(t + 0.51 if words.startswith("no inertial") else t)
    made._filter.t, made._filter.t_pose = 2.0, -np.inf
    assert made.state(2.0)[0, 0] == 2.0, "since the begin at 0 s"
    made._filter.put_row = lambda at, out: out.__setitem__(0, np.nan)
    with pytest.raises(FlightFailed, match="the estimate is not a number"):
        made.state(2.0)
    np.testing.assert_allclose(made.covariances()[0], 0.25 * np.eye(3))


def test_a_capture_hears_its_own_sensors_and_notes_when_poses_stay_away():
    made, heard = capture()
    imu = [
        ImuReading(SensorSource(topic, "x"), t, np.zeros(3), np.zeros(3))
        for topic, t in (("/imu", 0.4), ("/else", 0.5), ("/imu", 0.61), ("/capture", 0.7))
    ]
    pose = PoseReading(SensorSource("/capture", "x"), 0.62, np.zeros(3), LEVEL)
    for reading in (*imu, pose, PoseReading(SensorSource("/imu", "x"), 0.9, np.zeros(3), LEVEL)):
        made.receive(reading)
    assert heard == [imu[0], imu[2], pose]
    made.receive(ImuReading(SensorSource("/imu", "x"), 0.65, np.zeros(3), np.zeros(3)))
    assert made.vision_events == [(0.0, "vision lost"), (0.62, "vision regained")]
    health = made.health(1.02)
    assert (health.tracks, health.deviation) == (1, 0.5) and made.worst.blind == pytest.approx(
        0.02
    )
    assert (
        made.health(1.04).tracks == 0
        and isinstance(made.worst, Worst)
        and isinstance(made._vision, VisionLog)
    )
    assert capture_navigator.POSE_TIMEOUT == 2.0


# front ends


class _Tracker:
    def __init__(self, calibration, spec):
        self.turns, self.resets = [], 0

    def reset(self):
        self.resets += 1

    def track(self, t, left, right, turn):
        if t == 9.0:
            raise BadInput("images go back in time")
        self.turns.append(so3.quaternion_log(turn))
        n = len(self.turns)
        return Tracks(t, np.arange(n), np.zeros((n, 4)), np.arange(n) % 2 == 0)

    def draw(self):
        return "picture"


AIRCRAFT = SimpleNamespace(
    name="one", calibration=1, cameras=SimpleNamespace(camera_turn=lambda turn: turn)
)


def test_a_front_end_passes_the_turn_since_the_last_images_on(monkeypatch):
    monkeypatch.setattr(aircraft_frontend, "StereoTracker", _Tracker)
    made = AircraftFrontend("walk", AIRCRAFT, None)
    w = np.array([0.0, 0.0, 0.5])
    for t in (0.0, 0.1, 0.2):
        made.turn(ImuSample(t, w, w))
    made.see(Images(0.2, GREY, None))
    made.turn(ImuSample(0.4, 2.0 * w, w))
    made.see(Images(1.1, GREY, None))
    made.see(Images(2.1, GREY, None))
    np.testing.assert_allclose(
        made._tracker.turns, [[0.0, 0.0, 0.1], [0.0, 0.0, 0.2], [0.0] * 3], atol=1e-12
    )
    assert made._tracker.resets == 2, "at first, and after a second"
    assert made.draw() == "picture"
    with pytest.raises(BadInput, match="^walk: one: images go back in time$"):
        made.see(Images(9.0, GREY, None))


def test_a_fleets_front_end_counts_pairs_tracks_and_those_of_both_cameras(monkeypatch):
    monkeypatch.setattr(aircraft_frontend, "StereoTracker", _Tracker)
    stats = FrontendStats()
    blind = SimpleNamespace(name="two", calibration=None)
    made = FleetFrontend("walk", [AIRCRAFT, blind], None, stats)
    sample = ImuSample(0.0, np.zeros(3), np.zeros(3))
    assert made((1, sample)) == (1, sample) and made((CENTRE, sample)) == (CENTRE, sample)
    for t in (0.1, 0.2, 0.3):
        who, seen = made((0, Images(t, GREY, None)))
        assert who == 0 and isinstance(seen, Tracks)
    assert (stats.tracks, stats.stereo) == ([1, 2, 3], [1, 1, 2]) and len(stats.seconds) == 3
    assert min(stats.seconds) > 0.0


def test_settings_may_be_assigned_for_both_parts():
    made = load_settings(assignments=["frontend.max_tracks=7", "estimator.rate=5.0"])
    assert (made.frontend.max_tracks, made.estimator.rate) == (7, 5.0)
    assert load_settings(frontend="euroc").frontend != load_settings().frontend
    with pytest.raises(BadInput):
        load_settings(assignments=["frontend.none=1"])
