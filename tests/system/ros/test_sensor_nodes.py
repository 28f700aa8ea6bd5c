# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of sensors say what one process says, stamp by stamp, and images show the state of their stamp."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from probe import fly_recorded
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensing_probe import differences, hear_sensors, said_in_process
from sensor_msgs.msg import CameraInfo, CompressedImage
from visualization_msgs.msg import MarkerArray
from watched_flights import SMALL

from iap_bringup.experiments.nodes.processes import executable
from iap_bringup.launching.node_parameters import sensor_parameters
from iap_description.vehicles.assembly import Assembly
from iap_io.runs.run_folder import load_run
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_io.sensor_messages.static_transforms import mounts_of
from iap_sensors.cameras.make import make_renderer
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.rig_state import RigState
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
DURATION = 1.0
FAULTS = (
    "faults=[{at: 0.3, sensor: imu, aircraft: 2, for: 0.1, output: silent},"
    " {at: 0.3, sensor: uwb, aircraft: 3, for: 0.4, output: frozen}]"
)
INERTIAL = {
    "scenario": "hover",
    "sensors": "imu,uwb",
    "duration": DURATION,
    "assignments": [FAULTS],
}
SECOND = 1_000_000_000


def options(parameters):
    names = ("sensors", "scene", "duration")
    given = {name: parameters[name] for name in names if name in parameters}
    return Options(**given, assignments=tuple(parameters.get("assignments", ())))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "inertial"


@pytest.fixture(scope="module")
def inertial(start_once, folder):
    """A flight with inertial units and ranges of which two fail, flown and recorded to its end, and now paused."""
    nodes, probe = start_once
    scenario, _ = resolve("hover", options(INERTIAL))
    said, log = hear_sensors(probe, scenario)
    fly_recorded(nodes, probe, scenario, INERTIAL, folder)
    probe.pause()
    return probe, scenario, said, log


@pytest.fixture(scope="module")
def in_process():
    return said_in_process(resolve("hover", options(INERTIAL))[0]).readings


def up_to(readings, end):
    return {stamp: each for stamp, each in readings.items() if stamp <= end}


def test_inertial_units_and_ranges_are_bit_for_bit_those_of_one_process(inertial, in_process):
    probe, _, said, _ = inertial

    def are_all_there() -> bool:
        return all(
            mine.keys() <= said.readings.get(t, {}).keys() for t, mine in in_process.items()
        )

    probe.wait(are_all_there, "all readings")
    assert said.readings.keys() == in_process.keys()
    assert "/iap/drone_2/uwb" in in_process
    for topic, mine in in_process.items():
        heard = up_to(said.readings[topic], round(DURATION * SECOND))
        assert heard.keys() == mine.keys(), topic
        assert not any(differences(mine[stamp], heard[stamp]) for stamp in mine), topic


def test_samples_come_exactly_five_milliseconds_apart(inertial):
    _, _, said, _ = inertial
    stamps = sorted(said.readings["/iap/drone_1/imu"])
    assert stamps[0] == 5_000_000
    assert set(np.diff(stamps)) == {5_000_000}


def test_the_recorder_keeps_what_one_process_records(inertial, in_process, folder):
    meta = load_run(folder).meta
    kept = list(read_sensors(folder / "bag", meta.sensors))
    for topic, mine in in_process.items():
        ours = {round(each.t * SECOND): each for each in kept if each.source.topic == topic}
        assert ours.keys() == mine.keys(), topic
        assert not any(differences(mine[stamp], ours[stamp]) for stamp in mine), topic


def test_after_a_reset_noise_begins_anew(inertial, in_process):
    probe, _, said, log = inertial
    said.readings.clear()
    log.reset()  # what is still on its way does not count
    probe.reset()
    probe.step(40)
    last = said.readings.setdefault("/iap/drone_3/imu", {})
    probe.wait(lambda: 200_000_000 in last, "samples up to 0.2 s")
    for topic, mine in in_process.items():
        heard = said.readings[topic]
        assert len(heard) > 1, topic
        assert not any(differences(mine[stamp], each) for stamp, each in heard.items()), topic


def test_anchors_are_shown_to_whoever_comes_late(inertial):
    probe, scenario, _, _ = inertial
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    heard = probe.hear(MarkerArray, "/anchors", latched)
    probe.wait(lambda: heard, "anchors")
    anchors = {each.id: each.position for each in scenario.vehicles[0].sensors.uwb.anchors}
    balls, names = heard[0].markers[::2], heard[0].markers[1::2]
    shown = {
        name.text: (b.pose.position.x, b.pose.position.y, b.pose.position.z)
        for b, name in zip(balls, names, strict=True)
    }
    assert shown == anchors
    assert len({marker.id for marker in heard[0].markers}) == len(heard[0].markers)


def test_the_frames_of_mounts_are_published_to_whoever_comes_late(inertial):
    messages = pytest.importorskip("tf2_msgs.msg", reason="it comes with a ROS 2 installation")
    probe, scenario, _, _ = inertial
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    heard = probe.hear(messages.TFMessage, "/tf_static", latched)
    probe.wait(lambda: heard, "frames")
    mounts = mounts_of(Assembly.of(scenario.vehicles[0].platform, "iap"))
    told = {each.child_frame_id: each for each in heard[0].transforms}
    assert told.keys() == {mount.frame for mount in mounts}
    assert "iap/drone_1_left_camera_optical" in told
    for mount in mounts:
        place = told[mount.frame].transform.translation
        assert told[mount.frame].header.frame_id == mount.parent
        assert (place.x, place.y, place.z) == mount.p_BS_B


def test_diagnostics_tell_the_rates(inertial):
    probe, _, _, _ = inertial
    probe.wait(lambda: "/imu_node" in probe.statuses, "diagnostics")
    assert "/iap/drone_1/imu" in probe.statuses["/imu_node"][2]


def test_images_show_the_state_of_their_stamp_and_are_announced_as_they_are(start):
    nodes, probe = start
    parameters = {"scenario": "figure_eight", "sensors": "stereo", "scene": "textured_walls"}
    parameters |= {"assignments": list(SMALL)}
    scenario, _ = resolve("figure_eight", options(parameters))
    said, _ = hear_sensors(probe, scenario)
    infos = probe.hear(CameraInfo, "/iap/drone_1/right/camera_info")
    packed = probe.hear(CompressedImage, "/iap/drone_2/left/image_raw/compressed")
    probe.hear_states("iap")
    nodes.start_flight(scenario, parameters, pace="realtime")
    topic = "/iap/drone_1/leftmono8"

    def known():
        """Stamps of which image and state are there: between big images the probe may miss a state."""
        return sorted(said.readings.get(topic, {}).keys() & probe.states["iap"].keys())

    probe.wait(lambda: len(known()) > 5 and packed, "images and their states")
    node = "/camera_node"  # says so even where the machine is too slow for all images
    probe.wait(lambda: probe.value(node, "took_ms") > 0.0, "diagnostics of a busy node")
    probe.pause()

    renderer = make_renderer(scenario.renderer)
    try:
        rig = rig_spec(scenario)
        cameras = MountedCameras(rig, mounted_cameras_of(rig), renderer)
        camera = next(e for e in cameras.cameras if e.mount.source.topic == "/iap/drone_1/left")
        for stamp in known()[-5:]:
            x = probe.states["iap"][stamp]
            (image,) = cameras.shoot([camera], stamp / SECOND, RigState(x, np.zeros((0, 13))))
            np.testing.assert_array_equal(image.pixels, said.readings[topic][stamp].pixels)
    finally:
        renderer.close()
    assert infos[0].p[3] == pytest.approx(-48.0 * 0.12)
    assert infos[0].header.frame_id == "iap/drone_1_right_camera_optical"
    assert packed[0].format.startswith("mono8; png")


def test_points_of_lidars_are_those_of_one_process(start):
    nodes, probe = start
    parameters = {"scenario": "hover", "sensors": "lidar", "scene": "textured_walls"}
    parameters |= {"duration": 0.3}
    scenario, _ = resolve("hover", options(parameters))
    said, _ = hear_sensors(probe, scenario)
    nodes.start(
        "physics_node", parameters
    )  # whose first state stands, and is told again and again
    nodes.start("lidar_node", {**sensor_parameters(scenario), "reliable": True})
    topic = "/iap/drone_1/lidar"
    probe.wait(lambda: 0 in said.readings.get(topic, {}), "points at 0 s")
    mine = said_in_process(scenario).readings[topic][0]
    heard = said.readings[topic][0]
    np.testing.assert_array_equal(heard.rings, mine.rings)
    np.testing.assert_allclose(heard.points_S, mine.points_S, atol=1e-4)


@pytest.mark.parametrize(
    ("node", "parameters", "reason"),
    [
        ("iap_bringup imu_node", ["scenario:=hover"], "no sensors for imu_node"),
        ("iap_bringup uwb_node", ["sensors:=sonar"], "no sensors 'sonar'"),
        ("iap_sensors imu_node", ["scenario:=hover"], "iap_bringup imu_node takes scenarios"),
        ("iap_sensors uwb_node", [], "parameter rig: a rig is needed"),
        ("iap_sensors lidar_node", ["rig:=nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_a_wrong_parameter_of_a_sensor_s_node_is_one_clear_line(refusal, node, parameters, reason):
    arguments = [word for text in parameters for word in ("-p", text)]
    package, name = node.split()
    assert reason in refusal(executable(name, package), ["--ros-args", *arguments])
