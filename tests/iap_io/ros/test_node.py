# SPDX-License-Identifier: BSD-3-Clause
"""Nodes know themselves by their namespace, refuse bytes that are no messages, and tell of both."""

import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from hang import HANG
from rcl_interfaces.msg import ParameterDescriptor

from iap_io.ros.conversions import status_message
from iap_io.ros.node import LATEST, OK, Diagnostics, SuiteNode
from iap_io.ros.node_inputs import MOST_CAUSES, QUIET, REMINDER, Refusals
from iap_io.wire.message_views import StateMessage
from iap_msgs.msg import PlatformState

pytestmark = pytest.mark.ros


@pytest.fixture
def make(monkeypatch):
    """Makes nodes that nobody outside hears."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    rclpy.init()
    nodes = []

    def one(*arguments, **options):
        nodes.append(SuiteNode(*arguments, **options))
        return nodes[-1]

    yield one
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown()


@pytest.mark.parametrize(
    ("of", "namespace", "simulation", "vehicle"),
    [
        ("simulation", "", "", ""),
        ("simulation", "/lab/sim_1", "/lab/sim_1", ""),
        ("vehicle", "iap", "", "iap"),
        ("vehicle", "/sim_1/iap", "/sim_1", "iap"),
        ("vehicle", "/", "", ""),
        ("aircraft", "/iap/drone_1", "", "iap"),
        ("aircraft", "/lab/sim_1/iap/drone_1", "/lab/sim_1", "iap"),
    ],
)
def test_the_last_names_are_the_vehicle_s_and_those_before_the_simulation_s(
    make, of, namespace, simulation, vehicle
):
    node = make("node", namespace=namespace, of=of)
    assert (node.simulation, node.vehicle) == (simulation, vehicle)
    assert node.absolute("clock") == node.absolute("/clock") == f"{simulation}/clock"


def test_a_parameter_of_words_says_which_there_are(make):
    node = make("node")
    assert node.choice("pace", ("realtime", "lockstep"), "How time goes on.") == "realtime"
    described: ParameterDescriptor = node.describe_parameter("pace")
    assert described.additional_constraints == "One of: realtime, lockstep."


def test_diagnostics_are_stamped_by_the_clock_and_name_their_hardware(make):
    node, heard = make("node", namespace="/sim_1/iap", of="vehicle"), []
    statuses = [
        status_message("one", OK, "", {}),
        status_message("two", OK, "", {}, hardware="other"),
    ]
    diagnostics = Diagnostics(node, lambda: statuses)
    node.create_subscription(DiagnosticArray, "/sim_1/diagnostics", heard.append, 10)
    deadline = time.monotonic() + HANG
    while not heard:
        assert time.monotonic() < deadline
        diagnostics.publish()
        rclpy.spin_once(node, timeout_sec=0.1)
    assert [each.hardware_id for each in heard[0].status] == ["iap", "other"]
    assert abs(heard[0].header.stamp.sec - time.time()) < HANG


@pytest.fixture
def node():
    rclpy.init()
    node = SuiteNode("listener", namespace="/apart/iap")
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def state(stamp):
    out, x = StateMessage.of_names(["base_link"]), np.zeros((1, 13))
    x[0, 6] = 1.0
    out.put_rows(x, np.zeros((0, 4)))
    out.put_head(stamp, 0)
    return out.dump()


def test_a_callback_gets_sound_messages_in_the_order_of_time_and_nothing_else(node):
    taken = []
    subscription = node.inputs.listen_to_states(
        "state", 1, lambda s: taken.append(s.stamp), LATEST
    )
    damaged = [b"", b"\x00", state(30)[:-5], state(30) + b"12345678", bytes(200)]
    for data in (state(10), *damaged, state(20), state(5), state(30), state(0), state(10)):
        subscription.callback(data)
    assert taken == [10, 20, 30, 0, 10]
    assert node.inputs.refusals.count() == len(damaged) + 1
    assert node.inputs.refusals.newest().startswith("/apart/iap/state: header.stamp")


def test_a_second_publisher_of_the_state_is_reported_once_and_in_every_diagnostics(node):
    node.inputs.listen_to_states("state", 1, lambda _: None, LATEST)
    lines = []
    node.inputs.refusals._warn = lines.append
    own = node.create_publisher(PlatformState, "/apart/iap/state", LATEST)
    node.inputs.look()
    assert own and not lines
    other = rclpy.create_node("other")
    other.create_publisher(PlatformState, "/apart/iap/state", LATEST)
    deadline = time.monotonic() + HANG
    while node.count_publishers("/apart/iap/state") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for _ in range(3):
        node.inputs.look()
        assert node.inputs.refusals.newest() == "/apart/iap/state: 2 publish it, and one should"
    assert lines == ["/apart/iap/state: 2 publish it, and one should"]
    other.destroy_node()


class Log:
    def __init__(self):
        self.lines, self.t = [], 0.0
        self.refusals = Refusals(self.lines.append, lambda: self.t)


def test_a_cause_that_lasts_is_said_once_and_then_each_minute():
    log = Log()
    for k in range(20 * 130):
        log.t = k / 20
        log.refusals.add("/iap/command", f"aircraft[0].thrust is {k}.5e+10, beyond 1e+06")
    assert log.lines[0] == "/iap/command: aircraft[0].thrust is 0.5e+10, beyond 1e+06"
    assert len(log.lines) == 1 + 130 // int(REMINDER)
    assert log.refusals.count() == 20 * 130


def test_another_cause_another_topic_and_one_that_comes_back_are_said():
    log = Log()
    assert log.refusals.add("/iap/state", "poses[0].position.x is nan")
    assert log.refusals.add("/iap/state", "poses[0].position.y is nan")
    assert log.refusals.add("/iap/command", "mode 9 is none of 0 to 3")
    assert not log.refusals.add("/iap/state", "poses[0].position.x is inf")
    log.t = QUIET + 1.0
    assert log.refusals.add("/iap/state", "poses[0].position.x is nan")


def test_whoever_sends_no_end_of_causes_does_not_fill_the_log():
    log = Log()
    for k in range(1000):
        log.refusals.add("/iap/state", "".join(chr(97 + int(c)) for c in str(k)))
    assert len(log.lines) == MOST_CAUSES + 1


def test_diagnostics_get_the_newest_of_a_vehicle_once():
    log = Log()
    log.refusals.add("/iap_1/command", "first")
    log.refusals.add("/iap_2/command", "second")
    assert log.refusals.newest("/iap_1/") == "/iap_1/command: first"
    assert log.refusals.newest("/iap_1/") == ""
    assert log.refusals.newest() == "/iap_2/command: second"
    assert (log.refusals.count("/iap_1/"), log.refusals.count()) == (1, 2)
