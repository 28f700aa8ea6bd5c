# SPDX-License-Identifier: BSD-3-Clause
"""Aircraft localise themselves from topics: what is late, in another order or lost, and aircraft that are."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from nav_msgs.msg import Odometry, Path
from rclpy.qos import QoSProfile, ReliabilityPolicy
from stage import PARAMETERS, Play, error

from iap_bringup.experiments.nodes.processes import executable
from iap_msgs.msg import PlatformState

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
KEPT = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
NAMES = ("drone_1", "drone_2", "drone_3")
DURATION = 3.0
BEHIND = 0.4  # of the sensors, at most [s]
BUSY = 0.5  # share of the states that nodes on a busy machine keep up with at least
ALIASES = executable("sensor_player").parent  # of iap_bringup
RELIABLE = {**PARAMETERS, "reliable": True}


@pytest.fixture(scope="module")
def play():
    return Play(DURATION)


def ready(probe, nodes):
    """Wait until nodes have told something, so that all they need is loaded."""
    probe.wait(lambda: all(name in probe.statuses for name in nodes), "the nodes")


def hear(probe):
    heard = {name: probe.hear(Odometry, f"/iap/{name}/virpo/odometry", KEPT) for name in NAMES}
    return {**heard, "center": probe.hear(Odometry, "/iap/virpo/odometry", KEPT)}


def rms(play, heard):
    """Error of each body [m]."""
    places = {name: NAMES.index(name) if name in NAMES else None for name in heard}
    return {
        name: np.sqrt(np.mean([error(play, each, places[name]) ** 2 for each in said]))
        for name, said in heard.items()
    }


def times(said):
    return np.array([each.header.stamp.sec + 1e-9 * each.header.stamp.nanosec for each in said])


def last(said):
    """Time of the last message [s]."""
    return times(said[-1:]).max(initial=-np.inf)


@pytest.fixture(scope="module")
def together(start_once, play):
    """A joint window that has heard everything in time."""
    nodes, probe = start_once
    nodes.start("joint_node", RELIABLE, namespace="/iap")
    ready(probe, ["/iap/joint_node"])
    heard, states = hear(probe), probe.hear(PlatformState, "/iap/state/estimated", KEPT)
    paths = probe.hear(Path, "/iap/virpo/path", 10)

    def keep_up(t):
        """Let the window be no further behind than its queues reach, on a busy machine, too."""
        probe.wait(lambda: last(heard["center"]) > t - BEHIND, f"a keyframe at {t - BEHIND} s")

    play.say(probe, during=lambda t: t < 2.0 * BEHIND or keep_up(t))
    probe.wait(lambda: last(heard["center"]) > DURATION - 0.2, "the last keyframe")
    probe.wait(lambda: probe.value("/iap/joint_node", "frames") >= 3 * 55, "diagnostics")
    return probe, heard, states, paths


def test_a_joint_window_follows_all_aircraft_and_the_centre(together, play):
    _, heard, _, _ = together
    assert max(rms(play, heard).values()) < 0.03
    for said in heard.values():
        assert np.diff(times(said)) == pytest.approx(0.1)
        assert np.linalg.eigvalsh(np.reshape(said[-1].pose.covariance, (6, 6)))[0] > 0.0
    assert (
        heard["center"][0].child_frame_id == "iap/estimate/base_link"
    )  # the truth has the plain name
    assert heard["drone_2"][0].child_frame_id == "iap/drone_2/virpo"
    assert heard["drone_2"][0].header.frame_id == "map"


def test_errors_are_as_large_as_covariances_say(together, play):
    _, heard, _, _ = together
    for a, name in enumerate(NAMES):
        told = heard[name][-1]
        own = play.unit(a, times([told])[0])[:3]
        p = told.pose.pose.position
        off = np.array([p.x, p.y, p.z]) - own
        C = np.reshape(told.pose.covariance, (6, 6))[:3, :3]
        assert off @ np.linalg.solve(C, off) / 3.0 < 6.0


def test_a_state_for_controllers_comes_with_every_inertial_sample(together, play):
    _, _, states, _ = together
    stamps = times(states)
    assert np.median(np.diff(np.unique(stamps))) == pytest.approx(0.005)
    assert len(np.unique(stamps)) > BUSY * 200 * DURATION
    told, last = states[-1], play.states[round(stamps[-1] * 200)]
    assert told.sequence == round(stamps[-1] * 200)
    for pose, twist, row in zip(told.poses, told.twists, last, strict=True):
        assert np.linalg.norm([pose.position.x, pose.position.y, pose.position.z] - row[:3]) < 0.05
        speed = np.array([twist.linear.x, twist.linear.y, twist.linear.z])
        assert np.linalg.norm(speed - row[7:10]) < 0.1


def test_path_and_diagnostics_tell_how_it_goes(together):
    probe, _, _, paths = together
    assert len(paths[-1].poses) > 3
    level, _, values = probe.statuses["/iap/joint_node"]
    assert values["faults"] == "0" and level != b"\x02"
    assert float(values["keyframe_ms"]) > 0.0
    assert 0.0 < float(values["chi_square"]) < 3.0


def test_time_that_begins_anew_begins_the_window_anew(together, play):
    probe, heard, _, _ = together
    probe.stays(lambda: True, 0.5)  # what is still on its way does not count
    for said in heard.values():
        said.clear()
    play.say(probe, lambda _, t: t if t < 1.5 else None)
    probe.wait(lambda: len(heard["center"]) > 8, "keyframes")
    assert times(heard["center"])[0] < 1.0
    assert max(rms(play, heard).values()) < 0.03


def test_a_drift_filter_of_nodes_is_the_one_of_one_process(start, play):
    nodes, probe = start
    nodes.start("joint_node", {**RELIABLE, "method": "drift_filter"}, namespace="/iap")
    ready(probe, ["/iap/joint_node"])
    heard, states = hear(probe), probe.hear(PlatformState, "/iap/state/estimated", KEPT)
    play.say(probe)
    probe.wait(lambda: last(heard["center"]) > DURATION - 0.3, "the last keyframe")
    expected = play.localized("drift_filter")
    for name, said in heard.items():
        found = {round(t, 4): m.pose.pose.position for t, m in zip(times(said), said, strict=True)}
        assert len(found) == len(said) > 15
        for t, p in found.items():
            off = np.array([p.x, p.y, p.z]) - expected[name][t].p_WB_W
            assert np.linalg.norm(off) < 1e-3, (name, t)
    assert len(np.unique(times(states))) > BUSY * 200 * DURATION


@pytest.fixture(scope="module")
def apart(play, simulate, tmp_path_factory):
    """Three aircraft that tell each other where they are, badly heard; the third one is lost at half time."""
    rng = np.random.default_rng(0)

    def change(topic: str, t: float) -> float | None:
        if topic.endswith("tracks"):  # a tenth is lost, the others overtake each other
            return None if rng.random() < 0.1 else t + rng.uniform(0.0, 0.2)
        return None if topic.endswith("uwb") and rng.random() < 0.3 else t

    with simulate(tmp_path_factory.mktemp("apart")) as (nodes, probe):
        nodes.start("centre_node", RELIABLE, namespace="/iap")
        for name in NAMES:
            nodes.start("virpo_node", {**RELIABLE, "method": "virpo"}, namespace=f"/iap/{name}")
        names = [f"/iap/{name}/virpo_node" for name in NAMES]
        ready(probe, [*names, "/iap/centre_node"])
        heard, shown = hear(probe), probe.hear(Odometry, "/iap/drone_1/virpo/shared", KEPT)
        lost = []

        def during(t: float) -> None:
            if t > DURATION / 2 and not lost:
                lost.append(nodes.end("iap.drone_3.virpo_node"))

        play.say(probe, change, during)
        probe.wait(lambda: last(heard["drone_1"]) > DURATION - 0.5, "the last keyframe")
        probe.wait(
            lambda: probe.says("/iap/centre_node", "no state since"), "the centre's silence"
        )
        yield probe, heard, shown


def test_aircraft_apart_bear_what_is_late_and_lost(apart, play):
    _, heard, _ = apart
    errors = rms(play, {name: heard[name] for name in NAMES})
    assert max(errors.values()) < 0.05
    assert times(heard["drone_3"])[-1] < DURATION / 2 + 0.3


def test_the_centre_is_known_while_all_aircraft_are(apart, play):
    probe, heard, _ = apart
    assert len(heard["center"]) > 3
    assert rms(play, {"center": heard["center"]})["center"] < 0.05
    assert times(heard["center"])[-1] < DURATION / 2 + 0.3


def test_odometry_is_shown_to_neighbours_at_its_rate(apart):
    _, _, shown = apart
    assert np.median(np.diff(times(shown))) == pytest.approx(0.05)


def test_a_gap_in_the_inertial_samples_is_reported_as_a_failure(start, play):
    nodes, probe = start
    own = {**RELIABLE, "method": "vio_uwb"}
    nodes.start("virpo_node", own, namespace="/iap/drone_1")
    ready(probe, ["/iap/drone_1/virpo_node"])

    def change(topic: str, t: float) -> float | None:
        if topic == "/iap/state" or topic.startswith("/iap/drone_1/"):
            return None if topic.endswith("imu") and 1.0 < t < 1.8 else t
        return None

    play.say(probe, change)
    node = "/iap/drone_1/virpo_node"
    assert probe.says(node, "began anew at")
    assert probe.statuses[node][0] == b"\x02"
    assert "a gap in the inertial samples" in nodes.log("iap.drone_1.virpo_node").read_text()


def test_without_a_first_state_nothing_is_published(start, play):
    nodes, probe = start
    nodes.start("virpo_node", RELIABLE, namespace="/iap/drone_2")
    ready(probe, ["/iap/drone_2/virpo_node"])
    heard = hear(probe)
    play.say(probe, lambda topic, t: t if "drone_2" in topic and t < 1.0 else None)
    node = "/iap/drone_2/virpo_node"
    probe.wait(lambda: probe.says(node, "where the aircraft are"), "what is missing")
    assert not heard["drone_2"]


@pytest.mark.parametrize(
    ("node", "words", "reason"),
    [
        ("virpo_node", ["-r", "__ns:=/iap"], "namespace '/iap'"),
        ("virpo_node", ["-r", "__ns:=/other/drone_1"], "namespace '/other/drone_1'"),
        ("virpo_node", ["-p", "method:=gps"], "'gps' is none of vio_uwb, vio, virpo"),
        ("joint_node", ["-p", "method:=vio"], "'vio' is none of joint, drift_filter"),
        ("joint_node", ["-p", "sensors:=imu"], "not one stereo pair"),
        ("sensor_player", ["-p", "run:=/nowhere"], "/nowhere"),
    ],
)
def test_a_wrong_parameter_of_an_alias_is_one_clear_line(refusal, node, words, reason):
    given = ["-p", "scenario:=figure_eight"]
    given += [] if any("sensors" in word for word in words) else ["-p", "sensors:=stereo"]
    assert reason in refusal(ALIASES / node, ["--ros-args", *given, *words])


@pytest.mark.parametrize(
    ("node", "words", "reason"),
    [
        ("virpo_node", [], "parameter sensors: missing"),
        ("joint_node", ["-p", "sensors:=/nowhere.yaml"], "/nowhere.yaml: cannot be read"),
        (
            "virpo_node",
            ["-p", "scenario:=hover"],
            "parameter scenario: this node takes 'sensors', and ros2 run iap_bringup virpo_node",
        ),
        (
            "wrench_observer_node",
            ["-p", "scenario:=hover"],
            "ros2 run iap_bringup wrench_observer",
        ),
        ("wrench_observer_node", ["-p", "observer:=acceleration"], "parameter sensors: missing"),
    ],
)
def test_a_wrong_value_of_a_node_without_a_scenario_is_one_clear_line(
    refusal, node, words, reason
):
    assert reason in refusal(executable(node), ["--ros-args", *words])
