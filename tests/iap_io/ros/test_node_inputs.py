# SPDX-License-Identifier: BSD-3-Clause
"""What a node's subscriptions do with bytes that are none of their messages, and with more publishers than one."""

import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
from hang import HANG

from iap_io.ros.node import LATEST, SuiteNode
from iap_io.wire.message_views import StateMessage
from iap_msgs.msg import PlatformState

pytestmark = pytest.mark.ros


@pytest.fixture
def node():
    rclpy.init()
    try:
        yield SuiteNode("listener", namespace="iap")
    finally:
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
    assert node.inputs.refusals.newest().startswith("/iap/state: header.stamp")


def test_a_second_publisher_of_the_state_is_reported_once_and_in_every_diagnostics(node):
    node.inputs.listen_to_states("state", 1, lambda _: None, LATEST)
    lines = []
    node.inputs.refusals._warn = lines.append
    own = node.create_publisher(PlatformState, "/iap/state", LATEST)
    node.inputs.look()
    assert own and not lines
    other = rclpy.create_node("other")
    other.create_publisher(PlatformState, "/iap/state", LATEST)
    deadline = time.monotonic() + HANG
    while node.count_publishers("/iap/state") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for _ in range(3):
        node.inputs.look()
        assert node.inputs.refusals.newest() == "/iap/state: 2 publish it, and one should"
    assert lines == ["/iap/state: 2 publish it, and one should"]
