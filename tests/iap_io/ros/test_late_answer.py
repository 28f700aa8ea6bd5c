# SPDX-License-Identifier: BSD-3-Clause
"""A service that answers once it is done; by what rclpy calls to send a response, which is no part of its API."""

import time

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
from hang import HANG
from rclpy.executors import SingleThreadedExecutor
from rclpy.service import Service
from std_srvs.srv import Trigger

from iap_io.ros.late_answer import LateAnswer
from iap_io.ros.process import make_executor

pytestmark = pytest.mark.ros


@pytest.fixture
def node(monkeypatch):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init()
    node = rclpy.create_node("late")
    yield node
    node.destroy_node()
    rclpy.shutdown()


def spin_until(executor, holds, patience):
    end = time.monotonic() + patience
    while not holds() and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.02)
    return holds()


def test_rclpy_still_sends_responses_by_that_method():
    assert callable(Service.send_response)


@pytest.mark.parametrize("make", [make_executor, SingleThreadedExecutor])
@pytest.mark.parametrize("within", [False, True])
def test_an_answer_goes_out_when_it_is_given_and_once(node, make, within):
    """Kept until later, or given within the callback, before rclpy has what that returns."""
    asked = []

    def on_call(_, response):
        asked.append(response)
        kept = late.keep(response)
        response.message = "done"
        if within:
            late.give()
        return kept

    late = LateAnswer(node.create_service(Trigger, "work", on_call))
    client, executor = node.create_client(Trigger, "work"), make()
    executor.add_node(node)
    assert spin_until(executor, client.service_is_ready, HANG)
    answer = client.call_async(Trigger.Request())
    assert spin_until(executor, lambda: bool(asked), HANG)
    if not within:
        assert not spin_until(executor, answer.done, 0.2)
        late.give()
    assert spin_until(executor, answer.done, HANG)
    assert answer.result().message == "done"
    executor.shutdown()
