# SPDX-License-Identifier: BSD-3-Clause
"""A recorded flight's topics make estimation nodes give what one process estimates; no simulator runs."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile, ReliabilityPolicy

from iap_bringup.cli.main import main
from iap_bringup.launching.flight_nodes import LaunchedNode
from iap_estimation.datasets.localization import localize
from iap_estimation.datasets.opening import open_dataset
from iap_estimation.navigation.settings import load_settings

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
DURATION = 1.1
RATE = 0.1  # times real time at which the recording is played: late tracks would be left out
LARGEST_DISTANCE = {  # from the positions of one process [m]
    "joint": 1e-3,
    "drift_filter": 1e-3,
    "vio_uwb": 1e-3,
    "virpo": 5e-3,  # 1e-13, but where a busy machine lets neighbours miss an instant of each other
}
APART = ("vio_uwb", "virpo")  # methods that estimate each aircraft by a node of its own
SIMULATION = {"joint": "/lab", "virpo": "/lab/sim_1"}  # namespaces of some of them
SEEN = [
    "/image_raw",
    "/camera_info",
    "/imu",
    "/uwb",
]  # ends of the names of topics that nodes listen to
EVERY = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
NAMES = ("drone_1", "drone_2", "drone_3")
TOPICS = {name: f"/iap/{name}/virpo/odometry" for name in NAMES} | {
    "center": "/iap/virpo/odometry"
}
SMALL = [
    f"sensors.cameras.{camera}.{key}={value}"
    for camera in ("left", "right")
    for key, value in (("width", 160), ("height", 120), ("fx", 80.0), ("fy", 80.0), ("cx", 79.5), ("cy", 59.5))
]  # fmt: skip


@pytest.fixture(scope="module")
def run(opengl, tmp_path_factory):
    """The folder of a recorded flight with all sensors that localisation needs."""
    out = tmp_path_factory.mktemp("recorded") / "run"
    arguments = ["run", "figure_eight", "--sensors", "stereo", "--scene", "textured_walls"]
    arguments += ["--duration", str(DURATION), "--no-plot", "--no-view", "--out", str(out)]
    settings = [*SMALL, "recording.euroc=false", "engine.name=closed_form"]
    assert main(arguments + [word for each in settings for word in ("--set", each)]) == 0
    return out


@pytest.fixture(scope="module")
def values(run):
    """Parameters of estimation nodes, as on a real aircraft: files and names."""
    return {"platform": "three_star", "sensors": str(run / "sensors.yaml"), "reliable": True}


@pytest.mark.parametrize("methods", [("joint", "vio_uwb"), ("drift_filter", "virpo")])
def test_odometry_of_nodes_is_that_of_one_process(start, run, values, methods):
    """Two methods at a time, each with nodes and a player of its own in another namespace."""
    nodes, probe = start
    heard, names = {}, []
    for method in methods:
        lab = SIMULATION.get(method, "")
        probe.hear_diagnostics(lab)
        names += _start(nodes, values, lab, method)
        heard[method] = {
            name: probe.hear(Odometry, f"{lab}{topic}", EVERY) for name, topic in TOPICS.items()
        }
    probe.wait(lambda: all(name in probe.statuses for name in names), "the nodes")
    played = {"run": str(run), "rate": RATE, "wait_for": SEEN}
    players = [
        nodes.start("sensor_player", played, namespace=SIMULATION.get(method, ""))
        for method in methods
    ]
    ended = [nodes.processes[player].poll for player in players]
    probe.wait(lambda: all(poll() is not None for poll in ended), "end of the recordings")
    for method in methods:
        _check(probe, method, heard[method], run)


def _start(nodes, values, lab, method):
    """Start a method's nodes below a namespace, those that look in one process; returns their names."""
    own, spaces = {**values, "method": method}, [f"iap/{name}" for name in NAMES]
    looking = [LaunchedNode("", "frontend_node", space, values) for space in spaces]
    if method in APART:
        estimating = [LaunchedNode("", "virpo_node", space, own) for space in spaces]
        estimating += [LaunchedNode("", "centre_node", "iap", values)]
    else:
        estimating = [LaunchedNode("", "joint_node", "iap", own)]
    nodes.start_together("looking", looking, simulation=lab)
    nodes.start_together("estimating", estimating, simulation=lab)
    return [each.full_name(lab) for each in (*looking, *estimating)]


def _check(probe, method, heard, run):
    """Compare what the nodes of a method have said with the estimates of one process."""
    expected = localize(open_dataset(run), [method], load_settings()).methods[method].trajectories
    judged = NAMES if method in APART else TOPICS
    for name in judged:  # the centre of aircraft apart is put together at times of its own
        last = expected[name].t[-1] - 0.15
        probe.wait(lambda h=heard[name], t=last: _times(h)[-1] > t, f"the end of {name}")
        assert _largest_distance(heard[name], expected[name]) < LARGEST_DISTANCE[method], name
    assert len(heard["center"]) > 10


def _times(odometry):
    stamps = [each.header.stamp for each in odometry]
    return np.array([stamp.sec + 1e-9 * stamp.nanosec for stamp in stamps] or [-1.0])


def _largest_distance(odometry, expected):
    """Between positions of one time [m]; nine in ten of the expected ones must have been published."""
    positions = [each.pose.pose.position for each in odometry]
    found = dict(zip(np.round(_times(odometry), 4), positions, strict=True))
    common = [k for k, t in enumerate(np.round(expected.t, 4)) if t in found]
    assert len(common) >= 0.9 * len(expected.t)
    of_nodes = [found[round(expected.t[k], 4)] for k in common]
    there = np.array([[p.x, p.y, p.z] for p in of_nodes])
    return np.linalg.norm(there - expected.poses[common, :3], axis=1).max()
