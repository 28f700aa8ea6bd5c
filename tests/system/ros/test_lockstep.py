# SPDX-License-Identifier: BSD-3-Clause
"""In lockstep the nodes fly what one process flies; time can be stopped, stepped and reset; a recorder keeps it."""

import json

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from probe import flown_in_process, fly_recorded, largest_difference
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from iap_bringup.experiments.nodes.processes import Nodes
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W
from iap_io.runs.run_folder import load_run, read_metrics
from iap_msgs.srv import Step
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
RESETS = 5  # by tests of this module that share a flight
DURATION = 1.5
FAULTS = (
    "faults=[{at: 0.2, aircraft: 1, rotor: 2, thrust: 0.8},"
    " {at: 0.5, aircraft: 2, battery: 0.9, over: 0.3, known: true},"
    " {at: 0.8, commands_late: 0.01, for: 0.3}]"
)
WIND_AND_NOISE = {
    "scenario": "figure_eight_windy",
    "duration": DURATION,
    "assignments": [FAULTS],
}
CONTROLLER, PHYSICS = "/iap/controller_node", "physics_node: iap"


@pytest.fixture(scope="module")
def scenario():
    return resolve("figure_eight_windy", Options(duration=DURATION, assignments=(FAULTS,)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "windy"


@pytest.fixture(scope="module")
def flight(start_once, scenario, folder):
    """A flight in wind, with a noisy state and with faults, flown and recorded to its end, and now paused."""
    nodes, probe = start_once
    probe.hear_states("iap")
    fly_recorded(nodes, probe, scenario[0], WIND_AND_NOISE, folder, start=Nodes.start_flight)
    probe.pause()
    return nodes, probe


@pytest.fixture(scope="module")
def in_process(scenario):
    return flown_in_process(scenario[0])["iap"]


def test_the_states_are_those_of_one_process(flight, in_process):
    _, probe = flight
    assert largest_difference(probe.states["iap"], in_process, DURATION) == 0.0


def test_the_recorder_makes_the_run_folder_of_one_process(flight, scenario, folder, tmp_path):
    execute(Flight.of(scenario[0]), tmp_path, scenario[1])
    ours, theirs = load_run(folder).vehicles[0], load_run(tmp_path).vehicles[0]
    for name in vars(theirs.columns):
        np.testing.assert_array_equal(getattr(ours.columns, name), getattr(theirs.columns, name))
    assert ours.meta == theirs.meta
    timing = {"wall_s", "real_time_factor", "control_step_us", "compiled_fraction"}
    a, b = (read_metrics(f) for f in (folder, tmp_path))
    assert {k: a[k] for k in a.keys() - timing} == {k: b[k] for k in b.keys() - timing}
    assert a["real_time_factor"] > 0.0
    assert [each["t_s"] for each in a["faults"]] == [0.2, 0.5, 0.8]
    for name in ("config.yaml", "trajectory_iap.tum", "trajectory_iap_drone_3.tum"):
        assert (folder / name).read_text() == (tmp_path / name).read_text()


def test_a_reset_brings_the_clock_to_zero_and_the_same_states_again(flight, in_process):
    _, probe = flight
    probe.states["iap"].clear()
    clocks = probe.hear(Clock, "/clock")
    probe.reset()
    probe.wait(lambda: probe.newest["iap"] == 0, "state at 0 s")
    probe.wait(
        lambda: clocks and clocks[-1].clock.sec == 0 and clocks[-1].clock.nanosec == 0, "clock"
    )
    probe.pause(False)
    probe.wait_for_state("iap", DURATION)
    probe.pause()
    assert largest_difference(probe.states["iap"], in_process, DURATION) == 0.0


def test_paused_time_goes_by_the_steps_asked_for(flight):
    _, probe = flight
    probe.reset()
    probe.wait(lambda: probe.newest["iap"] == 0, "state at 0 s")
    answer = probe.step(7)
    assert answer.success
    assert answer.message == "t = 0.035 s"
    probe.wait_for_state("iap", 0.035)
    assert probe.stays(lambda: probe.newest["iap"] == 35_000_000)
    assert not probe.step(0).success


def test_steps_are_answered_when_flown_and_never_cancelled_by_others(flight):
    _, probe = flight
    probe.reset()
    probe.wait(lambda: probe.newest["iap"] == 0, "state at 0 s")
    client = probe.node.create_client(Step, "/step")
    probe.wait(client.service_is_ready, "service step")
    first = client.call_async(Step.Request(steps=200))
    second = client.call_async(Step.Request(steps=5))
    probe.wait(second.done, "refusal")
    assert not second.result().success
    assert "stepping already" in second.result().message
    probe.wait(first.done, "answer")
    assert first.result().success
    assert first.result().message == "t = 1.000 s"
    probe.wait_for_state("iap", 1.0)
    assert probe.stays(lambda: probe.newest["iap"] == 1_000_000_000)

    third = client.call_async(Step.Request(steps=1_000_000))
    probe.wait(lambda: probe.newest["iap"] > 1_000_000_000, "some steps")
    probe.pause()
    probe.wait(third.done, "the end of stepping")
    assert not third.result().success
    assert third.result().message.startswith("paused with ")


def test_gains_change_in_flight_and_bad_ones_are_refused_with_the_reason(flight, in_process):
    _, probe = flight
    probe.reset()
    probe.wait(lambda: probe.newest["iap"] == 0, "state at 0 s")
    refused = probe.set_parameter(CONTROLLER, "gains.kP", [1.0, -2.0, 3.0, 4.0, 5.0, 6.0])
    assert not refused.successful
    assert "gains.kP.1" in refused.reason
    assert "-2" in refused.reason
    assert not probe.set_parameter(CONTROLLER, "gains.kP", [1.0, 2.0]).successful
    assert not probe.set_parameter(CONTROLLER, "platform", "three_line").successful
    assert probe.set_parameter(CONTROLLER, "gains.kP", [4.0, 4.0, 4.0, 9.0, 9.0, 9.0]).successful
    probe.step(100)
    probe.wait_for_state("iap", 0.5)
    assert largest_difference(probe.states["iap"], in_process, 0.5) > 1e-6
    assert largest_difference(probe.states["iap"], in_process, 0.0) == 0.0


def test_standard_tools_find_what_they_know(flight):
    _, probe = flight
    odometry = probe.hear(Odometry, "/iap/drone_2/odom")
    joints, markers = (
        probe.hear(JointState, "/iap/joint_states"),
        probe.hear(MarkerArray, "/iap/markers"),
    )
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    description = probe.hear(String, "/iap/robot_description", latched)
    probe.pause(False)
    for heard, what in (
        (odometry, "odom"),
        (joints, "joints"),
        (markers, "markers"),
        (description, "urdf"),
    ):
        probe.wait(lambda heard=heard: heard, what)
    probe.pause()
    stamp = odometry[0].header.stamp.sec * 10**9 + odometry[0].header.stamp.nanosec
    row = probe.states["iap"][stamp][2]
    pose, twist = odometry[0].pose.pose.position, odometry[0].twist.twist.linear
    assert (odometry[0].header.frame_id, odometry[0].child_frame_id) == ("map", "iap/drone_2")
    np.testing.assert_array_equal([pose.x, pose.y, pose.z], row[:3])
    in_body = so3.rotate(so3.conjugate(row[3:7]), row[7:10])
    np.testing.assert_allclose([twist.x, twist.y, twist.z], in_body, atol=1e-12)
    assert joints[0].name[0] == "drone_1_rotor_1_joint"
    assert len(joints[0].name) == len(joints[0].position) == 12
    for name in joints[0].name:
        assert f'name="{name}"' in description[0].data
    assert {marker.ns for marker in markers[0].markers} == {"iap/thrust", "iap/path"}


def test_what_is_tracked_goes_out_in_standard_messages(flight, folder):
    _, probe = flight
    probe.reset()
    kinds = {"pose": PoseStamped, "twist": TwistStamped, "accel": AccelStamped}
    heard = {name: probe.hear(kinds[name], f"/iap/reference/tracked/{name}") for name in kinds}
    assert probe.step(100).success

    def has_come() -> bool:
        """The standing state's answer comes again and again."""
        return all(
            said and said[-1].header.stamp.nanosec == 500_000_000 for said in heard.values()
        )

    probe.wait(has_come, "the tracked reference of 0.5 s")
    pose, twist, accel = (said[-1] for said in heard.values())
    given = load_run(folder).vehicles[0].columns.reference[100]
    assert {each.header.frame_id for each in (pose, twist, accel)} == {"map"}
    place = pose.pose.position
    np.testing.assert_array_equal([place.x, place.y, place.z], given[REF_P])
    for motion, linear, angular in (
        (twist.twist, REF_V, REF_W),
        (accel.accel, REF_A, REF_ALPHA),
    ):
        v, w = motion.linear, motion.angular
        np.testing.assert_array_equal([v.x, v.y, v.z], given[linear])
        in_map = so3.rotate(given[REF_Q], given[angular])
        np.testing.assert_allclose([w.x, w.y, w.z], in_map, atol=1e-12)
    assert np.abs(given[REF_V]).max() > 0.0


def test_diagnostics_tell_factor_and_counts(flight):
    _, probe = flight
    probe.wait(lambda: probe.says("physics_node: simulation", "paused"), "diagnostics")
    values = probe.statuses["physics_node: simulation"][2]
    assert values["pace"] == "lockstep"
    assert {"real_time_factor", "missed_deadlines", "step_us", "answer_ms"} <= values.keys()
    counts = probe.statuses[PHYSICS][2]
    assert int(counts["taken"]) > 600
    assert [int(counts[key]) for key in ("late", "lost", "holds")] == [0, 0, 0]
    assert int(counts["rejected"]) <= RESETS  # each may have met one that was on its way
    assert json.loads(values["collisions"]) == []
